"""Codex, `codex exec` without its own approvals and sandbox."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from tests.agents.drivers.base import MCP_NAME, PROMPT, mcp_command
from tests.agents.llm import Arguments, Call, Result, Step
from tests.agents.world import World

NAME = "codex"
VERSION = "0.171.0"
PROGRAM = "node_modules/.bin/codex"
AGENTS = "multi_agent_v1"


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


def write(path: str, content: str) -> Call:
    lines = "".join(f"+{line}\n" for line in content.splitlines())
    return Call("apply_patch", {"input": f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"})


def mcp(name: str) -> Call | None:
    return Call("mark", {"name": name}, namespace=f"mcp__{MCP_NAME}")


def spawn(task: str) -> tuple[Step, ...]:
    # `codex exec` ends with its main conversation, so that one has to wait.
    start = Call("spawn_agent", {"message": task}, namespace=AGENTS)
    wait = Call("wait_agent", _wait, namespace=AGENTS)
    return (Step((start,)), Step((wait,)))


def _wait(results: tuple[Result, ...]) -> Arguments:
    return {"targets": re.findall(r'"agent_id":"([^"]+)"', results[-1].text), "timeout_ms": 60000}
