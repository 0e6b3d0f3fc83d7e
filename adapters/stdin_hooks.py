"""The hook protocol that Claude Code began and Codex took over: one JSON object on stdin.

The two differ in their tools and in which answers they honour; see their modules.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from msgspec import Raw, Struct

from reflexd.adapters.fields import ToolReader, decode, mcp_or_other, text_of
from reflexd.errors import PayloadError
from reflexd.types import (
    Agent,
    Event,
    Notice,
    Origin,
    PermissionRequest,
    Prompt,
    Reply,
    SessionEnd,
    SessionStart,
    SubagentStart,
    SubagentStop,
    Tool,
    ToolCall,
    ToolResult,
)

INJECTS = frozenset({"UserPromptSubmit"})


class Payload(Struct, frozen=True):
    hook_event_name: str
    session_id: str = ""
    cwd: str = ""
    transcript_path: str | None = None
    permission_mode: str | None = None
    agent_id: str | None = None
    tool_name: str = ""
    tool_input: Raw = Raw(b"")
    tool_use_id: str | None = None
    tool_response: Raw = Raw(b"")
    error: str | None = None
    prompt: str = ""
    source: str = ""
    reason: str = ""


def parse(agent: Agent, find: Callable[[str], ToolReader | None], event: str, payload: bytes) -> Event:
    """`find` gives the reader of a tool that the agent brings itself. Raises PayloadError alone."""
    said = decode(payload, Payload)
    if said.hook_event_name != event:
        raise PayloadError("payload not understood: it is of another event than its hook")
    origin = Origin(
        agent=agent,
        event=event,
        session=said.session_id,
        cwd=said.cwd,
        subagent=said.agent_id or "",
        transcript=said.transcript_path or "",
        permission_mode=said.permission_mode or "",
    )
    match event:
        case "PreToolUse" | "PreSkillShellCommand":
            return ToolCall(origin, said.tool_name, _tool(find, said), said.tool_use_id or "")
        case "PermissionRequest":
            return PermissionRequest(origin, said.tool_name, _tool(find, said))
        case "PostToolUse" | "PostToolUseFailure":
            text = said.error or text_of(said.tool_response)
            failed = event == "PostToolUseFailure"
            return ToolResult(origin, said.tool_name, _tool(find, said), said.tool_use_id or "", text, failed)
        case "UserPromptSubmit":
            return Prompt(origin, said.prompt)
        case "SessionStart":
            return SessionStart(origin, said.source)
        case "SessionEnd":
            return SessionEnd(origin, said.reason)
        case "SubagentStart":
            return SubagentStart(origin)
        case "SubagentStop":
            return SubagentStop(origin)
        case _:
            return Notice(origin)


def inject(event: str, text: str) -> Reply:
    """Put `text` before the model, with the prompt that `event` (one of INJECTS) is about."""
    said = {"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}
    return Reply(0, json.dumps(said).encode() + b"\n")


def _tool(find: Callable[[str], ToolReader | None], said: Payload) -> Tool:
    if not said.tool_name or not said.tool_input:
        raise PayloadError("payload not understood: no tool name or no tool input")
    read = find(said.tool_name)
    return read(bytes(said.tool_input)) if read else mcp_or_other(said.tool_name, bytes(said.tool_input))
