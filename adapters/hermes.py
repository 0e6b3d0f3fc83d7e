"""Hermes: a Python plugin in its own process, which returns a block.

Observed on 0.19.0. Hermes runs the tool when a hook raises and when a plugin does not load; a block
without a message is ignored. Its shell hooks run the tool on a crash, a timeout and on exit 2 without
JSON, so they are not used. "approve" prompts in the interactive chat alone: -z and --yolo let it through.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from msgspec import Raw, Struct

from reflexd.adapters.fields import ToolReader, decode, mcp_or_other, reader, text_of
from reflexd.adapters.wording import explain, stops
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


class TerminalInput(Struct, frozen=True):
    command: str
    workdir: str | None = None
    background: bool | None = None


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
    path: str | None = None
    new_string: str | None = None
    patch: str | None = None


class SearchInput(Struct, frozen=True):
    pattern: str = ""
    path: str | None = None


class UrlsInput(Struct, frozen=True):
    urls: tuple[str, ...] | str = ()
    url: str = ""


class QueryInput(Struct, frozen=True):
    query: str


class OneTask(Struct, frozen=True):
    goal: str = ""


class DelegateInput(Struct, frozen=True):
    goal: str | None = None
    tasks: tuple[OneTask, ...] | None = None


def _process(i: ProcessInput) -> Tool:
    # What is typed into a running process may be a shell's next line: it is judged as one.
    return Shell(i.data) if i.data is not None else Other("process", json.dumps({"action": i.action}))


def _patch(i: PatchInput) -> Tool:
    if i.patch is not None:
        return Patch(i.patch)
    if i.path is None:
        raise PayloadError("payload not understood: a patch without a path or a text")
    return Edit(i.path, i.new_string or "")


def _urls(i: UrlsInput) -> Tool:
    urls = (i.urls,) if isinstance(i.urls, str) else i.urls
    return Fetch(" ".join(url for url in (*urls, i.url) if url))


def _delegate(i: DelegateInput) -> Tool:
    return Spawn("\n".join([i.goal or "", *(task.goal for task in i.tasks or ())]).strip())


TOOLS: dict[str, ToolReader] = {
    "terminal": reader(TerminalInput, lambda i: Shell(i.command, i.workdir or "", bool(i.background))),
    "process": reader(ProcessInput, _process),
    "execute_code": reader(CodeInput, lambda i: Code("python", i.code)),
    "read_file": reader(PathInput, lambda i: Read(i.path)),
    "write_file": reader(WriteInput, lambda i: Write(i.path, i.content)),
    "patch": reader(PatchInput, _patch),
    "search_files": reader(SearchInput, lambda i: Search(i.pattern, i.path or "")),
    "web_extract": reader(UrlsInput, _urls),
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
            return ToolCall(origin, inner.tool_name, _tool(inner), inner.tool_call_id or "")
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
    text = explain(verdict, can_ask)
    if stops(verdict, can_ask):
        return Reply(2, b"", text.encode())
    if verdict.decision is Decision.ASK:
        said = {
            "action": "approve",
            "message": text,
            "rule_key": "reflex:" + (verdict.rule or verdict.decided_by),
        }
        return Reply(0, json.dumps(said).encode())
    return Reply()


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
    after = _enable(path, current[path])
    return (*planned, PlannedEdit(path, current[path], after, "the plugin switched on"))


def removals(places: Places, current: Mapping[str, bytes | None]) -> tuple[PlannedEdit, ...]:
    path = _config(places)
    return (
        PlannedEdit(path, current[path], _disable(path, current[path]), "the plugin's entry out again"),
        *(PlannedEdit(file, current[file], None, "the plugin") for file in _plugin(places)),
    )


def gaps(places: Places, current: Mapping[str, bytes | None]) -> tuple[str, ...]:
    path = _config(places)
    try:
        plugins = _load(path, current.get(path)).get("plugins")
    except ReflexError as e:
        return (f"{e.message}; Hermes may run without its hooks",)
    disabled = plugins.get("disabled") if isinstance(plugins, dict) else None
    if isinstance(disabled, list) and "reflex" in disabled:
        return (f"{path} lists reflex among the disabled plugins",)
    return ()


def _plugin(places: Places) -> tuple[str, ...]:
    return tuple(os.path.join(places.agent_home(NAME), "plugins", "reflex", name) for name in PLUGIN_FILES)


def _config(places: Places) -> str:
    return os.path.join(places.agent_home(NAME), "config.yaml")


def _load(path: str, current: bytes | None) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        root = YAML(typ="safe", pure=True).load((current or b"").decode("utf-8")) or {}
    except (YAMLError, UnicodeDecodeError) as e:
        raise ReflexError(f"{path} is not readable YAML", "repair it, then run reflexctl setup again") from e
    if not isinstance(root, dict):
        raise ReflexError(f"{path} does not hold a mapping", "repair it, then run reflexctl setup again")
    return root


def _enabled(path: str, current: bytes | None) -> list[Any]:
    plugins = _load(path, current).get("plugins") or {}
    enabled = plugins.get("enabled") if isinstance(plugins, dict) else None
    return enabled if isinstance(enabled, list) else []


def _enable(path: str, current: bytes | None) -> bytes:
    if "reflex" in _enabled(path, current):
        return current or b""
    if "plugins" not in _load(path, current):
        # Nothing of the file needs to be read back and written: add a section at its end.
        start = current or b""
        return start + (b"" if not start or start.endswith(b"\n") else b"\n") + SECTION
    return _rewrite(path, current or b"", lambda enabled: enabled.append("reflex"))


SECTION = b"plugins:\n  enabled:\n    - reflex\n"


def _disable(path: str, current: bytes | None) -> bytes | None:
    if current is None or "reflex" not in _enabled(path, current):
        return current
    if current.endswith(SECTION):
        return current.removesuffix(SECTION)
    return _rewrite(path, current, lambda enabled: enabled.remove("reflex"))


def _rewrite(path: str, current: bytes, change: Any) -> bytes:
    """The file with `change` made to plugins.enabled; comments and quoting stay, line widths too."""
    import io

    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.preserve_quotes = True
    yaml.width = 1 << 16
    yaml.indent(mapping=2, sequence=4, offset=2)
    root = yaml.load(current.decode("utf-8"))
    plugins = root.get("plugins")
    if plugins is None:
        plugins = root["plugins"] = {}
    if not isinstance(plugins, dict) or not isinstance(plugins.setdefault("enabled", []) or [], list):
        raise ReflexError(f"{path}: plugins.enabled is not a list", "repair it, then run reflexctl setup again")
    if plugins["enabled"] is None:
        plugins["enabled"] = []
    change(plugins["enabled"])
    out = io.StringIO()
    yaml.dump(root, out)
    return out.getvalue().encode()
