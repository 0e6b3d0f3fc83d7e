"""The gate's own process: how soon it listens, beside the bare imports of its libraries, and its memory."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from .figures import Gap, Line, Measured, milliseconds, p50
from .home import ROOT, Home, memory, spawn_daemon, stop, throwaway, until_answering, until_listening

LIBRARIES = "anyio, anyio._backends._asyncio, uvloop, msgspec, psutil, watchfiles, tree_sitter, tree_sitter_bash"
PART = "gate process"


def measure(rounds: int) -> list[Measured]:
    bare: list[float] = []
    listening: list[float] = []
    answering: list[float] = []
    for number in range(-1, rounds):
        imports = _imports()
        with throwaway() as home:
            listens, answers = _start(home)
        if number >= 0:
            bare.append(imports)
            listening.append(listens)
            answering.append(answers)
    beside = f"{milliseconds('listening', listening)}; {milliseconds('imports', bare)}"
    return [
        Line(
            PART,
            "exec to listening, beside the imports of its libraries: p50",
            p50(listening) / p50(bare),
            "x imports",
            2.5,
            detail=beside,
        ),
        Line(
            PART,
            "exec to the first answer (who connects early waits): p50",
            p50(answering) / p50(bare),
            "x imports",
            detail=milliseconds("answer", answering),
        ),
    ]


def resident(pid: int) -> list[Measured]:
    """Of a daemon that has worked: call it last."""
    rss, pss = memory(pid)
    lines: list[Measured] = [Line(PART, "resident memory (RSS) after this run's load", rss, "MiB", 64.0)]
    if pss is None:
        return [
            *lines,
            Gap(PART, "proportional set size: the daemon's memory map is closed to its own user; root can read it"),
        ]
    return [*lines, Line(PART, "proportional set size (PSS)", pss, "MiB")]


def _imports() -> float:
    """Seconds from before the spawn until the libraries are imported, by the word of the process itself."""
    code = f"import {LIBRARIES}\nimport os\nos.write(1, b'.')\nos._exit(0)"
    since = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, cwd=ROOT
    ) as process:
        assert process.stdout is not None
        os.read(process.stdout.fileno(), 1)
        took = time.perf_counter() - since
    if process.returncode:
        raise RuntimeError(f"cannot import {LIBRARIES}")
    return took


def _start(home: Home) -> tuple[float, float]:
    since = time.perf_counter()
    process = spawn_daemon(home)
    try:
        until_listening(home.socket, process)
        listens = time.perf_counter() - since
        until_answering(home, process)
        return listens, time.perf_counter() - since
    finally:
        stop(process)
