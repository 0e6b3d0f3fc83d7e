"""What each agent's own words become: an Event, or a PayloadError, and nothing else whatever the bytes are."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflexd.adapters.all import ADAPTERS
from reflexd.errors import PayloadError
from reflexd.types import (
    AGENTS,
    Agent,
    Code,
    Edit,
    Event,
    Fetch,
    Mcp,
    Notice,
    Other,
    Patch,
    PermissionRequest,
    Prompt,
    Read,
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
    WebSearch,
    Write,
)
from tests.adapters.samples import Sample, load, recorded

ALL = recorded()
EVENT_TYPES = get_args(Event)

KINDS: dict[str, type[Any]] = {
    "PreToolUse": ToolCall,
    "PreSkillShellCommand": ToolCall,
    "PermissionRequest": PermissionRequest,
    "PostToolUse": ToolResult,
    "PostToolUseFailure": ToolResult,
    "UserPromptSubmit": Prompt,
    "SessionStart": SessionStart,
    "SessionEnd": SessionEnd,
    "SubagentStart": SubagentStart,
    "SubagentStop": SubagentStop,
    "tool.execute.before": ToolCall,
    "tool.execute.after": ToolResult,
    "chat.message": Prompt,
    "tool_call": ToolCall,
    "tool_result": ToolResult,
    "input": Prompt,
    "session_start": SessionStart,
    "session_shutdown": SessionEnd,
    "pre_tool_call": ToolCall,
    "post_tool_call": ToolResult,
    "pre_llm_call": Prompt,
    "on_session_start": SessionStart,
    "on_session_finalize": SessionEnd,
    "subagent_start": SubagentStart,
    "subagent_stop": SubagentStop,
}
"""Every other recorded event is a Notice; Hermes's on_session_end among them: it comes after each turn."""

MARK = "touch /home/user/proj/marker && echo hi"
CALLS: dict[tuple[Agent, str], Tool] = {
    ("claude", "PreToolUse-Bash"): Shell("false"),
    ("claude", "PostToolUse-Bash"): Shell("sleep 0.1; echo bg", background=True),
    ("claude", "PermissionRequest-Bash"): Shell("touch /lab/marker; echo MARKED"),
    ("claude", "PreSkillShellCommand-Bash"): Shell("touch /home/user/project/marker"),
    ("claude", "PreToolUse-Monitor"): Shell("touch /home/user/project/marker; echo hi", background=True),
    ("claude", "PreToolUse-Read"): Read("/home/user/project/a.txt"),
    ("claude", "PreToolUse-Write"): Write("/home/user/project/a.txt", "hello\n"),
    ("claude", "PreToolUse-Edit"): Edit("/home/user/project/a.txt", "bye"),
    ("claude", "PreToolUse-NotebookEdit"): Edit("/home/user/project/n.ipynb", "2"),
    ("claude", "PreToolUse-WebFetch"): Fetch("http://127.0.0.1:1/"),
    ("claude", "PreToolUse-WebSearch"): WebSearch("abc"),
    ("claude", "PreToolUse-Agent"): Spawn("SUBPROMPT-XYZ please", "general-purpose"),
    ("claude", "PreToolUse-mcp__lab__mark"): Mcp("lab", "mark", '{"text": "hi"}'),
    ("claude", "PreToolUse-ToolSearch"): Other("ToolSearch", '{"query": "select:WebFetch", "max_results": 5}'),
    ("codex", "PreToolUse-Bash"): Shell("echo one"),
    ("codex", "PreToolUse-Bash-codemode"): Shell("touch /lab/marker; echo CODEMODE"),
    ("codex", "PermissionRequest-Bash"): Shell("touch /lab/marker; echo MARKED"),
    ("codex", "PreToolUse-apply_patch"): Patch("*** Begin Patch\n*** Add File: b.txt\n+hello\n*** End Patch\n"),
    ("codex", "PreToolUse-spawn_agent"): Spawn("SUBPROMPT-XYZ go", "default"),
    ("codex", "PreToolUse-collaborationspawn_agent"): Spawn("SUBPROMPT-XYZ go"),
    ("codex", "PreToolUse-view_image"): Read("/etc/hostname"),
    ("codex", "PreToolUse-mcp__lab__mark"): Mcp("lab", "mark", '{"text": "hi"}'),
    ("codex", "PreToolUse-get_goal"): Other("get_goal", "{}"),
    ("opencode", "tool.execute.before.bash"): Shell("touch marker && echo sub"),
    ("opencode", "tool.execute.before.read"): Read("/home/user/proj/a.txt"),
    ("opencode", "tool.execute.before.write"): Write("/home/user/proj/a.txt", "one two"),
    ("opencode", "tool.execute.before.edit"): Edit("/home/user/proj/a.txt", "three"),
    ("opencode", "tool.execute.before.glob"): Search("*.txt"),
    ("opencode", "tool.execute.before.grep"): Search("one", "."),
    ("opencode", "tool.execute.before.webfetch"): Fetch("http://127.0.0.1:18770/v1/models"),
    ("opencode", "tool.execute.before.task"): Spawn("SUBJOB run it", "general"),
    ("opencode", "tool.execute.before.echo_say"): Mcp("echo", "say", '{"text": "hello"}'),
    ("opencode", "tool.execute.before.skill"): Other("skill", '{"name": "nosuch"}'),
    ("pi", "tool_call"): Shell(MARK),
    ("hermes", "pre_tool_call"): Shell(MARK),
    ("hermes", "pre_tool_call.nested_in_execute_code"): Shell("touch /home/user/proj/marker && echo nested"),
    ("hermes", "pre_tool_call.execute_code"): Code(
        "python",
        "from hermes_tools import terminal\nprint(terminal('touch /home/user/proj/marker && echo nested'))\n",
    ),
    ("hermes", "pre_tool_call.delegate_task"): Spawn("SUBJOB run it\nnone"),
    ("hermes", "pre_tool_call.mcp__echo__say"): Mcp("echo", "say", '{"text": "hello"}'),
}


