"""Where the Hermes plugin says that a call will run: Hermes keeps a `cd` from call to call, apart from its process."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest

from reflexd import wire
from reflexd.shims import render
from reflexd.types import Places, Reply
from tests.shims.listener import listening, reply

Judged = Callable[..., str]


@pytest.fixture
def judged_in(places: Places) -> Judged:
    """The directory that the daemon hears of for a call with these facts."""
    space: dict[str, Any] = {"__name__": "reflex_plugin"}
    exec(compile(render("hermes/__init__.py", places), "plugin", "exec"), space)

    def judged(**facts: object) -> str:
        received: list[bytes] = []
        with listening(places, reply(wire.encode_reply(Reply())), received):
            assert space["before"](**facts) is None
        return str(json.loads(received[0].partition(b"\n")[2])["cwd"])

    return judged


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> types.SimpleNamespace:
    """The three modules of Hermes that keep directories, with nothing recorded yet."""
    state = types.SimpleNamespace(recorded={}, overrides={}, key="", configured="/configured")
    terminal: dict[str, object] = {
        "get_session_cwd": lambda key: state.recorded.get(key or "default"),
        "resolve_task_overrides": lambda task: state.overrides.get(task, {}),
        "_get_env_config": lambda: {"cwd": state.configured},
    }
    parts: dict[str, dict[str, object]] = {
        "terminal_tool": terminal,
        "approval": {"get_current_session_key": lambda default: state.key or default},
        "file_tools": {"_resolve_base_dir": lambda task: "/files-of/" + task},
    }
    package = types.ModuleType("tools")
    monkeypatch.setitem(sys.modules, "tools", package)
    for name, values in parts.items():
        module = types.ModuleType("tools." + name)
        vars(module).update(values)
        setattr(package, name, module)
        monkeypatch.setitem(sys.modules, "tools." + name, module)
    return state


def test_a_first_command_runs_where_hermes_is_configured_to(judged_in: Judged, host: types.SimpleNamespace) -> None:
    assert judged_in(tool_name="terminal", args={}, task_id="t") == "/configured"
    host.configured = "."
    assert judged_in(tool_name="terminal", args={}, task_id="t") == os.getcwd()


def test_a_cd_of_an_earlier_call_counts(judged_in: Judged, host: types.SimpleNamespace) -> None:
    host.recorded["t"] = "/home/of/somebody"
    assert judged_in(tool_name="terminal", args={}, task_id="t") == "/home/of/somebody"
    assert judged_in(tool_name="terminal", args={}, task_id="another") == "/configured"


def test_the_session_s_own_record_counts_before_the_task_s(judged_in: Judged, host: types.SimpleNamespace) -> None:
    host.overrides["t"] = {"cwd": "/of-override"}
    assert judged_in(tool_name="terminal", args={}, task_id="t") == "/of-override"
    host.recorded |= {"session": "/of-session", "t": "/of-task"}
    assert judged_in(tool_name="terminal", args={}, task_id="t") == "/of-task"
    host.key = "session"
    assert judged_in(tool_name="terminal", args={}, task_id="t") == "/of-session"


def test_files_are_looked_up_where_hermes_looks_them_up(judged_in: Judged, host: types.SimpleNamespace) -> None:
    assert judged_in(tool_name="write_file", args={}, task_id="t") == "/files-of/t"
    assert judged_in(tool_name="write_file", args={}) == "/files-of/default"


def test_where_a_running_process_is_nobody_knows(judged_in: Judged, host: types.SimpleNamespace) -> None:
    assert judged_in(tool_name="process", args={}, task_id="t") == ""


def test_a_hermes_that_keeps_it_elsewhere_leaves_it_unknown(judged_in: Judged, host: types.SimpleNamespace) -> None:
    del sys.modules["tools"].terminal_tool.get_session_cwd
    assert judged_in(tool_name="terminal", args={}, task_id="t") == ""


def test_without_hermes_it_is_unknown(judged_in: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tools", None)
    assert judged_in(tool_name="terminal", args={}) == ""
