"""What is called recoverable really comes back; what is not in git, or cannot be looked at, never is."""

from __future__ import annotations

import os
import shutil
import socket
import struct
from concurrent.futures import ThreadPoolExecutor

import pytest

from reflexd.sight.disk import Budget, Unread
from reflexd.sight.gitconfig import read
from reflexd.sight.losses import Act, Losses, losses, lost
from reflexd.sight.repository import Repository, find
from reflexd.sight.tally import Some

from .conftest import World


def deleting(world: World, name: str, recursive: bool = True, **env: str) -> Losses:
    return lost([f"{world.work}/{name}"], recursive, world.env | env)


def running(world: World, act: Act, recursive: bool = True, cwd: str = "") -> Losses:
    return lost([str(world.work / cwd)], recursive, world.env, act)


@pytest.fixture
def clone(world: World) -> World:
    world.clone(
        _dot_gitignore="*.log\nbuild/\nnode_modules\n__pycache__/\n/private/\n",
        src__a="a\n",
        src__deep__b="b\n",
        c="c\n",
    )
    return world


def test_what_git_holds_comes_back(clone: World) -> None:
    assert deleting(clone, "src") == Losses(True, same=Some(2, ("src/a", "src/deep/b")))
    assert deleting(clone, "c", recursive=False) == Losses(True, same=Some(1, ("c",)))
    clone.git("repack", "-q", "-a", "-d")
    assert deleting(clone, "src").recoverable


def test_what_is_not_there_is_not_lost(clone: World) -> None:
    assert deleting(clone, "gone") == Losses(True)
    assert deleting(clone, "gone/deeper/x") == Losses(True)
    assert deleting(clone, "src", recursive=False) == Losses(True)


def test_a_change_is_lost(clone: World) -> None:
    clone.write("src/deep/b", "B\n")
    found = deleting(clone, "src")
    assert not found.recoverable
    assert found.changed == Some(1, ("src/deep/b",))
    assert found.why == "src/deep/b: differs from what git holds"
    clone.git("add", "-A")
    assert deleting(clone, "src").recoverable  # the index gives it back


def test_a_change_that_no_stat_shows(clone: World) -> None:
    """Written in the tick in which git looked: then the index cannot tell, whatever it holds."""
    path, index = clone.write("c", "X\n"), clone.work / ".git/index"
    seen = path.stat()
    data = bytearray(index.read_bytes())
    at = data.index(b"\0\1c\0") - 60
    times = [*divmod(seen.st_ctime_ns, 10**9), *divmod(seen.st_mtime_ns, 10**9)]
    data[at : at + 24] = struct.pack(">6L", *times, seen.st_dev & 0xFFFFFFFF, seen.st_ino & 0xFFFFFFFF)
    index.write_bytes(data)
    for late in (0, -1):
        os.utime(index, ns=(0, seen.st_mtime_ns + late))
        assert deleting(clone, "c").changed.names == ("c",)
    os.utime(index, ns=(0, seen.st_mtime_ns + 10**9))
    assert deleting(clone, "c").same.names == ("c",)  # git would not see it either


def test_untracked_and_ignored(clone: World) -> None:
    clone.write("src/new", "x")
    clone.write("src/notes.log", "x")
    clone.write("src/build/out.js", "x")
    clone.write("src/node_modules/p/q/r.js", "x")
    clone.write("src/__pycache__/a.pyc", "x")
    clone.write("private/build/key", "x")
    found = deleting(clone, "src")
    assert found.untracked.names == ("src/new",)
    assert found.ignored.names == ("src/notes.log",)
    assert set(found.made.names) == {"src/__pycache__", "src/build", "src/node_modules"}
    assert not found.recoverable
    (clone.work / "src/new").unlink()
    assert not deleting(clone, "src").recoverable
    (clone.work / "src/notes.log").unlink()
    assert deleting(clone, "src").recoverable
    assert deleting(clone, "src/node_modules").recoverable
    assert deleting(clone, "src/node_modules/p").recoverable
    assert not deleting(clone, "private").recoverable


def test_a_usual_name_that_no_rule_ignores_is_work(clone: World) -> None:
    clone.write("dist/x", "x")
    assert deleting(clone, "dist").untracked.names == ("dist/x",)


