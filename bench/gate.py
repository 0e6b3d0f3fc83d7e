"""Measures the gate's decisions and their cost beside two other gates, in one run.

    python bench/gate.py [--cases FILE] [--nah VENV] [--rounds N] [--json]

The other gates are nah (from the virtual environment named, or one made for the run) and cc-safety-net (where
setup/agents.sh installs it). All are asked the same commands in turns. Everything happens in throwaway homes;
the user's own shell history is judged in memory and only counted. The exit status is 0 whenever the run came
to its end, whatever the figures: a floor that is missed is shown as MISSED.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgspec import to_builtins

from bench import checks, history, sizes
from bench.figures import Gap, Line, Measured, table, tally
from bench.home import ROOT, daemon, throwaway
from bench.hook import machine
from bench.peers import gates
from reflexd.ctl import labelled
from reflexd.ctl.labelled import Cases, LineError

CASES = ROOT / "tests" / "gate" / "cases.jsonl"


def main() -> int:
    parser = argparse.ArgumentParser(description="The gate's decisions and their cost, beside two other gates.")
    parser.add_argument("--cases", default=str(CASES), metavar="FILE", help="labelled calls (tests/gate/cases.jsonl)")
    parser.add_argument("--nah", default="", metavar="VENV", help="a virtual environment with nah in it")
    parser.add_argument("--rounds", type=int, default=5, help="how often every command is asked about (default 5)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error("--rounds has to be 1 or more")
    try:
        cases = labelled.read(asked.cases)
    except LineError as e:
        parser.error(e.message)
    measured = measure(cases, os.path.relpath(asked.cases), asked.nah, asked.rounds)
    if asked.json:
        lines = [to_builtins(one) | ({"met": one.met} if isinstance(one, Line) else {}) for one in measured]
        print(json.dumps({"machine": machine(), "rounds": asked.rounds, "lines": lines}, indent=1))
    else:
        print(machine(), table(measured), "", tally(measured), sep="\n")
    return 0


def measure(cases: Cases, file: str, venv: str, rounds: int) -> list[Measured]:
    shell = [case for case in cases.cases if case.request.tool == "Bash" and case.request.command is not None]
    gc.collect()
    gc.freeze()  # as the daemon does: what is there for good is not walked
    with gates.homes() as base, throwaway() as home, daemon(home):
        found = (gates.nah(venv, base), gates.safety_net(base))
        peers = [one for one in found if isinstance(one, gates.Peer)]
        gaps: list[Measured] = [Gap(checks.IN_PROCESS, one) for one in found if isinstance(one, str)]
        compared = checks.measure(shell, file, peers, rounds, home)
    return [*compared, *gaps, *sizes.measure(), *history.measure(os.path.expanduser("~"))]


if __name__ == "__main__":
    sys.exit(main())
