"""The index, read as the real git wrote it."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from reflexd.sight.disk import Unread
from reflexd.sight.gitindex import Entry, Index, load, parse

from .conftest import World

DEBUG = re.compile(
    rb"(\d+) ([0-9a-f]+) (\d)\t([^\0]*)\0  ctime: (\d+):(\d+)\n  mtime: (\d+):(\d+)\n"
    rb"  dev: (\d+)\tino: (\d+)\n  uid: \d+\tgid: \d+\n  size: (\d+)\tflags: ([0-9a-f]+)\n"
)


def theirs(world: World) -> list[Entry]:
    text = world.run("ls-files", "-s", "-z", "--debug").stdout
    found = []
    for match in DEBUG.finditer(text):
        n = [int(match[group]) for group in range(5, 12)]
        flags = int(match[12], 16)
        found.append(
            Entry(
                os.fsdecode(match[4]), int(match[1], 8), bytes.fromhex(match[2].decode()), n[6],
                n[2] * 10**9 + n[3], n[0] * 10**9 + n[1], n[4], n[5], int(match[3]),
                assumed=bool(flags & 0x8000), intended=bool(flags & 0x20000000), absent=bool(flags & 0x40000000),
            )
        )  # fmt: skip
    return found


def ours(world: World, *below: str, oid_bytes: int = 20) -> Index:
    found = load(str(world.work / ".git/index"), oid_bytes, below or ("",))
    assert isinstance(found, Index)
    return found


@pytest.fixture(params=[2, 3, 4])
def filled(request: pytest.FixtureRequest, world: World) -> World:
    world.clone(a__b="1", a__c__d="22", b="3", abc="4", ä="5")
    world.write("x" * 200 + "/" + "y" * 200, "6")
    world.write("\n\\\"'", "7")
    world.write(os.fsdecode(b"\xff\xfe"), "8")
    (world.work / "link").symlink_to("b")
    world.git("add", "-A")
    world.git("update-index", "--index-version", str(request.param))
    if request.param >= 3:
        world.write("later", "9")
        world.git("add", "-N", "later")
        world.git("update-index", "--skip-worktree", "b")
    world.git("update-index", "--assume-unchanged", "abc")
    return world


def test_every_entry(filled: World) -> None:
    found = ours(filled)
    expected = theirs(filled)
    assert len(expected) >= 9
    assert list(found.entries) == expected
    assert found.total == len(expected)
    assert found.mtime == os.stat(filled.work / ".git/index").st_mtime_ns


def test_only_what_was_asked_for(filled: World) -> None:
    assert [e.path for e in ours(filled, "a").entries] == ["a/b", "a/c/d"]
    assert [e.path for e in ours(filled, "a/c/", "b").entries] == ["a/c/d", "b"]
    assert ours(filled, "a/c/d/e", "ab", "none").entries == ()
    assert ours(filled, "none").total == len(theirs(filled))


def test_a_conflict_has_stages(world: World) -> None:
    world.clone(f="1\n")
    world.git("checkout", "-q", "-b", "side")
    world.write("f", "2\n")
    world.git("commit", "-q", "-a", "-m", "side")
    world.git("checkout", "-q", "main")
    world.write("f", "3\n")
    world.git("commit", "-q", "-a", "-m", "main")
    assert world.run("merge", "side").returncode
    assert [e.stage for e in ours(world).entries] == [1, 2, 3]
    assert list(ours(world).entries) == theirs(world)


def test_longer_hashes(world: World) -> None:
    world.git("init", "-q", "--object-format=sha256")
    world.write("a/b", "1")
    world.git("add", "-A")
    assert list(ours(world, oid_bytes=32).entries) == theirs(world)


def test_a_sparse_index_names_directories(world: World) -> None:
    world.clone(a__b="1", c__d__e="2", f="3")
    world.git("sparse-checkout", "set", "--cone", "--sparse-index", "a")
    found = ours(world)
    assert {e.path: oct(e.kind) for e in found.entries if e.absent} == {"c/": "0o40000"}
    assert [e.path for e in ours(world, "c/d/e").entries] == ["c/"]


def test_a_split_index_cannot_be_looked_at(world: World) -> None:
    world.clone(a="1")
    world.git("update-index", "--split-index")
    found = load(str(world.work / ".git/index"))
    assert isinstance(found, Unread)
    assert found.detail == "split index"


def test_no_index_is_an_empty_one(world: World) -> None:
    world.git("init", "-q")
    assert ours(world) == Index()


def test_an_extension_that_must_be_known(world: World) -> None:
    world.clone(a="1")
    data = (world.work / ".git/index").read_bytes()
    assert not isinstance(parse(data, 20), str)
    assert parse(data[:-20] + b"newx\0\0\0\0" + data[-20:], 20) == "extension b'newx'"
    assert not isinstance(parse(data[:-20] + b"NEWX\0\0\0\1x" + data[-20:], 20), str)
    assert parse(data[:-20] + b"NEWX\0\0\0\2x" + data[-20:], 20) == "cut short"


@given(st.integers(0, 400), st.integers(0, 400), st.binary(max_size=12))
@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_index_is_read_or_refused(filled_bytes: list[bytes], at: int, cut: int, put: bytes) -> None:
    for data in filled_bytes:
        broken = data[:at] + put + data[at + cut :]
        assert isinstance(parse(broken, 20), str | tuple)
        assert isinstance(parse(broken, 32), str | tuple)


@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(tail: bytes) -> None:
    for version in (2, 3, 4):
        assert isinstance(parse(b"DIRC\0\0\0" + bytes([version]) + b"\0\0\0\3" + tail, 20), str | tuple)


def test_names_made_of_names_stay_short() -> None:
    """Each entry repeats the whole name before it and adds to it: 4 GB of names in 2 MB."""
    entry = bytes(40 + 20) + b"\0\0" + b"\0" + b"x" * 40 + b"\0"
    assert parse(b"DIRC\0\0\0\4" + (20_000).to_bytes(4, "big") + entry * 20_000 + bytes(20), 20) == "cut short"


@pytest.fixture(scope="module")
def filled_bytes(lasting_world: World) -> list[bytes]:
    lasting_world.clone(a__b="1", a__c__d="22", b="3")
    found = []
    for version in ("2", "4"):
        lasting_world.git("update-index", "--index-version", version)
        found.append((lasting_world.work / ".git/index").read_bytes())
    return found


def test_a_fifo_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "index")
    assert isinstance(load(str(tmp_path / "index")), Unread)
    with (tmp_path / "huge").open("wb") as huge:
        huge.truncate(1 << 30)
    assert isinstance(load(str(tmp_path / "huge")), Unread)
