"""Claude Code, `claude -p` with every permission of its own given."""

from __future__ import annotations

import json
from collections.abc import Mapping

from reflexd.types import Agent
from tests.agents.drivers.base import MCP_NAME, PROMPT, mcp_command
from tests.agents.llm import Arguments, Call
from tests.agents.world import World

NAME = "claude"
AGENT: Agent = "claude"
VERSION = "2.1.332"
PROGRAM = "node_modules/.bin/claude"
SHIM = ".local/share/reflex/shims/reflex_hook.py"
HOOKS = ".claude/settings.json"
TRUST: tuple[str, ...] = ()
PER_CALL = True
GUARD = "hook line"


def configure(world: World, url: str) -> None:
    program, *arguments = mcp_command(world)
    servers = {MCP_NAME: {"type": "stdio", "command": program, "args": arguments}}
    world.write(".claude.json", json.dumps({"hasCompletedOnboarding": True, "mcpServers": servers}))


def command(program: str) -> list[str]:
    return [program, "-p", PROMPT, "--dangerously-skip-permissions"]


def environment(world: World, url: str) -> Mapping[str, str]:
    # IS_SANDBOX: as root it refuses to skip its permissions otherwise.
    offline = {"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1", "IS_SANDBOX": "1"}
    return {"ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "none", **offline}


def shell(command: str) -> Call:
    return Call("Bash", {"command": command, "description": "a step"})


def mcp(arguments: Arguments) -> Call | None:
    return Call(f"mcp__{MCP_NAME}__mark", arguments)


def spawn(task: str) -> Call | None:
    arguments = {"description": "a task", "prompt": task, "subagent_type": "general-purpose"}
    return Call("Agent", arguments)
