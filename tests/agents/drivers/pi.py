"""pi, `pi -p`. It has neither subagents nor MCP of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping

from reflexd.types import Agent
from tests.agents.drivers.base import PROMPT
from tests.agents.llm import Arguments, Call
from tests.agents.world import World

NAME = "pi"
AGENT: Agent = "pi"
VERSION = "0.73.1"
PROGRAM = "node_modules/.bin/pi"
SHIM = ".pi/agent/extensions/reflex.ts"
HOOKS = ""
TRUST: tuple[str, ...] = ()
PER_CALL = False
GUARD = ""


def configure(world: World, url: str) -> None:
    provider = {
        "baseUrl": f"{url}/v1",
        "api": "openai-completions",
        "apiKey": "none",
        "models": [{"id": "scripted"}],
    }
    world.write(".pi/agent/models.json", json.dumps({"providers": {"scripted": provider}}))


def command(program: str) -> list[str]:
    return [program, "-p", "--model", "scripted/scripted", PROMPT]


def environment(world: World, url: str) -> Mapping[str, str]:
    return {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}


def shell(command: str) -> Call:
    return Call("bash", {"command": command})


def mcp(arguments: Arguments) -> Call | None:
    return None


def spawn(task: str) -> Call | None:
    return None
