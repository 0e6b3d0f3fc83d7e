"""pi: an extension in its own process (Node), which returns a block.

Observed on 0.73.1. pi refuses to start when an extension does not load, but starts unguarded when the
file is gone or with -ne. Its RPC command `bash` calls no extension.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from msgspec import Raw, Struct

from reflexd.adapters.fields import ToolReader, decode, mcp_or_other, reader, text_of
from reflexd.adapters.wording import explain, stops
from reflexd.errors import PayloadError
from reflexd.shims import render as render_shim
from reflexd.types import (
    Agent,
    Decision,
    Edit,
    Event,
    Notice,
    Origin,
    Places,
    PlannedEdit,
    Prompt,
    Read,
    Reply,
    Search,
    SessionEnd,
    SessionStart,
    Shell,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
    Write,
)

NAME: Agent = "pi"
EVENTS = ("tool_call", "tool_result", "input", "session_start", "session_shutdown")
GUARDED = frozenset({"tool_call"})
INJECTS = frozenset({"input"})


class Inner(Struct, frozen=True):
    toolName: str = ""
    toolCallId: str = ""
    input: Raw = Raw(b"")
    content: Raw = Raw(b"")
    isError: bool = False
    text: str = ""
    reason: str = ""


class Payload(Struct, frozen=True):
    event: str
    payload: Inner
    cwd: str = ""
    session: str = ""
    hasUI: bool = False


class BashInput(Struct, frozen=True):
    command: str


class PathInput(Struct, frozen=True):
    path: str


class WriteInput(Struct, frozen=True):
    path: str
    content: str


class OneEdit(Struct, frozen=True):
    newText: str = ""


class EditInput(Struct, frozen=True):
    path: str
    edits: tuple[OneEdit, ...] = ()
    newText: str = ""


class SearchInput(Struct, frozen=True):
    pattern: str = ""
    path: str | None = None


def _edit(i: EditInput) -> Tool:
    return Edit(i.path, "\n".join([*(e.newText for e in i.edits), i.newText]).strip("\n"))


_search = reader(SearchInput, lambda i: Search(i.pattern, i.path or ""))

TOOLS: dict[str, ToolReader] = {
    "bash": reader(BashInput, lambda i: Shell(i.command)),
    "read": reader(PathInput, lambda i: Read(i.path)),
    "write": reader(WriteInput, lambda i: Write(i.path, i.content)),
    "edit": reader(EditInput, _edit),
    "grep": _search,
    "find": _search,
    "ls": _search,
}


def parse(event: str, payload: bytes) -> Event:
    said = decode(payload, Payload)
    if said.event != event:
        raise PayloadError("payload not understood: it is of another event than its hook")
    origin = Origin(NAME, event, said.session, said.cwd, transcript=said.session, prompts=said.hasUI)
    inner = said.payload
    match event:
        case "tool_call":
            return ToolCall(origin, inner.toolName, _tool(inner), inner.toolCallId)
        case "tool_result":
            text = text_of(inner.content)
            return ToolResult(origin, inner.toolName, _tool(inner), inner.toolCallId, text, inner.isError)
        case "input":
            return Prompt(origin, inner.text)
        case "session_start":
            return SessionStart(origin, inner.reason)
        case "session_shutdown":
            return SessionEnd(origin, inner.reason)
        case _:
            return Notice(origin)


def render(event: str, verdict: Verdict, can_ask: bool) -> Reply:
    if event not in GUARDED:
        return Reply()
    text = explain(verdict, can_ask)
    if stops(verdict, can_ask):
        return Reply(2, b"", text.encode())
    if verdict.decision is Decision.ASK:
        return Reply(0, json.dumps({"confirm": {"title": "reflex: let this call run?", "message": text}}).encode())
    return Reply()


def inject(event: str, text: str) -> Reply:
    return Reply(0, json.dumps({"context": text}).encode())


def _tool(inner: Inner) -> Tool:
    if not inner.toolName or not inner.input:
        raise PayloadError("payload not understood: no tool name or no tool input")
    read = TOOLS.get(inner.toolName)
    return read(bytes(inner.input)) if read else mcp_or_other(inner.toolName, bytes(inner.input))


# ---- installing ----------------------------------------------------------------


def files(places: Places) -> tuple[str, ...]:
    return (_extension(places),)


def hooks_in(places: Places) -> tuple[str, ...]:
    return (_extension(places), os.path.join(places.agent_home(NAME), "settings.json"))


def edits(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    path = _extension(places)
    return (PlannedEdit(path, current[path], render_shim("pi.ts", places), "the extension"),)


def removals(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    path = _extension(places)
    return (PlannedEdit(path, current[path], None, "the extension"),)


def gaps(places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]:
    return ()


def _extension(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "extensions", "reflex.ts")
