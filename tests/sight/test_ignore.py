"""What is ignored is what git ignores: patterns made at random, held against `git check-ignore`."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from reflexd.sight.disk import Budget
from reflexd.sight.ignore import Ignores, parse
from reflexd.sight.wildmatch import compiled

from .conftest import World

NAMES = [
    *("a", "b", "ab", "aB", "a.o", "b.o", "foo", "foobar", "x", "A"),
    *("[a]", "a b", "a ", "é", "#a", "!a", "-", "a\\b"),
]
PATHS = [f"{directory}/{name}" for directory in ("q", "q/z", "z/x/y", "Q") for name in NAMES]
DIRS = ["q", "q/z", "z", "z/x", "z/x/y", "Q"]

PIECES = [
    *("a", "b", "foo", "x", "q", "z", "y", "A", ".o", "*.o", "é", "*", "**", "?", "/", "/**/", "**/", "/**", " ", "\t"),
    *("[ab]", "[!a]", "[^a]", "[a-c]", "[a-", "[]a]", "[[:alpha:]]", "[[:upper:]]", "[[:nope:]]", "[[:a]", "[\\]]"),
    *("\\", "\\*", "\\a", "\\A", "\\ ", "!", "#", "[A-C]", "[A]", "[a-\\c]", "[]-b]", "[--b]"),
]
LINES = st.lists(st.sampled_from(PIECES), max_size=6).map("".join)
FILES = st.lists(LINES, max_size=5).map(lambda lines: "\n".join(lines).encode())


@pytest.fixture(scope="module")
def tree(lasting_world: World) -> World:
    lasting_world.git("init", "-q")
    for path in PATHS:
        lasting_world.write(path)
    return lasting_world


def theirs(world: World, paths: list[str], *given: str) -> set[str]:
    words = [word for setting in given for word in ("-c", setting)]
    done = world.run(*words, "check-ignore", "--no-index", "-z", "--stdin", stdin=b"\0".join(map(os.fsencode, paths)))
    assert done.returncode in (0, 1), done.stderr
    return {os.fsdecode(one) for one in done.stdout.split(b"\0") if one}


def ours(world: World, paths: list[str], *extra: Path, fold: bool = False) -> set[str]:
    ignores = Ignores(str(world.work), [str(path) for path in extra], Budget(1000, 1 << 30), fold)
    found = {path for path in paths if ignores.ignored(path, (world.work / path).is_dir())}
    assert ignores.problem == ""
    return found


@given(top=FILES, below=FILES, exclude=FILES, own=FILES, fold=st.booleans())
@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(b"z**/y", b"", b"", b"", False)
@example(b"*\n!q", b"!a", b"q", b"", False)
@example(b"a\\ \r\nb  ", b"", b"", b"", False)
@example(b"\xef\xbb\xbfa\n/\n!\n\n \n", b"", b"", b"", False)
@example(b"z/**/y\nq/**\n**/z/a", b"", b"", b"", True)
def test_git_ignores_the_same(tree: World, top: bytes, below: bytes, exclude: bytes, own: bytes, fold: bool) -> None:
    (tree.work / ".gitignore").write_bytes(top)
    (tree.work / "q/.gitignore").write_bytes(below)
    (tree.work / ".git/info/exclude").write_bytes(exclude)
    mine = tree.home / "ignore"
    mine.write_bytes(own)
    asked = [*PATHS, *DIRS, "gone", "gone/x"]
    settings = (f"core.excludesFile={mine}", f"core.ignoreCase={str(fold).lower()}")
    expected = theirs(tree, asked, *settings)
    assert ours(tree, asked, tree.work / ".git/info/exclude", mine, fold=fold) == expected


def test_a_link_is_not_a_directory_nor_a_list_of_patterns(world: World) -> None:
    world.clone()
    world.write("elsewhere", "*\n")
    world.write(".gitignore", "link/\nreal/\n")
    (world.work / "real").mkdir()
    (world.work / "link").symlink_to("real")
    (world.work / "sub").mkdir()
    (world.work / "sub/.gitignore").symlink_to("../elsewhere")
    world.write("sub/x")
    paths = ["real", "sub/x", "elsewhere"]
    assert ours(world, paths) == theirs(world, paths) == {"real"}
    assert not Ignores(str(world.work), [], Budget(10, 1 << 20)).ignored("link", False)
    assert theirs(world, ["link"]) == set()


def test_what_cannot_be_read_is_a_problem(world: World) -> None:
    os.mkfifo(world.work / ".gitignore")
    ignores = Ignores(str(world.work), [], Budget(10, 1 << 20))
    assert not ignores.ignored("x", False)
    assert "not a file" in ignores.problem
    huge = world.root / "huge"
    with huge.open("wb") as file:
        file.truncate(100 << 20)
    assert "too large" in Ignores(str(world.work), [str(huge)], Budget(10, 1 << 20)).problem
    for text in ("x\n" * 6000, "[" + "a" * 2000 + "]"):
        huge.write_text(text)
        assert "too many" in Ignores(str(world.work), [str(huge)], Budget(10, 1 << 26)).problem


def test_work_is_counted(world: World) -> None:
    world.write(".gitignore", "x*y\n" * 1000)
    ignores = Ignores(str(world.work), [], Budget(1000, 8 << 20))
    for number in range(100):
        ignores.ignored(f"d{number}/f", False)
    assert ignores.problem == "too much to look at"


@pytest.mark.parametrize("piece", [b"*a", b"**/", b"*", b"[a-z]*", b"?*", b"a**", b"/**/"])
def test_a_match_is_linear_in_the_text(piece: bytes) -> None:
    """A matcher that goes back and tries again would not end here."""
    found = compiled(piece * (1000 // len(piece)) + b"b")
    assert found.matches(b"a" * 4000) == found.matches(b"a" * 4000)
    assert found.matches(b"a/" * 2000) in (True, False)


@given(st.binary(max_size=60))
def test_any_bytes_are_patterns(text: bytes) -> None:
    for rule in parse(text):
        rule.matches(b"a/b", b"b")
