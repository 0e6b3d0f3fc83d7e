"""What git would run in a repository: whatever the real git runs is foretold."""

from __future__ import annotations

import os
import shutil

import pytest

from reflexd.shell.gitkeys import PREFIX, run_by
from reflexd.sight.around import repository
from reflexd.types import Context, Sighting

from .conftest import World

LOOKING = """
status; status -v; status -s; diff; diff --stat; diff HEAD; diff --cached; diff main~1 main; log; log -p
log :a.t; log --show-signature; log --format=%G?; show; show :a.t; show t1; show main:a.t; branch -vv
tag -l; tag -v t1; config -l; rev-parse :a.t; rev-list HEAD; rev-list --all --indexed-objects
cat-file -p :a.t; cat-file --textconv HEAD:a.t; cat-file --filters HEAD:a.t; ls-files; ls-files -m
ls-files -o; ls-tree HEAD; ls-remote; remote -v; remote show origin; blame a.t; annotate a.t; shortlog HEAD
reflog -p; stash list; stash show -p; grep x; grep --textconv x; describe --all; describe --all --dirty
name-rev HEAD; show-ref; for-each-ref; show-branch; merge-base main HEAD; whatchanged -p; diff-tree -p HEAD
diff-files -p; diff-index -p HEAD; check-ignore u; count-objects; verify-commit HEAD; var -l; worktree list
submodule status; notes list; range-diff main~1 main HEAD; archive HEAD; format-patch --stdout -1
""".replace("\n", ";").split(";")
CHANGING = """
add a.t; commit -qam x; commit -qam x -S; checkout -q -f side; restore a.t; reset -q --hard; rm -q b; stash
merge side; rebase --autostash side; cherry-pick side; fetch; pull; push -n; push; tag -am x t2
update-index --refresh; gc; clean -n
""".replace("\n", ";").split(";")

RUNNING = (
    {
        "core.fsmonitor": "@",
        "diff.d.textconv": "@",
        "filter.f.clean": "@",
        "filter.f.smudge": "@",
        "merge.m.driver": "@ %A",
        "gpg.program": "@",
        **dict.fromkeys(("hook:pre-commit", "hook:post-checkout", "hook:pre-push", "hook:post-index-change"), ""),
    },
    {"diff.external": "@", "filter.f.process": "@", "core.editor": "@", "hook:reference-transaction": ""},
    {"diff.d.command": "@", "remote.origin.uploadpack": "@", "remote.origin.receivepack": "@"},
)
"""Those that keep one another from running apart."""


def context(world: World, **env: str) -> Context:
    return Context(cwd=str(world.work), home=str(world.home), env=tuple((world.env | env).items()))


def told(world: World, **env: str) -> Sighting:
    return repository(str(world.work), context(world, **env))


def keys(sighting: Sighting) -> set[str]:
    return {name.removeprefix(PREFIX) for name, _ in sighting.pairs if name.startswith(PREFIX)}


@pytest.fixture
def project(world: World) -> World:
    """Two branches, a tag, a stash, a remote, and a file with a driver for everything that has changed since."""
    world.clone(a_dot_t="1\n", b="1\n", _dot_gitattributes="*.t diff=d filter=f merge=m\n")
    world.git("checkout", "-q", "-b", "side")
    world.write("a.t", "2\n")
    world.git("commit", "-q", "-a", "-m", "side")
    world.git("checkout", "-q", "main")
    world.write("a.t", "3\n")
    world.git("commit", "-q", "-a", "-m", "main")
    world.git("tag", "-a", "-m", "t", "t1")
    world.write("a.t", "4\n")
    world.git("stash", "-q")
    world.git("clone", "-q", "--bare", ".", str(world.root / "bare"))
    world.git("remote", "add", "origin", str(world.root / "bare"))
    world.git("fetch", "-q")
    world.git("branch", "-q", "--set-upstream-to=origin/main")
    world.git("commit", "-q", "--allow-empty", "-m", "ahead")
    world.write("a.t", "5\n")
    world.write("u", "x")
    return world