def parse(sample: Sample) -> Event:
    return ADAPTERS[sample.agent].parse(sample.event, sample.payload)


def call(agent: Agent, tool: str, args: object) -> Tool:
    """The tool of a call of `tool`, in the envelope of a recorded one."""
    match agent:
        case "claude" | "codex":
            sample = load(agent, "PreToolUse-Bash")
            sample.message.update(tool_name=tool, tool_input=args)
        case "opencode":
            sample = load(agent, "tool.execute.before.bash")
            sample.message["input"]["tool"] = tool
            sample.message["output"]["args"] = args
        case "pi":
            sample = load(agent, "tool_call")
            sample.message["payload"].update(toolName=tool, input=args)
        case "hermes":
            sample = load(agent, "pre_tool_call")
            sample.message["payload"].update(tool_name=tool, args=args)
    event = parse(sample)
    assert isinstance(event, ToolCall)
    assert event.tool_name == tool
    return event.tool


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_every_recorded_event_is_understood(sample: Sample) -> None:
    event = parse(sample)
    child = SubagentStart if "subagent" in sample.name else SessionStart
    assert type(event) is (child if sample.event == "session.created" else KINDS.get(sample.event, Notice))
    assert event.origin.agent == sample.agent
    assert event.origin.event == sample.event


@pytest.mark.parametrize(("agent", "name"), CALLS, ids=lambda v: str(v))
def test_what_a_recorded_call_asks_for(agent: Agent, name: str) -> None:
    event = parse(load(agent, name))
    assert isinstance(event, ToolCall | PermissionRequest | ToolResult)
    assert event.tool == CALLS[agent, name]


def test_every_recorded_call_has_an_expectation() -> None:
    calls = {(s.agent, s.name) for s in ALL if s.event in ADAPTERS[s.agent].GUARDED}
    seen_twice = {n for n in calls if "in-subagent" in n[1] or n[1].startswith("PreToolUse-apply_patch-codemode")}
    left = calls - set(CALLS) - seen_twice
    assert {name for _, name in left} == {
        "PermissionRequest-mcp__lab__mark",
        "PreToolUse-list_mcp_resources",
        "tool.execute.before.invalid",
        "tool.execute.before.todowrite",
    }


