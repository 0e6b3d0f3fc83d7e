"""Which spawns repeat what a subagent of the session does or did; every doubt lets them go on."""

from __future__ import annotations

import pytest

from reflexd.daemon import subagents
from reflexd.daemon.subagents import Subagents
from reflexd.types import (
    Agent,
    Origin,
    Prompt,
    SessionEnd,
    Shell,
    Spawn,
    SubagentStart,
    SubagentStop,
    ToolCall,
    ToolResult,
)

TASK = "review the parser for bugs"


def origin(subagent: str = "", session: str = "s", agent: Agent = "claude") -> Origin:
    return Origin(agent, "x", session, "/w", subagent=subagent)


def spawn(call: str, task: str = TASK, agent: Agent = "claude", session: str = "s") -> ToolCall:
    return ToolCall(origin(agent=agent, session=session), "Agent", Spawn(task), call)


def result(call: str, failed: bool = False, agent: Agent = "claude") -> ToolResult:
    return ToolResult(origin(agent=agent), "Agent", Spawn(TASK), call, "", failed)


@pytest.fixture
def known() -> Subagents:
    """A session in which one subagent is at work since 100."""
    made = Subagents()
    made.began(spawn("1"), 100)
    made.note(SubagentStart(origin("a1")), 101)
    made.note(result("1"), 102)  # it runs in the background
    return made


def test_what_is_running_is_pointed_at(known: Subagents) -> None:
    why = known.repeated(spawn("2", "Review the parser, for bugs."), 280)
    assert why == "the same task is running since 3 min (subagent a1): wait for it, or say what is different"
    assert known.repeated(spawn("2", "review the lexer for bugs"), 280) == ""
    assert known.repeated(spawn("2", session="other"), 280) == ""
    assert known.repeated(spawn("1"), 280) == "", "the call itself, asked about twice"
    assert known.repeated(ToolCall(origin(), "Bash", Shell(TASK), "2"), 280) == ""


def test_what_is_done_is_pointed_at_until_something_came_in_between(known: Subagents) -> None:
    known.note(SubagentStop(origin("a1")), 200)
    assert known.repeated(spawn("2"), 230).startswith("the same task was done 30 s ago (subagent a1): use its result")
    known.changed(origin())
    assert known.repeated(spawn("2"), 230) == ""


def test_a_prompt_of_the_person_is_a_reason_to_do_it_again_but_not_twice_at_once(known: Subagents) -> None:
    known.note(Prompt(origin(), "again please"), 200)
    assert known.repeated(spawn("2"), 201)
    known.note(SubagentStop(origin("a1")), 202)
    known.note(Prompt(origin(), "again please"), 203)
    assert known.repeated(spawn("2"), 204) == ""


@pytest.mark.parametrize("agent", ["claude", "codex", "hermes", "opencode"])
def test_what_failed_may_be_tried_again(agent: Agent) -> None:
    made = Subagents()
    made.began(spawn("1", agent=agent), 100)
    made.note(SubagentStart(origin("a1", agent=agent)), 100)
    assert made.repeated(spawn("2", agent=agent), 101)
    made.note(result("1", failed=True, agent=agent), 101)
    assert made.repeated(spawn("2", agent=agent), 102) == ""


def test_a_result_of_what_never_started_is_no_outcome() -> None:
    made = Subagents()
    made.began(spawn("1"), 100)
    made.note(result("1"), 101)
    assert made.repeated(spawn("2"), 102) == ""


def test_what_the_agent_itself_refused_is_in_doubt_soon() -> None:
    made = Subagents()
    made.began(spawn("1"), 100)
    assert made.repeated(spawn("2"), 100 + subagents.STARTING_S - 1)
    assert made.repeated(spawn("2"), 100 + subagents.STARTING_S) == ""


def test_an_agent_that_does_not_tell_of_failures_is_believed_only_for_what_it_begins_at_once() -> None:
    made = Subagents()
    made.began(spawn("1", agent="opencode"), 100)
    made.note(SubagentStart(origin("ses_2", agent="opencode"), "a title"), 101)
    assert made.repeated(spawn("2", agent="opencode"), 102)
    assert made.repeated(spawn("2", agent="opencode"), 100 + subagents.TOGETHER_S) == ""
    made.note(result("1", agent="opencode"), 200)
    assert "was done" in made.repeated(spawn("2", agent="opencode"), 201)


def test_what_never_ends_is_in_doubt_some_day_and_the_session_s_end_forgets_all(known: Subagents) -> None:
    assert known.repeated(spawn("2"), 101 + subagents.RUNNING_S - 1)
    assert known.repeated(spawn("2"), 101 + subagents.RUNNING_S) == ""
    known.note(SessionEnd(origin()), 103)
    assert known.repeated(spawn("2"), 104) == ""


def test_of_several_that_start_at_once_none_is_named() -> None:
    made = Subagents()
    for number in range(3):
        made.began(spawn(str(number), f"look at file number {number}"), 100)
    made.note(SubagentStart(origin("a1")), 101)
    assert "(subagent" not in made.repeated(spawn("9", "look at file number 0"), 102)
    made.note(SubagentStart(Origin("claude", "x", "s", "/w", subagent="a2"), "look at file number 2"), 103)
    assert "(subagent a2)" in made.repeated(spawn("9", "look at file number 2"), 104)


def test_memory_is_bounded() -> None:
    made = Subagents()
    for number in range(3 * subagents.TASKS_MAX):
        made.began(spawn(str(number), f"look at file number {number}"), 100)
    for number in range(2 * subagents.SESSIONS_MAX):
        made.began(spawn("1", session=f"s{number}"), 100)
    assert sum(map(len, made._sessions.values())) <= subagents.SESSIONS_MAX + subagents.TASKS_MAX
    assert made.repeated(spawn("2", session=f"s{2 * subagents.SESSIONS_MAX - 1}"), 101)


def test_a_secret_in_a_task_is_masked_before_a_judge_may_read_it() -> None:
    known = Subagents()
    known.began(spawn("c1", "Rotate the key AKIAIOSFODNN7EXAMPLQ in every config file"), 0.0)
    (task,) = known.others(spawn("c2", "Change that key in all the configuration"), 1.0)
    assert "[redacted:" in task.shown
    assert "AKIA" not in task.shown
    assert "odnn7" not in task.shown.lower()
