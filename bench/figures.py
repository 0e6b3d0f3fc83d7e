"""Samples, and the lines of the table."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from msgspec import Struct

BETTER_LOW = "<="
BETTER_HIGH = ">="


class Line(Struct, frozen=True):
    """One figure. `floor` is what it must reach in the direction of `sense`; None: shown for what it is."""

    part: str
    name: str
    figure: float
    unit: str
    floor: float | None = None
    sense: str = BETTER_LOW
    detail: str = ""

    @property
    def met(self) -> bool | None:
        if self.floor is None:
            return None
        return self.figure <= self.floor if self.sense == BETTER_LOW else self.figure >= self.floor


class Gap(Struct, frozen=True):
    """What was not measured, and why (with the command that mends it, where there is one)."""

    part: str
    why: str


Measured = Line | Gap


def percentile(samples: Sequence[float], share: float) -> float:
    """The smallest sample that at least `share` of all do not exceed."""
    ordered = sorted(samples)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def p50(samples: Sequence[float]) -> float:
    return percentile(samples, 0.5)


def p99(samples: Sequence[float]) -> float:
    return percentile(samples, 0.99)


def milliseconds(name: str, samples: Sequence[float]) -> str:
    return f"{name} p50 {p50(samples) * 1e3:.3f} ms, p99 {p99(samples) * 1e3:.3f} ms"


def table(measured: Iterable[Measured]) -> str:
    """Lines under their part's heading, figure and floor side by side."""
    out: list[str] = []
    part = ""
    for one in measured:
        if one.part != part:
            part = one.part
            out += ["", part]
        if isinstance(one, Gap):
            out.append(f"  NOT MEASURED: {one.why}")
            continue
        floor = "" if one.floor is None else f"{one.sense} {one.floor:g}"
        verdict = {True: "met", False: "MISSED", None: ""}[one.met]
        out.append(f"  {one.name:<58} {one.figure:>9.2f} {one.unit:<8} {floor:<9} {verdict:<6}  {one.detail}".rstrip())
    return "\n".join(out[1:])


def tally(measured: Sequence[Measured]) -> str:
    verdicts = [one.met for one in measured if isinstance(one, Line)]
    gaps = sum(isinstance(one, Gap) for one in measured)
    return f"{verdicts.count(True)} met, {verdicts.count(False)} missed, {gaps} not measured"
