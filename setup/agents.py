"""Which agents there are on this machine, and in which version."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor

from msgspec import Struct

from reflexd.types import AGENTS, Agent, Places

TITLES: dict[Agent, str] = {
    "claude": "Claude Code",
    "codex": "Codex",
    "opencode": "opencode",
    "pi": "pi",
    "hermes": "Hermes",
}
BESIDE_PATH = (".local/bin", ".claude/local", ".opencode/bin", ".bun/bin", ".npm-global/bin")
"""Where the agents' own installers put them, below the home: a person's shell has these on its PATH, ours may not."""
VERSION_TIMEOUT_S = 30


class Found(Struct, frozen=True):
    """An agent on this machine. `binary` is empty where only its settings are there."""

    name: Agent
    home: str
    binary: str


def find(name: Agent, places: Places, path: str) -> Found | None:
    more = os.pathsep.join(os.path.join(places.home, directory) for directory in BESIDE_PATH)
    binary = shutil.which(name, path=path + os.pathsep + more) or ""
    home = places.agent_home(name)
    return Found(name, home, binary) if binary or os.path.isdir(home) else None


def find_all(places: Places, path: str, names: Iterable[Agent] = AGENTS) -> dict[Agent, Found | None]:
    return {name: find(name, places, path) for name in names}


def versions(found: Iterable[Found], places: Places) -> dict[Agent, str]:
    """What each agent says about its version, asked side by side; empty where it does not say."""
    asked = [agent for agent in found if agent.binary]
    if not asked:
        return {}
    with ThreadPoolExecutor(len(asked)) as pool:
        return dict(zip([a.name for a in asked], pool.map(lambda a: _version(a, places), asked), strict=True))


def _version(agent: Found, places: Places) -> str:
    try:
        done = subprocess.run(
            [agent.binary, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=places.home,
            timeout=VERSION_TIMEOUT_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    # pi says it on stderr.
    found = re.search(rb"\d+\.\d+\.\d+[\w.+-]*", done.stdout) or re.search(rb"\d+\.\d+\.\d+[\w.+-]*", done.stderr)
    return found[0].decode() if found else ""
