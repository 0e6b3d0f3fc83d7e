"""Codex: hooks in hooks.json, one process a call, run only once the user trusts them.

Observed on 0.171.0. Exit 2 with an empty stderr runs the tool, and so does a deny JSON with no
reason, an unknown field or any text around it. "ask" runs the tool everywhere. `write_stdin` and
the hosted web search call no hook at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from msgspec import Raw, Struct

from reflexd.adapters import hookfile, stdin_hooks
from reflexd.adapters.fields import ToolReader, reader, text_of
from reflexd.adapters.wording import explain, stops
from reflexd.shims import hook_line, hook_path
from reflexd.types import (
    Agent,
    Decision,
    Event,
    Patch,
    Places,
    PlannedEdit,
    Read,
    Reply,
    Shell,
    Spawn,
    Verdict,
)

NAME: Agent = "codex"
EVENTS = (
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "SubagentStart",
    "SubagentStop",
    "Stop",
)
"""SessionEnd is left out: its time is one second and nothing depends on it."""
GUARDED = frozenset({"PreToolUse", "PermissionRequest"})
TIMEOUT_S = 30
INJECTS = stdin_hooks.INJECTS
inject = stdin_hooks.inject


class CommandInput(Struct, frozen=True):
    command: str


class PathInput(Struct, frozen=True):
    path: str


class MessageInput(Struct, frozen=True):
    """A task as text, or as a list of text and image items."""

    message: str | None = None
    items: Raw = Raw(b"")
    agent_type: str | None = None


_spawn = reader(MessageInput, lambda i: Spawn(i.message or text_of(i.items), i.agent_type or ""))

TOOLS: dict[str, ToolReader] = {
    "Bash": reader(CommandInput, lambda i: Shell(i.command)),
    "apply_patch": reader(CommandInput, lambda i: Patch(i.command)),
    "view_image": reader(PathInput, lambda i: Read(i.path)),
}


def _find(name: str) -> ToolReader | None:
    # The namespace of the agents' tools is a setting, and is put before the name without a separator.
    spawns = name.endswith("spawn_agent") and not name.startswith("mcp__")
    return _spawn if spawns else TOOLS.get(name)


def parse(event: str, payload: bytes) -> Event:
    return stdin_hooks.parse(NAME, _find, event, payload)


def render(event: str, verdict: Verdict, can_ask: bool) -> Reply:
    """`can_ask` says nothing here: Codex runs the tool on "ask", so an ask is a refusal."""
    text = explain(verdict, can_ask=False)
    match event:
        case "PreToolUse" if stops(verdict, can_ask=False):
            return Reply(2, b"", text.encode() + b"\n")
        case "PermissionRequest" if stops(verdict, can_ask=False):
            decision = {"behavior": "deny", "message": text}
            said = {"hookSpecificOutput": {"hookEventName": event, "decision": decision}}
            return Reply(0, json.dumps(said).encode() + b"\n")
        case "UserPromptSubmit" if verdict.decision is Decision.DENY:
            return Reply(2, b"", text.encode() + b"\n")
        case _:
            return Reply()


# ---- installing ----------------------------------------------------------------


def files(places: Places) -> tuple[str, ...]:
    return (_hooks(places), hook_path(places), _config(places))


def hooks_in(places: Places) -> tuple[str, ...]:
    return (_hooks(places), _config(places))


def edits(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    groups = {event: _group(places, event) for event in EVENTS}
    return hookfile.edits(places, current, _hooks(places), groups, frozenset({"hooks", "description"}))


def removals(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    return hookfile.removals(places, current, _hooks(places))


def gaps(places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]:
    import tomlkit
    from tomlkit.exceptions import ParseError

    path = _config(places)
    try:
        config = tomlkit.parse((current.get(path) or b"").decode("utf-8")).unwrap()
    except (ParseError, UnicodeDecodeError):
        return (f"{path} is not readable TOML, so Codex may run without its hooks",)
    features = config.get("features")
    if isinstance(features, dict) and features.get("hooks") is False:
        return (f"{path} switches hooks off ([features] hooks = false)",)
    return ()


def _hooks(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "hooks.json")


def _config(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "config.toml")


def _group(places: Places, event: str) -> dict[str, object]:
    handler = {"type": "command", "command": hook_line(places, NAME, event), "timeout": TIMEOUT_S}
    return {"matcher": "*", "hooks": [handler]} if "Tool" in event or event in GUARDED else {"hooks": [handler]}
