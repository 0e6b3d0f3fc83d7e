"""What a host does with each rendered verdict. A deny never runs the tool; a pass never stops it."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reflexd.adapters.all import ADAPTERS
from reflexd.types import AGENTS, Agent, Decision, Finding, Reply, Verdict
from reflexd.wire import decode_reply_header, encode_reply
from tests.adapters.hosts import Outcome, outcome

GUARDED = [(agent, event) for agent in AGENTS for event in sorted(ADAPTERS[agent].GUARDED)]
OTHERS = [
    (agent, e) for agent in AGENTS for e in (*ADAPTERS[agent].EVENTS, "Unheard") if e not in ADAPTERS[agent].GUARDED
]
PROMPTS = {("claude", "UserPromptSubmit"), ("codex", "UserPromptSubmit")}
"""Where a refused prompt goes no further, and nothing breaks."""
ASKS = {("claude", "PreToolUse"), ("claude", "PermissionRequest"), ("pi", "tool_call"), ("hermes", "pre_tool_call")}

texts = st.one_of(
    st.text(st.characters(codec=None, categories=None), max_size=60),
    st.sampled_from(
        ["", " ", "\n", "\x00", "\u202e", "\ud800", "x" * 100_000, "é" * 5_000, "a\r\nb\x1b[31m", '"}{', "\u2028"]
    ),
)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    decision = draw(st.sampled_from(Decision))
    rule, reason = draw(texts), draw(texts)
    return Verdict(decision, reason, draw(texts), rule, (Finding(rule, decision, reason),), draw(texts), draw(texts))


def render(agent: Agent, event: str, verdict: Verdict, can_ask: bool) -> Reply:
    reply = ADAPTERS[agent].render(event, verdict, can_ask)
    head, _, body = encode_reply(reply).partition(b"\n")
    counted = decode_reply_header(head)
    assert (counted.exit, counted.stdout + counted.stderr) == (reply.exit, len(body))
    assert len(body) < 20_000
    return reply


def words(reply: Reply) -> str:
    """All that a reply says, whichever stream or field it is in."""
    return reply.stderr.decode() + (json.dumps(json.loads(reply.stdout), ensure_ascii=False) if reply.stdout else "")


@given(st.sampled_from(GUARDED), verdicts(), st.booleans())
@example(("codex", "PreToolUse"), Verdict(Decision.DENY), False)
@example(("claude", "PermissionRequest"), Verdict(Decision.ASK), False)
@example(("hermes", "pre_tool_call"), Verdict(Decision.ASK, id="\n"), True)
def test_a_host_does_what_was_decided(where: tuple[Agent, str], verdict: Verdict, can_ask: bool) -> None:
    got = outcome(*where, render(*where, verdict, can_ask))
    before = Outcome.ASKED if where[1] == "PermissionRequest" else Outcome.RUN
    match verdict.decision:
        case Decision.DENY:
            assert got is Outcome.BLOCKED
        case Decision.ASK:
            assert got in ((Outcome.ASKED, Outcome.BLOCKED) if can_ask else (Outcome.BLOCKED,))
        case _:
            assert got is before


@pytest.mark.parametrize("where", GUARDED, ids=str)
def test_an_ask_is_asked_exactly_where_a_host_can(where: tuple[Agent, str]) -> None:
    verdict = Verdict(Decision.ASK, "this reads a key", "rule", "secrets.read", id="AbC")
    assert outcome(*where, render(*where, verdict, True)) is (Outcome.ASKED if where in ASKS else Outcome.BLOCKED)
    assert outcome(*where, render(*where, verdict, False)) is Outcome.BLOCKED


@pytest.mark.parametrize("where", GUARDED, ids=str)
def test_a_pass_is_no_output_at_all(where: tuple[Agent, str]) -> None:
    assert render(*where, Verdict(Decision.PASS, "read-only"), True) == Reply()


@pytest.mark.parametrize("where", GUARDED, ids=str)
def test_allow_is_said_to_claude_alone(where: tuple[Agent, str]) -> None:
    reply = render(*where, Verdict(Decision.ALLOW, "known safe", "rule", "safe.git", id="AbC"), True)
    if where != ("claude", "PreToolUse"):
        assert reply == Reply()
        return
    output = json.loads(reply.stdout)["hookSpecificOutput"]
    assert output["permissionDecision"] == "allow"
    assert "known safe" in output["permissionDecisionReason"]


@pytest.mark.parametrize("where", GUARDED, ids=str)
def test_a_refusal_names_its_reason_rule_and_id(where: tuple[Agent, str]) -> None:
    said = words(
        render(*where, Verdict(Decision.DENY, "this deletes\nthe home", "rule", "home.delete", id="AbC"), False)
    )
    assert "reflex: this deletes the home [home.delete; reflexctl why AbC]" in said
    said = words(render(*where, Verdict(Decision.DENY, "too late", "deadline", id="AbC"), False))
    assert "[deadline; reflexctl why AbC]" in said
    said = words(render(*where, Verdict(Decision.ASK, "this reads a key", "rule", "secrets.read", id="AbC"), False))
    assert "this reads a key" in said
    assert "a person" in said
    assert "[secrets.read; reflexctl why AbC]" in said


@given(st.sampled_from(GUARDED), verdicts())
def test_a_refusal_is_one_printable_bounded_line(where: tuple[Agent, str], verdict: Verdict) -> None:
    reply = render(
        *where, Verdict(Decision.DENY, verdict.reason, verdict.decided_by, verdict.rule, id=verdict.id), False
    )
    line = reply.stderr.decode().rstrip("\n")
    if reply.stdout:
        line = json.loads(reply.stdout)["hookSpecificOutput"]["decision"]["message"]
    assert line.startswith("reflex: ")
    assert line.isprintable()
    assert len(line) < 2_000


@given(st.sampled_from(OTHERS), verdicts(), st.booleans())
def test_what_comes_after_or_beside_a_call_is_let_go(where: tuple[Agent, str], verdict: Verdict, can_ask: bool) -> None:
    """A Stop hook's exit 2 would loop the model, a failing result hook would hide the result."""
    reply = render(*where, verdict, can_ask)
    if where in PROMPTS and verdict.decision is Decision.DENY:
        assert reply.exit == 2
        assert reply.stderr.strip()
    else:
        assert (reply.exit, reply.stdout) == (0, b"")


def test_hermes_is_never_told_to_remember_more_than_this_call() -> None:
    """A person's "always" is kept under rule_key, or under the tool's name where there is none."""
    asks = [Verdict(Decision.ASK, "same reason", "rule", "same.rule", id=number) for number in ("AAA", "BBB")]
    keys = [json.loads(render("hermes", "pre_tool_call", ask, True).stdout)["rule_key"] for ask in asks]
    assert len({key.strip() for key in keys if key.strip()}) == 2
    nameless = Verdict(Decision.ASK, "same reason", "rule", "same.rule")
    assert outcome("hermes", "pre_tool_call", render("hermes", "pre_tool_call", nameless, True)) is Outcome.BLOCKED


@pytest.mark.parametrize("agent", AGENTS)
@given(st.text(max_size=60))
def test_what_is_added_to_a_prompt_is_the_text_and_stops_nothing(agent: Agent, text: str) -> None:
    adapter = ADAPTERS[agent]
    assert set(adapter.EVENTS) - adapter.GUARDED >= adapter.INJECTS
    for event in adapter.INJECTS:
        reply = adapter.inject(event, text)
        said = json.loads(reply.stdout)
        assert (reply.exit, reply.stderr) == (0, b"")
        if agent in ("claude", "codex"):
            assert said == {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
        else:
            assert said == {"context": text}
