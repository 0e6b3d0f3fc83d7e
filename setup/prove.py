"""Sends real hook events through an agent's installed hook: what setup ends with and doctor runs.

The line that Claude Code and Codex would run is taken from their settings and run under a shell; the
plugins run in small stand-ins for their hosts, in the agent's own runtime where there is one. The
commands are only ever judged, never run.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from importlib import resources

from msgspec import Struct

from reflexd.adapters.all import ADAPTERS
from reflexd.errors import ReflexError
from reflexd.setup import files
from reflexd.setup.tries import SESSION
from reflexd.shims import HOOK_NAME, OPENCODE_GUARD
from reflexd.types import Agent, Places

HARMLESS = "git status"
DANGEROUS = "rm -rf ~"
TIMEOUT_S = 40
_SHELLS: dict[Agent, tuple[str, ...]] = {"claude": ("/bin/sh",), "codex": ("/bin/bash", "/bin/sh")}


class Proof(Struct, frozen=True):
    """What came of the two calls: empty where the call went on, else the reason. Or why it could not be tried."""

    harmless: str = ""
    dangerous: str = ""
    trouble: str = ""

    @property
    def holds(self) -> bool:
        return not self.trouble and not self.harmless and bool(self.dangerous)


def prove(agent: Agent, places: Places, binary: str) -> Proof:
    try:
        answers = _stdin(agent, places) if agent in _SHELLS else _plugin(agent, places, binary)
    except (ReflexError, OSError, ValueError, subprocess.TimeoutExpired) as e:
        return Proof(trouble=str(e))
    harmless, dangerous = answers
    return Proof(harmless or "", dangerous or "")


def others(agent: Agent, places: Places) -> tuple[str, ...]:
    """Run every further hook of an agent that has one process a hook; what went wrong, if anything."""
    if agent not in _SHELLS:
        return ()
    wrong: list[str] = []
    for event in ADAPTERS[agent].EVENTS:
        if event != "PreToolUse":
            try:
                done = _run(agent, places, event, HARMLESS)
            except (ReflexError, OSError, subprocess.TimeoutExpired) as e:
                wrong.append(f"{event}: {e}")
            else:
                if done.returncode or b"deny" in done.stdout:
                    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
                    wrong.append(f"{event}: exit {done.returncode}: {said}")
    return tuple(wrong)


# ---- Claude Code and Codex ----------------------------------------------------------


def _stdin(agent: Agent, places: Places) -> tuple[str | None, str | None]:
    return _judged(agent, places, HARMLESS), _judged(agent, places, DANGEROUS)


def _judged(agent: Agent, places: Places, command: str) -> str | None:
    done = _run(agent, places, "PreToolUse", command)
    said = done.stderr.decode("utf-8", "replace").strip()
    if done.returncode == 0 and b'"ask"' in done.stdout:
        return "the agent would ask"
    if done.returncode == 0:
        return None
    # Codex runs the tool on exit 2 without a word, and both do on any other exit.
    if done.returncode == 2 and said:
        return said
    raise ReflexError(f"the hook ended with {done.returncode}, which runs the tool: {said}")


def _run(agent: Agent, places: Places, event: str, command: str) -> subprocess.CompletedProcess[bytes]:
    shell = next(path for path in _SHELLS[agent] if os.path.exists(path))
    return subprocess.run(
        [shell, "-c", _line(agent, places, event)],
        input=json.dumps(_payload(places, event, command)).encode(),
        capture_output=True,
        cwd=places.home,
        timeout=TIMEOUT_S,
    )


def _line(agent: Agent, places: Places, event: str) -> str:
    """Our command for `event` as the agent's settings have it."""
    path = ADAPTERS[agent].hooks_in(places)[0]
    try:
        root = json.loads(files.read(path) or b"{}")
        found = [
            handler["command"]
            for group in root["hooks"][event]
            for handler in group["hooks"]
            if f"/shims/{HOOK_NAME}" in handler.get("command", "")
        ]
    except (ValueError, KeyError, TypeError, AttributeError) as e:
        raise ReflexError(f"{path} does not hold our hook for {event}") from e
    if len(found) != 1:
        raise ReflexError(f"{path} holds {len(found)} hooks of ours for {event}")
    return str(found[0])


def _payload(places: Places, event: str, command: str) -> dict[str, object]:
    base: dict[str, object] = {"session_id": SESSION, "cwd": places.home, "hook_event_name": event}
    base |= {"transcript_path": "", "permission_mode": "default"}
    call = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": "1"}
    more: dict[str, dict[str, object]] = {
        "PreToolUse": {**call},
        "PreSkillShellCommand": {**call},
        "PermissionRequest": {**call},
        "PostToolUse": {**call, "tool_response": ""},
        "PostToolUseFailure": {**call, "error": ""},
        "UserPromptSubmit": {"prompt": "hello"},
        "SessionStart": {"source": "startup"},
        "SessionEnd": {"reason": "other"},
        "SubagentStart": {"agent_id": "1", "agent_type": "general"},
        "SubagentStop": {"agent_id": "1", "agent_type": "general"},
    }
    return base | more.get(event, {})


# ---- plugins ------------------------------------------------------------------------


def _plugin(agent: Agent, places: Places, binary: str) -> tuple[str | None, str | None]:
    plugin = ADAPTERS[agent].files(places)[0]
    if not os.path.exists(plugin):
        raise ReflexError(f"{plugin} is missing")
    name = "hermes.py" if agent == "hermes" else f"{agent}.mjs"
    subject = os.path.dirname(plugin) if agent == "hermes" else plugin
    with resources.as_file(resources.files("reflexd.setup.hosts")) as hosts:
        guard = [json.dumps(OPENCODE_GUARD)] if agent == "opencode" else []
        runtime = _runtime(agent, places, binary)
        command = [*runtime, os.path.join(hosts, name), subject, SESSION, *guard, HARMLESS, DANGEROUS]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=places.home,
            env={**os.environ, "BUN_BE_BUN": "1"},
            timeout=TIMEOUT_S,
        )
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        error = next((line for line in lines if re.match(r"\w*[Ee]rror: ", line)), lines[-1] if lines else "")
        raise ReflexError(f"the plugin does not load: {error.strip() or f'exit {done.returncode}'}")
    harmless, dangerous = json.loads(done.stdout.decode())
    return harmless, dangerous


def _runtime(agent: Agent, places: Places, binary: str) -> list[str]:
    match agent:
        case "hermes":
            return [_interpreter(binary) or places.python]
        case "opencode" if binary:
            # opencode is a Bun program with everything in one file: asked so, it is plain Bun.
            return [binary]
        case _:
            node = shutil.which("node")
            if not node:
                raise ReflexError("could not be tried: there is no node on PATH")
            return [node]


def _interpreter(script: str) -> str:
    """The interpreter in a script's first line, where it is a Python that is there."""
    try:
        with open(script, "rb") as file:
            found = re.match(rb"#!\s*(/\S*python[0-9.]*)\s*\n", file.readline(4096))
    except OSError:
        return ""
    path = os.fsdecode(found[1]) if found else ""
    return path if os.access(path, os.X_OK) else ""
