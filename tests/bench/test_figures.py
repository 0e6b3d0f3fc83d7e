"""The benchmark's own arithmetic and its honesty; and one short run of it all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from bench.figures import BETTER_HIGH, Gap, Line, p50, p99, percentile, table, tally

ROOT = Path(__file__).resolve().parents[2]


def test_a_percentile_is_a_sample_that_enough_do_not_exceed() -> None:
    samples = [float(n) for n in range(100, 0, -1)]
    assert (p50(samples), p99(samples), percentile(samples, 1)) == (50, 99, 100)
    assert p50([3.0]) == p99([3.0]) == 3.0
    assert p50([1.0, 2.0]) == 1.0


@pytest.mark.parametrize(
    ("figure", "floor", "sense", "met"),
    [
        (1.3, 1.3, "<=", True),
        (1.31, 1.3, "<=", False),
        (25.0, 25.0, BETTER_HIGH, True),
        (24.9, 25.0, BETTER_HIGH, False),
        (9.9, None, "<=", None),
    ],
)
def test_a_floor_is_met_or_missed(figure: float, floor: float | None, sense: str, met: bool | None) -> None:
    assert Line("part", "name", figure, "x", floor, sense).met is met


def test_the_table_says_what_is_missed_and_what_was_not_measured() -> None:
    measured = [
        Line("a", "one", 2.0, "x", 1.0),
        Line("a", "two", 2.0, "x", 3.0),
        Line("a", "free", 5.0, "x"),
        Gap("b", "no node"),
    ]
    lines = table(measured).splitlines()
    assert [line.split()[0] for line in lines if line] == ["a", "one", "two", "free", "b", "NOT"]
    assert "MISSED" in lines[1]
    assert " met" in lines[2]
    assert lines[-1] == "  NOT MEASURED: no node"
    assert tally(measured) == "1 met, 1 missed, 1 not measured"


@pytest.mark.slow
def test_a_short_run_comes_to_its_end_and_leaves_nothing(tmp_path: Path) -> None:
    """Without agents: what cannot be measured is named, and the exit status is 0 whatever the figures."""
    before = set(os.listdir("/tmp"))
    done = subprocess.run(
        [sys.executable, "bench/hook.py", "--rounds", "1", "--json"],
        cwd=ROOT,
        env={**os.environ, "REFLEX_AGENTS_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)["lines"]
    assert {line["part"].split(",")[0] for line in said} >= {"Python shim", "gate process"}
    why = [line["why"] for line in said if "why" in line]
    assert any("npm install" in one and "cc-safety-net" in one for one in why)
    assert any("opencode is not installed" in one for one in why)
    assert all(isinstance(line["met"], bool) for line in said if line.get("floor") is not None)
    assert not [name for name in set(os.listdir("/tmp")) - before if name.startswith("rfxb-")]
