"""How well a judge's figures agree with what a person decided, and which thresholds that speaks for.

Pure arithmetic. A case is a figure and whether the person refused. Source of the error measure: expected calibration
error over bins of equal width, each weighted by its cases (Naeini, Cooper, Hauskrecht 2015).
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

BINS = 5
CASES_MIN, REFUSED_MIN = 20, 3


class Case(Struct, frozen=True):
    """One ask that was answered: a figure on 0..`most`, and whether the person said no."""

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


def _bin(cases: Sequence[Case], number: int, most: float) -> Bin | None:
    mine = [case for case in cases if min(int(case.figure / most * BINS), BINS - 1) == number]
    if not mine:
        return None
    mean = sum(case.figure for case in mine) / len(mine) / most
    return Bin(number / BINS * most, len(mine), mean, sum(case.refused for case in mine) / len(mine))
