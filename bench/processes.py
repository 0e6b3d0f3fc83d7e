"""Whole processes: the Python shim beside a bare interpreter and beside another gate's hook, in turns."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path

from reflexd import shims

from .figures import BETTER_HIGH, Gap, Line, Measured, milliseconds, p50
from .home import READ_ONLY, Home, payload

PEER_VERSION = "2.4.5"
PEER_EVERY = 4  # the other gate takes some ten times as long: one of so many rounds has it
PART = "Python shim, whole process, read-only call"


def agents_dir() -> str:
    """Where the tests' agents are installed, and the other gate with them."""
    named = os.environ.get("REFLEX_AGENTS_DIR")
    if named:
        return named
    shared = Path("/var/cache/reflex-agents")
    if shared.is_dir() and shared.stat().st_uid == 0:
        return str(shared)
    return os.path.expanduser("~/.cache/reflex-agents")


def measure(home: Home, rounds: int) -> list[Measured]:
    python = home.places.python
    stdin = os.path.join(home.path, "payload.json")
    Path(stdin).write_bytes(payload(READ_ONLY.format(0)))
    turns = {
        "bare": [python, "-I", "-S", "-c", "pass"],
        "shim": [python, "-I", "-S", home.hook, "claude", "PreToolUse"],
        "line": ["/bin/sh", "-c", shims.hook_line(home.places, "claude", "PreToolUse")],
    }
    expected = {"bare": 0, "shim": 40, "line": 0, "peer": 0}
    peer = os.path.join(agents_dir(), "node_modules", ".bin", "cc-safety-net")
    gap = peer_gap(peer)
    if not gap:
        turns["peer"] = [peer, "hook", "-cc"]
    samples: dict[str, list[float]] = {name: [] for name in turns}
    environment = home.environment()
    for number in range(-2, rounds):
        for name in sorted(turns, reverse=number % 2 == 1):
            if name == "peer" and number % PEER_EVERY and number >= 0:
                continue
            took, status = run(turns[name], stdin, environment)
            if status != expected[name]:
                raise RuntimeError(f"{name}: exit status {status} where {expected[name]} was expected: {turns[name]}")
            if number >= 0:
                samples[name].append(took)
    ratio = p50(samples["shim"]) / p50(samples["bare"])
    beside = f"{milliseconds('shim', samples['shim'])}; {milliseconds('bare', samples['bare'])}"
    lines: list[Measured] = [
        Line(PART, "shim beside `python -I -S -c pass`: p50", ratio, "x bare", 1.3, detail=beside),
        Line(
            PART,
            "the whole hook line, /bin/sh included: p50",
            p50(samples["line"]) / p50(samples["bare"]),
            "x bare",
            detail=milliseconds("line", samples["line"]),
        ),
    ]
    if gap:
        return [*lines, Gap(PART, gap)]
    faster = p50(samples["peer"]) / p50(samples["shim"])
    detail = f"{milliseconds('cc-safety-net', samples['peer'])} ({len(samples['peer'])} runs)"
    return [*lines, Line(PART, "faster than cc-safety-net's hook: p50", faster, "x", 10.0, BETTER_HIGH, detail)]


def run(command: list[str], stdin: str, environment: dict[str, str]) -> tuple[float, int]:
    """Seconds from before the spawn to the end of the process, and its exit status."""
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, stdin, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
    ]
    since = time.perf_counter()
    pid = os.posix_spawn(command[0], command, environment, file_actions=actions)
    _, status = os.waitpid(pid, 0)
    return time.perf_counter() - since, os.waitstatus_to_exitcode(status)


def peer_gap(peer: str) -> str:
    if not os.path.exists(peer):
        return (
            f"cc-safety-net is not installed: npm install --prefix {agents_dir()} cc-safety-net@{PEER_VERSION}"
            " (or setup/agents.sh)"
        )
    if not shutil.which("node"):
        return "cc-safety-net needs node, which is not on the PATH"
    installed = json.loads(Path(agents_dir(), "node_modules", "cc-safety-net", "package.json").read_text("utf-8"))
    if installed.get("version") != PEER_VERSION:
        return f"cc-safety-net is {installed.get('version')}, not {PEER_VERSION}"
    return ""
