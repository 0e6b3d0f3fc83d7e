"""envelope set, show and clear: a person's, at a terminal."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest

from tests.ctl.world import World


def held(world: World) -> list[dict[str, Any]]:
    found = json.loads(world.ctl("envelope", "show", "--json").stdout)["held"]
    assert isinstance(found, list)
    return found


def test_a_life(world: World) -> None:
    assert world.ctl("start").returncode == 0
    assert "no envelope" in world.ctl("envelope", "show").stderr
    work = os.path.realpath(world.path("work"))
    os.mkdir(work)
    code, said = world.ctl_tty("envelope", "set", "only the docs", "--cwd", work, "--ttl", "2h")
    assert code == 0, said
    code, said = world.ctl_tty("envelope", "set", "read alone", "--session", "pi:1")
    assert code == 0, said
    assert {(e["holder"], e["terms"], e["until"] > e["at"]) for e in held(world)} == {
        (work, "only the docs", True),
        ("pi:1", "read alone", False),
    }
    assert "~/work until 2" in world.ctl("envelope", "show").stdout
    code, said = world.ctl_tty("envelope", "set", "x", "--session", "unheard")
    assert code == 1
    assert "claude:<id>" in said
    code, said = world.ctl_tty("envelope", "clear", "--session", "pi:1")
    assert code == 0, said
    code, said = world.ctl_tty("envelope", "clear", "--session", "pi:1")
    assert code == 1
    assert [e["holder"] for e in held(world)] == [work]


@pytest.mark.parametrize("command", [["set", "anything"], ["clear"]])
def test_nobody_without_a_terminal_changes_one(world: World, command: list[str]) -> None:
    assert world.ctl("start").returncode == 0
    done = world.ctl("envelope", *command)
    assert done.returncode == 1
    assert "only a person" in done.stderr
    assert held(world) == []
