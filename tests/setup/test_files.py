"""Files of other programs: all of the new bytes or all of the old ones, and nothing else of them changed."""

from __future__ import annotations

import os
import stat

import pytest

from reflexd.errors import ReflexError
from reflexd.setup import files
from tests.ctl.world import World


def test_a_symlink_stays_one_and_its_target_changes(world: World) -> None:
    target = world.write("dotfiles/settings.json", "old")
    os.makedirs(world.path(".claude"))
    link = world.path(".claude/settings.json")
    os.symlink("../dotfiles/settings.json", link)
    files.check_writable(link)
    files.replace(link, b"old", b"new", 0o600)
    assert os.readlink(link) == "../dotfiles/settings.json"
    assert world.read("dotfiles/settings.json") == "new"
    assert os.listdir(os.path.dirname(target)) == ["settings.json"]


def test_a_link_to_nothing_gets_its_target_and_loses_it_again(world: World) -> None:
    link = world.path("link")
    os.symlink("there/file", link)
    files.replace(link, None, b"new", 0o640)
    assert stat.S_IMODE(os.stat(world.path("there/file")).st_mode) == 0o640
    files.replace(link, b"new", None, 0o640)
    assert os.path.islink(link)
    assert not world.exists("there/file")


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o664])
def test_the_mode_stays(world: World, mode: int) -> None:
    path = world.write("file", "old", mode)
    files.replace(path, b"old", b"new", 0o600)
    assert stat.S_IMODE(os.stat(path).st_mode) == mode


@pytest.mark.root
def test_the_owner_stays(world: World) -> None:
    path = world.write("file", "old")
    os.chown(path, 65534, 65534)
    files.replace(path, b"old", b"new", 0o600)
    assert (os.stat(path).st_uid, os.stat(path).st_gid) == (65534, 65534)


def test_bytes_that_somebody_else_wrote_meanwhile_are_kept(world: World) -> None:
    path = world.write("file", "theirs")
    with pytest.raises(ReflexError, match="changed by someone else"):
        files.replace(path, b"old", b"new", 0o600)
    assert world.read("file") == "theirs"
    assert os.listdir(world.home) == ["file"]


def test_what_a_killed_run_left_is_no_obstacle(world: World) -> None:
    path = world.write("file", "old")
    world.write(f".file{files.MARK}", "half of the ne")
    files.replace(path, b"old", b"new", 0o600)
    assert world.read("file") == "new"
    assert os.listdir(world.home) == ["file"]


def test_a_link_in_the_temporary_file_s_place_is_not_followed(world: World) -> None:
    path = world.write("file", "old")
    world.write("victim", "precious")
    os.symlink(world.path("victim"), world.path(f".file{files.MARK}"))
    files.replace(path, b"old", b"new", 0o600)
    assert world.read("victim") == "precious"


def test_a_read_only_file_is_respected(world: World) -> None:
    path = world.write("file", "old", 0o444)
    with pytest.raises(ReflexError, match="read-only"):
        files.check_writable(path)


@pytest.mark.parametrize("kind", ["directory", "fifo", "below a file"])
def test_what_is_no_file_is_refused_and_not_waited_for(world: World, kind: str) -> None:
    path = world.path("thing")
    if kind == "directory":
        os.mkdir(path)
    elif kind == "fifo":
        os.mkfifo(path)
    else:
        world.write("thing", "")
        path = os.path.join(path, "file")
    with pytest.raises(ReflexError):
        files.check_writable(path)
    with pytest.raises(ReflexError):
        files.read(path)
