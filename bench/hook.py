"""Measures one tool call's way through reflex, beside what it is compared with, in one run.

    python bench/hook.py [--rounds N] [--json]

Everything happens in throwaway homes; nothing is appended anywhere. Ratios are of medians (and p99s) of
samples taken in turns, so that a busy machine is busy for both sides. The exit status is 0 whenever the
run came to its end, whatever the figures: a floor that is missed is shown as MISSED.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgspec import to_builtins

from bench import plugins, processes, sockets, startup
from bench.figures import Line, Measured, table, tally
from bench.home import daemon, throwaway


def main() -> int:
    parser = argparse.ArgumentParser(description="What a hook costs, beside what it is compared with.")
    parser.add_argument("--rounds", type=int, default=40, help="how often each side takes its turn (default 40)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error("--rounds has to be 1 or more")
    measured = measure(asked.rounds)
    if asked.json:
        lines = [to_builtins(one) | ({"met": one.met} if isinstance(one, Line) else {}) for one in measured]
        print(json.dumps({"machine": machine(), "rounds": asked.rounds, "lines": lines}, indent=1))
    else:
        print(machine(), table(measured), "", tally(measured), sep="\n")
    return 0


def measure(rounds: int) -> list[Measured]:
    with throwaway() as home, daemon(home) as pid, sockets.echo_server(home) as echo:
        shim = processes.measure(home, rounds)
        socket = sockets.measure(home, echo, max(1, rounds // 4))
        plugged = plugins.measure(home, echo)
        resident = startup.resident(pid)
    return [*shim, *socket, *plugged, *startup.measure(max(1, rounds // 4)), *resident]


def machine() -> str:
    load = os.getloadavg()[0]
    return (
        f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, load {load:.2f} at the end,"
        f" Python {platform.python_version()}"
    )


if __name__ == "__main__":
    sys.exit(main())