def test_a_tracked_file_in_an_ignored_directory(clone: World) -> None:
    clone.write("build/kept", "1")
    clone.git("add", "-f", "build/kept")
    clone.git("commit", "-q", "-m", "kept")
    assert deleting(clone, "build") == Losses(True, same=Some(1, ("build/kept",)))
    clone.write("build/kept", "2")
    assert deleting(clone, "build").changed.names == ("build/kept",)


def test_the_repository_itself(clone: World) -> None:
    for name in ("", ".git", ".git/objects", ".git/refs/heads/main", "src/../.git", "../work", "./"):
        assert not deleting(clone, name).recoverable, name
    clone.write(".git/index.lock")
    assert deleting(clone, ".git/index.lock").recoverable
    assert not deleting(clone, "../..").recoverable


def test_repositories_inside(clone: World) -> None:
    lib = clone.root / "lib"
    clone.git("init", "-q", str(lib))
    clone.git("commit", "-q", "--allow-empty", "-m", "x", cwd=lib)
    clone.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "src/lib")
    clone.git("commit", "-q", "-m", "sub")
    found = deleting(clone, "src")
    assert found.why == "src/lib: a repository of its own"
    shutil.rmtree(clone.work / "src/lib")
    (clone.work / "src/lib").mkdir()
    assert deleting(clone, "src").recoverable
    clone.git("init", "-q", str(clone.work / "src/other"))
    assert deleting(clone, "src/other").why == "src/other: a repository of its own"


def test_submodules_and_worktrees_have_their_own(clone: World) -> None:
    lib = clone.root / "lib"
    clone.git("init", "-q", str(lib))
    (lib / "f").write_text("x")
    clone.git("add", "-A", cwd=lib)
    clone.git("commit", "-q", "-m", "x", cwd=lib)
    clone.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(lib), "lib")
    assert deleting(clone, "lib/f") == Losses(True, same=Some(1, ("f",)))
    clone.write("lib/f", "y")
    assert not deleting(clone, "lib/f").recoverable
    side = clone.root / "side"
    clone.git("worktree", "add", "-q", str(side))
    assert lost([str(side / "src")], True, clone.env).same.count == 2
    assert not lost([str(side)], True, clone.env).recoverable
    (side / "src/a").write_text("changed")
    assert not lost([str(side / "src")], True, clone.env).recoverable
    assert deleting(clone, "src").recoverable


def test_longer_hashes(world: World) -> None:
    world.git("init", "-q", "--object-format=sha256")
    world.write("a/b", "1")
    world.git("add", "-A")
    os.utime(world.work / "a/b")
    assert deleting(world, "a").recoverable
    world.write("a/b", "2")
    assert not deleting(world, "a").recoverable


def test_what_may_not_be_read(clone: World) -> None:
    """As root it can be read, and is what it is: untracked."""
    clone.write("src/closed/x", "x")
    (clone.work / "src/closed").chmod(0)
    assert not deleting(clone, "src").recoverable
    (clone.work / "src/closed").chmod(0o700)


def test_in_several_threads(clone: World) -> None:
    clone.write("src/a", "A\n")
    clone.write(".gitignore", "*.log\n[a-z]*.tmp\n**/gen*/\n")
    names = ["src", "src/deep", "c", ".gitignore"]
    for number in range(20):
        clone.write(f"src/deep/{number}x.tmp")
    expected = [deleting(clone, name) for name in names]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lambda name: deleting(clone, name), names * 20)) == expected * 20


def test_outside_and_elsewhere(clone: World) -> None:
    outside = clone.root / "outside"
    outside.mkdir()
    (outside / "x").write_text("x")
    assert not lost([str(outside)], True, clone.env).recoverable
    (clone.work / "link").symlink_to(outside)
    assert not deleting(clone, "link/x").recoverable
    assert not deleting(clone, "link/").recoverable
    clone.git("add", "link")
    assert deleting(clone, "link") == Losses(True, same=Some(1, ("link",)))
    (clone.work / "in").symlink_to("src")
    assert deleting(clone, "in/a") == Losses(True, same=Some(1, ("src/a",)))


def test_a_path_is_judged_where_it_lies(clone: World) -> None:
    other = World.__new__(World)
    other.__dict__.update(clone.__dict__ | {"work": clone.root / "other"})
    other.work.mkdir()
    other.clone(a="a")
    moved = clone.env | {"GIT_DIR": str(clone.work / ".git"), "GIT_WORK_TREE": str(clone.work)}
    assert lost([str(other.work / "a")], True, moved) == Losses(True, same=Some(1, ("a",)))


