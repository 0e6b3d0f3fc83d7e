"""opencode, `opencode run`."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping

from reflexd.types import Agent
from tests.agents.drivers.base import MCP_NAME, PROMPT, agents_dir, mcp_command
from tests.agents.llm import Arguments, Call
from tests.agents.world import World

NAME = "opencode"
AGENT: Agent = "opencode"
VERSION = "1.18.33"
PROGRAM = "node_modules/.bin/opencode"
SHIM = ".config/opencode/plugins/reflex.js"
HOOKS = ""
TRUST: tuple[str, ...] = ()
PER_CALL = False
GUARD = "opencode.json"


def configure(world: World, url: str) -> None:
    model = {"name": "scripted", "tool_call": True, "limit": {"context": 200000, "output": 8000}}
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"scripted": model},
    }
    config = {
        "provider": {"scripted": provider},
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "mcp": {MCP_NAME: {"type": "local", "command": mcp_command(world), "enabled": True}},
    }
    world.write(".config/opencode/opencode.json", json.dumps(config, indent=2))

    _plugin_package(world)


def _plugin_package(world: World) -> None:
    """Put what opencode fetches at its first start with a plugin where it looks: without a registry it
    waits for that more than a minute at every start."""
    fetched = os.path.join(agents_dir(), "opencode-plugin")
    if not os.path.isdir(fetched):
        return
    config = os.path.join(world.home, ".config", "opencode")
    os.symlink(os.path.join(fetched, "node_modules"), os.path.join(config, "node_modules"))
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(fetched, name), config)


def command(program: str) -> list[str]:
    return [program, "run", "--print-logs", PROMPT]


def environment(world: World, url: str) -> Mapping[str, str]:
    return {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


def shell(command: str) -> Call:
    return Call("bash", {"command": command, "description": "a step"})


def mcp(arguments: Arguments) -> Call | None:
    return Call(f"{MCP_NAME}_mark", arguments)


def spawn(task: str) -> Call | None:
    return Call("task", {"description": "a task", "prompt": task, "subagent_type": "general"})
