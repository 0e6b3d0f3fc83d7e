"""The repository that is found is the one git finds, in every layout; what git refuses is no repository."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reflexd.sight.disk import Unread
from reflexd.sight.repository import Repository, find

from .conftest import World


def ours(world: World, cwd: Path, **env: str) -> Repository | Unread | None:
    return find(str(cwd), world.env | env, str(world.home))


def same(world: World, cwd: Path | None = None, **env: str) -> Repository:
    """Ours, after git said the same of it."""
    cwd = cwd or world.work
    found = ours(world, cwd, **env)
    assert isinstance(found, Repository)

    def said(*words: str) -> str:
        text = world.git("rev-parse", *words, cwd=cwd, **env).rstrip("\n")
        return os.path.realpath(os.path.join(cwd, text)) if text not in ("true", "false") else text

    assert os.path.realpath(found.gitdir) == said("--absolute-git-dir")
    assert os.path.realpath(found.common) == said("--git-common-dir")
    assert os.path.realpath(found.objects) == said("--git-path", "objects")
    assert os.path.realpath(found.index) == said("--git-path", "index")
    if said("--is-bare-repository") == "true":
        assert found.worktree == ""
    else:
        assert os.path.realpath(found.worktree) == said("--show-toplevel")
    branch = world.run("symbolic-ref", "-q", "--short", "HEAD", cwd=cwd, **env)
    assert found.detached == bool(branch.returncode)
    if not found.detached:
        assert found.branch == branch.stdout.decode().strip()
    return found


def test_from_the_top_and_from_below(world: World) -> None:
    world.clone(a__b__c="x")
    assert same(world).branch == "main"
    assert same(world, world.work / "a/b").worktree == str(world.work)
    assert ours(world, world.home) is None
    assert world.run("rev-parse", "--git-dir", cwd=world.home).returncode
    world.git("checkout", "-q", "-b", "feat/ä-b")
    assert same(world).branch == "feat/ä-b"
    world.git("checkout", "-q", "--detach")
    assert same(world).detached


def test_worktrees_and_submodules(world: World) -> None:
    world.clone(f="x")
    side = world.root / "side"
    world.git("worktree", "add", "-q", "-b", "side", str(side))
    found = same(world, side)
    assert (found.branch, found.common) == ("side", str(world.work / ".git"))
    lib = world.root / "lib"
    world.git("init", "-q", str(lib))
    world.git("commit", "-q", "--allow-empty", "-m", "x", cwd=lib)
    world.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "lib")
    found = same(world, world.work / "lib")
    assert found.gitdir == str(world.work / ".git/modules/lib")
    assert found.worktree == str(world.work / "lib")


def test_bare_and_embedded(world: World) -> None:
    world.clone(f="x")
    bare = world.work / "fixtures/repo.git"
    world.git("init", "-q", "--bare", str(bare))
    found = same(world, bare)
    assert found.embedded
    assert same(world, bare / "refs").embedded
    (world.home / ".gitconfig").write_text("[safe]bareRepository=explicit\n")
    assert isinstance(ours(world, bare), Unread)
    assert world.run("rev-parse", "--git-dir", cwd=bare).returncode
    assert same(world, bare, GIT_DIR=str(bare)).worktree == ""
    world.git("config", "safe.bareRepository", "all")  # a repository does not say this of itself
    assert isinstance(ours(world, bare), Unread)


def test_a_bare_repository_made_of_tracked_files(world: World) -> None:
    """Any clone can hold one: a HEAD, and two directories."""
    world.clone(sub__HEAD="ref: refs/heads/x\n", sub__refs__k="", sub__objects__k="", sub__config="[core]bare=true\n")
    found = same(world, world.work / "sub")
    assert (found.gitdir, found.embedded, found.branch) == (str(world.work / "sub"), True, "x")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("HEAD", "ref: elsewhere\n"),
        ("HEAD", ""),
        ("HEAD", "ref:\trefs/heads/x"),
        ("HEAD", "0" * 40),
        ("HEAD", "0" * 39),
    ],
)
def test_what_makes_a_repository(world: World, name: str, text: str) -> None:
    world.clone(sub__HEAD="x", sub__refs__k="", sub__objects__k="")
    (world.work / "sub" / name).write_text(text)
    cwd = world.work / "sub"
    there = world.git("rev-parse", "--absolute-git-dir", cwd=cwd).strip()
    found = ours(world, cwd)
    assert isinstance(found, Repository)
    assert found.gitdir == there


def test_variables(world: World) -> None:
    world.clone(f="x")
    other = world.root / "other"
    other.mkdir()
    gitdir = str(world.work / ".git")
    assert same(world, other, GIT_DIR=gitdir).worktree == str(other)
    assert same(world, other, GIT_DIR=gitdir, GIT_WORK_TREE=str(world.work)).worktree == str(world.work)
    assert same(world, world.work, GIT_DIR=".git").gitdir == gitdir
    assert same(world, world.work, GIT_WORK_TREE=".").worktree == str(world.work)
    assert same(world, GIT_INDEX_FILE=str(other / "i")).index == str(other / "i")
    assert same(world, GIT_OBJECT_DIRECTORY=str(other)).objects == str(other)
    assert isinstance(ours(world, other, GIT_DIR="/nowhere"), Unread)
    below = world.work / "below"
    below.mkdir()
    assert ours(world, below, GIT_CEILING_DIRECTORIES=str(world.work)) is None
    assert world.run("rev-parse", "--git-dir", cwd=below, GIT_CEILING_DIRECTORIES=str(world.work)).returncode
    assert same(world, GIT_CEILING_DIRECTORIES=str(world.work)).gitdir == gitdir


def test_settings_that_move_the_worktree(world: World) -> None:
    world.clone(f="x")
    other = world.root / "other"
    other.mkdir()
    world.git("config", "core.worktree", str(other))
    assert same(world).worktree == str(other)
    world.git("config", "core.worktree", "../../../other")
    assert same(world).worktree == str(other)
    world.git("config", "--unset", "core.worktree", GIT_DIR=str(world.work / ".git"))
    world.git("config", "core.bare", "true")
    assert same(world).worktree == ""


def test_what_is_under_way(world: World) -> None:
    world.clone(f="1\n")
    assert same(world).doing == ""
    world.git("checkout", "-q", "-b", "side")
    world.write("f", "2\n")
    world.git("commit", "-q", "-a", "-m", "side")
    world.git("checkout", "-q", "main")
    world.write("f", "3\n")
    world.git("commit", "-q", "-a", "-m", "main")
    for words, doing in (
        (("merge", "side"), "merge"),
        (("cherry-pick", "side"), "cherry-pick"),
        (("rebase", "side"), "rebase"),
        (("rebase", "--apply", "side"), "rebase"),
    ):
        assert world.run(*words).returncode
        found = same(world)
        assert (found.doing, found.branch) == (doing, "main")
        world.git(doing, "--abort")
    assert same(world).doing == ""
    world.git("bisect", "start")
    assert same(world).doing == "bisect"


def test_a_symbolic_link_to_it(world: World) -> None:
    world.clone(f="x")
    link = world.root / "link"
    link.symlink_to(world.work)
    assert same(world, link).worktree == str(link)
    other = world.root / "other"
    other.mkdir()
    (other / ".git").symlink_to(world.work / ".git")
    assert same(world, other).worktree == str(other)


@pytest.mark.parametrize(
    "text", [b"", b"gitdir: ", b"gitdir: /nowhere\n", b"gitdir:x", b"gitdir: a\0b", b"gitdir: .git\n"]
)
def test_a_broken_gitfile_is_refused_as_git_does(world: World, text: bytes) -> None:
    world.write(".git", text)
    assert world.run("rev-parse", "--git-dir").returncode
    assert isinstance(ours(world, world.work), Unread)


def test_hostile_files(world: World) -> None:
    world.clone(f="x")
    below = world.work / "below"
    below.mkdir()
    os.mkfifo(below / ".git")
    assert same(world, below).worktree == str(world.work)
    (below / ".git").unlink()
    (below / ".git").symlink_to(below / ".git")
    assert isinstance(ours(world, below), Repository)
    head = world.work / ".git/HEAD"
    head.unlink()
    os.mkfifo(head)
    assert ours(world, world.work) is None
    head.unlink()
    head.write_bytes(b"ref: refs/heads/" + b"x" * (1 << 20))
    assert ours(world, world.work) is None
    assert isinstance(ours(world, world.work / "gone"), Unread)
    assert isinstance(find("relative", {}, ""), Unread)
    assert isinstance(find("/a\0b", {}, ""), Unread)
    assert isinstance(find("/" + "x/" * 5000, {}, ""), Unread)


def test_a_broken_config_is_refused(world: World) -> None:
    world.clone(f="x")
    (world.work / ".git/config").write_text("[broken\n")
    assert world.run("rev-parse", "--git-dir").returncode
    assert isinstance(ours(world, world.work), Unread)


def test_somebody_elses_repository_is_not_trusted(world: World) -> None:
    world.clone(f="x")
    assert same(world).trusted
    if os.geteuid() == 0:
        os.chown(world.work / ".git", 12345, 12345)
        assert world.run("status").returncode
        found = ours(world, world.work)
        assert isinstance(found, Repository)
        assert not found.trusted
        for safe in (str(world.work), "*", f"{world.home}/", "~/work"):
            (world.home / ".gitconfig").write_text(f"[safe]directory={safe}\n")
            found = ours(world, world.work)
            assert isinstance(found, Repository)
            assert found.trusted == (world.run("status").returncode == 0), safe
    else:
        found = find("/proc/1", {}, "")
        assert found is None or isinstance(found, Unread)


def test_refs_in_tables_have_no_name_here(world: World) -> None:
    world.clone(f="x")
    (world.work / ".git/HEAD").write_text("ref: refs/heads/.invalid\n")
    found = ours(world, world.work)
    assert isinstance(found, Repository)
    assert (found.branch, found.detached) == ("", False)


def test_another_hash(world: World) -> None:
    done = subprocess.run(["git", "init", "-q", "--object-format=sha256"], cwd=world.work, env=world.env, check=False)
    assert done.returncode == 0
    assert same(world).oid_bytes == 32
