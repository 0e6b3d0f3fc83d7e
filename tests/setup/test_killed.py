"""A setup that is killed at any of its writes can be undone, by uninstall and by unhook alike."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.ctl.world import PATIENCE_S, World
from tests.setup import samples

KILLED = 99
WRAPPER = """
import os, sys
left, when = int(sys.argv[1]), sys.argv[2]
rename = os.rename

def counted(source, target):
    global left
    left -= 1
    if left == 0 and when == "before":
        os._exit(99)
    rename(source, target)
    if left == 0:
        os._exit(99)

os.rename = counted
from reflexd.ctl.main import main
sys.exit(main(["setup", "--agents", "claude,codex,opencode,pi,hermes", "--yes"]))
"""


def killed_setup(world: World, at: int, when: str) -> int:
    return subprocess.run(
        [sys.executable, "-c", WRAPPER, str(at), when],
        env=world.env(),
        cwd=world.home,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=PATIENCE_S,
    ).returncode


def agents_tree(world: World) -> dict[str, tuple[int, bytes]]:
    """The agents' files; directories made for ours may stay, empty, where unhook is all there is."""
    return {
        path: entry
        for path, entry in world.tree().items()
        if path.split("/")[0] != ".local" and os.path.isfile(world.path(path))
    }


@pytest.mark.slow
@pytest.mark.parametrize(("undo", "when"), [("uninstall", "before"), ("unhook", "after")])
def test_killed_at_every_write(world: World, undo: str, when: str) -> None:
    samples.all_agents(world)
    before = agents_tree(world)
    at, hooked = 0, 0
    while True:
        at += 1
        code = killed_setup(world, at, when)
        hooked += agents_tree(world) != before
        unhook = world.path(".local/share/reflex/unhook")
        if undo == "unhook" and os.path.exists(unhook):
            done = subprocess.run([unhook], env=world.env(), capture_output=True, text=True, timeout=PATIENCE_S)
            assert done.returncode == 0, (at, done.stderr)
            assert agents_tree(world) == before, at
        gone = world.ctl("uninstall", "--yes")
        assert gone.returncode == 0, (at, gone.stderr)
        assert agents_tree(world) == before, at
        if world.exists(".local/share/reflex/manifest.json"):
            pytest.fail("uninstall left its manifest")
        if code != KILLED:
            break
    assert at > 10, "setup makes fewer writes than it has files"
    assert hooked > 5, "no kill came between two edits"


def test_a_setup_after_a_killed_one_is_whole(world: World) -> None:
    samples.all_agents(world)
    before = agents_tree(world)
    assert killed_setup(world, 6, "after") == KILLED
    done = world.ctl("setup", "--agents", "claude,opencode,pi,hermes", "--yes")
    assert done.returncode == 0, done.stderr
    assert world.ctl("uninstall", "--yes").returncode == 0
    assert agents_tree(world) == before
