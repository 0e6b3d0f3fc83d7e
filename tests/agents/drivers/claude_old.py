"""An older Claude Code, which does not know onFailure: whatever refuses there is our own guard."""

from __future__ import annotations

from reflexd.types import Agent
from tests.agents.drivers import claude

NAME = "claude-old"
AGENT: Agent = "claude"
VERSION = "2.1.197"
PROGRAM = "claude-old/node_modules/.bin/claude"
SHIM = claude.SHIM
HOOKS = claude.HOOKS
TRUST = claude.TRUST
PER_CALL = claude.PER_CALL
GUARD = claude.GUARD

configure = claude.configure
command = claude.command
environment = claude.environment
shell = claude.shell
mcp = claude.mcp
spawn = claude.spawn
