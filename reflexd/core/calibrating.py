"""How well a judge's figures agree with what a person decided, and which thresholds that speaks for.

Pure arithmetic. A case is a figure and whether the person refused. Source of the error measure: expected calibration
error over bins of equal width, each weighted by its cases (Naeini, Cooper, Hauskrecht 2015).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from reflexd.types import Judged, NoulAnswer, ScoreAnswer

BINS = 5
CASES_MIN, REFUSED_MIN = 20, 3
JUDGED_MIN = 100
FRICTION = 2.0
"""Stops per 100 calls that a gate of its own may cost: what people put up with before they switch a gate off."""


class Case(Struct, frozen=True):
    """One call that somebody decided: a figure on 0..`most`, and whether it was refused."""

    figure: float
    refused: bool


class Bin(Struct, frozen=True):
    """Cases whose figure lies from `low` (to the next bin's): their mean figure (0..1) and the share refused."""

    low: float
    cases: int
    mean: float
    refused: float


class Calibration(Struct, frozen=True):
    """`threshold`: the highest at which every refused case would still be asked about; None with too few cases.
    `spared`: approved cases that it would not ask about."""

    cases: int
    refused: int
    ece: float
    bins: tuple[Bin, ...]
    threshold: float | None = None
    spared: int = 0


def calibration(cases: Sequence[Case], most: float = 1.0) -> Calibration:
    """`most`: the largest figure there is."""
    bins = tuple(each for number in range(BINS) if (each := _bin(cases, number, most)) is not None)
    ece = sum(each.cases * abs(each.mean - each.refused) for each in bins) / len(cases) if cases else 0.0
    refused = [case.figure for case in cases if case.refused]
    found = Calibration(len(cases), len(refused), ece, bins)
    if len(cases) < CASES_MIN or len(refused) < REFUSED_MIN:
        return found
    threshold = int(min(refused) * 100) / 100
    spared = sum(1 for case in cases if not case.refused and case.figure < threshold)
    return Calibration(len(cases), len(refused), ece, bins, threshold, spared)


class Bound(Struct, frozen=True):
    """`threshold`: the lowest that would stop at most `per_100` of 100 calls. `stops`: of these calls, how many."""

    per_100: float
    judged: int
    threshold: float
    stops: int


def bounded(figures: Sequence[float], calls: int, per_100: float = FRICTION) -> Bound | None:
    """`figures` of the judged ones among `calls`. None where they are too few, or where no threshold does it."""
    if len(figures) < JUDGED_MIN:
        return None
    ordered = sorted(figures, reverse=True)
    may = int(per_100 * calls / 100)
    # In hundredths, as thresholds are written; the next call down must stay below.
    threshold = 0.0 if may >= len(ordered) else math.floor(ordered[may] * 100 + 1) / 100
    stops = sum(figure >= threshold for figure in figures)
    return Bound(per_100, len(figures), threshold, stops) if threshold == 0 or stops else None


def figure(said: Judged, name: str) -> float | None:
    """The answer to one question as a number; None for none."""
    match dict(said.answers).get(name):
        case NoulAnswer(noul):
            return noul
        case ScoreAnswer(score):
            return score
        case _:
            return None


def quantile(values: Sequence[float], share: float) -> float:
    """The value that `share` of all are below, one of theirs; needs one at least."""
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]


def _bin(cases: Sequence[Case], number: int, most: float) -> Bin | None:
    mine = [case for case in cases if min(int(case.figure / most * BINS), BINS - 1) == number]
    if not mine:
        return None
    mean = sum(case.figure for case in mine) / len(mine) / most
    return Bin(number / BINS * most, len(mine), mean, sum(case.refused for case in mine) / len(mine))
