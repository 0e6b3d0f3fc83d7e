"""When a subagent's task is the same as another's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core import repeats
from reflexd.types import Decision, Finding, Mode, Spawn, Verdict


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Review the parser for bugs", "review  the parser\nfor BUGS."),
        ("Review the parser for bugs", '"Review" the (parser), for bugs!'),
        ("- look at src/a.py\n- then at b", "look at ./src//a.py then at b"),
        ("fix the test in tests/x/../y.py now", "fix the test in tests/y.py now"),
        ("Größe der Datei prüfen", "GRÖSSE der Datei prüfen"),
    ],
)
def test_what_does_not_change_a_task_is_put_aside(one: str, other: str) -> None:
    assert repeats.key(Spawn(one), "/w")
    assert repeats.key(Spawn(one), "/w") == repeats.key(Spawn(other), "/w")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("review the parser for bugs", "review the lexer for bugs"),
        ("run it with -x first", "run it with x first"),
        ("bump to version 1.5 now", "bump to version 15 now"),
        ("go through a-b and c", "go through ab and c"),
        ("look at all of ..", "look at all of"),
        ("first the parser then tests", "then tests first the parser"),
        ("look at https://x.example/a//b first", "look at https://x.example/a/b first"),
        ("is a == b here", "is a != b here"),
    ],
)
def test_what_could_change_a_task_is_not(one: str, other: str) -> None:
    assert repeats.key(Spawn(one), "/w") != repeats.key(Spawn(other), "/w")


def test_elsewhere_or_by_somebody_else_it_is_another_task() -> None:
    spawn = Spawn("review the parser for bugs", "critic")
    assert repeats.key(spawn, "/w") != repeats.key(spawn, "/v")
    assert repeats.key(spawn, "/w") != repeats.key(Spawn(spawn.task, "writer"), "/w")


@pytest.mark.parametrize("task", ["", "go on", "continue.", "- \n yes! ", "x " * repeats.TASK_MAX])
def test_what_means_something_only_where_it_is_said_is_never_the_same(task: str) -> None:
    assert repeats.key(Spawn(task), "/w") == b""


@given(st.text(max_size=200))
def test_any_text_has_a_normal_form_that_is_its_own(task: str) -> None:
    once = repeats.normal(task)
    assert repeats.normal(once).split() == [repeats.normal(word) for word in once.split() if repeats.normal(word)]
    repeats.key(Spawn(task), "/w")


@pytest.mark.parametrize(
    ("mode", "decision", "found"),
    [("enforce", Decision.DENY, 1), ("shadow", Decision.PASS, 1), ("off", Decision.PASS, 0)],
)
def test_only_enforce_holds_a_repeat_back(mode: Mode, decision: Decision, found: int) -> None:
    verdict = repeats.held(Verdict(Decision.PASS), "the same task is running", mode)
    assert (verdict.decision, len(verdict.findings)) == (decision, found)


def test_what_is_stopped_anyway_or_no_repeat_stays_as_it_is() -> None:
    ask = Verdict(Decision.ASK, "a rule", "rule", "r", (Finding("r", Decision.ASK, "a rule"),))
    assert repeats.held(ask, "the same task is running", "enforce") == ask
    assert repeats.held(Verdict(Decision.PASS), "", "enforce") == Verdict(Decision.PASS)
