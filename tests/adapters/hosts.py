"""What each host does with a hook's answer, as it was observed on the real ones.

Claude Code 2.1.332, Codex 0.171.0; for opencode 1.18.33, pi 0.73.1 and Hermes 0.19.0 together with
our plugin, which hands a Reply on. Anything that is not exactly what a host honours runs the tool.
"""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Any

from reflexd.types import Agent, Reply


class Outcome(StrEnum):
    RUN = "run"  # the tool runs, or the host's own permissions decide
    ASKED = "asked"  # a person is asked
    BLOCKED = "blocked"


CODEX_OUTPUT = {"hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext"}


def outcome(agent: Agent, event: str, reply: Reply) -> Outcome:
    match agent, event:
        case "claude", "PreToolUse" | "PreSkillShellCommand":
            return _claude_before(event, reply)
        case "codex", "PreToolUse":
            return _codex_before(reply)
        case (("claude" | "codex"), "PermissionRequest"):
            return _permission(event, reply)
        case "opencode", "tool.execute.before":
            # The plugin throws on anything but a bare "go on", and this host cannot ask.
            return Outcome.RUN if (reply.exit, reply.stdout) == (0, b"") else _said(reply)
        case "pi", "tool_call":
            said = _object(reply)
            if reply.exit == 0 and reply.stdout:
                confirm = said.get("confirm") if said else None
                asks = isinstance(confirm, dict) and all(isinstance(confirm.get(k), str) for k in ("title", "message"))
                return Outcome.ASKED if asks else Outcome.BLOCKED
            return Outcome.RUN if reply.exit == 0 else _said(reply)
        case "hermes", "pre_tool_call":
            said = _object(reply)
            if reply.exit == 0 and reply.stdout:
                asks = said is not None and said.get("action") == "approve" and bool(said.get("message"))
                return Outcome.ASKED if asks else Outcome.BLOCKED
            return Outcome.RUN if reply.exit == 0 else _said(reply)
    raise AssertionError(f"{agent} has no guarded event {event}")


def _claude_before(event: str, reply: Reply) -> Outcome:
    if reply.exit == 2:
        return Outcome.BLOCKED
    output = (_object(reply) or {}).get("hookSpecificOutput") if reply.exit == 0 else None
    if not isinstance(output, dict) or output.get("hookEventName") != event:
        return Outcome.RUN
    match output.get("permissionDecision"):
        case "deny":
            return Outcome.BLOCKED
        case "ask":
            return Outcome.ASKED
    return Outcome.RUN


def _codex_before(reply: Reply) -> Outcome:
    if reply.exit == 2:
        return Outcome.BLOCKED if reply.stderr.decode("utf-8").strip() else Outcome.RUN
    said = _object(reply) if reply.exit == 0 else None
    if not said or set(said) - {"hookSpecificOutput", "systemMessage"}:
        return Outcome.RUN
    output = said.get("hookSpecificOutput")
    if not isinstance(output, dict) or set(output) - CODEX_OUTPUT or "hookEventName" not in output:
        return Outcome.RUN
    denies = output.get("permissionDecision") == "deny" and bool(output.get("permissionDecisionReason"))
    return Outcome.BLOCKED if denies else Outcome.RUN


def _permission(event: str, reply: Reply) -> Outcome:
    """The host is about to ask; exit 2 is "ask as usual" for Claude Code, so only JSON refuses in both."""
    said = _object(reply) if reply.exit == 0 else None
    if not said or set(said) != {"hookSpecificOutput"}:
        return Outcome.ASKED
    output = said["hookSpecificOutput"]
    if set(output) != {"hookEventName", "decision"} or output["hookEventName"] != event:
        return Outcome.ASKED
    decision = output["decision"]
    if set(decision) != {"behavior", "message"} or not decision["message"].strip():
        return Outcome.ASKED
    return {"deny": Outcome.BLOCKED, "allow": Outcome.RUN}.get(decision["behavior"], Outcome.ASKED)


def _said(reply: Reply) -> Outcome:
    """The plugins block whatever the answer, with the daemon's reason where there is one."""
    assert reply.exit == 2
    assert reply.stderr.decode("utf-8").strip()
    return Outcome.BLOCKED


def _object(reply: Reply) -> dict[str, Any] | None:
    try:
        said = json.loads(reply.stdout.decode("utf-8"))
    except ValueError:
        return None
    return said if isinstance(said, dict) else None
