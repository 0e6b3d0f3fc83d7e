"""What a check costs by the length of the command, for every shape of shapes.py."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from reflexd.control import CheckRequest
from reflexd.ctl import labelled

from .checks import different
from .figures import Line, Measured
from .peers import gates
from .shapes import SHAPES, SIZES

PART = "one check in process by the command's length: the worst growth beside linear, from 1,000 characters on"
GROWTH = 2.0  # beside linear: fixed costs and a busy machine are in it
DEADLINE_MS = 1000.0  # that the daemon gives the rules
FROM = 1_000
QUICK_S = 0.02  # what takes less is taken several times


def measure() -> list[Measured]:
    taken = {name: dict(_by_size(name)) for name in SHAPES}
    lines: list[Measured] = [
        Line(PART, name, growth(by_size), "x", GROWTH, detail=_shown(by_size)) for name, by_size in taken.items()
    ]
    slowest, size, seconds = max(
        ((name, size, seconds) for name, by_size in taken.items() for size, seconds in by_size.items()),
        key=lambda one: one[2],
    )
    return [
        *lines,
        Line(PART, "the longest of them all", seconds * 1e3, "ms", DEADLINE_MS, detail=f"{slowest}, {size:,}"),
    ]


def _by_size(name: str) -> Iterator[tuple[int, float]]:
    check = gates.ours()
    for size in SIZES:
        request = CheckRequest(command=SHAPES[name](size), cwd=labelled.CWD, home=labelled.HOME)
        seconds: list[float] = []
        while len(seconds) < 3 or (sum(seconds) < QUICK_S and len(seconds) < 20):
            seconds.append(check(different(request, len(seconds))).seconds)
        yield size, min(seconds)


def growth(by_size: dict[int, float]) -> float:
    """How much more than linear: 1 where twice the length takes twice the time, at the worst step."""
    sizes = [size for size in by_size if size >= FROM]
    return max((by_size[large] / by_size[small]) / (large / small) for small, large in itertools.pairwise(sizes))


def _shown(by_size: dict[int, float]) -> str:
    return ", ".join(f"{size:,}: {seconds * 1e6:,.0f} us" for size, seconds in by_size.items())
