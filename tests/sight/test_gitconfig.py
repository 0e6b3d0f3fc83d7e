"""Which settings hold: from every place that git reads them from, in its order, held against git itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd.sight.disk import Unread
from reflexd.sight.gitconfig import Config, read, truth
from reflexd.sight.remotes import pushes_to, remotes, upstream
from reflexd.sight.repository import Repository, find

from .conftest import World


def theirs(world: World, cwd: Path, given: tuple[str, ...] = (), **env: str) -> list[tuple[str, str | None]]:
    words = [word for setting in given for word in ("-c", setting)]
    text = world.git(*words, "config", "--list", "-z", "--includes", cwd=cwd, **env)
    found: list[tuple[str, str | None]] = []
    for record in text.split("\0")[:-1]:
        key, newline, value = record.partition("\n")
        found.append((key, value if newline else None))
    return found


def ours(world: World, cwd: Path, given: tuple[str, ...] = (), **env: str) -> Config:
    at = find(str(cwd), world.env | env, str(world.home))
    assert not isinstance(at, Unread)
    return read(at, world.env | env, str(world.home), given)


def same(world: World, cwd: Path | None = None, given: tuple[str, ...] = (), **env: str) -> Config:
    cwd = cwd or world.work
    found = ours(world, cwd, given, **env)
    assert found.problem == ""
    assert [(entry.key, entry.value) for entry in found.entries] == theirs(world, cwd, given, **env)
    return found


def test_every_file_in_its_order(world: World) -> None:
    world.clone()
    (world.home / ".config/git").mkdir(parents=True)
    (world.home / ".config/git/config").write_text("[a]x=xdg\n")
    (world.home / ".gitconfig").write_text("[a]x=home\n")
    world.git("config", "a.x", "local")
    system = world.root / "system"
    system.write_text("[a]x=system\n")
    env = {"GIT_CONFIG_NOSYSTEM": "0", "GIT_CONFIG_SYSTEM": str(system)}
    found = same(world, **env)
    assert [e.scope for e in found.entries if e.key == "a.x"] == ["system", "global", "global", "local"]
    assert same(world, **env, GIT_CONFIG_GLOBAL=os.devnull).last("a.x") == "local"
    other = world.root / "other"
    other.write_text("[a]y=1\n")
    assert same(world, GIT_CONFIG_GLOBAL=str(other)).last("a.y") == "1"
    assert same(world, XDG_CONFIG_HOME=str(world.root)).last("a.x") == "local"


def test_a_worktree_has_settings_of_its_own(world: World) -> None:
    world.clone()
    side = world.root / "side"
    world.git("worktree", "add", "-q", str(side))
    world.git("config", "extensions.worktreeConfig", "true")
    world.git("config", "--worktree", "a.x", "side", cwd=side)
    assert same(world, side).last("a.x") == "side"
    assert same(world).last("a.x") is None
    world.git("config", "extensions.worktreeConfig", "false")
    assert same(world, side).last("a.x") is None


@pytest.mark.parametrize(
    "env",
    [
        {"GIT_CONFIG_COUNT": "2", "GIT_CONFIG_KEY_0": "A.Sub.Key", "GIT_CONFIG_VALUE_0": "v", "GIT_CONFIG_KEY_1": "b.c",
         "GIT_CONFIG_VALUE_1": ""},
        {"GIT_CONFIG_PARAMETERS": "'core.pager=less -x' 'a.b'"},
        {"GIT_CONFIG_PARAMETERS": "'a.B.c'='it'\\''s' 'd.e'='' 'f.g'="},
        {"GIT_CONFIG_COUNT": ""},
    ],
)  # fmt: skip
def test_what_the_environment_says(world: World, env: dict[str, str]) -> None:
    world.clone()
    same(world, **env)


def test_words_of_the_call_come_last(world: World) -> None:
    world.clone()
    world.git("config", "core.fsmonitor", "true")
    found = same(world, given=("core.fsmonitor=./x", "Alias.St", "remote.O.P.url=u=v"))
    assert found.last("core.fsmonitor") == "./x"
    assert found.last("remote.O.P.url") == "u=v"


@pytest.mark.parametrize(
    "env",
    [
        {"GIT_CONFIG_COUNT": "x"},
        {"GIT_CONFIG_COUNT": "99999999"},
        {"GIT_CONFIG_COUNT": "1"},
        {"GIT_CONFIG_PARAMETERS": "core.pager=x"},
        {"GIT_CONFIG_PARAMETERS": "'unfinished"},
    ],
)
def test_an_environment_that_git_refuses_is_a_problem(world: World, env: dict[str, str]) -> None:
    world.clone()
    assert world.run("config", "--list", **env).returncode
    assert ours(world, world.work, **env).problem


CONDITIONS = [
    "gitdir:{work}/", "gitdir:{work}/.git", "gitdir:{work}", "gitdir:~/work/", "gitdir:~/other/", "gitdir:work/",
    "gitdir:/", "gitdir:**", "gitdir:wor?/.git", "gitdir:home/*/.git", "gitdir:home/**", "gitdir/i:WORK/",
    "gitdir/i:~/WORK/", "gitdir:WORK/", "gitdir:./work/", "gitdir:.git", "gitdir:[a-w]ork/", "gitdir/i:{WORK}/**",
    "onbranch:main", "onbranch:feat/", "onbranch:feat/**", "onbranch:m*", "onbranch:ma?n", "onbranch:**/x",
    "hasconfig:remote.*.url:https://example.com/**", "hasconfig:remote.*.url:https://example.com/*",
    "hasconfig:remote.*.url:git@*:*/**", "hasconfig:remote.*.url:**/b.git",
]  # fmt: skip


@pytest.mark.parametrize("branch", ["main", "feat/x", ""])
def test_conditional_includes(world: World, branch: str) -> None:
    world.clone()
    world.git("remote", "add", "origin", "https://example.com/a/b.git")
    if branch != "main":
        world.git("checkout", "-q", *(("-b", branch) if branch else ("--detach",)))
    text = "[user]\n\tname = x\n"
    for number, condition in enumerate(CONDITIONS):
        condition = condition.format(work=world.work, WORK=str(world.work).upper())
        text += f'[includeIf "{condition}"]\n\tpath = inc{number}\n'
        (world.home / f"inc{number}").write_text(f"[inc]\n\tnumber = {number}\n")
    (world.home / ".gitconfig").write_text(text)
    found = same(world)
    assert any(entry.key == "inc.number" for entry in found.entries)
    link = world.root / "link"
    link.symlink_to(world.work)
    same(world, link)
    same(world, world.home)


def test_an_include_is_relative_to_its_file_and_to_the_home(world: World) -> None:
    world.clone()
    (world.home / "sub").mkdir()
    (world.home / ".gitconfig").write_text("[include]path=sub/one\n[include]path=none\n[a]x=0\n")
    (world.home / "sub/one").write_text("[include]path=two\n[include]\npath=~/three\n[a]x=1\n")
    (world.home / "sub/two").write_text("[a]x=2\n")
    (world.home / "three").write_text("[a]x=3\n")
    assert [e.value for e in same(world).entries if e.key == "a.x"] == ["2", "3", "1", "0"]
    given = (f"include.path={world.home}/three",)
    assert same(world, given=given).last("a.x") == "3"


def test_what_git_cannot_read_or_tell_is_a_problem(world: World) -> None:
    world.clone()
    rc = world.home / ".gitconfig"
    for text in (
        "[include]path=.gitconfig\n",
        '[includeIf "phase:moon"]path=x\n',
        "[include]path=%(prefix)/x\n",
        "[include]path=~nobody-by-this-name/x\n",
        "[broken\n",
        "[include]path=/dev/zero\n",
        "[a]x=" + "y" * (2 << 20),
    ):
        rc.write_text(text)
        assert ours(world, world.work).problem, text
    rc.unlink()
    os.mkfifo(rc)
    assert "not a file" in ours(world, world.work).problem


def test_a_huge_file_costs_nothing(world: World) -> None:
    world.clone()
    with (world.home / ".gitconfig").open("wb") as huge:
        huge.truncate(100 << 20)
    assert "too large" in ours(world, world.work).problem


def test_a_tree_of_includes_ends(world: World) -> None:
    world.clone()
    (world.home / ".gitconfig").write_text("".join(f"[include]path=inc{n}\n" for n in range(2)))
    for n in range(2):
        (world.home / f"inc{n}").write_text("[include]path=inc0\n[include]path=inc1\n")
    assert ours(world, world.work).problem


@given(st.dictionaries(st.sampled_from(["GIT_CONFIG_PARAMETERS", "GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_0", "HOME"]),
                       st.text("'=a.\\! 01\n", max_size=30)))  # fmt: skip
@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_environment_raises(lasting_world: World, env: dict[str, str]) -> None:
    read(None, env, str(lasting_world.home))


@pytest.mark.parametrize(
    "value", ["true", "YES", "on", "1", "0", "no", "off", "", "false", "2k", "-1", "0x0", "00", "0k", "+3"]
)
def test_truth_is_what_git_takes_for_it(world: World, value: str) -> None:
    world.clone()
    done = world.run("-c", f"a.b={value}", "config", "--type=bool", "a.b")
    assert truth(value) is {"true": True, "false": False}[done.stdout.decode().strip()]


@pytest.mark.parametrize("value", ["maybe", "./hook", "tru", "1.5", "--1"])
def test_anything_else_is_neither(world: World, value: str) -> None:
    world.clone()
    assert world.run("-c", f"a.b={value}", "config", "--type=bool", "a.b").returncode
    assert truth(value) is None


def test_remotes_are_where_git_would_go(world: World) -> None:
    world.clone()
    world.git("config", "url.https://real.example/.insteadOf", "short:")
    world.git("config", "url.https://real.example/deep/.insteadOf", "short:deep/")
    world.git("config", "url.ssh://push.example/.pushInsteadOf", "https://plain.example/")
    world.git("remote", "add", "origin", "short:a")
    world.git("remote", "add", "deep", "short:deep/a")
    world.git("remote", "add", "plain", "https://plain.example/x")
    world.git("remote", "add", "both", "short:b")
    world.git("remote", "set-url", "--push", "both", "short:c")
    world.git("remote", "set-url", "--add", "both", "short:d")
    found = {remote.name: remote for remote in remotes(same(world))}
    for name, remote in found.items():
        assert list(remote.urls) == world.git("remote", "get-url", "--all", name).split()
        assert list(remote.push_urls) == world.git("remote", "get-url", "--push", "--all", name).split()
    assert sorted(found) == world.git("remote").split()


def test_what_a_branch_follows(world: World) -> None:
    world.clone()
    world.git("remote", "add", "up.stream", "x")
    assert pushes_to(same(world), "main") == "up.stream"
    world.git("remote", "add", "origin", "y")
    assert pushes_to(same(world), "main") == "origin"
    world.git("config", "branch.main.remote", "up.stream")
    world.git("config", "branch.main.merge", "refs/heads/release")
    config = same(world)
    assert upstream(config, "main") == ("up.stream", "release")
    assert upstream(config, "other") == ("", "")
    assert pushes_to(config, "main") == "up.stream"
    world.git("config", "remote.pushDefault", "origin")
    assert pushes_to(same(world), "main") == "origin"
    world.git("config", "branch.main.pushRemote", "up.stream")
    assert pushes_to(same(world), "main") == "up.stream"
    assert isinstance(find(str(world.work), world.env, str(world.home)), Repository)
