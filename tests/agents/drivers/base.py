"""What one agent's driver has, and where the agents are."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Protocol

from tests.agents.llm import Call, Step
from tests.agents.world import World

PROMPT = "go"
MCP_NAME = "lab"
MCP_SERVER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp_server.py")


class Driver(Protocol):
    """A module of this package. `program` is a path below the agents' directory.

    `configure` writes the agent's own configuration: the scripted LLM and the MCP server. `spawn`
    gives the steps that have a subagent do a task and wait for its end; empty where there are none.
    """

    NAME: str
    VERSION: str
    PROGRAM: str

    def configure(self, world: World, url: str) -> None: ...
    def command(self, program: str) -> list[str]: ...
    def environment(self, world: World, url: str) -> Mapping[str, str]: ...
    def shell(self, command: str) -> Call: ...
    def write(self, path: str, content: str) -> Call: ...
    def mcp(self, name: str) -> Call | None: ...
    def spawn(self, task: str) -> tuple[Step, ...]: ...


def agents_dir() -> str:
    """Where setup/agents.sh installs; the same rule as there."""
    named = os.environ.get("REFLEX_AGENTS_DIR")
    if named:
        return os.path.abspath(named)
    return "/var/cache/reflex-agents" if os.geteuid() == 0 else os.path.expanduser("~/.cache/reflex-agents")


def mcp_command(world: World) -> list[str]:
    return [sys.executable, "-I", "-S", MCP_SERVER, world.mark("")]
