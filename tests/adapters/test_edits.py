"""What setup plans for the files of each agent, and what uninstall takes out of them again."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from reflexd.adapters.all import ADAPTERS
from reflexd.errors import ReflexError
from reflexd.shims import OPENCODE_GUARD, hook_line, hook_path
from reflexd.types import AGENTS, Agent, PlannedEdit
from tests.adapters.documents import YAML_PLUGINS, commented, scalars, settings_texts, words, yaml_texts
from tests.adapters.samples import places

HERE = places()
FILES: dict[Agent, str] = {
    "claude": "/home/user/.claude/settings.json",
    "codex": "/home/user/.codex/hooks.json",
    "opencode": "/home/user/.config/opencode/opencode.json",
    "pi": "/home/user/.pi/agent/extensions/reflex.ts",
    "hermes": "/home/user/.hermes/config.yaml",
}
JSONC = "/home/user/.config/opencode/opencode.jsonc"

Files = dict[str, bytes | None]


def files(agent: Agent, **texts: bytes | None) -> Files:
    """All that the adapter asks for, absent but for the one file of the user's that it edits."""
    found: Files = dict.fromkeys(ADAPTERS[agent].files(HERE))
    assert set(texts) <= {"text", "jsonc"}
    if "text" in texts:
        found[FILES[agent]] = texts["text"]
    if "jsonc" in texts:
        found[JSONC] = texts["jsonc"]
    return found


def apply(current: Mapping[str, bytes | None], planned: tuple[PlannedEdit, ...]) -> Files:
    after = dict(current)
    for edit in planned:
        assert edit.before == current[edit.path]
        after[edit.path] = edit.after
    return after


def install(agent: Agent, current: Files) -> Files:
    """The files after setup; a second setup finds nothing to change."""
    once = apply(current, ADAPTERS[agent].edits(HERE, current))
    assert apply(once, ADAPTERS[agent].edits(HERE, once)) == once
    return once


def uninstall(agent: Agent, current: Files) -> Files:
    once = apply(current, ADAPTERS[agent].removals(HERE, current))
    assert apply(once, ADAPTERS[agent].removals(HERE, once)) == once
    return once


def text_of(agent: Agent, found: Files) -> str:
    text = found[FILES[agent]]
    assert text is not None
    return text.decode()


# ---- all five ------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_a_user_without_any_file_gets_his_nothing_back(agent: Agent) -> None:
    before = files(agent)
    after = install(agent, before)
    assert after[FILES[agent]] is not None
    assert uninstall(agent, after) == before


@pytest.mark.parametrize("agent", AGENTS)
def test_only_the_files_it_asked_for_are_changed(agent: Agent) -> None:
    adapter = ADAPTERS[agent]
    assert {edit.path for edit in adapter.edits(HERE, files(agent))} <= set(adapter.files(HERE))
    assert {edit.path for edit in adapter.removals(HERE, files(agent))} <= set(adapter.files(HERE))
    assert adapter.gaps(HERE, files(agent)) == ()


def test_the_libraries_for_editing_are_not_loaded_by_the_gate() -> None:
    code = (
        "import sys, reflexd.adapters.all; print([m for m in ('tomlkit', 'ruamel.yaml', 'yaml') if m in sys.modules])"
    )
    root = Path(__file__).parents[2]
    said = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert said.stdout == "[]\n"


# ---- Claude Code and Codex -----------------------------------------------------


def ours(agent: Agent) -> dict[str, list[dict[str, Any]]]:
    """The groups that setup adds to an empty file."""
    hooks: dict[str, list[dict[str, Any]]] = json.loads(text_of(agent, install(agent, files(agent))))["hooks"]
    return hooks


@pytest.mark.parametrize("agent", ["claude", "codex"])
def test_every_event_is_hooked_with_its_line(agent: Agent) -> None:
    hooks = ours(agent)
    assert tuple(hooks) == ADAPTERS[agent].EVENTS
    for event, groups in hooks.items():
        ((group,),) = [groups]
        (handler,) = group["hooks"]
        assert handler["command"] == hook_line(HERE, agent, event)
        assert (handler["type"], handler["timeout"]) == ("command", 30)
        assert group.get("matcher", "*") == "*"
        fails_closed = {"onFailure": "block"} if agent == "claude" and event in ADAPTERS[agent].GUARDED else {}
        assert {k: v for k, v in handler.items() if k not in ("type", "command", "timeout")} == fails_closed
    assert {"PreToolUse", "PermissionRequest"} <= ADAPTERS[agent].GUARDED <= set(hooks)


@given(settings_texts())
def test_claude_settings_keep_everything_else(text: str) -> None:
    _keeps_everything_else("claude", text)


@given(settings_texts(root_keys=st.just("description")))
def test_codex_hooks_keep_everything_else(text: str) -> None:
    _keeps_everything_else("codex", text)


