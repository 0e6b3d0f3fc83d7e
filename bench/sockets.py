"""Socket to socket: the daemon beside a bare echo, by the same client, in turns."""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import subprocess
import sys
from collections.abc import Iterator

from .exchange import burst
from .figures import BETTER_HIGH, Line, Measured, milliseconds, p50, p99
from .home import ORDINARY, READ_ONLY, ROOT, Home, request, requests, stop, until_listening

CLIENTS = (1, 8, 32)
CALLS = {1: 200, 8: 400, 32: 800}
WARM_CALLS = 300


@contextlib.contextmanager
def echo_server(home: Home) -> Iterator[str]:
    path = os.path.join(home.path, "echo.sock")
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.echo", path], cwd=ROOT, env=home.environment(), stdin=subprocess.DEVNULL
    )
    try:
        until_listening(path, process)
        yield path
    finally:
        stop(process)


def measure(home: Home, echo: str, rounds: int) -> list[Measured]:
    turns = {
        "echo": (echo, requests(READ_ONLY)),
        "read-only": (home.socket, requests(READ_ONLY)),
        "ordinary": (home.socket, requests(ORDINARY)),
        "read-only, seen before": (home.socket, itertools.repeat(request(READ_ONLY))),
        "ordinary, seen before": (home.socket, itertools.repeat(request(ORDINARY))),
    }
    latencies: dict[tuple[str, int], list[float]] = {(name, n): [] for name in turns for n in CLIENTS}
    seconds = dict.fromkeys(latencies, 0.0)
    for path, data in turns.values():
        burst(path, data, 8, WARM_CALLS)
    gc.disable()
    for number in range(rounds):
        for clients in CLIENTS:
            for name in sorted(turns, reverse=number % 2 == 1):
                path, data = turns[name]
                got = burst(path, data, clients, CALLS[clients])
                latencies[name, clients] += got.latencies
                seconds[name, clients] += got.seconds
        gc.collect()
    gc.enable()
    return _lines(latencies, seconds)


def _lines(latencies: dict[tuple[str, int], list[float]], seconds: dict[tuple[str, int], float]) -> list[Measured]:
    part = (
        "socket to socket (rules only; every call another command unless seen before),"
        " beside a bare anyio echo by the same client"
    )
    lines: list[Measured] = []
    for clients in CLIENTS:
        echo = latencies["echo", clients]
        echo_rate = len(echo) / seconds["echo", clients]
        for name in ("read-only", "ordinary", "read-only, seen before", "ordinary, seen before"):
            ours = latencies[name, clients]
            rate = len(ours) / seconds[name, clients]
            call = name.replace(",", " call") if "," in name else f"{name} call"
            what = f"{call}, {clients} client{'s' * (clients > 1)}"
            beside = f"{milliseconds('daemon', ours)}; {milliseconds('echo', echo)}"
            lines += [
                Line(part, f"{what}: p50", p50(ours) / p50(echo), "x echo", 3.0, detail=beside),
                Line(part, f"{what}: p99", p99(ours) / p99(echo), "x echo", 5.0),
                Line(
                    part,
                    f"{what}: calls a second",
                    100 * rate / echo_rate,
                    "% echo",
                    25.0 if clients == 32 else None,
                    BETTER_HIGH,
                    f"daemon {rate:,.0f}/s, echo {echo_rate:,.0f}/s",
                ),
            ]
    return lines
