"""How sure a distribution is, two ways.

`entropy` is 1 - H(p) / ln n. `margin` is the reference formula that Jev's published thresholds were made for:
(max p - 1/n) / (1 - 1/n) for a choice; for a score 1 - sum p_i |i - mode| / D, not below 0, where D is the mean
distance of a uniform answer from the middle level.
"""

from __future__ import annotations

import math
from collections.abc import Sequence


def entropy(p: Sequence[float]) -> float:
    if len(p) < 2:
        return 1.0
    spread = -sum(x * math.log(x) for x in p if x > 0)
    return min(1.0, max(0.0, 1.0 - spread / math.log(len(p))))


def choice_margin(p: Sequence[float]) -> float:
    n = len(p)
    return 1.0 if n < 2 else min(1.0, max(0.0, (max(p) - 1 / n) / (1 - 1 / n)))


def score_margin(p: Sequence[float]) -> float:
    n = len(p)
    if n < 2:
        return 1.0
    mode = max(range(n), key=p.__getitem__)
    distance = sum(x * abs(i - mode) for i, x in enumerate(p))
    uniform = sum(abs(i - (n - 1) / 2) for i in range(n)) / n
    return min(1.0, max(0.0, 1.0 - distance / uniform))
