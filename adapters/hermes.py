"""Hermes: a Python plugin in its own process, which returns a block.

Observed on 0.19.0. Hermes runs the tool when a hook raises and when a plugin does not load; a block
without a message is ignored. Its shell hooks run the tool on a crash, a timeout and on exit 2 without
JSON, so they are not used. "approve" prompts in the interactive chat alone: -z and --yolo let it through.
Of several plugins the first that answers counts: another's "approve" is asked before our block is heard.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from msgspec import Raw, Struct

from reflexd.adapters import yamltext
from reflexd.adapters.fields import ToolReader, decode, mcp_or_other, reader, text_of
from reflexd.adapters.wording import NAME_MAX, explain, one_line, stops
from reflexd.errors import PayloadError, ReflexError
from reflexd.shims import render as render_shim
from reflexd.types import (
    Agent,
    Code,
    Decision,
    Edit,
    Event,
    Fetch,
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
    SessionEnd,
    SessionStart,
    Shell,
    Spawn,
    SubagentStart,
    SubagentStop,
    Tool,
    ToolCall,
    ToolResult,
    Verdict,
    WebSearch,
    Write,
)

NAME: Agent = "hermes"
EVENTS = (
    "pre_tool_call",
    "post_tool_call",
    "pre_llm_call",
    "on_session_start",
    "on_session_end",
    "on_session_finalize",
    "subagent_start",
    "subagent_stop",
)
GUARDED = frozenset({"pre_tool_call"})
INJECTS = frozenset({"pre_llm_call"})
PLUGIN = "reflex"
PLUGIN_FILES = ("plugin.yaml", "__init__.py")


class Inner(Struct, frozen=True):
    tool_name: str = ""
    args: Raw = Raw(b"")
    task_id: str | None = ""
    session_id: str | None = ""
    tool_call_id: str | None = ""
    result: Raw = Raw(b"")
    status: str | None = None
    user_message: Raw = Raw(b"")
    parent_session_id: str | None = None
    child_session_id: str | None = None
    child_goal: str | None = None
    reason: str | None = None


class Payload(Struct, frozen=True):
    event: str
    payload: Inner
    cwd: str = ""
    intent: str = ""


class TerminalInput(Struct, frozen=True):
    command: str
    workdir: str | None = None
    background: bool | str | int | None = None  # the hook comes before Hermes turns "true" into true


class ProcessInput(Struct, frozen=True):
    action: str
    data: str | None = None


class CodeInput(Struct, frozen=True):
    code: str


class PathInput(Struct, frozen=True):
    path: str


class WriteInput(Struct, frozen=True):
    path: str
    content: str


class PatchInput(Struct, frozen=True):
    mode: str | None = None
    path: str | None = None
    new_string: str | None = None
    patch: str | None = None


class SearchInput(Struct, frozen=True):
    pattern: str = ""
    path: str | None = None


class UrlsInput(Struct, frozen=True):
    urls: tuple[str, ...] | str


class UrlInput(Struct, frozen=True):
    url: str


class QueryInput(Struct, frozen=True):
    query: str


class OneTask(Struct, frozen=True):
    goal: str = ""
    context: str | None = None


class DelegateInput(Struct, frozen=True):
    goal: str | None = None
    context: str | None = None
    tasks: tuple[OneTask, ...] | None = None


def _terminal(i: TerminalInput) -> Tool:
    return Shell(i.command, i.workdir or "", i.background not in (None, False, "false"))


def _process(i: ProcessInput) -> Tool:
    # What is typed into a running process may be a shell's next line: it is judged as one.
    return Shell(i.data) if i.data is not None else Other("process", json.dumps({"action": i.action}))


def _patch(i: PatchInput) -> Tool:
    # Hermes goes by the mode alone: a patch text beside mode "replace" is decoration, and the other way round.
    if i.mode == "patch":
        if i.patch is None:
            raise PayloadError("payload not understood: a patch without its text")
        return Patch(i.patch)
    if i.path is None:
        raise PayloadError("payload not understood: an edit without a path")
    return Edit(i.path, i.new_string or "")


def _urls(i: UrlsInput) -> Tool:
    return Fetch(i.urls if isinstance(i.urls, str) else " ".join(i.urls))


def _delegate(i: DelegateInput) -> Tool:
    texts = [i.goal, i.context, *(text for task in i.tasks or () for text in (task.goal, task.context))]
    return Spawn("\n".join(text for text in texts if text))


TOOLS: dict[str, ToolReader] = {
    "terminal": reader(TerminalInput, _terminal),
    "process": reader(ProcessInput, _process),
    "execute_code": reader(CodeInput, lambda i: Code("python", i.code)),
    "read_file": reader(PathInput, lambda i: Read(i.path)),
    "write_file": reader(WriteInput, lambda i: Write(i.path, i.content)),
    "patch": reader(PatchInput, _patch),
    "search_files": reader(SearchInput, lambda i: Search(i.pattern, i.path or "")),
    "web_extract": reader(UrlsInput, _urls),
    "browser_navigate": reader(UrlInput, lambda i: Fetch(i.url)),
    "web_search": reader(QueryInput, lambda i: WebSearch(i.query)),
    "delegate_task": reader(DelegateInput, _delegate),
}


def parse(event: str, payload: bytes) -> Event:
    said = decode(payload, Payload)
    if said.event != event:
        raise PayloadError("payload not understood: it is of another event than its hook")
    inner = said.payload
    subagent = inner.task_id or ""
    origin = Origin(
        NAME, event, inner.session_id or "", said.cwd, subagent=subagent if subagent.startswith("sa-") else ""
    )
    match event:
        case "pre_tool_call":
            return ToolCall(origin, inner.tool_name, _tool(inner), inner.tool_call_id or "", said.intent)
        case "post_tool_call":
            text = text_of(inner.result)
            failed = inner.status not in (None, "ok")
            return ToolResult(origin, inner.tool_name, _tool(inner), inner.tool_call_id or "", text, failed)
        case "pre_llm_call":
            return Prompt(origin, text_of(inner.user_message))
        case "on_session_start":
            return SessionStart(origin)
        case "on_session_finalize":
            return SessionEnd(origin, inner.reason or "")
        case "subagent_start":
            return SubagentStart(
                Origin(
                    NAME,
                    event,
                    inner.parent_session_id or "",
                    said.cwd,
                    subagent=inner.child_session_id or "",
                ),
                inner.child_goal or "",
            )
        case "subagent_stop":
            return SubagentStop(
                Origin(
                    NAME,
                    event,
                    inner.parent_session_id or "",
                    said.cwd,
                    subagent=inner.child_session_id or "",
                )
            )
        case _:
            return Notice(origin)


def render(event: str, verdict: Verdict, can_ask: bool) -> Reply:
    if event not in GUARDED:
        return Reply()
    # Hermes remembers a person's "always" under rule_key. Only a key that never comes again makes it mean
    # this call; a rule's name, or none, would wave through whatever that rule catches next.
    once = one_line(verdict.id)[:NAME_MAX]
    can_ask = can_ask and bool(once)
    text = explain(verdict, can_ask)
    if stops(verdict, can_ask):
        return Reply(2, b"", text.encode())
    if verdict.decision is Decision.ASK:
        said = {"action": "approve", "message": text, "rule_key": f"reflex:{once}"}
        return Reply(0, json.dumps(said).encode())
    return Reply()


def inject(event: str, text: str) -> Reply:
    return Reply(0, json.dumps({"context": text}).encode())


def _tool(inner: Inner) -> Tool:
    if not inner.tool_name or not inner.args:
        raise PayloadError("payload not understood: no tool name or no tool input")
    read = TOOLS.get(inner.tool_name)
    return read(bytes(inner.args)) if read else mcp_or_other(inner.tool_name, bytes(inner.args))


# ---- installing ----------------------------------------------------------------


def files(places: Places) -> tuple[str, ...]:
    return (*_plugin(places), _config(places))


def hooks_in(places: Places) -> tuple[str, ...]:
    return files(places)


def edits(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    planned = [
        PlannedEdit(path, current[path], render_shim(f"hermes/{name}", places), "the plugin")
        for name, path in zip(PLUGIN_FILES, _plugin(places), strict=True)
    ]
    path = _config(places)
    after = yamltext.enable(path, current[path], PLUGIN)
    return (*planned, PlannedEdit(path, current[path], after, "the plugin switched on"))


def removals(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    path = _config(places)
    return (
        PlannedEdit(path, current[path], yamltext.disable(path, current[path], PLUGIN), "the plugin's entry out again"),
        *(PlannedEdit(file, current[file], None, "the plugin") for file in _plugin(places)),
    )


def gaps(places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]:
    path = _config(places)
    try:
        plugins = yamltext.load(path, current.get(path)).get("plugins")
    except ReflexError as e:
        return (f"{e.message}; Hermes may run without its hooks",)
    disabled = plugins.get("disabled") if isinstance(plugins, dict) else None
    if isinstance(disabled, list) and PLUGIN in disabled:
        return (f"{path} lists reflex among the disabled plugins",)
    return ()


def _plugin(places: Places) -> tuple[str, ...]:
    return tuple(os.path.join(places.agent_home(NAME), "plugins", PLUGIN, name) for name in PLUGIN_FILES)


def _config(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "config.yaml")
