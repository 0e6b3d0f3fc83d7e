"""From logits to probabilities, in float64: temperature, softmax, pages pooled, orders averaged."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct


class Page(Struct, frozen=True):
    """What was read under one page's letters, and the options (by the caller's index) that stood there."""

    options: tuple[int, ...]
    logits: tuple[float, ...]
    norm: float


View = tuple[Page, ...]
"""One order of one wording: all its pages, which together hold every option once."""


def pooled(view: View) -> list[float]:
    """One logit for every option; those of several pages relative to what their own prompt's vocabulary sums to."""
    found = [0.0] * sum(len(page.options) for page in view)
    for page in view:
        offset = page.norm if len(view) > 1 else 0.0
        for option, logit in zip(page.options, page.logits, strict=True):
            found[option] = logit - offset
    return found


def softmax(logits: Sequence[float], temperature: float) -> list[float]:
    """Raises ValueError where a logit is not finite: a model that overflowed has said nothing."""
    if not all(map(math.isfinite, logits)):
        raise ValueError("the model's logits are not finite")
    top = max(logits)
    weights = [math.exp((logit - top) / temperature) for logit in logits]
    total = math.fsum(weights)
    return [weight / total for weight in weights]


def merged(distributions: Sequence[Sequence[float]]) -> list[float]:
    """The mean, summing to 1."""
    count = len(distributions)
    mean = [math.fsum(column) / count for column in zip(*distributions, strict=True)]
    total = math.fsum(mean)
    return [p / total for p in mean]


def disagreement(distributions: Sequence[Sequence[float]], mean: Sequence[float]) -> float:
    """The mean total variation of the views to their mean: 0 where the order of the options did not matter."""
    apart = [math.fsum(abs(p - q) for p, q in zip(one, mean, strict=True)) / 2 for one in distributions]
    return math.fsum(apart) / len(apart)
