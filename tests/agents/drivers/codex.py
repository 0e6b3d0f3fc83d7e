"""Codex, `codex exec` without its own approvals and sandbox."""

from __future__ import annotations

import json
from collections.abc import Mapping

from reflexd.types import Agent
from tests.agents.drivers.base import MCP_NAME, PROMPT, mcp_command
from tests.agents.llm import Arguments, Call
from tests.agents.world import World

NAME = "codex"
AGENT: Agent = "codex"
VERSION = "0.171.0"
PROGRAM = "node_modules/.bin/codex"
SHIM = ".local/share/reflex/shims/reflex_hook.py"
HOOKS = ".codex/hooks.json"
TRUST: tuple[str, ...] = ("--dangerously-bypass-hook-trust",)
PER_CALL = True
GUARD = "hook line"


def configure(world: World, url: str) -> None:
    program, *arguments = mcp_command(world)
    world.write(
        ".codex/config.toml",
        f"""model = "scripted"
model_provider = "scripted"

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"

[mcp_servers.{MCP_NAME}]
command = {json.dumps(program)}
args = {json.dumps(arguments)}
""",
    )


def command(program: str) -> list[str]:
    return [program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", PROMPT]


def environment(world: World, url: str) -> Mapping[str, str]:
    return {"SCRIPTED_KEY": "none"}


def shell(command: str) -> Call:
    return Call("exec_command", {"cmd": command})


def mcp(arguments: Arguments) -> Call | None:
    return Call("mark", arguments, namespace=f"mcp__{MCP_NAME}")


def spawn(task: str) -> Call | None:
    return Call("spawn_agent", {"message": task}, namespace="multi_agent_v1")
