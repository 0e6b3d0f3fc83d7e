"""What became of an ask: a call that a person was asked about and that then ran was approved, and the row says so."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from reflexd.daemon.asked import MOST, Asked
from reflexd.types import Origin, Read, ToolCall, ToolResult
from tests.daemon.running import Daemon, in_terminal
from tests.daemon.test_asking import ASKS, SECRET


def call(id: str, session: str = "s") -> ToolCall:
    return ToolCall(Origin("claude", "PreToolUse", session), "Read", Read("/x"), id)


def result(id: str, session: str = "s") -> ToolResult:
    return ToolResult(Origin("claude", "PreToolUse", session), "Read", Read("/x"), id, "", False)


def test_a_call_that_was_asked_about_is_known_once_when_it_ran() -> None:
    asked = Asked()
    asked.put(call("c1"), "v1")
    assert asked.ran(result("c2")) == ""
    assert asked.ran(result("c1", "another")) == ""
    assert [asked.ran(result("c1")), asked.ran(result("c1"))] == ["v1", ""]


def test_a_call_without_an_id_is_nobodys() -> None:
    asked = Asked()
    asked.put(call(""), "v1")
    asked.put(None, "v2")
    assert asked.ran(result("")) == ""


def test_what_was_asked_long_ago_is_forgotten() -> None:
    asked = Asked()
    for number in range(MOST + 1):
        asked.put(call(f"c{number}"), f"v{number}")
    assert [asked.ran(result(f"c{number}")) for number in (0, 1, MOST)] == ["", "v1", f"v{MOST}"]


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_the_journal_keeps_that_an_approved_call_ran(daemon: Daemon) -> None:
    said = {"session_id": "s", "tool_use_id": "t1", "tool_name": "Bash", "tool_input": {"command": SECRET}}
    payload = json.dumps({"hook_event_name": "PreToolUse", "permission_mode": "default", **said})
    package = Path(daemon.home) / "node_modules/@anthropic-ai/claude-code"
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"name": "@anthropic-ai/claude-code", "version": "2.1.332"}')
    (package / "cli.py").write_text(f"said = {('claude', 'PreToolUse', payload)}\n{ASKS}")
    in_terminal(daemon.home, "person", sys.executable, str(package / "cli.py"))
    verdict = daemon.rows()[0]
    assert verdict.asked
    for id in ("another", "t1", "t1"):
        ended = {**said, "tool_use_id": id, "hook_event_name": "PostToolUse", "tool_response": {}}
        daemon.call("claude", "PostToolUse", json.dumps(ended).encode())
    ran = [row for row in daemon.rows() if row.kind == "ran"]
    assert [(row.id, row.decision, row.session) for row in ran] == [(verdict.id, "ran", "s")]
