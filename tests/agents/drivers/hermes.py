"""Hermes Agent, `hermes chat -Q -q`."""

from __future__ import annotations

import json
from collections.abc import Mapping

from reflexd.types import Agent
from tests.agents.drivers.base import MCP_NAME, PROMPT, mcp_command
from tests.agents.llm import Arguments, Call
from tests.agents.world import World

NAME = "hermes"
AGENT: Agent = "hermes"
VERSION = "0.19.0"
PROGRAM = "hermes/bin/hermes"
SHIM = ".hermes/plugins/reflex/__init__.py"
HOOKS = ""
TRUST: tuple[str, ...] = ()
PER_CALL = False
GUARD = ""


def configure(world: World, url: str) -> None:
    program, *arguments = mcp_command(world)
    world.write(
        ".hermes/config.yaml",
        f"""model:
  default: scripted
  provider: scripted
providers:
  scripted:
    base_url: {url}/v1
    api_key: none
    default_model: scripted
    api_mode: chat_completions
mcp_servers:
  {MCP_NAME}:
    command: {json.dumps(program)}
    args: {json.dumps(arguments)}
""",
    )


def command(program: str) -> list[str]:
    return [program, "chat", "-Q", "-q", PROMPT]


def environment(world: World, url: str) -> Mapping[str, str]:
    return {}


def shell(command: str) -> Call:
    return Call("terminal", {"command": command})


def mcp(arguments: Arguments) -> Call | None:
    return Call(f"mcp__{MCP_NAME}__mark", arguments)


def spawn(task: str) -> Call | None:
    return Call("delegate_task", {"goal": task})
