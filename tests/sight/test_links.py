"""What lies at a path, after links of either kind."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.sight.links import Real, other_names, real


@pytest.fixture
def place(tmp_path: Path) -> Path:
    return Path(os.path.realpath(tmp_path))


def test_every_kind(place: Path) -> None:
    (place / "file").write_text("x")
    os.mkfifo(place / "fifo")
    bound = socket.socket(socket.AF_UNIX)
    before = os.open(".", os.O_RDONLY)
    os.chdir(place)
    bound.bind("socket")
    os.fchdir(before)
    os.close(before)
    bound.close()
    for name, kind in (("file", "file"), ("fifo", "fifo"), ("socket", "socket"), ("", "dir"), ("none", "missing")):
        assert real(f"{place}/{name}").kind == kind
    assert real("/dev/null").kind == "device"
    assert real(f"{place}/file") == Real(f"{place}/file", "file", False, True, 1)


def test_links_are_followed_as_far_as_there_is_something(place: Path) -> None:
    (place / "dir/sub").mkdir(parents=True)
    (place / "link").symlink_to("dir")
    (place / "dir/back").symlink_to("../link/sub")
    assert real(f"{place}/link/back/new/file") == Real(f"{place}/dir/sub/new/file", linked=True)
    assert real(f"{place}/link/../x").path == f"{place}/x"
    (place / "dangling").symlink_to("nowhere/x")
    assert real(f"{place}/dangling") == Real(f"{place}/nowhere/x", linked=True)


def test_loops_and_impossible_paths(place: Path) -> None:
    (place / "a").symlink_to("b")
    (place / "b").symlink_to("a")
    assert real(f"{place}/a").kind in ("loop", "unknown")
    assert real(f"{place}/a/x").kind in ("missing", "unknown")
    assert real("/a\0b").kind in ("missing", "unknown")
    assert real("/" + "x" * 300).kind in ("missing", "unknown")


@given(st.text(max_size=40))
def test_no_path_raises(text: str) -> None:
    assert isinstance(real("/" + text), Real)
    other_names("/" + text, ["/" + text])


def test_a_hard_link_to_a_protected_file(place: Path) -> None:
    (place / "kept/deep").mkdir(parents=True)
    kept = place / "kept/deep/file"
    kept.write_text("x")
    protected = [str(place / "kept")]
    assert other_names(str(kept), protected) == ()
    other = place / "other"
    os.link(kept, other)
    assert other_names(str(other), protected) == (str(kept),)
    assert other_names(str(other), [str(kept)]) == (str(kept),)
    assert other_names(str(kept), protected) == ()  # its own name is not another
    (place / "way").symlink_to("other")
    assert other_names(str(place / "way"), protected) == (str(kept),)
    assert other_names(str(other), ["/nowhere"]) == ()


def test_too_much_to_compare_names_the_place(place: Path) -> None:
    os.mkdir(place / "kept")
    for number in range(2100):
        (place / f"kept/{number}").symlink_to("x")
    (place / "a").write_text("x")
    os.link(place / "a", place / "b")
    assert other_names(str(place / "b"), [str(place / "kept")]) == (str(place / "kept"),)