def test_several_paths_share_what_may_be_looked_at(clone: World) -> None:
    for directory in range(8):
        for number in range(900):
            clone.write(f"many/{directory}/{number}")
    clone.git("add", "-A")
    each = [[str(clone.work / f"many/{directory}")] for directory in range(8)]
    assert all(lost(one, True, clone.env).recoverable for one in each)
    assert "too many" in lost([path for one in each for path in one], True, clone.env).why
    for directory in range(8):
        shutil.rmtree(clone.work / f"many/{directory}")
        (clone.work / f"many/{directory}").mkdir()
        for number in range(900):
            os.mkfifo(clone.work / f"many/{directory}/x{number}")
    clone.git("rm", "-r", "-q", "--cached", "many")
    assert all(lost(one, True, clone.env).recoverable for one in each)
    assert lost([path for one in each for path in one], True, clone.env).why == ".: too much to look at"
    outside = clone.root / "outside"
    outside.write_text("x")
    both = [str(clone.work / "c"), str(outside)]
    assert not lost(both, True, clone.env).recoverable
    assert not lost(both[::-1], True, clone.env).recoverable


def test_content_that_the_store_lacks(clone: World) -> None:
    oid = clone.git("rev-parse", "HEAD:src/a").strip()
    (clone.work / f".git/objects/{oid[:2]}/{oid[2:]}").unlink()
    assert deleting(clone, "src").why == "src/a: git does not hold its content"


def test_a_name_without_content_yet(clone: World) -> None:
    clone.write("later", "x")
    clone.git("add", "-N", "later")
    assert deleting(clone, "later").changed.count == 1


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_flags_do_not_hide_a_change(clone: World, flag: str) -> None:
    clone.git("update-index", flag, "src/a")
    assert deleting(clone, "src").recoverable
    clone.write("src/a", "A\n")
    assert deleting(clone, "src").changed.names == ("src/a",)


def test_another_form(clone: World) -> None:
    clone.write(".gitattributes", "*.txt text eol=crlf\n*.up filter=up\n")
    clone.git("config", "filter.up.clean", "tr a-z A-Z")
    clone.git("config", "filter.up.smudge", "tr A-Z a-z")
    clone.write("t/x.txt", "x\r\n")
    clone.write("t/y.up", "abc")
    clone.write("t/z", "z")
    clone.git("add", "-A")
    found = deleting(clone, "t")
    assert not found.recoverable
    assert found.unseen.names == ("t/x.txt", "t/y.up")
    assert found.same.names == ("t/z",)
    assert running(clone, "discard").recoverable


@pytest.mark.parametrize("key", ["core.autocrlf=true", "core.autocrlf=input", "core.eol=crlf"])
def test_settings_that_change_files(clone: World, key: str) -> None:
    clone.git("config", *key.split("="))
    assert deleting(clone, "src").recoverable  # byte for byte what git holds all the same
    clone.write("src/a", "a\r\n")
    assert not deleting(clone, "src").recoverable


def test_a_file_that_became_something_else(clone: World) -> None:
    path = clone.work / "src/a"
    path.unlink()
    path.symlink_to("a\n")
    assert deleting(clone, "src").changed.names == ("src/a",)
    path.unlink()
    path.mkdir()
    (path / "x").write_text("x")
    assert deleting(clone, "src").untracked.names == ("src/a/x",)


def test_what_holds_no_content(clone: World) -> None:
    os.mkfifo(clone.work / "src/fifo")
    bound = socket.socket(socket.AF_UNIX)
    bound.bind(str(clone.work / "src/s"))
    bound.close()
    (clone.work / "src/empty/er").mkdir(parents=True)
    assert deleting(clone, "src").recoverable


def test_what_cannot_be_looked_at(clone: World) -> None:
    clone.git("update-index", "--split-index")
    assert "split index" in deleting(clone, "src").why
    clone.git("update-index", "--no-split-index")
    (clone.work / ".git/index").write_bytes(b"DIRC")
    assert "not an index" in deleting(clone, "src").why
    (clone.home / ".gitconfig").write_text("[broken")
    assert not deleting(clone, "src").recoverable


