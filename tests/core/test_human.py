"""A model that approves everything gets nothing of the always-human class through, however it is written."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec import structs

from reflexd.core import questions
from reflexd.core.casefile import Case, circumstances
from reflexd.core.decide import decide, judged, undecided
from reflexd.core.facts import facts
from reflexd.core.human import why_human
from reflexd.core.policy import shipped
from reflexd.judge.fixed import answers
from reflexd.types import Context, Decision, Finding, Judged, Mcp, Origin, Shell, Tool, ToolCall, Verdict
from tests.gate.mutators import EVERY, applies, mutated

CASES = [json.loads(line) for line in (Path(__file__).parent / "human.jsonl").read_text().splitlines()]
CONTEXT = Context(cwd="/home/dev/proj", home="/home/dev", user="dev")
DOUBTFUL = {"blast": 2.4, "mutates": 0.6}
"""What makes a gate ask that a model may answer."""


def approvable(tool: Tool, tainted: bool = False) -> bool:
    """Whether the call would be put to a stronger judge, and could run on its word."""
    context = structs.replace(CONTEXT, taint=("a page",)) if tainted else CONTEXT
    found = facts(tool, context)
    verdict = decide(ToolCall(Origin("claude", "PreToolUse"), "Bash", tool), found, context, shipped())
    if undecided(verdict, "off"):
        said = Judged("fixed", "1", answers(questions.shipped().fitting({}), DOUBTFUL))
        held = circumstances(tool, found, context, Case("x"))
        verdict = judged(verdict, said, held, context, shipped())
    return verdict.decision is Decision.ASK and why_human(tool, found, context, verdict, shipped()) == ""


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["command"][:40])
def test_no_model_approves_a_case_of_the_class(case: dict[str, str]) -> None:
    assert not approvable(Shell(case["command"]), case["class"] == "tainted")


@pytest.mark.slow
@pytest.mark.parametrize("mutator", sorted(EVERY))
def test_nor_one_that_is_written_otherwise(mutator: str) -> None:
    through = [
        text
        for case in CASES
        if applies(mutator, case["command"])
        and approvable(Shell(text := mutated(case["command"], mutator)), case["class"] == "tainted")
    ]
    assert through == []


@pytest.mark.parametrize(
    "tool",
    [
        Mcp("shop", "create_refund", "{}"),
        Mcp("shop", "chargeCustomer", "{}"),
        Mcp("cloud", "add-role", "{}"),
        Mcp("repo", "invite_member", "{}"),
    ],
)
def test_tools_of_servers_are_told_by_their_words(tool: Tool) -> None:
    assert not approvable(tool)


@pytest.mark.parametrize(
    "command", ["git push origin feature", "curl -s https://docs.example/api", "gh pr create --fill"]
)
def test_a_model_may_approve_plain_work(command: str) -> None:
    """Else the class would be everything, and the test above could not fail."""
    assert approvable(Shell(command))


def test_what_may_leave_a_tainted_session_is_a_persons_whatever_gate_asked() -> None:
    """Its own gate is marked; this holds where another one spoke alone."""
    tool = Shell("git push origin feature")
    context = structs.replace(CONTEXT, taint=("a page",))
    found = facts(tool, context)
    asked = Verdict(
        Decision.ASK, decided_by="gate", rule="judge-blast", findings=(Finding("judge-blast", Decision.ASK, "x"),)
    )
    assert "tainted" in why_human(tool, found, context, asked, shipped())
    assert why_human(tool, found, CONTEXT, asked, shipped()) == ""