def _keeps_everything_else(agent: Agent, text: str) -> None:
    before = files(agent, text=text.encode())
    after = install(agent, before)
    wanted = json.loads(text)
    for event, groups in ours(agent).items():
        wanted.setdefault("hooks", {}).setdefault(event, []).extend(groups)
    assert json.loads(text_of(agent, after)) == wanted
    # Keys stay in their order, and every line that was there is still there.
    assert list(json.loads(text_of(agent, after))) == list(wanted)
    assert ("\r\n" in text) == ("\r\n" in text_of(agent, after)) or "\n" not in text
    back = uninstall(agent, after)
    if json.loads(text):
        assert back == before
    else:
        assert json.loads(back[FILES[agent]] or b"{}") == {}


def test_an_entry_of_an_older_reflex_is_replaced() -> None:
    old = [{"hooks": [{"type": "command", "command": "/old/python /elsewhere/shims/reflex_hook.py claude Stop"}]}]
    text = json.dumps({"hooks": {"Stop": old, "Gone": old, "PreToolUse": [*old, *old]}})
    after = install("claude", files("claude", text=text.encode()))
    assert json.loads(text_of("claude", after))["hooks"] == ours("claude")


def test_a_narrowed_entry_of_ours_is_made_whole_again() -> None:
    hooks = ours("claude")
    hooks["PreToolUse"][0]["matcher"] = "Read"
    after = install("claude", files("claude", text=json.dumps({"hooks": hooks}).encode()))
    assert json.loads(text_of("claude", after))["hooks"] == ours("claude")


def test_a_foreign_handler_in_our_group_stays() -> None:
    hooks = ours("claude")
    theirs = {"type": "command", "command": "/bin/theirs"}
    hooks["PreToolUse"][0]["hooks"].append(theirs)
    hooks["Stop"][0]["hooks"].insert(0, theirs)
    current = files("claude", text=json.dumps({"hooks": hooks}, indent=2).encode())
    after = json.loads(text_of("claude", install("claude", current)))["hooks"]
    assert [theirs] in [group["hooks"] for group in after["PreToolUse"]]
    back = json.loads(text_of("claude", uninstall("claude", current)))
    assert [group["hooks"] for groups in back["hooks"].values() for group in groups] == [[theirs], [theirs]]


