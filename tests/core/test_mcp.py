"""Calls of tools that an agent does not bring itself: what their names and arguments say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.core.decide import decide
from reflexd.core.facts import facts
from reflexd.core.policy import shipped
from reflexd.core.verbs import level
from reflexd.types import Context, Decision, Mcp, Origin, Other, Pin, Seen, Sighting, Tool, ToolCall, Verdict, Want

HERE = Path(__file__).parent
CASES = [json.loads(row) for row in (HERE / "tools.jsonl").read_text().splitlines()]
NAMES = [row.split() for row in (HERE / "tool_names.txt").read_text().splitlines() if row and row[0] != "#"]
HOOKS = ("/home/dev/.claude/settings.json",)


def judged(tool: Tool, seen: Seen = Seen(), **more: object) -> Verdict:
    context = Context(cwd="/home/dev/proj", home="/home/dev", hook_files=HOOKS, **more)  # type: ignore[arg-type]
    found = facts(tool, context, seen)
    return decide(ToolCall(Origin("claude", "PreToolUse"), "x", tool), found, context, shipped())


@pytest.mark.parametrize("case", CASES, ids=[f"{c['server']}-{c['tool']}-{c['expected']}" for c in CASES])
def test_a_call_gets_the_decision_it_should(case: dict[str, object]) -> None:
    server, tool, args = str(case["server"]), str(case["tool"]), json.dumps(case["args"])
    verdict = judged(
        Mcp(server, tool, args) if server else Other(tool, args),
        pins=tuple(Pin(name, tools=("*",)) for name in case.get("pins", [])),  # type: ignore[attr-defined]
        env=tuple(case.get("env", {}).items()),  # type: ignore[attr-defined]
        secrets=tuple(case.get("secrets", [])),  # type: ignore[call-overload]
        taint=tuple(case.get("taint", [])),  # type: ignore[call-overload]
    )
    assert verdict.decision is Decision(str(case["expected"])), verdict


@pytest.mark.parametrize("row", NAMES, ids=[f"{row[0]}-{row[1]}" for row in NAMES])
def test_names_of_real_tools_say_what_they_do(row: list[str]) -> None:
    meant, *names = row
    wrong = [name for name in names if level(name) != (meant if meant != "unknown" else "")]
    assert wrong == []


PIN = Pin("github", "npx -y server-github@2.1.0", "2.1.0", ("create_*",))
AS_PINNED = ("~/.claude.json", "npx -y server-github@2.1.0")


@pytest.mark.parametrize(
    ("pin", "started", "says"),
    [
        (PIN, (AS_PINNED,), ""),
        (PIN, (), "no settings here start it"),
        (PIN, ((".mcp.json", "npx -y server-github@2.2.0"),), ".mcp.json starts it as"),
        (PIN, (AS_PINNED, (".mcp.json", "node evil.js")), ".mcp.json starts it as `node evil.js`"),
        (Pin("github", version="2.1.0", tools=("*",)), (AS_PINNED,), ""),
        (Pin("github", version="2.1", tools=("*",)), (AS_PINNED,), "starts version 2.1.0, not 2.1"),
        (Pin("github", version="2.1", tools=("*",)), (("a", "npx x"),), "version unknown"),
        (Pin("github", tools=("list_*",)), (), "does not name this tool"),
        (Pin("github", tools=("create_*",)), (("a", "anything"),), ""),
    ],
)
def test_a_pin_holds_while_the_server_is_the_one_meant(
    pin: Pin, started: tuple[tuple[str, str], ...], says: str
) -> None:
    seen = Seen(((Want("server", "github"), Sighting(pairs=started)),))
    verdict = judged(Mcp("github", "create_issue", "{}"), seen, pins=(pin,))
    assert (verdict.decision is Decision.PASS) == (not says)
    assert says in verdict.reason


def test_how_a_pinned_server_starts_has_to_be_looked_at() -> None:
    call = Mcp("github", "create_issue", "{}")
    context = Context(cwd="/home/dev/proj", home="/home/dev", pins=(PIN,))
    assert Want("server", "github") in facts(call, context).wants
    assert judged(call, pins=(PIN,)).decision is Decision.ASK


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
    | st.sampled_from(["rm -rf /", "/etc/hosts", "DELETE", "drop table x", "http://x/", "mutation { a }"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["command", "args", "path", "query", "sql", "method", "url", "code", "action", "replicas", "x"]
            )
            | st.text(max_size=5),
            inner,
            max_size=5,
        )
    ),
    max_leaves=30,
)


@settings(max_examples=400, deadline=None)
@given(st.text(max_size=12), st.text(max_size=20), JSON.map(json.dumps) | st.text(max_size=60))
def test_any_call_gets_the_same_verdict_twice_and_none_is_a_bug(server: str, tool: str, args: str) -> None:
    for call in (Mcp(server, tool, args), Other(tool, args)):
        found = judged(call)
        assert found == judged(call)
        assert "reading it failed" not in found.reason


@settings(max_examples=200, deadline=None)
@given(JSON)
def test_a_destroying_verb_is_never_let_through(args: object) -> None:
    call = Mcp("x", "delete_project", json.dumps(args))
    assert judged(call, pins=(Pin("x", tools=("*",)),)).decision is not Decision.PASS