def test_a_conflict_is_work(clone: World) -> None:
    clone.git("checkout", "-q", "-b", "side")
    clone.write("c", "2\n")
    clone.git("commit", "-q", "-a", "-m", "side")
    clone.git("checkout", "-q", "main")
    clone.write("c", "3\n")
    clone.git("commit", "-q", "-a", "-m", "main")
    assert clone.run("merge", "side").returncode
    assert not deleting(clone, "c").recoverable
    assert not running(clone, "discard").recoverable


def test_a_conflict_in_a_sparse_checkout(clone: World) -> None:
    clone.git("sparse-checkout", "set", "--cone", "--sparse-index", "src/deep")
    assert deleting(clone, "src").recoverable
    clone.write("d", "x")
    assert not deleting(clone, "d").recoverable


def test_caps(clone: World) -> None:
    repository = find(str(clone.work), clone.env, str(clone.home))
    assert isinstance(repository, Repository)
    config = read(repository, clone.env, str(clone.home))
    for number in range(30):
        clone.write(f"many/{number}", "x" * 100)
    clone.git("add", "-A")
    paths = [str(clone.work / "many")]
    assert losses(paths, True, repository, config, clone.env).recoverable
    assert not losses(paths, True, repository, config, clone.env, budget=Budget(20, 1 << 20)).recoverable
    os.utime(clone.work / "many/3")
    assert not losses(paths, True, repository, config, clone.env, budget=Budget(100, 50)).recoverable
    assert not losses(paths, True, Unread("x", "malformed"), config, clone.env).recoverable
    assert not losses(paths, True, None, config, clone.env).recoverable


def test_discarding(clone: World) -> None:
    assert running(clone, "discard").recoverable
    assert running(clone, "discard staged").recoverable
    clone.write("new", "x")
    (clone.work / "c").unlink()
    assert running(clone, "discard staged").recoverable  # neither is touched, and git gives c back
    clone.write("src/a", "A\n")
    assert running(clone, "discard").changed.names == ("src/a",)
    assert running(clone, "discard", cwd="src/deep").recoverable
    assert not running(clone, "discard", cwd="src").recoverable
    clone.git("add", "src/a")
    assert running(clone, "discard").recoverable
    found = running(clone, "discard staged")
    assert (found.changed.names, found.why) == (("src/a",), "src/a: staged, but in no commit")
    clone.git("add", "new")
    assert running(clone, "discard staged").changed.names == ("new", "src/a")
    clone.git("commit", "-q", "-m", "x")
    assert running(clone, "discard staged").recoverable
    clone.git("pack-refs", "--all")
    clone.git("gc", "-q")
    clone.git("checkout", "-q", "--detach")
    assert running(clone, "discard staged").recoverable


def test_discarding_before_the_first_commit(world: World) -> None:
    world.git("init", "-q")
    world.write("a", "x")
    assert running(world, "discard staged").recoverable
    world.git("add", "a")
    assert running(world, "discard").recoverable
    assert not running(world, "discard staged").recoverable


def test_cleaning(clone: World) -> None:
    assert running(clone, "clean").recoverable
    clone.write("src/a", "changed, but left alone\n")
    clone.write("x.log", "x")
    clone.write("build/x", "x")
    assert running(clone, "clean") == Losses(True)
    found = running(clone, "clean ignored")
    assert (found.made.names, found.ignored.names, found.recoverable) == (("build",), ("x.log",), False)
    clone.write("fresh/file", "x")
    assert running(clone, "clean", recursive=False).recoverable
    assert running(clone, "clean").untracked.names == ("fresh/file",)
    clone.write("src/fresh", "x")
    assert running(clone, "clean", recursive=False).untracked.names == ("src/fresh",)


def test_lists_of_the_user_and_of_the_repository(clone: World) -> None:
    (clone.home / ".config/git").mkdir(parents=True)
    (clone.home / ".config/git/ignore").write_text("/out/\n")
    (clone.work / ".git/info/exclude").write_text("/tmp/\n")
    clone.write("out/x", "x")
    clone.write("tmp/x", "x")
    assert deleting(clone, "out").recoverable
    assert deleting(clone, "tmp").recoverable
    assert not deleting(clone, "out", XDG_CONFIG_HOME="/nowhere").recoverable
    clone.git("config", "core.excludesFile", "~/none")
    assert not deleting(clone, "out").recoverable
