"""Bodies of /v1/systemone: what is understood, and every refusal with its place."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.engine import schema
from reflexd.engine.errors import Invalid
from reflexd.types import Choice, Noul, Score

REFUSED = [json.loads(line) for line in (Path(__file__).parent / "vectors" / "refused.jsonl").read_text().splitlines()]
NOUL = {"type": "noul", "instructions": "Is it red?"}


def body(**fields: Any) -> bytes:
    return json.dumps({"model": "m", "state": "x", "questions": {"q": NOUL}} | fields).encode()


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["says"][:40])
def test_a_refusal_names_its_place(case: dict[str, Any]) -> None:
    given = case["body"].encode() if isinstance(case["body"], str) else json.dumps(case["body"]).encode()
    with pytest.raises(Invalid) as refused:
        schema.parse(given)
    places = {tuple(fault.loc): fault.msg for fault in refused.value.faults}
    assert tuple(case["loc"]) in places
    assert case["says"] in places[tuple(case["loc"])]


def test_all_faults_are_told_at_once() -> None:
    with pytest.raises(Invalid) as refused:
        schema.parse(
            json.dumps({"questions": {"a": {"type": "box"}, "b": {"type": "choice", "criteria": {}}}}).encode()
        )
    assert [fault.loc[1] for fault in refused.value.faults] == ["model", "state", "questions", "questions"]


def test_the_three_questions_in_their_order() -> None:
    draft = schema.parse(
        body(
            questions={
                "z": {"type": "score", "criteria": ["low", {"a": 1}], "instructions": ["x"]},
                "a": {"type": "choice", "criteria": {"b": None, "a": "text"}},
                "m": {"type": "noul", "criteria": {"false": "no"}},
            },
            permutations=3,
            disagreement=True,
            unknown={"ignored": 1},
        )
    )
    assert draft.questions == (
        ("z", Score(("low", {"a": 1}), ["x"])),
        ("a", Choice((("b", None), ("a", "text")))),
        ("m", Noul(None, None, "no")),
    )
    assert (draft.permutations, draft.disagreement, draft.sources) == (3, True, ())


@pytest.mark.parametrize("criteria", [None, {}, {"true": "a"}, {"false": "b"}, {"true": "a", "false": None}])
def test_sides_of_a_noul_may_be_left_out(criteria: Any) -> None:
    schema.parse(body(questions={"q": NOUL | {"criteria": criteria}}))


def test_255_options_are_taken_and_256_are_not() -> None:
    options = {f"option {number}": None for number in range(255)}
    schema.parse(body(questions={"q": {"type": "choice", "criteria": options}}))
    with pytest.raises(Invalid, match="at most 255 options per choice"):
        schema.parse(body(questions={"q": {"type": "choice", "criteria": options | {"one more": None}}}))


@pytest.mark.parametrize("opening", ["[", '{"a":'])
def test_a_state_nested_without_end_is_refused(opening: str) -> None:
    deep = opening * 100_000
    with pytest.raises(Invalid):
        schema.parse(b'{"model": "m", "questions": {}, "state": ' + deep.encode())
    with pytest.raises(Invalid, match="64 levels"):
        schema.parse(body(state=json.loads("[" * 80 + "]" * 80)))


def test_of_equal_keys_the_last_counts() -> None:
    draft = schema.parse(
        b'{"model": "m", "state": "a", "state": "b", "questions": {"q": {"type": "noul", "instructions": "x"}}}'
    )
    assert draft.state == "b"


def test_images_become_markers_that_no_text_holds() -> None:
    state = {
        "a": {"type": "image", "source": "one.png"},
        "b": ["see <p>, and <p>", {"type": "image", "source": "two.png"}],
    }
    asset = {"type": "image", "format": "png", "data_base64": "AAAA"}
    draft = schema.parse(body(state=state, assets={"<p>": asset}))
    markers = [source.marker for source in draft.sources]
    assert len(set(markers)) == 4
    assert [source.loc for source in draft.sources] == [
        ("body", "state", "a"),
        ("body", "state", "b", 0),
        ("body", "state", "b", 0),
        ("body", "state", "b", 1),
    ]
    shown = json.dumps(draft.state)
    assert all(shown.count(marker) == 1 for marker in markers)
    assert all(marker not in body(state=state).decode() for marker in markers)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(st.sampled_from(["model", "state", "questions", "assets", "permutations", "x"]), values, max_size=6)
)
def test_whatever_comes_is_understood_or_refused(fields: dict[str, Any]) -> None:
    try:
        draft = schema.parse(json.dumps(fields).encode())
    except Invalid:
        return
    assert draft.questions


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(Invalid):
        schema.parse(data)
