"""A task in other words, as a choice: only a sure answer in the right form counts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core import alike
from reflexd.types import Answer, Choice, ChoiceAnswer, NoAnswer, NoulAnswer, Response, Usage

OTHERS = [f"task {number}" for number in range(12)]


def said(answer: Answer, name: str = "same") -> Response:
    return Response(((name, answer),), Usage(0, 0, 0), 0.0)


def choice(option: str, p: float = 1.0) -> Response:
    return said(ChoiceAnswer(option, ((option, p), ("none", 1 - p)), 1.0, 1.0))


def test_the_last_tasks_are_the_options_and_none_is_one() -> None:
    ((name, question),) = alike.asked("new", OTHERS).questions
    assert isinstance(question, Choice)
    assert [text for _, text in question.options][:-1] == OTHERS[-alike.TASKS_MAX :]
    assert question.options[-1][0] == alike.NONE
    assert name == "same"


def test_a_sure_choice_is_a_place_among_all() -> None:
    assert alike.chosen(OTHERS, choice("0")) == len(OTHERS) - alike.TASKS_MAX
    assert alike.chosen(OTHERS[:2], choice("1")) == 1


@pytest.mark.parametrize(
    "answer",
    [
        choice("none"),
        choice("0", 0.84),
        choice("8"),
        choice("-1"),
        choice("\N{SUPERSCRIPT TWO}"),
        choice("x"),
        said(NoulAnswer(1.0)),
        said(ChoiceAnswer("0", (), 1.0, 1.0), "other"),
        NoAnswer("timeout"),
    ],
)
def test_anything_else_is_none(answer: Response | NoAnswer) -> None:
    assert alike.chosen(OTHERS, answer) is None


@given(st.text(max_size=4), st.floats(0, 1))
def test_any_choice_is_a_place_or_none(option: str, p: float) -> None:
    found = alike.chosen(OTHERS, choice(option, p))
    assert found is None or 0 <= found < len(OTHERS)