@pytest.mark.parametrize(
    ("agent", "tool", "args", "asks_for"),
    [
        # Claude Code 2.1.332 lists Monitor, PowerShell, REPL and Eval beside Bash as what runs code.
        ("claude", "Monitor", {"command": "rm -rf ~", "timeout_ms": 1}, Shell("rm -rf ~", background=True)),
        ("claude", "Monitor", {"ws": {"url": "ws://h/"}, "timeout_ms": 1}, Fetch("ws://h/")),
        ("claude", "mcp__workspace__bash", {"command": "id"}, Shell("id")),
        ("claude", "PowerShell", {"command": "ls"}, Code("powershell", "ls")),
        ("claude", "REPL", {"code": "1"}, Code("javascript", "1")),
        ("claude", "MultiEdit", {"file_path": "/a", "edits": [{"new_string": c} for c in "xy"]}, Edit("/a", "x\ny")),
        ("claude", "Glob", {"pattern": "*", "path": "/etc"}, Search("*", "/etc")),
        ("claude", "Grep", {"pattern": "x"}, Search("x")),
        ("claude", "Task", {"prompt": "go"}, Spawn("go")),
        ("claude", "Workflow", {"script": "agent('go')"}, Spawn("agent('go')")),
        ("claude", "ReadMcpResourceTool", {"server": "s", "uri": "file:///x"}, Mcp("s", "read_resource", '{"uri": "file:///x"}')),
        ("claude", "mcp__a__b__c", {}, Mcp("a", "b__c", "{}")),
        ("claude", "NeverHeardOf", {"command": 5}, Other("NeverHeardOf", '{"command": 5}')),
        # The namespace of Codex's agent tools is a setting, put before the name without a separator.
        ("opencode", "task", {"prompt": "go", "subagent_type": "x", "task_id": "ses_1"}, Spawn("go", "x ses_1")),
        ("codex", "teamspawn_agent", {"message": "go"}, Spawn("go")),
        ("codex", "spawn_agent", {"items": [{"type": "text", "text": "go"}]}, Spawn("go")),
        ("codex", "mcp__x__spawn_agent", {}, Mcp("x", "spawn_agent", "{}")),
        ("opencode", "bash", {"command": "id", "workdir": "/etc"}, Shell("id", "/etc")),
        ("opencode", "apply_patch", {"patchText": "*** Begin Patch"}, Patch("*** Begin Patch")),
        ("opencode", "list", {}, Search("")),
        ("opencode", "websearch", {"query": "q"}, WebSearch("q")),
        ("opencode", "plan_exit", {}, Other("plan_exit", "{}")),
        ("opencode", "read_mcp_resource", {}, Other("read_mcp_resource", "{}")),
        ("opencode", "my_server_do", {}, Mcp("my", "server_do", "{}")),
        ("pi", "read", {"path": "/a"}, Read("/a")),
        ("pi", "write", {"path": "/a", "content": "c"}, Write("/a", "c")),
        ("pi", "edit", {"path": "/a", "edits": [{"oldText": "o", "newText": "n"}]}, Edit("/a", "n")),
        ("pi", "grep", {"pattern": "p", "path": "/a"}, Search("p", "/a")),
        ("pi", "find", {"pattern": "p"}, Search("p")),
        ("pi", "ls", {"path": "/a"}, Search("", "/a")),
        ("hermes", "terminal", {"command": "id", "workdir": "/etc", "background": True}, Shell("id", "/etc", True)),
        # The hook comes before Hermes makes arguments fit their types.
        ("hermes", "terminal", {"command": "id", "background": "true"}, Shell("id", background=True)),
        ("hermes", "terminal", {"command": "id", "background": "false"}, Shell("id")),
        # Typed into a process that may well be a shell.
        ("hermes", "process", {"action": "submit", "session_id": "p", "data": "rm -rf ~"}, Shell("rm -rf ~")),
        ("hermes", "process", {"action": "poll", "session_id": "p"}, Other("process", '{"action": "poll"}')),
        ("hermes", "read_file", {"path": "~/a"}, Read("~/a")),
        ("hermes", "write_file", {"path": "/a", "content": "c"}, Write("/a", "c")),
        # Hermes goes by the mode: the other text is decoration, or cover.
        ("hermes", "patch", {"path": "/a", "new_string": "n"}, Edit("/a", "n")),
        ("hermes", "patch", {"mode": "replace", "path": "/a", "new_string": "n", "patch": "***"}, Edit("/a", "n")),
        ("hermes", "patch", {"mode": "patch", "path": "/a", "patch": "*** Begin Patch"}, Patch("*** Begin Patch")),
        ("hermes", "search_files", {"pattern": "p", "path": "/a"}, Search("p", "/a")),
        ("hermes", "web_extract", {"urls": ["http://a/", "http://b/"]}, Fetch("http://a/ http://b/")),
        ("hermes", "web_extract", {"urls": "http://a/"}, Fetch("http://a/")),
        ("hermes", "browser_navigate", {"url": "http://a/"}, Fetch("http://a/")),
        ("hermes", "web_search", {"query": "q"}, WebSearch("q")),
        ("hermes", "delegate_task", {"tasks": [{"goal": "a", "context": "b"}, {"goal": "c"}]}, Spawn("a\nb\nc")),
    ],
)  # fmt: skip
def test_what_a_call_asks_for(agent: Agent, tool: str, args: object, asks_for: Tool) -> None:
    assert call(agent, tool, args) == asks_for


