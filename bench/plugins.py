"""The in-process plugins, each inside the runtime that its agent has.

A plugin's call may take its own loop's delay and the socket figure on top. The loop's delay is what a bare
exchange with the echo takes in that runtime: node:net alone needs several times what a blocking socket
does. The socket figure is what the daemon's answer takes the cheap client, right before and right after.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from .exchange import burst
from .figures import Gap, Line, Measured, milliseconds, p50
from .home import READ_ONLY, ROOT, Home, request, requests
from .processes import agents_dir

PART = "in-process plugins, each in its own runtime: a call's p50 less the loop's own delay, beside the socket figure"
ROUNDS = 30
SOCKET_CALLS = 500


def measure(home: Home, echo: str) -> list[Measured]:
    bench = ROOT / "bench"
    installed = Path(home.places.share, "shims")
    opencode = os.path.join(agents_dir(), "node_modules", ".bin", "opencode")
    hermes = os.path.join(agents_dir(), "hermes", "bin", "python")
    node = shutil.which("node") or ""
    script = str(bench / "plugin.mjs")
    turns = [
        ("pi.ts in node", [node, script, "pi", str(installed / "pi.ts")], {}, node, "node is not on the PATH"),
        (
            "opencode.js in node",
            [node, script, "opencode", str(installed / "opencode.js")],
            {},
            node,
            "node is not on the PATH",
        ),
        (
            "opencode.js in opencode's own Bun",
            [opencode, script, "opencode", str(installed / "opencode.js")],
            {"BUN_BE_BUN": "1"},
            opencode,
            f"opencode is not installed below {agents_dir()}: setup/agents.sh",
        ),
        (
            "the Hermes plugin in Hermes' own Python",
            [hermes, "-I", str(bench / "plugin.py"), str(installed / "hermes" / "__init__.py")],
            {},
            hermes,
            f"Hermes is not installed below {agents_dir()}: setup/agents.sh",
        ),
    ]
    out: list[Measured] = []
    for name, command, extra, needed, missing in turns:
        if not needed or not os.path.exists(needed):
            out.append(Gap(PART, f"{name}: {missing}"))
            continue
        out.append(_one(name, command, extra, home, echo))
    return out


def _one(name: str, command: list[str], extra: dict[str, str], home: Home, echo: str) -> Measured:
    request_file = os.path.join(home.path, "request")
    Path(request_file).write_bytes(request(READ_ONLY))
    calls = requests(READ_ONLY)
    socket = burst(home.socket, calls, 1, SOCKET_CALLS).latencies
    done = subprocess.run(
        [*command, echo, home.socket, request_file, READ_ONLY, str(ROUNDS)],
        env=home.environment() | extra,
        cwd=home.path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=120,
        check=False,
    )
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return Gap(PART, f"{name}: exit status {done.returncode}: {said[-1] if said else 'no message'}")
    samples = json.loads(done.stdout)
    socket += burst(home.socket, calls, 1, SOCKET_CALLS).latencies
    ratio = (p50(samples["plugin"]) - p50(samples["bare"])) / p50(socket)
    samples["socket"] = socket
    detail = "; ".join(
        milliseconds(what, samples[series])
        for what, series in (
            ("call", "plugin"),
            ("bare exchange there", "bare"),
            ("with the daemon", "daemon"),
            ("socket", "socket"),
        )
    )
    return Line(PART, name, ratio, "x socket", 1.0, detail=detail)
