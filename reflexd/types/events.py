"""Events: one hook call each, in no agent's own words."""

from __future__ import annotations

from msgspec import Struct

from reflexd.types.agents import Agent
from reflexd.types.calls import Tool

__all__ = [
    "Event",
    "Guarded",
    "Notice",
    "Origin",
    "PermissionRequest",
    "Prompt",
    "SessionEnd",
    "SessionStart",
    "SubagentStart",
    "SubagentStop",
    "ToolCall",
    "ToolResult",
]


class Origin(Struct, frozen=True):
    """Where an event comes from. What an agent does not say is the empty string.

    `prompts` is what the host itself said about being able to ask a person (pi's
    `hasUI`), None where it says nothing. It may only ever take the ability away:
    whether a run prompts is decided from its process (see Context.can_ask).
    """

    agent: Agent
    event: str
    session: str = ""
    cwd: str = ""
    subagent: str = ""
    transcript: str = ""
    permission_mode: str = ""
    prompts: bool | None = None


class ToolCall(Struct, frozen=True, tag="tool_call"):
    """Before a tool runs. Fails closed.

    `intent`: what the agent said in the turn that makes this call, where our plugin heard it; not redacted. The
    agents that write it into a file leave it empty.
    """

    origin: Origin
    tool_name: str
    tool: Tool
    call_id: str = ""
    intent: str = ""


class PermissionRequest(Struct, frozen=True, tag="permission"):
    """The agent is about to ask a person whether a tool may run. Fails closed."""

    origin: Origin
    tool_name: str
    tool: Tool


class ToolResult(Struct, frozen=True, tag="tool_result"):
    """After a tool ran or failed. `text` is what the model would see, as far as the payload carries it."""

    origin: Origin
    tool_name: str
    tool: Tool
    call_id: str = ""
    text: str = ""
    failed: bool = False


class Prompt(Struct, frozen=True, tag="prompt"):
    origin: Origin
    text: str


class SessionStart(Struct, frozen=True, tag="session_start"):
    origin: Origin
    reason: str = ""


class SessionEnd(Struct, frozen=True, tag="session_end"):
    origin: Origin
    reason: str = ""


class SubagentStart(Struct, frozen=True, tag="subagent_start"):
    origin: Origin
    task: str = ""


class SubagentStop(Struct, frozen=True, tag="subagent_stop"):
    origin: Origin


class Notice(Struct, frozen=True, tag="notice"):
    """A known event that nothing rules on (Stop, message updates, ...)."""

    origin: Origin


Event = (
    ToolCall
    | PermissionRequest
    | ToolResult
    | Prompt
    | SessionStart
    | SessionEnd
    | SubagentStart
    | SubagentStop
    | Notice
)
Guarded = ToolCall | PermissionRequest
"""The events that fail closed. All others warn and let go."""
