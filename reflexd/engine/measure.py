"""How fast a model answers here, as `reflexctl model bench` shows it."""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable

from msgspec import Struct

from reflexd.engine.child import Wanted, answered
from reflexd.engine.engine import Engine
from reflexd.types import Choice, Noul, Request, Response, Score

TIMES = 5
WORDS = "The nightly job failed at step four, was started again by hand, and has been waiting for a lock since then. "
QUESTIONS = (
    ("broken", Noul("Is something broken?")),
    (
        "next",
        Choice((("wait", None), ("restart", "start it once more"), ("call", "wake somebody")), "What comes next?"),
    ),
    ("urgency", Score(("can wait", "today", "now"), "How urgent is it?")),
)


class Measured(Struct, frozen=True):
    """Milliseconds are medians of TIMES requests with three questions each."""

    model: str
    device: str
    precision: str
    load_s: float
    new_ms: float
    kept_ms: float
    two_orders_ms: float
    state_tokens: int
    tokens_per_s: float


def measured(wanted: Wanted) -> Measured:
    """Raises ReflexError."""
    since = time.perf_counter()
    with Engine.open(wanted.model, device=wanted.device, precision=wanted.precision) as engine:
        load = time.perf_counter() - since

        def request(number: int, orders: int) -> Request:
            return Request(f"{number}. " + WORDS * 12, QUESTIONS, permutations=orders)

        new, response = _median(lambda number: engine.answer(request(number, 1)))
        kept, _ = _median(lambda number: engine.answer(request(0, 1)))
        twice, _ = _median(lambda number: engine.answer(request(0, 2)))
        info, usage = engine.info, response.usage
        rate = usage.input_tokens / new
        return Measured(
            info.model, info.device, info.precision, load, new * 1e3, kept * 1e3, twice * 1e3, usage.state_tokens, rate
        )


def _median(step: Callable[[int], Response]) -> tuple[float, Response]:
    taken = []
    for number in range(TIMES + 1):
        since = time.perf_counter()
        response = step(number)
        taken.append(time.perf_counter() - since)
    return statistics.median(taken[1:]), response


def main(argv: list[str]) -> int:
    print("reflexctl: loading and measuring", file=sys.stderr, flush=True)
    return answered(argv, measured)