NEEDED = [
    ("claude", "Bash", {"command": "id"}),
    ("claude", "Read", {"file_path": "/a"}),
    ("claude", "Write", {"file_path": "/a", "content": ""}),
    ("claude", "Edit", {"file_path": "/a"}),
    ("claude", "NotebookEdit", {"notebook_path": "/a"}),
    ("claude", "WebFetch", {"url": "http://a/"}),
    ("claude", "Glob", {"pattern": "*"}),
    ("claude", "Monitor", {"command": "id"}),
    ("claude", "PowerShell", {"command": "ls"}),
    ("codex", "Bash", {"command": "id"}),
    ("codex", "apply_patch", {"command": "*** Begin Patch"}),
    ("codex", "view_image", {"path": "/a"}),
    ("opencode", "bash", {"command": "id"}),
    ("opencode", "read", {"filePath": "/a"}),
    ("opencode", "write", {"filePath": "/a", "content": ""}),
    ("opencode", "edit", {"filePath": "/a"}),
    ("opencode", "apply_patch", {"patchText": ""}),
    ("opencode", "webfetch", {"url": "http://a/"}),
    ("pi", "bash", {"command": "id"}),
    ("pi", "read", {"path": "/a"}),
    ("pi", "write", {"path": "/a", "content": ""}),
    ("pi", "edit", {"path": "/a"}),
    ("hermes", "terminal", {"command": "id"}),
    ("hermes", "execute_code", {"code": "1"}),
    ("hermes", "read_file", {"path": "/a"}),
    ("hermes", "write_file", {"path": "/a", "content": ""}),
    ("hermes", "patch", {"path": "/a"}),
    ("hermes", "web_extract", {"urls": ["http://a/"]}),
]


@pytest.mark.parametrize(("agent", "tool", "args"), NEEDED)
def test_a_known_tool_without_the_field_that_matters_is_not_understood(
    agent: Agent, tool: str, args: dict[str, object]
) -> None:
    call(agent, tool, args)
    for field in args:
        for wrong in (5, True, None, {"a": "b"}, ["id", 5], [["id"]]):
            with pytest.raises(PayloadError):
                call(agent, tool, {**args, field: wrong})
        with pytest.raises(PayloadError):
            call(agent, tool, {key: value for key, value in args.items() if key != field})
    for no_input in (None, ["id"], "id", 5):
        with pytest.raises(PayloadError):
            call(agent, tool, no_input)


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_an_event_is_not_taken_for_another(sample: Sample) -> None:
    adapter = ADAPTERS[sample.agent]
    for event in {*adapter.EVENTS, "Stop"} - {sample.event}:
        with pytest.raises(PayloadError):
            adapter.parse(event, sample.payload)


@pytest.mark.parametrize("sample", ALL, ids=str)
def test_fields_that_an_agent_adds_one_day_change_nothing(sample: Sample) -> None:
    known = parse(sample)
    more = {**sample.message, "added_one_day": {"deep": [1, {"x": None}]}}
    for key in ("input", "output", "payload", "properties"):
        if isinstance(more.get(key), dict):
            more[key] = {**more[key], "added_one_day": [True]}
    assert ADAPTERS[sample.agent].parse(sample.event, json.dumps(more).encode()) == known