@pytest.mark.slow
@pytest.mark.parametrize("running", RUNNING, ids=["most", "outside", "other"])
def test_whatever_git_runs_is_foretold(project: World, running: dict[str, str]) -> None:
    world = project
    ran = world.root / "ran"
    ran.mkdir()
    for number, (key, value) in enumerate(running.items()):
        hook = key.startswith("hook:")
        script = world.work / ".git/hooks" / key.removeprefix("hook:") if hook else world.root / f"script{number}"
        answers = "exit 1" if key.endswith("pack") else "exec cat"  # the other side of a pack waits for more than that
        script.write_text(f"#!/bin/sh\n: > '{ran}/{key}'\n{answers}\n")
        script.chmod(0o755)
        if not hook:
            world.git("config", key, value.replace("@", str(script)))
    pairs = told(world).pairs
    assert keys(told(world)) == set(running)
    seen = set()
    for line in filter(str.strip, [*LOOKING, *CHANGING]):
        where = world.work
        if line in CHANGING:
            where = world.root / "copy"
            shutil.rmtree(where, ignore_errors=True)
            shutil.copytree(world.work, where, symlinks=True)
        os.utime(where / "a.t")
        shutil.rmtree(ran)
        ran.mkdir()
        subcommand, *words = line.split()
        world.run(subcommand, *words, cwd=where, **({} if "core.editor" in running else {"GIT_EDITOR": "true"}))
        found = set(os.listdir(ran))
        assert found <= {key for key, _ in run_by(subcommand, pairs)}, line
        seen |= found
    assert seen >= set(running) - {"core.editor"}


def test_an_ordinary_repository_runs_nothing(project: World) -> None:
    (project.home / ".gitconfig").write_text(
        "[core]\n\tpager = delta\n\teditor = code --wait\n[alias]\n\tst = status\n"
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n'
        '[credential "https://github.com"]\n\thelper =\n\thelper = !gh auth git-credential\n'
    )
    found = told(project, EDITOR="vim", PAGER="less", LESSOPEN="| /usr/bin/lesspipe %s")
    assert found.problem == ""
    assert keys(found) == {"alias.st"}
    for line in LOOKING:
        assert not run_by(line.strip().split(" ")[0], found.pairs)


def test_the_last_value_holds(project: World) -> None:
    (project.home / ".gitconfig").write_text("[core]fsmonitor=./x\n[credential]helper=!x\nhelper=\n")
    assert keys(told(project)) == {"core.fsmonitor", "credential.helper"}
    project.git("config", "core.fsmonitor", "false")
    assert keys(told(project)) == {"credential.helper"}


def test_what_a_clone_left_out_is_fetched_by_anything(project: World) -> None:
    project.git("config", "core.sshCommand", "./x")
    assert not run_by("log", told(project).pairs)
    project.git("config", "remote.origin.promisor", "true")
    assert run_by("log", told(project).pairs)


def test_variables_and_hooks(project: World) -> None:
    assert keys(told(project, GIT_EXTERNAL_DIFF="./x", GIT_PAGER="y; z")) == {"env:git_external_diff", "env:git_pager"}
    hooks = project.work / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text("")
    project.git("config", "core.hooksPath", "hooks")
    assert keys(told(project)) == set()
    (hooks / "pre-commit").chmod(0o755)
    assert keys(told(project)) == {"hook:pre-commit"}
    project.git("config", "core.hooksPath", "~nobody-by-this-name/x")
    assert "hook:post-index-change" in keys(told(project))


def test_outside_of_any_repository(world: World) -> None:
    (world.home / ".gitconfig").write_text("[diff]external=./x\n")
    found = repository(str(world.home), context(world))
    assert (found.problem, keys(found)) == ("missing", {"diff.external"})
    assert run_by("diff", found.pairs)


def test_what_cannot_be_told_is_a_problem(project: World) -> None:
    assert told(project).problem == ""
    assert dict(told(project).pairs)["remote:origin"] == str(project.root / "bare")
    assert dict(told(project).pairs)["branch"] == "main"
    bare = project.work / "bare"
    project.git("init", "-q", "--bare", str(bare))
    assert repository(str(bare), context(project)).problem
    (project.work / ".git/config").write_text("[broken")
    assert told(project).problem
