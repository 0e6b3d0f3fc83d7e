"""How agents' settings start MCP servers, on real files."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reflexd.sight.servers import UNKNOWN, sighting
from reflexd.types import Context

STDIO = {"command": "npx", "args": ["-y", "server github@1.2"]}
WORDS = "npx -y 'server github@1.2'"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "proj/src").mkdir(parents=True)
    return tmp_path


def started(home: Path, server: str = "github", **env: str) -> dict[str, str]:
    context = Context(cwd=str(home / "proj/src"), home=str(home), env=tuple(env.items()))
    return {path.removeprefix(f"{home}/"): command for path, command in sighting(server, context).pairs}


def put(path: Path, text: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text if isinstance(text, str) else json.dumps(text))


def test_every_agents_settings_count(home: Path) -> None:
    put(home / ".claude.json", {"mcpServers": {"github": STDIO, "other": {"command": "x"}}})
    put(home / "proj/.mcp.json", {"mcpServers": {"github": {"type": "http", "url": "https://e.example/mcp"}}})
    put(home / ".codex/config.toml", '[mcp_servers.github]\ncommand = "npx"\nargs = ["a"]\n')
    put(home / ".config/opencode/opencode.json", {"mcp": {"github": {"type": "local", "command": ["bun", "x"]}}})
    put(home / "proj/opencode.jsonc", '{ // mine\n "mcp": {"github": {"url": "https://e.example/a//b"},}, /* x */ }')
    assert started(home) == {
        ".claude.json": WORDS,
        "proj/.mcp.json": "https://e.example/mcp",
        ".codex/config.toml": "npx a",
        ".config/opencode/opencode.json": "bun x",
        "proj/opencode.jsonc": "https://e.example/a//b",
    }
    assert started(home, "other") == {".claude.json": "x"}
    assert started(home, "third") == {}


def test_a_project_s_own_entry_counts_below_it(home: Path) -> None:
    inside, outside = {"mcpServers": {"github": {"command": "a"}}}, {"mcpServers": {"github": {"command": "b"}}}
    put(home / ".claude.json", {"projects": {str(home / "proj"): inside, str(home / "pro"): outside}})
    assert started(home) == {".claude.json": "a"}


def test_settings_that_were_moved_are_found(home: Path) -> None:
    put(home / "c/.claude.json", {"mcpServers": {"my server": {"command": "a"}}})
    put(home / "x/config.toml", '[mcp_servers."my server"]\ncommand = "b"\n')
    moved = {"CLAUDE_CONFIG_DIR": str(home / "c"), "CODEX_HOME": str(home / "x")}
    assert started(home, "my_server", **moved) == {"c/.claude.json": "a", "x/config.toml": "b"}


@pytest.mark.parametrize("text", ["{", '{"mcpServers": {"github": 7}}', '{"mcpServers": {"github": {}}}', "[]"])
def test_what_cannot_be_understood_might_start_anything(home: Path, text: str) -> None:
    put(home / "proj/.mcp.json", text)
    assert started(home) == {"proj/.mcp.json": UNKNOWN}


def test_a_fifo_in_its_place_is_not_waited_for(home: Path) -> None:
    os.mkfifo(home / "proj/.mcp.json")
    assert started(home) == {"proj/.mcp.json": UNKNOWN}


def test_a_change_is_seen(home: Path) -> None:
    put(home / "proj/.mcp.json", {"mcpServers": {"github": {"command": "a"}}})
    assert started(home) == {"proj/.mcp.json": "a"}
    put(home / "proj/.mcp.json", {"mcpServers": {"github": {"command": "bb"}}})
    assert started(home) == {"proj/.mcp.json": "bb"}


def test_comments_that_do_not_end_are_read_once(home: Path) -> None:
    put(home / "proj/.mcp.json", "/*" * 200_000 + '"' * 200_001)
    assert started(home) == {"proj/.mcp.json": UNKNOWN}
