"""How agents' settings start an MCP server: read and parsed, never run.

Every settings file that an agent might take the server from counts, since which one it takes is not known here.
A file that cannot be read or understood might say anything, and is told as such.
"""

from __future__ import annotations

import functools
import json
import os
import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping

from reflexd.sight import disk
from reflexd.sight.disk import Unread
from reflexd.types import Context, Sighting

FILE_MAX = 32 << 20  # Claude Code keeps much else in its file
ABOVE_MAX = 64  # directories above the working directory that are looked into
UNKNOWN = "something that cannot be read"
_COMMENT = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\Z))|//[^\n]*|/\*.*?(?:\*/|\Z)', re.DOTALL)
_COMMA = re.compile(r'("(?:[^"\\]|\\.)*(?:"|\Z))|,(?=\s*[}\]])', re.DOTALL)

Started = tuple[tuple[str, str], ...]
"""Pairs of a server's name, as a tool's name holds it, and the words that start it, or its URL."""


def sighting(server: str, context: Context) -> Sighting:
    """`pairs`: for each settings file that knows the server its path and what starts it."""
    pairs = []
    for path in _files(context):
        started = _started(path, context.cwd)
        pairs += [(path, command) for name, command in started if name in (server, "*")]
    return Sighting(pairs=tuple(pairs))


def plain(name: str) -> str:
    """A server's name as the names of its tools hold it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)


def _files(context: Context) -> Iterator[str]:
    env = dict(context.env)
    home = context.home
    config = env.get("XDG_CONFIG_HOME") or f"{home}/.config"
    yield f"{env.get('CLAUDE_CONFIG_DIR') or home}/.claude.json"
    yield f"{env.get('CODEX_HOME') or f'{home}/.codex'}/config.toml"
    opencode = env.get("OPENCODE_CONFIG_DIR") or f"{config}/opencode"
    yield from (f"{opencode}/{name}" for name in ("opencode.json", "opencode.jsonc", "config.json"))
    yield from ("/etc/claude-code/managed-mcp.json", "/Library/Application Support/ClaudeCode/managed-mcp.json")
    above = context.cwd
    for _ in range(ABOVE_MAX if above.startswith("/") else 0):
        names = (".mcp.json", ".codex/config.toml", "opencode.json", "opencode.jsonc", ".opencode/opencode.json")
        yield from (f"{above.rstrip('/')}/{name}" for name in names)
        if above == "/":
            return
        above = os.path.dirname(above)


def _started(path: str, cwd: str) -> Started:
    found = disk.look(path, follow=True)
    if isinstance(found, Unread):
        return () if found.why == "missing" else (("*", UNKNOWN),)
    return _parsed(path, cwd, (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns))


@functools.lru_cache(maxsize=64)
def _parsed(path: str, cwd: str, signature: tuple[int, ...]) -> Started:
    text = disk.read(path, FILE_MAX)
    if isinstance(text, Unread):
        return (("*", UNKNOWN),)
    try:
        raw = tomllib.loads(text.decode()) if path.endswith(".toml") else _json(text.decode())
    except (ValueError, RecursionError):
        return (("*", UNKNOWN),)
    return tuple(_servers(raw, cwd)) if isinstance(raw, dict) else (("*", UNKNOWN),)


def _json(text: str) -> object:
    """With the comments and last commas that opencode allows."""
    try:
        return json.loads(text)
    except ValueError:
        return json.loads(_COMMA.sub(r"\1", _COMMENT.sub(r"\1", text)))


def _servers(raw: Mapping[str, object], cwd: str) -> Iterator[tuple[str, str]]:
    tables = [raw.get(key) for key in ("mcpServers", "mcp_servers", "mcp")]
    projects = raw.get("projects")
    if isinstance(projects, dict):
        inside = [value for key, value in projects.items() if (cwd + "/").startswith(str(key).rstrip("/") + "/")]
        tables += [project.get("mcpServers") for project in inside if isinstance(project, dict)]
    for table in tables:
        for name, server in table.items() if isinstance(table, dict) else ():
            yield plain(name), _command(server)


def _command(server: object) -> str:
    if not isinstance(server, dict):
        return UNKNOWN
    command, args, url = server.get("command"), server.get("args", []), server.get("url")
    words = [*([command] if isinstance(command, str) else command or []), *(args if isinstance(args, list) else [])]
    if words:
        return shlex.join(map(str, words))
    return url if isinstance(url, str) else UNKNOWN
