"""A task that a subagent has already is not given twice: through a real daemon."""

from __future__ import annotations

import json

import pytest

from reflexd.daemon.journal import Row
from tests.daemon.running import Daemon
from tests.daemon.test_judging import fixed, settings

TASK = "Find every caller of the old parser and list them"


def event(daemon: Daemon, name: str, **fields: object) -> int:
    said = {"hook_event_name": name, "session_id": "s", "cwd": "/tmp", **fields}
    return daemon.call("claude", name, json.dumps(said).encode()).exit


def spawn(daemon: Daemon, task: str, call: str, session: str = "s") -> Row:
    given = {"tool_name": "Task", "tool_input": {"prompt": task}, "tool_use_id": call, "session_id": session}
    event(daemon, "PreToolUse", **given)
    return next(row for row in daemon.rows() if row.kind == "verdict")


def test_a_repeat_is_refused_with_a_pointer_until_something_changes(daemon: Daemon) -> None:
    assert spawn(daemon, TASK, "c1").decision == "pass"
    event(daemon, "SubagentStart", agent_id="sub-1")
    again = spawn(daemon, f"  {TASK.upper()}.", "c2")
    assert (again.decision, again.decided_by) == ("deny", "repeat")
    assert "running" in again.reason
    assert "sub-1" in again.reason
    assert spawn(daemon, TASK, "c3", session="another").decision == "pass"
    assert spawn(daemon, TASK + " by file", "c4").decision == "pass"
    event(daemon, "SubagentStop", agent_id="sub-1")
    done = spawn(daemon, TASK, "c5")
    assert (done.decision, "was done" in done.reason) == ("deny", True)
    daemon.bash("make", session_id="s")
    assert spawn(daemon, TASK, "c6").decision == "pass"


@pytest.mark.parametrize("mode", ["shadow", "off"])
def test_outside_of_enforce_it_is_at_most_noted(short_home: str, mode: str) -> None:
    settings(short_home, f'mode = "{mode}"\n')
    with Daemon(short_home) as daemon:
        for call in ("c1", "c2"):
            row = spawn(daemon, TASK, call)
            assert row.decision == "pass"
        assert [why.rule for why in row.findings] == (["repeat"] if mode == "shadow" else [])


def test_one_that_failed_may_be_given_again(daemon: Daemon) -> None:
    spawn(daemon, TASK, "c1")
    given = {"tool_name": "Task", "tool_input": {"prompt": TASK}, "tool_use_id": "c1", "error": "it broke"}
    event(daemon, "PostToolUseFailure", **given)
    assert spawn(daemon, TASK, "c2").decision == "pass"


def test_a_judge_tells_the_same_task_in_other_words(short_home: str) -> None:
    settings(short_home, fixed('answers = { same = "0" }'))
    with Daemon(short_home) as daemon:
        assert spawn(daemon, TASK, "c1").decision == "pass"  # there is nothing to compare it with
        again = spawn(daemon, "List all places where the previous parser is still called", "c2")
        assert (again.decision, again.decided_by) == ("deny", "repeat")
        assert "as it seems" in again.reason


@pytest.mark.parametrize(
    "answers",
    [
        'answers = { same = "none" }',
        'answers = { same = { "0" = 0.8, none = 0.2 } }',
        'none = "unavailable"',
        "wait_s = 30",
    ],
)
def test_any_doubt_lets_it_go_on(short_home: str, answers: str) -> None:
    settings(short_home, fixed(answers))
    with Daemon(short_home) as daemon:
        spawn(daemon, TASK, "c1")
        row = spawn(daemon, "List all places where the previous parser is still called", "c2")
        assert row.decided_by != "repeat"
        assert "bug: " not in daemon.log(), daemon.log()
