"""Claude Code: hooks in settings.json, one process a call.

Observed on 2.1.332 and 2.1.197. Only exit 2 or a valid deny JSON stops a tool; exit 1, a crash, a
timeout and garbage on stdout all run it. `onFailure: "block"` closes most of that from 2.1.295 on
and is ignored before. PermissionRequest: exit 2 is only "ask as usual", so its deny is JSON. A command that
a skill runs while it loads calls PreSkillShellCommand alone, which 2.1.197 does not know: such a command
runs unseen there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from msgspec import Struct

from reflexd.adapters import hookfile, stdin_hooks
from reflexd.adapters.fields import ToolReader, reader
from reflexd.adapters.wording import explain, stops
from reflexd.errors import PayloadError
from reflexd.shims import hook_line, hook_path
from reflexd.types import (
    Agent,
    Code,
    Decision,
    Edit,
    Event,
    Fetch,
    Mcp,
    Places,
    PlannedEdit,
    Read,
    Reply,
    Search,
    Shell,
    Spawn,
    Tool,
    Verdict,
    WebSearch,
    Write,
)

NAME: Agent = "claude"
EVENTS = (
    "PreToolUse",
    "PreSkillShellCommand",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "Stop",
)
GUARDED = frozenset({"PreToolUse", "PreSkillShellCommand", "PermissionRequest"})
ON_TOOLS = GUARDED | {"PostToolUse", "PostToolUseFailure"}
TIMEOUT_S = 30
INJECTS = stdin_hooks.INJECTS
inject = stdin_hooks.inject


class BashInput(Struct, frozen=True):
    command: str
    run_in_background: bool | None = None
    dangerouslyDisableSandbox: bool | None = None


class CommandInput(Struct, frozen=True):
    command: str


class Socket(Struct, frozen=True):
    url: str


class MonitorInput(Struct, frozen=True):
    command: str | None = None
    ws: Socket | None = None


class CodeInput(Struct, frozen=True):
    code: str


class FileInput(Struct, frozen=True):
    file_path: str


class WriteInput(Struct, frozen=True):
    file_path: str
    content: str


class EditInput(Struct, frozen=True):
    file_path: str
    new_string: str = ""


class OneEdit(Struct, frozen=True):
    new_string: str = ""


class MultiEditInput(Struct, frozen=True):
    file_path: str
    edits: tuple[OneEdit, ...] = ()


class NotebookInput(Struct, frozen=True):
    notebook_path: str
    new_source: str = ""


class PatternInput(Struct, frozen=True):
    pattern: str
    path: str | None = None


class UrlInput(Struct, frozen=True):
    url: str


class QueryInput(Struct, frozen=True):
    query: str


class ResourceInput(Struct, frozen=True):
    server: str
    uri: str


class WorkflowInput(Struct, frozen=True):
    script: str | None = None
    name: str | None = None
    scriptPath: str | None = None


class TaskInput(Struct, frozen=True):
    prompt: str = ""
    description: str = ""
    subagent_type: str | None = None


def _search(i: PatternInput) -> Tool:
    return Search(i.pattern, i.path or "")


def _shell(i: BashInput) -> Tool:
    return Shell(i.command, "", bool(i.run_in_background), bool(i.dangerouslyDisableSandbox))


def _spawn(i: TaskInput) -> Tool:
    return Spawn(i.prompt or i.description, i.subagent_type or "")


def _monitor(i: MonitorInput) -> Tool:
    if i.command is not None:
        return Shell(i.command, background=True)
    if i.ws is not None:
        return Fetch(i.ws.url)
    raise PayloadError("payload not understood: a monitor of nothing")


def _resource(i: ResourceInput) -> Tool:
    return Mcp(i.server, "read_resource", json.dumps({"uri": i.uri}))


_code = reader(CodeInput, lambda i: Code("javascript", i.code))

TOOLS: dict[str, ToolReader] = {
    "Bash": reader(BashInput, _shell),
    "Monitor": reader(MonitorInput, _monitor),
    "mcp__workspace__bash": reader(CommandInput, lambda i: Shell(i.command)),
    "PowerShell": reader(CommandInput, lambda i: Code("powershell", i.command)),
    "REPL": _code,
    "Eval": _code,
    "Read": reader(FileInput, lambda i: Read(i.file_path)),
    "Write": reader(WriteInput, lambda i: Write(i.file_path, i.content)),
    "Edit": reader(EditInput, lambda i: Edit(i.file_path, i.new_string)),
    "MultiEdit": reader(MultiEditInput, lambda i: Edit(i.file_path, "\n".join(e.new_string for e in i.edits))),
    "NotebookEdit": reader(NotebookInput, lambda i: Edit(i.notebook_path, i.new_source)),
    "Glob": reader(PatternInput, _search),
    "Grep": reader(PatternInput, _search),
    "WebFetch": reader(UrlInput, lambda i: Fetch(i.url)),
    "WebSearch": reader(QueryInput, lambda i: WebSearch(i.query)),
    "Agent": reader(TaskInput, _spawn),
    "Task": reader(TaskInput, _spawn),
    "Workflow": reader(WorkflowInput, lambda i: Spawn(i.script or i.scriptPath or i.name or "")),
    "ReadMcpResourceTool": reader(ResourceInput, _resource),
}


def parse(event: str, payload: bytes) -> Event:
    return stdin_hooks.parse(NAME, TOOLS.get, event, payload)


def render(event: str, verdict: Verdict, can_ask: bool) -> Reply:
    text = explain(verdict, can_ask)
    match event:
        case "PreToolUse":
            if stops(verdict, can_ask):
                return Reply(2, b"", text.encode() + b"\n")
            if verdict.decision is Decision.PASS:
                return Reply()
            said = {"hookEventName": event, "permissionDecision": verdict.decision.value}
            return _json({**said, "permissionDecisionReason": text})
        case "PreSkillShellCommand" if stops(verdict, can_ask=False):
            return Reply(2, b"", explain(verdict, can_ask=False).encode() + b"\n")
        case "PermissionRequest" if stops(verdict, can_ask):
            # An ask that can be asked needs no answer: the agent is about to ask anyway.
            return _json({"hookEventName": event, "decision": {"behavior": "deny", "message": text}})
        case "UserPromptSubmit" if verdict.decision is Decision.DENY:
            return Reply(2, b"", text.encode() + b"\n")
        case _:
            return Reply()


def _json(specific: Mapping[str, object]) -> Reply:
    return Reply(0, json.dumps({"hookSpecificOutput": specific}).encode() + b"\n")


# ---- installing ----------------------------------------------------------------


def files(places: Places) -> tuple[str, ...]:
    return (_settings(places), hook_path(places))


def hooks_in(places: Places) -> tuple[str, ...]:
    """The files whose change would unhook this agent."""
    return (_settings(places), os.path.join(places.agent_home(NAME), "settings.local.json"))


def edits(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    groups = {event: _group(places, event) for event in EVENTS}
    return hookfile.edits(places, current, _settings(places), groups)


def removals(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    return hookfile.removals(places, current, _settings(places))


def gaps(places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]:
    """What in the user's own settings switches hooks off or runs code before them."""
    path = _settings(places)
    return hookfile.gaps(path, current.get(path))


def _settings(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "settings.json")


def _group(places: Places, event: str) -> dict[str, object]:
    handler: dict[str, object] = {
        "type": "command",
        "command": hook_line(places, NAME, event),
        "timeout": TIMEOUT_S,
    }
    if event in GUARDED:
        handler["onFailure"] = "block"
    # The others match on other words than tools; no matcher means all of them.
    return {"matcher": "*", "hooks": [handler]} if event in ON_TOOLS else {"hooks": [handler]}
