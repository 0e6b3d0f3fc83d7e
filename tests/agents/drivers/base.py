"""What one agent's driver has, and where the agents are."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from typing import Protocol

from reflexd.types import Agent
from tests.agents.llm import Arguments, Call
from tests.agents.world import World

PROMPT = "go"
MCP_NAME = "lab"
MCP_SERVER = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "mcp_server.py")


class Driver(Protocol):
    """A module of this package."""

    NAME: str
    AGENT: Agent
    """What reflex calls it; several drivers may drive several versions of one agent."""
    VERSION: str
    PROGRAM: str
    """A path below the agents' directory."""
    SHIM: str
    """Our file in the agent, below the home."""
    HOOKS: str
    """The agent's own file with the lines that run ours, below the home; empty where it finds ours by place."""
    TRUST: tuple[str, ...]
    """Flags with which it runs hooks that were edited after it was told to trust them."""
    PER_CALL: bool
    """Whether that file is read at every call, not once at the agent's start."""
    GUARD: str
    """What refuses when our file cannot be started; empty where the host has nothing for it."""

    def configure(self, world: World, url: str) -> None:
        """Write the agent's own configuration: the scripted LLM and the MCP server."""

    def command(self, program: str) -> list[str]: ...
    def environment(self, world: World, url: str) -> Mapping[str, str]: ...
    def shell(self, command: str) -> Call: ...

    def mcp(self, arguments: Arguments) -> Call | None:
        """A call of the MCP server's tool `mark`; None where the agent has no MCP."""

    def spawn(self, task: str) -> Call | None:
        """A call that has a subagent do a task, in the background for some; None where there are none."""


def agents_dir() -> str:
    """Where setup/agents.sh installs; the same rule as there."""
    named = os.environ.get("REFLEX_AGENTS_DIR")
    if named:
        return os.path.abspath(named)
    return "/var/cache/reflex-agents" if os.geteuid() == 0 else os.path.expanduser("~/.cache/reflex-agents")


def mcp_command(world: World) -> list[str]:
    return [sys.executable, "-I", "-S", MCP_SERVER, world.mark("")]