def test_where_an_event_comes_from() -> None:
    claude = parse(load("claude", "PreToolUse-Bash-in-subagent")).origin
    assert (claude.session, claude.subagent) == ("7b17f429-245e-4a03-b76a-0feae0671f97", "a2773913be9cb5c3b")
    assert claude.cwd == "/home/user/project"
    assert claude.transcript.endswith("7b17f429-245e-4a03-b76a-0feae0671f97.jsonl")
    assert claude.permission_mode == "bypassPermissions"
    codex = parse(load("codex", "PreToolUse-Bash-in-subagent")).origin
    assert codex.subagent == "01a22eb0-068f-78b1-9105-680e08c5968d"
    opencode = parse(load("opencode", "event.session.created.subagent"))
    assert isinstance(opencode, SubagentStart)
    assert opencode.origin.session == "ses_dd1557f2effe8msUpQ164q35tV"
    assert opencode.origin.subagent == "ses_dd155623dffehNSRrVzLjhj04V"
    assert isinstance(parse(load("opencode", "event.session.created")), SessionStart)
    hermes = parse(load("hermes", "subagent_start"))
    assert isinstance(hermes, SubagentStart)
    assert (hermes.origin.session, hermes.origin.subagent) == ("20261130_230200_4d51d8", "20261130_230204_f292d6")
    assert hermes.task == "SUBJOB run it"
    pi = parse(load("pi", "tool_call")).origin
    assert (pi.cwd, pi.session, pi.prompts) == ("/home/user/proj", "/s/1.jsonl", False)


@pytest.mark.parametrize(
    ("agent", "name", "text", "failed"),
    [
        ("claude", "PostToolUse-Bash-in-subagent", "FROM-SUBAGENT", False),
        ("claude", "PostToolUse-Read", "hello\n", False),
        ("claude", "PostToolUse-mcp__lab__mark", 'MCP-MARKED {"text": "hi"}', False),
        ("claude", "PostToolUseFailure-Bash", "Exit code 1", True),
        ("codex", "PostToolUse-Bash", "one\n", False),
        ("codex", "PostToolUse-mcp__lab__mark", 'MCP-MARKED {"text": "hi"}', False),
        ("opencode", "tool.execute.after.bash", "sub\n", False),
        ("opencode", "tool.execute.after.echo_say", "MCP-ECHO hello", False),
        ("pi", "tool_result", "hi\n", False),
        ("hermes", "post_tool_call", '{"output": "hi", "exit_code": 0, "error": null}', False),
    ],
)
def test_what_a_result_shows_the_model(agent: Agent, name: str, text: str, failed: bool) -> None:
    result = parse(load(agent, name))
    assert isinstance(result, ToolResult)
    assert text in result.text
    assert result.failed is failed


def test_a_prompt_is_what_was_typed() -> None:
    for agent, name, text in (
        ("claude", "UserPromptSubmit", "hello there"),
        ("codex", "UserPromptSubmit", "hello there"),
        ("opencode", "chat.message", "spawn"),
        ("pi", "input", "go"),
        ("hermes", "pre_llm_call", "go"),
    ):
        prompt = parse(load(agent, name))  # type: ignore[arg-type]
        assert isinstance(prompt, Prompt)
        assert prompt.text == text


def test_what_opencode_adds_to_a_prompt_was_not_typed() -> None:
    parts = [{"type": "text", "text": "look"}, {"type": "text", "text": "a file's contents", "synthetic": True}, None]
    payload = json.dumps({"event": "chat.message", "output": {"parts": parts}}).encode()
    prompt = ADAPTERS["opencode"].parse("chat.message", payload)
    assert isinstance(prompt, Prompt)
    assert prompt.text == "look"


@pytest.mark.parametrize(
    ("agent", "event", "call"),
    [
        ("opencode", "tool.execute.before", {"input": {"tool": "bash"}, "output": {"args": {"command": "ls"}}}),
        ("hermes", "pre_tool_call", {"payload": {"tool_name": "terminal", "args": {"command": "ls"}}}),
    ],
)
def test_what_a_plugin_heard_comes_with_the_call(agent: Agent, event: str, call: dict[str, object]) -> None:
    for said in ({"intent": "I look"}, {}):
        parsed = ADAPTERS[agent].parse(event, json.dumps({"event": event, **call, **said}).encode())
        assert isinstance(parsed, ToolCall)
        assert parsed.intent == said.get("intent", "")


