"""opencode: a plugin in its own process (Bun), which throws to block.

Observed on 1.18.33. opencode runs its tools when a plugin does not load, so setup also denies every
tool in opencode.json, and the loaded plugin takes that entry out of the running configuration:
a plugin that is missing, broken, or switched off by --pure leaves opencode without tools.
Of permission entries the last that matches holds, so ours stands last, and under a name of its own:
a person's own "*" is never mistaken for it. What is not covered: permissions of one agent or mode and
those of a project's opencode.json come after ours, and hold where the plugin is not loaded.
Nothing can ask a person from the plugin, and a subagent's calls carry a session of their own, which
only `session.created` ties to its parent.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from msgspec import Raw, Struct

from reflexd.adapters import opencode_guard
from reflexd.adapters.fields import ToolReader, anything, decode, reader, text_of
from reflexd.adapters.wording import explain, stops
from reflexd.errors import PayloadError, ReflexError
from reflexd.shims import render as render_shim
from reflexd.types import (
    Agent,
    Edit,
    Event,
    Fetch,
    Mcp,
    Notice,
    Origin,
    Other,
    Patch,
    Places,
    PlannedEdit,
    Prompt,
    Read,
    Reply,
    Search,
    SessionStart,
    Shell,
    Spawn,
    SubagentStart,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
    WebSearch,
    Write,
)

NAME: Agent = "opencode"
EVENTS = ("tool.execute.before", "tool.execute.after", "chat.message", "session.created")
GUARDED = frozenset({"tool.execute.before"})
INJECTS = frozenset({"chat.message"})


class Input(Struct, frozen=True):
    tool: str = ""
    sessionID: str = ""
    callID: str = ""
    args: Raw = Raw(b"")


class Output(Struct, frozen=True):
    args: Raw = Raw(b"")


class Info(Struct, frozen=True):
    parentID: str | None = None
    title: str = ""


class Properties(Struct, frozen=True):
    sessionID: str = ""
    info: Info = Info()


class Payload(Struct, frozen=True):
    event: str
    directory: str = ""
    input: Raw = Raw(b"")
    output: Raw = Raw(b"")
    properties: Properties = Properties()
    intent: str = ""


class BashInput(Struct, frozen=True):
    command: str
    workdir: str | None = None


class FileInput(Struct, frozen=True):
    filePath: str


class WriteInput(Struct, frozen=True):
    filePath: str
    content: str


class EditInput(Struct, frozen=True):
    filePath: str
    newString: str = ""


class PatchInput(Struct, frozen=True):
    patchText: str


class PatternInput(Struct, frozen=True):
    pattern: str
    path: str | None = None


class ListInput(Struct, frozen=True):
    path: str | None = None


class UrlInput(Struct, frozen=True):
    url: str


class QueryInput(Struct, frozen=True):
    query: str


class TaskInput(Struct, frozen=True):
    prompt: str = ""
    description: str = ""
    subagent_type: str | None = None
    task_id: str | None = None


def _search(i: PatternInput) -> Tool:
    return Search(i.pattern, i.path or "")


_patch = reader(PatchInput, lambda i: Patch(i.patchText))

TOOLS: dict[str, ToolReader] = {
    "bash": reader(BashInput, lambda i: Shell(i.command, i.workdir or "")),
    "read": reader(FileInput, lambda i: Read(i.filePath)),
    "write": reader(WriteInput, lambda i: Write(i.filePath, i.content)),
    "edit": reader(EditInput, lambda i: Edit(i.filePath, i.newString)),
    "patch": _patch,
    "apply_patch": _patch,
    "glob": reader(PatternInput, _search),
    "grep": reader(PatternInput, _search),
    "list": reader(ListInput, lambda i: Search("", i.path or "")),
    "webfetch": reader(UrlInput, lambda i: Fetch(i.url)),
    "websearch": reader(QueryInput, lambda i: WebSearch(i.query)),
    "codesearch": reader(QueryInput, lambda i: WebSearch(i.query)),
    "task": reader(
        TaskInput, lambda i: Spawn(i.prompt or i.description, f"{i.subagent_type or ''} {i.task_id or ''}".strip())
    ),
}
OWN = frozenset({"plan_enter", "plan_exit", "list_mcp_resources", "list_mcp_resource_templates", "read_mcp_resource"})
"""Tools of opencode's own that look like an MCP server's."""


def parse(event: str, payload: bytes) -> Event:
    said = decode(payload, Payload)
    if said.event != event:
        raise PayloadError("payload not understood: it is of another event than its hook")
    if event == "session.created":
        session, parent = said.properties.sessionID, said.properties.info.parentID
        if parent:
            return SubagentStart(Origin(NAME, event, parent, said.directory, session), said.properties.info.title)
        return SessionStart(Origin(NAME, event, session, said.directory))
    call = decode(said.input, Input) if said.input else Input()
    origin = Origin(NAME, event, call.sessionID, said.directory)
    match event:
        case "tool.execute.before":
            args = decode(said.output, Output).args if said.output else Raw(b"")
            return ToolCall(origin, call.tool, _tool(call.tool, args), call.callID, said.intent)
        case "tool.execute.after":
            return ToolResult(origin, call.tool, _tool(call.tool, call.args), call.callID, text_of(said.output))
        case "chat.message":
            return Prompt(origin, _prompt(said.output))
        case _:
            return Notice(origin)


def render(event: str, verdict: Verdict, can_ask: bool) -> Reply:
    """`can_ask` says nothing here: the plugin's host has no way to ask from a tool's hook."""
    if event in GUARDED and stops(verdict, can_ask=False):
        return Reply(2, b"", explain(verdict, can_ask=False).encode())
    return Reply()


def inject(event: str, text: str) -> Reply:
    return Reply(0, json.dumps({"context": text}).encode())


def _tool(name: str, args: Raw) -> Tool:
    if not name or not args:
        raise PayloadError("payload not understood: no tool name or no tool input")
    read = TOOLS.get(name)
    if read:
        return read(bytes(args))
    text = bytes(args).decode("utf-8", "replace")
    server, underscore, tool = name.partition("_")
    # An MCP tool is called SERVER_TOOL; nothing else in the payload tells it from a built-in one.
    return Mcp(server, tool, text) if underscore and name not in OWN else Other(name, text)


def _prompt(output: Raw) -> str:
    said = anything(output) if output else {}
    parts = said.get("parts") if isinstance(said, dict) else None
    # What opencode adds itself (a named file's contents, its reminders) it marks as synthetic.
    written = [p for p in parts if isinstance(p, dict) and not p.get("synthetic")] if isinstance(parts, list) else []
    texts = [part.get("text") for part in written]
    return "\n".join(text for text in texts if isinstance(text, str))


# ---- installing ----------------------------------------------------------------


def files(places: Places) -> tuple[str, ...]:
    return (_plugin(places), *_configs(places))


def hooks_in(places: Places) -> tuple[str, ...]:
    return files(places)


def edits(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    plugin = PlannedEdit(_plugin(places), current[_plugin(places)], render_shim("opencode.js", places), "the plugin")
    path = _config(places, current)
    after = opencode_guard.add(path, current[path])
    return (plugin, PlannedEdit(path, current[path], after, "no tools unless the plugin is loaded"))


def removals(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    return (
        # Both files: the one we chose at setup need not be the one we would choose today.
        *(
            PlannedEdit(p, current[p], opencode_guard.remove(p, current[p]), "our guard out again")
            for p in _configs(places)
        ),
        PlannedEdit(_plugin(places), current[_plugin(places)], None, "the plugin"),
    )


def gaps(places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]:
    found: list[str] = []
    for path in _configs(places):
        try:
            root = opencode_guard.root(path, current.get(path))[1]
        except ReflexError as e:
            found.append(e.message)
            continue
        for section in ("agent", "mode"):
            agents = root.get(section)
            for name, agent in zip(agents.keys, agents.items, strict=True) if agents else ():
                if agent.get("permission") is not None or agent.get("tools") is not None:
                    found.append(f"{path} gives {section} {name!r} permissions that hold when the plugin is not loaded")
    return tuple(found)


def _plugin(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "plugins", "reflex.js")


def _configs(places: Places) -> tuple[str, str]:
    base = places.agent_home(NAME)
    return (os.path.join(base, "opencode.jsonc"), os.path.join(base, "opencode.json"))


def _config(places: Places, current: Mapping[str, bytes | None]) -> str:
    """The file that opencode reads last and the user has; opencode.json where there is none."""
    commented, usual = _configs(places)
    return commented if current.get(commented) is not None else usual
