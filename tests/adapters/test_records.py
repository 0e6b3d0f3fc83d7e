"""What an agent's own records say that it is about to do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.adapters import records
from reflexd.types import AGENTS, Agent

Row = dict[str, Any]


def claude(who: str, *blocks: object, **more: object) -> Row:
    return {"type": who, "message": {"role": who, "content": list(blocks)}, **more}


def text(words: str) -> Row:
    return {"type": "text", "text": words}


def codex(kind: str, **payload: object) -> Row:
    return {"type": kind, "payload": payload}


def pi(role: str, *blocks: object) -> Row:
    return {"type": "message", "message": {"role": role, "content": list(blocks)}}


PROMPT: dict[Agent, Row] = {
    "claude": {"type": "user", "message": {"role": "user", "content": "tidy up"}},
    "codex": codex("event_msg", type="user_message", message="tidy up"),
    "pi": pi("user", text("tidy up")),
}
SAYS: dict[Agent, Row] = {
    "claude": claude("assistant", text("I will push")),
    "codex": codex(
        "response_item", type="message", role="assistant", content=[{"type": "output_text", "text": "I will push"}]
    ),
    "pi": pi("assistant", text("I will push")),
}
CALLS: dict[Agent, Row] = {
    "claude": claude("assistant", {"type": "tool_use", "id": "c1", "name": "Bash", "input": {}}),
    "codex": codex("response_item", type="function_call", name="shell", arguments="{}", call_id="c1"),
    "pi": pi("assistant", {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {}}),
}
RESULT: dict[Agent, Row] = {
    "claude": claude("user", {"type": "tool_result", "tool_use_id": "c1", "content": "I will delete everything"}),
    "codex": codex("response_item", type="function_call_output", call_id="c1", output="I will delete everything"),
    "pi": {
        "type": "message",
        "message": {"role": "toolResult", "toolCallId": "c1", "content": [text("I will delete everything")]},
    },
}
WRITING = sorted(PROMPT)


def intent(agent: Agent, *rows: Row, call: str = "c1") -> str:
    return records.intent(agent, b"\n".join(json.dumps(row).encode() for row in rows), call)


@pytest.mark.parametrize("agent", WRITING)
def test_what_was_said_before_the_call_is_found(agent: Agent) -> None:
    assert intent(agent, PROMPT[agent], SAYS[agent], CALLS[agent]) == "I will push"
    assert intent(agent, PROMPT[agent], SAYS[agent]) == "I will push"


@pytest.mark.parametrize("agent", WRITING)
def test_what_a_tool_returned_is_never_the_agents_word(agent: Agent) -> None:
    assert intent(agent, PROMPT[agent], CALLS[agent], RESULT[agent], CALLS[agent]) == ""
    assert intent(agent, PROMPT[agent], SAYS[agent], CALLS[agent], RESULT[agent], CALLS[agent]) == "I will push"


@pytest.mark.parametrize("agent", WRITING)
def test_words_of_another_turn_are_stale(agent: Agent) -> None:
    assert intent(agent, SAYS[agent], PROMPT[agent], CALLS[agent]) == ""
    assert intent(agent, PROMPT[agent], SAYS[agent], CALLS[agent], RESULT[agent]) == ""
    assert intent(agent, PROMPT[agent], SAYS[agent], CALLS[agent], RESULT[agent], call="c2") == ""


def again(row: Row, id: str) -> Row:
    found: Row = json.loads(json.dumps(row).replace('"c1"', json.dumps(id)))
    return found


@pytest.mark.parametrize("agent", WRITING)
def test_a_call_keeps_its_words_while_one_beside_it_ends(agent: Agent) -> None:
    both = (PROMPT[agent], SAYS[agent], CALLS[agent], again(CALLS[agent], "c2"), RESULT[agent])
    assert intent(agent, *both, call="c2") == "I will push"
    assert intent(agent, *both, again(RESULT[agent], "c2"), call="c2") == ""
    assert intent(agent, *both, call="") == "", "which call it is has to be known for that"


@pytest.mark.parametrize("agent", WRITING)
def test_an_id_that_comes_again_is_not_the_call_before(agent: Agent) -> None:
    assert intent(agent, PROMPT[agent], SAYS[agent], CALLS[agent], RESULT[agent], call="c1") == ""
    before = (PROMPT[agent], SAYS[agent], CALLS[agent], PROMPT[agent])
    assert intent(agent, *before, call="c1") == ""
    assert intent(agent, *before, SAYS[agent], call="c1") == "I will push"


def test_a_call_without_an_id_is_no_particular_one() -> None:
    nameless = codex("response_item", type="function_call", name="shell", arguments="{}")
    assert intent("codex", PROMPT["codex"], SAYS["codex"], nameless, RESULT["codex"], call="") == ""


def test_what_claude_did_not_say_itself_does_not_count() -> None:
    meta = claude("user", text("tidy"), isMeta=True)
    assert intent("claude", PROMPT["claude"], SAYS["claude"], meta, CALLS["claude"]) == "I will push"
    said = (PROMPT["claude"], SAYS["claude"])
    assert intent("claude", *said, meta) == "", "a hook has sent it on since"
    assert intent("claude", *said, claude("user", text("<system-reminder>x")), CALLS["claude"]) == "I will push"
    assert intent("claude", *said, claude("user", text("<p> is too wide")), CALLS["claude"]) == ""
    other = {"type": "api-request-blob", "message": {"role": "assistant", "content": [text("another's")]}}
    assert intent("claude", PROMPT["claude"], other, CALLS["claude"]) == ""


@pytest.mark.parametrize(
    ("agent", "transcript", "subagent", "found"),
    [
        ("claude", "/p/s.jsonl", "", "/p/s.jsonl"),
        ("claude", "/p/s.jsonl", "a1", "/p/s/subagents/agent-a1.jsonl"),
        ("claude", "/p/s.jsonl", "../a1", ""),
        ("claude", "", "a1", ""),
        ("codex", "/p/rollout-01a2-06.jsonl", "01a2-06", "/p/rollout-01a2-06.jsonl"),
        ("codex", "/p/rollout-01a2-06.jsonl", "01a2-07", ""),
        ("pi", "/p/s.jsonl", "", "/p/s.jsonl"),
        ("pi", "/p/s.jsonl", "a1", ""),
    ],
)
def test_where_a_conversation_is_written_down(agent: Agent, transcript: str, subagent: str, found: str) -> None:
    assert records.place(agent, transcript, subagent) == found


@pytest.mark.parametrize("agent", WRITING)
def test_a_cut_first_line_and_a_torn_last_one_are_nothing(agent: Agent) -> None:
    whole = b"\n".join(json.dumps(row).encode() for row in (PROMPT[agent], SAYS[agent], CALLS[agent]))
    assert records.intent(agent, b'xt": 1}\n' + whole + b'\n{"type": "ass', "c1") == "I will push"


@given(st.sampled_from(AGENTS), st.binary(max_size=300))
def test_any_bytes_are_read(agent: Agent, data: bytes) -> None:
    assert isinstance(records.intent(agent, data, "c1"), str)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
keys = st.sampled_from(["type", "message", "payload", "content", "role", "text", "id", "tool_use_id", "call_id"])


@given(st.sampled_from(WRITING), st.lists(st.dictionaries(keys, values | keys), max_size=6))
def test_rows_of_any_shape_are_read(agent: Agent, rows: list[Row]) -> None:
    assert isinstance(intent(agent, *rows), str)


@pytest.mark.parametrize("agent", WRITING)
def test_records_lag_until_they_show_the_call(agent: Agent) -> None:
    rows = [json.dumps(row).encode() for row in (PROMPT[agent], SAYS[agent], CALLS[agent])]
    assert records.lag(agent, b"\n".join(rows[:2]), "c1")
    assert not records.lag(agent, b"\n".join(rows), "c1")
    assert not records.lag(agent, b"", "")


def test_agents_without_records_never_lag() -> None:
    assert not records.lag("hermes", b"", "c1")
