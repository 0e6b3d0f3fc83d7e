"""Runs an agent as it is installed and configured, with only its model exchanged for a scripted one.

The model comes in by flags and variables of the one run: no settings are changed (an agent keeps its
record of the session, as of any other). Hermes alone runs on a copy of its settings and plugins: it
would keep the address of the model among its credentials. It works in an empty directory. What it calls: one command
that leaves a mark and one that would leave a mark too, but names a push over main, which is refused.
Should the hook fail, that push does nothing: there is no repository. What cannot be tried this way: a
configuration that names its own model in a stronger place than a variable.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Mapping
from contextlib import suppress

from msgspec import Struct

from reflexd.setup.deep.dialects import Call
from reflexd.setup.deep.model import Model
from reflexd.setup.tries import WORK
from reflexd.types import Agent

TIMEOUT_S = 150
PROMPT = "make the two calls"


class Run(Struct, frozen=True):
    argv: tuple[str, ...]
    env: Mapping[str, str]


class Outcome(Struct, frozen=True):
    """`trouble`: the run says nothing about the hook, and why. `ran`: the dangerous call's mark is there."""

    ran: bool = False
    trouble: str = ""
    told: str = ""


def drive(agent: Agent, binary: str, home: str) -> Outcome:
    """`home` is the agent's own directory. Takes seconds; at most TIMEOUT_S."""
    work = os.path.realpath(tempfile.mkdtemp(prefix=WORK))
    try:
        return _drive(agent, binary, home, work)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _drive(agent: Agent, binary: str, home: str, work: str) -> Outcome:
    inside = os.path.join(work, "empty")
    os.mkdir(inside)
    harmless, dangerous = os.path.join(inside, "harmless"), os.path.join(inside, "dangerous")
    commands = (f"touch {harmless}", f"touch {dangerous}; git push --force origin main")
    with Model(tuple(_call(agent, command) for command in commands)) as model:
        said = _start(_run(agent, binary, home, model.url, work), inside)
    if os.path.exists(dangerous):
        return Outcome(ran=True)
    if not os.path.exists(harmless):
        heard = model.told[0] if model.told else said
        return Outcome(trouble=f"its first, harmless call did not run: {_short(heard)}")
    if len(model.told) < 2:
        return Outcome(trouble=f"it ended before its second call: {_short(said)}")
    if "reflex:" not in model.told[1]:
        return Outcome(trouble=f"something else than reflex refused the call: {_short(model.told[1])}")
    return Outcome(told=model.told[1])


def _call(agent: Agent, command: str) -> Call:
    match agent:
        case "codex":
            return Call("exec_command", {"cmd": command})
        case "hermes":
            return Call("terminal", {"command": command})
        case "claude":
            return Call("Bash", {"command": command, "description": "a step"})
        case _:
            return Call("bash", {"command": command, "description": "a step"})


def _start(run: Run, cwd: str) -> str:
    """The end of what the agent said; it and all that it started are gone afterwards."""
    with tempfile.TemporaryFile() as output:
        try:
            process = subprocess.Popen(
                run.argv,
                cwd=cwd,
                env={**os.environ, **run.env, "PWD": cwd},  # opencode goes by PWD
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        except OSError as e:
            return f"it cannot be started: {e.strerror}"
        try:
            process.wait(TIMEOUT_S)
            late = ""
        except subprocess.TimeoutExpired:
            late = f"no end after {TIMEOUT_S} s; "
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        output.seek(0)
        return late + output.read()[-4000:].decode("utf-8", "replace")


def _short(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1][:300] if lines else "it said nothing"


def _run(agent: Agent, binary: str, home: str, url: str, work: str) -> Run:
    match agent:
        case "claude":
            env = {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", "ANTHROPIC_AUTH_TOKEN": ""}
            env |= {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1"}
            return Run((binary, "-p", PROMPT, "--allowedTools", "Bash"), env)
        case "codex":
            provider = {"name": "scripted", "base_url": f"{url}/v1", "wire_api": "responses", "env_key": "REFLEX_KEY"}
            table = "{" + ", ".join(f"{key}={json.dumps(value)}" for key, value in provider.items()) + "}"
            flags = ("-c", f"model_providers.scripted={table}", "-c", 'model_provider="scripted"', "-m", "scripted")
            bare = ("--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox")
            return Run((binary, "exec", *bare, *flags, PROMPT), {"REFLEX_KEY": "none"})
        case "opencode":
            model = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
            options = {"baseURL": f"{url}/v1", "apiKey": "none"}
            sdk = {"npm": "@ai-sdk/openai-compatible", "options": options, "models": {"scripted": model}}
            names = {"model": "scripted/scripted", "small_model": "scripted/scripted"}
            config = json.dumps({"provider": {"scripted": sdk}, **names})
            env = {"OPENCODE_CONFIG_CONTENT": config, "OPENCODE_DISABLE_AUTOUPDATE": "1"}
            return Run((binary, "run", PROMPT), {**env, "OPENCODE_DISABLE_MODELS_FETCH": "1"})
        case "pi":
            extension = _pi_provider(url, work)
            env = {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
            argv = (binary, "-p", "-e", extension, "--model", "reflex-scripted/scripted", PROMPT)
            return Run(argv, env)
        case "hermes":
            env = {"HERMES_HOME": _hermes_copy(home, work), "OPENAI_BASE_URL": f"{url}/v1", "OPENAI_API_KEY": "none"}
            query = (binary, "chat", "-Q", "--provider", "openai-api", "-m", "scripted", "-q", PROMPT)
            return Run(query, env)


def _pi_provider(url: str, work: str) -> str:
    """An extension of this one run; the installed ones are loaded beside it."""
    model = {"id": "scripted", "name": "scripted", "reasoning": False, "input": ["text"], "maxTokens": 4096}
    model |= {"contextWindow": 128000, "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}
    provider = {"baseUrl": f"{url}/v1", "apiKey": "none", "api": "openai-completions", "models": [model]}
    path = os.path.join(work, "provider.ts")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'export default (pi) => pi.registerProvider("reflex-scripted", {json.dumps(provider)});\n')
    return path


def _hermes_copy(home: str, work: str) -> str:
    copy = os.path.join(work, "hermes")
    os.mkdir(copy)
    for name in ("config.yaml", "plugins"):
        path = os.path.join(home, name)
        if os.path.isdir(path):
            shutil.copytree(path, os.path.join(copy, name))
        elif os.path.exists(path):
            shutil.copy(path, copy)
    return copy