@pytest.mark.parametrize(
    ("agent", "text", "why"),
    [
        ("claude", '{\n "a": 1,\n oops\n}', "line 3"),
        ("claude", '{"a": 1} // no comments here', "line 1"),
        ("claude", '{"a": 1,}', "line 1"),
        ("claude", "[]", "does not hold a JSON object"),
        ("claude", "\xff", "UTF-8"),
        ("claude", '{"hooks": []}', '"hooks" is not an object'),
        ("claude", '{"hooks": {"PreToolUse": {}}}', '"PreToolUse" are not a list'),
        ("claude", '{"hooks": {}, "hooks": {}}', "'hooks' twice, at line 1"),
        ("claude", "[" * 5_000, "deeply"),
        ("codex", '{"hooks": {}, "model": "x"}', "'model'"),
        ("codex", "{", "line 1"),
        ("opencode", '{\n\n"a" 1}', "line 3"),
        ("opencode", '{"\\x": 1}', "line 1"),
        ("opencode", "[]", "does not hold a JSON object"),
        ("opencode", '{"permission": []}', "neither a word nor an object"),
        ("opencode", '{"permission": {}, "permission": {}}', "twice"),
        ("hermes", "a: 1\nb: [\n", "line"),
        ("hermes", "- 1\n", "does not hold a mapping"),
        ("hermes", "x: 2001-99-99\n", "not readable YAML"),
        ("hermes", "[" * 1_500, "not readable YAML"),
        ("hermes", "\xff", "not readable YAML"),
        ("hermes", "{a: 1}\n", "add reflex to the list plugins.enabled yourself"),
        ("hermes", "plugins:\n  enabled: all\n", "add reflex to the list plugins.enabled yourself"),
        ("hermes", "plugins:\n  enabled: [a,\n    b]\n", "add reflex to the list plugins.enabled yourself"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_left_alone(agent: Agent, text: str, why: str) -> None:
    data = text.encode("latin-1") if text == "\xff" else text.encode()
    with pytest.raises(ReflexError) as e:
        ADAPTERS[agent].edits(HERE, files(agent, text=data))
    assert FILES[agent] in e.value.message
    assert why in f"{e.value.message}; {e.value.hint}"
    assert e.value.hint


# ---- opencode ------------------------------------------------------------------


def guarded(text: str) -> bool:
    """Whether our entry is the last of `permission`, which is what makes it hold."""
    permission = json.loads(text)["permission"]
    return list(permission.items())[-1:] == list(OPENCODE_GUARD.items())


@given(settings_texts())
def test_opencode_configuration_keeps_everything_else(text: str) -> None:
    before = files("opencode", text=text.encode())
    wanted = json.loads(text)
    assume(not isinstance(wanted.get("permission"), list))
    after = install("opencode", before)
    assert guarded(text_of("opencode", after))
    assert json.loads(text_of("opencode", after)) == {**wanted, "permission": OPENCODE_GUARD}
    assert (uninstall("opencode", after) == before) or not wanted


permissions = st.one_of(
    st.sampled_from(["allow", "ask", "deny", None]),
    st.dictionaries(st.sampled_from(["*", "bash", "read"]), st.sampled_from(["allow", "ask", "deny"]), max_size=4),
)


@given(st.data(), st.dictionaries(words, scalars, max_size=2), permissions)
def test_a_commented_configuration_keeps_its_comments(data: st.DataObject, keys: dict[str, Any], own: Any) -> None:
    config = {**keys, "permission": own} if data.draw(st.booleans()) else keys
    text = data.draw(commented(config))
    before = files("opencode", jsonc=text.encode())
    found = install("opencode", before)[JSONC]
    assert found is not None
    after = found.decode()
    assert guarded(plain(after))
    members = {"*": own} if isinstance(own, str) else own or {}
    theirs = members if "permission" in config else {}
    assert json.loads(plain(after)) == {**config, "permission": {**theirs, **OPENCODE_GUARD}}
    assert comments(after) == comments(text)
    back = uninstall("opencode", files("opencode", jsonc=found))[JSONC] or b"{}"
    assert comments(back.decode()) == comments(text)
    left = json.loads(plain(back.decode()))
    assert left.pop("permission", {}) == theirs
    assert left == {key: value for key, value in config.items() if key != "permission"}
    if "permission" not in config and config and re.search(r"\A[^\n]*\Z|\n\s*}\s*\Z", text):
        assert back.decode() == text


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/|,(?=(?:\s|//[^\n]*+|(?>/\*.*?\*/))*+[}\]])', re.S)


def plain(text: str) -> str:
    """The JSON in a commented text."""
    return TOKEN.sub(lambda m: m[0] if m[0].startswith('"') else " ", text)


def comments(text: str) -> list[str]:
    return [m[0].rstrip() for m in TOKEN.finditer(text) if m[0].startswith("/")]


def test_a_persons_own_word_on_every_tool_is_not_taken_for_ours() -> None:
    """Taken out by the plugin or by uninstall, it would open what he closed."""
    text = '{"permission": {"*": "deny", "read": "allow"}}'
    before = files("opencode", text=text.encode())
    after = install("opencode", before)
    assert json.loads(text_of("opencode", after))["permission"] == {"*": "deny", "read": "allow", **OPENCODE_GUARD}
    assert "*" not in OPENCODE_GUARD
    assert uninstall("opencode", after) == before


def test_a_guard_that_no_longer_stands_last_is_put_there_again() -> None:
    for text in ('{"permission": {"**": "deny", "bash": "allow"}}', '{"permission": {"bash": "allow", "**": "allow"}}'):
        after = text_of("opencode", install("opencode", files("opencode", text=text.encode())))
        assert list(json.loads(after)["permission"].items()) == [("bash", "allow"), ("**", "deny")]


def test_the_guard_goes_where_opencode_reads_last() -> None:
    after = install("opencode", files("opencode", text=b"{}", jsonc=b"{} // mine\n"))
    assert after[FILES["opencode"]] == b"{}"
    assert b"// mine" in (after[JSONC] or b"")
    # The .jsonc that came after setup gets the guard; uninstall takes it out of both.
    first = install("opencode", files("opencode", text=b'{"a": 1}'))
    second = install("opencode", {**first, JSONC: b'{"b": 2}\n'})
    assert b"**" in (second[JSONC] or b"")
    back = uninstall("opencode", second)
    assert (back[FILES["opencode"]], back[JSONC]) == (b'{"a": 1}', b'{"b": 2}\n')


# ---- Hermes --------------------------------------------------------------------


def yaml(text: str | bytes | None) -> Any:
    return YAML(typ="safe", pure=True).load((text.decode() if isinstance(text, bytes) else text) or "") or {}


@given(yaml_texts())
def test_hermes_configuration_keeps_every_line(text: str) -> None:
    before = files("hermes", text=text.encode())
    after = install("hermes", before)
    wanted = yaml(text)
    plugins = wanted.setdefault("plugins", {})
    plugins["enabled"] = [*(plugins.get("enabled") or []), "reflex"]
    assert yaml(after[FILES["hermes"]]) == wanted
    lines = text_of("hermes", after).splitlines()
    kept = [line for line in text.splitlines() if "enabled: [" not in line]
    assert [line for line in lines if line in kept] == kept
    assert len(lines) <= len(text.splitlines()) + 3
    assert uninstall("hermes", after) == before or not text


@pytest.mark.parametrize("text", [*YAML_PLUGINS, "a: 1", "a: 1\nplugins:\n  enabled:\n    - x"])
def test_hermes_configuration_without_a_last_newline(text: str) -> None:
    before = files("hermes", text=text.removesuffix("\n").encode())
    after = install("hermes", before)
    assert "reflex" in yaml(after[FILES["hermes"]])["plugins"]["enabled"]
    assert uninstall("hermes", after) == before or not text


def test_hermes_entry_among_others_goes_alone() -> None:
    for text, left in (
        ("plugins:\n  enabled:\n  - reflex\n  - b # x\n", "plugins:\n  enabled:\n  - b # x\n"),
        ("plugins:\n  enabled: ['reflex', reflexes]\n", "plugins:\n  enabled: [reflexes]\n"),
        ('plugins:\n  enabled: [a, "reflex", b]\n', "plugins:\n  enabled: [a, b]\n"),
        ("a: 1\nplugins:\n  enabled:\n    - reflex # ours\n  x: 1\n", "a: 1\nplugins:\n  x: 1\n"),
    ):
        assert text_of("hermes", uninstall("hermes", files("hermes", text=text.encode()))) == left


@given(st.text(st.sampled_from("plugins enabled:-[]{}\n#&*'\"x,|>?!%@\t\r"), max_size=60) | st.text(max_size=40))
def test_no_yaml_breaks_the_plan(text: str) -> None:
    data = text.encode("utf-8", "surrogatepass")
    try:
        after = install("hermes", files("hermes", text=data))
    except ReflexError:
        return
    assert "reflex" in yaml(after[FILES["hermes"]])["plugins"]["enabled"]


@given(st.text(st.sampled_from('{}[]",:\\/*\n ntrue01'), max_size=40), st.sampled_from(["claude", "codex", "opencode"]))
def test_no_json_breaks_the_plan(text: str, agent: Agent) -> None:
    try:
        install(agent, files(agent, text=text.encode()))
    except ReflexError:
        return


# ---- gaps ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("agent", "path", "text", "names"),
    [
        ("claude", FILES["claude"], '{"disableAllHooks": true}', "disableAllHooks"),
        ("claude", FILES["claude"], '{"env": {"BASH_ENV": "x"}}', "BASH_ENV"),
        ("claude", FILES["claude"], '{"env": {"BASH_FUNC_x%%": "x"}}', "BASH_FUNC_x%%"),
        ("claude", FILES["claude"], '{"env": {"LD_PRELOAD": "x"}}', "LD_PRELOAD"),
        ("claude", FILES["claude"], "{", "not valid JSON"),
        ("codex", "/home/user/.codex/config.toml", "[features]\nhooks = false\n", "hooks = false"),
        ("codex", "/home/user/.codex/config.toml", "[features\n", "not readable TOML"),
        ("opencode", FILES["opencode"], '{"agent": {"build": {"permission": {"bash": "allow"}}}}', "agent 'build'"),
        ("opencode", JSONC, '{"mode": {"m": {"tools": {"bash": true}}}}', "mode 'm'"),
        ("opencode", JSONC, "{", "not valid JSON"),
        ("hermes", FILES["hermes"], "plugins:\n  disabled: [reflex]\n", "disabled"),
        ("hermes", FILES["hermes"], "{", "not readable YAML"),
    ],
)
def test_what_a_persons_files_leave_open_is_named(agent: Agent, path: str, text: str, names: str) -> None:
    (gap,) = ADAPTERS[agent].gaps(HERE, {**files(agent), path: text.encode()})
    assert path in gap
    assert names in gap


def test_usual_settings_are_no_gap() -> None:
    for agent, path, text in (
        ("claude", FILES["claude"], '{"disableAllHooks": false, "env": {"LD_LIBRARY_PATH": "x", "PATH": "y"}}'),
        ("codex", "/home/user/.codex/config.toml", 'model = "x"\n[features]\nhooks = true\n'),
        ("opencode", JSONC, '{"agent": {"build": {"model": "x"}}, /* c */ "mode": {}}'),
        ("hermes", FILES["hermes"], "plugins:\n  disabled: [other]\n"),
    ):
        assert ADAPTERS[agent].gaps(HERE, {**files(agent), path: text.encode()}) == ()  # type: ignore[index, arg-type]


def test_the_shim_is_planned_alike_by_both_of_its_agents() -> None:
    plans = [ADAPTERS[agent].edits(HERE, files(agent)) for agent in ("claude", "codex")]
    shims = [[edit for edit in plan if edit.path == hook_path(HERE)] for plan in plans]
    assert shims[0] == shims[1]
    assert len(shims[0]) == 1
