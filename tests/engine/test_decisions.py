"""The bodies of /v1/decisions."""

from __future__ import annotations

import json
from typing import Any

import pytest

from reflexd.engine import decisions, hashed
from reflexd.engine.errors import Invalid

PREDICATE = {"type": "predicate", "name": "red", "instructions": "Is it red?"}
CHOICE = {"type": "choice", "choices": [{"value": "a", "description": "first"}, {"value": "b"}]}
SCORE = {"type": "score", "name": "late", "levels": ["early", "late"]}


def body(questions: list[Any], given: Any = "the state", **more: Any) -> bytes:
    return json.dumps({"model": "m", "input": given, "questions": questions} | more).encode()


def answered(data: bytes) -> dict[str, Any]:
    draft = decisions.parse(data)
    with hashed.engine() as engine:
        response = engine.answer(draft.request(), 20)
    found: dict[str, Any] = json.loads(decisions.encode(response, "m", "margin", draft))
    return found


def test_answers_in_order_with_their_names() -> None:
    found = answered(body([PREDICATE, CHOICE, SCORE], safety_identifier="x"))
    red, choice, late = found["answers"]
    assert (red["name"], red["type"]) == ("red", "predicate")
    assert 0 <= red["probability"] <= 1
    assert "name" not in choice
    assert choice["choice"] in choice["probabilities"]
    assert list(choice["probabilities"]) == ["a", "b"]
    assert (late["name"], late["legend"]) == ("late", {"0": "early", "1": "late"})
    assert found["usage"]["output_tokens"] == 0


def test_a_question_that_is_wrong_is_refused_in_its_place() -> None:
    wrong: list[Any] = [
        {"type": "box"},
        {"type": "choice", "choices": [{"value": "a"}]},
        {"type": "choice", "choices": [{"value": "a"}, {"value": "a"}]},
        {"type": "score", "levels": {"0": "a"}},
        "no object",
        {"type": "predicate", "name": 3},
    ]
    found = answered(body([*wrong, PREDICATE]))["answers"]
    assert [one["type"] for one in found] == ["refusal"] * 6 + ["predicate"]
    assert "at least two options" in found[1]["refusal"]
    with pytest.raises(Invalid) as refused:
        decisions.parse(body(wrong))
    assert [fault.loc for fault in refused.value.faults] == [("body", "questions", number) for number in range(6)]


def test_messages_are_a_state() -> None:
    draft = decisions.parse(
        body([PREDICATE], [{"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}])
    )
    assert draft.state == [{"role": "user", "content": "a\nb"}]


@pytest.mark.parametrize(
    "given", [None, 3, [], [{"role": "user"}], [{"content": "x"}], ["x"], [{"role": "u", "content": [{"image": 1}]}]]
)
def test_an_input_that_is_none_is_refused(given: Any) -> None:
    with pytest.raises(Invalid):
        decisions.parse(body([PREDICATE], given))