def test_of_a_key_given_twice_the_last_one_counts_as_in_the_agents() -> None:
    payload = b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"id","command":"rm -rf ~"}}'
    event = ADAPTERS["claude"].parse("PreToolUse", payload)
    assert isinstance(event, ToolCall)
    assert event.tool == Shell("rm -rf ~")


# ---- hostile input -------------------------------------------------------------


def survives(agent: Agent, event: str, payload: bytes) -> None:
    """An Event of the right sort or a PayloadError: for a guarded hook never one that nothing rules on."""
    try:
        parsed = ADAPTERS[agent].parse(event, payload)
    except PayloadError:
        return
    assert isinstance(parsed, EVENT_TYPES)
    assert parsed.origin.event == event
    if event in ADAPTERS[agent].GUARDED:
        assert isinstance(parsed, ToolCall | PermissionRequest)


HOSTILE = [
    b"",
    b"\x00",
    b"\xff\xfe",
    b"null",
    b"[]",
    b"[" * 200 + b"]" * 200,
    b"[" * 100_000,
    b'{"a":' * 100_000,
    b"9" * 5_000,
    b"1e999999999",
    b'"\\ud800"',
    b'"\xed\xa0\x80"',
    b'{"command":"\\u0000"}',
    b'{"a":1,"a":{}}',
]


@pytest.mark.parametrize("agent", AGENTS)
@pytest.mark.parametrize("value", HOSTILE, ids=lambda v: repr(v[:12]))
def test_hostile_values_anywhere(agent: Agent, value: bytes) -> None:
    for sample in (s for s in ALL if s.agent == agent):
        survives(agent, sample.event, value)
        for spot in spots(sample.message):
            survives(agent, sample.event, planted(sample.message, spot, value))


def spots(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every value in a message, for two levels of a tool's input and four of the rest."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value))) if isinstance(value, list) else []
    return [at, *(s for key in keys if len(at) < 4 for s in spots(value[key], (*at, key)))]


def planted(message: Any, spot: tuple[Any, ...], value: bytes) -> bytes:
    """`message` with these bytes, JSON or not, in the place of the value at `spot`."""
    hole = "\uf8ff hole"

    def dig(here: Any, way: tuple[Any, ...]) -> Any:
        if not way:
            return hole
        if isinstance(here, dict):
            return {k: dig(v, way[1:]) if k == way[0] else v for k, v in here.items()}
        return [dig(v, way[1:]) if i == way[0] else v for i, v in enumerate(here)]

    return json.dumps(dig(message, spot)).encode().replace(json.dumps(hole).encode(), value)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@given(sample=st.sampled_from(ALL), payload=st.binary(max_size=200))
def test_any_bytes(sample: Sample, payload: bytes) -> None:
    survives(sample.agent, sample.event, payload)


@settings(max_examples=400)
@given(sample=st.sampled_from(ALL), data=st.data())
def test_a_recorded_payload_with_other_values_in_it(sample: Sample, data: st.DataObject) -> None:
    spot = data.draw(st.sampled_from(spots(sample.message)))
    value = data.draw(json_values)
    survives(sample.agent, sample.event, planted(sample.message, spot, json.dumps(value).encode()))


@settings(max_examples=400)
@given(sample=st.sampled_from(ALL), data=st.data())
def test_a_recorded_payload_with_damaged_bytes(sample: Sample, data: st.DataObject) -> None:
    payload = sample.payload
    start = data.draw(st.integers(0, len(payload)))
    end = data.draw(st.integers(start, min(len(payload), start + 8)))
    survives(sample.agent, sample.event, payload[:start] + data.draw(st.binary(max_size=4)) + payload[end:])


@given(st.text(max_size=300))
@example("rm -rf ~ #\x00")
def test_a_command_arrives_as_it_was_written(command: str) -> None:
    for agent, tool in (
        ("claude", "Bash"),
        ("codex", "Bash"),
        ("opencode", "bash"),
        ("pi", "bash"),
        ("hermes", "terminal"),
    ):
        assert call(agent, tool, {"command": command}) == Shell(command)  # type: ignore[arg-type]


def test_a_large_result_is_cut_not_refused() -> None:
    sample = load("claude", "PostToolUse-Bash")
    sample.message["tool_response"]["stdout"] = "x" * 3_000_000
    result = parse(sample)
    assert isinstance(result, ToolResult)
    assert 0 < len(result.text) < 1_000_000
