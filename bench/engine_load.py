"""Many clients of one engine in this process: what sharing passes gives, who waits how long, what memory does."""

from __future__ import annotations

import random
import statistics
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import psutil

from bench.engine_asked import alone, fresh, ticket
from bench.figures import BETTER_HIGH, BETTER_LOW, Line, Measured, percentile
from reflexd.engine import Engine
from reflexd.types import Precision, Request

CLIENTS = 8
MIXED, SETTLED = 1000, 200


def clients(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    measured: list[Measured] = []
    with Engine.open(str(model), device="cpu", precision=precision) as engine:
        for orders, floor in ((1, 1.5), (2, 1.0)):
            asked = [alone(fresh(ticket(orders), number), number) for number in range(CLIENTS)]
            for request in asked:
                engine.answer(request)
            ratios = []
            for _ in range(rounds):
                after = _after_one_another(engine, asked)
                ratios.append(after / _together(engine, asked)[0])
            name = f"{CLIENTS} clients / one after another, states kept, {orders} order{'s' * (orders > 1)}"
            measured.append(Line("throughput", name, statistics.median(ratios), "x", floor, BETTER_HIGH))
        waits: list[float] = []
        for _ in range(rounds):
            waits += _together(engine, [alone(fresh(ticket(1), 0), 0)] * 4)[1]
        spread = percentile(waits, 0.95) / percentile(waits, 0.5)
        measured.append(Line("waiting", "p95 / p50 at 4 clients, equal requests", spread, "x", 2.5, BETTER_LOW))
    return measured


def memory(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    """Mixed states and lengths through a small budget of kept states: resident memory after the first 200."""
    draw = random.Random(11)
    words = ticket(1).state["ticket"].split()  # type: ignore[index, call-overload, union-attr]
    process = psutil.Process()
    seen: list[int] = []
    with Engine.open(str(model), device="cpu", precision=precision, state_budget=128 << 20) as engine:
        for number in range(MIXED):
            state = {"ticket": f"{draw.randrange(40)} " + " ".join(words[: draw.choice((5, 20, 60, 120))])}
            request = msgspec.structs.replace(alone(ticket(draw.choice((1, 2))), number), state=state)
            engine.answer(request)
            seen.append(process.memory_info().rss)
    settled = max(seen[:SETTLED])
    grown = max(seen[SETTLED:]) / settled
    detail = f"{settled >> 20} MiB at most in the first {SETTLED}, {max(seen[SETTLED:]) >> 20} MiB after"
    return [
        Line("memory", f"{MIXED} mixed requests, after / in the first {SETTLED}", grown, "x", 1.05, BETTER_LOW, detail)
    ]


def grid(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    """Median milliseconds of a request by clients, questions and length of the state, new and kept."""
    measured: list[Measured] = []
    number = 10_000
    with Engine.open(str(model), device="cpu", precision=precision) as engine:
        for times in (1, 4):
            for questions in (1, 3, 6):
                for at_once in (1, 4):
                    base = ticket(1)
                    assert isinstance(base.state, dict)
                    state = {"ticket": " ".join([base.state["ticket"]] * times)}
                    base = msgspec.structs.replace(base, state=state, questions=base.questions[:questions])
                    cold, kept = [], []
                    for _ in range(max(2, rounds // 2)):
                        asked = [fresh(base, number + client) for client in range(at_once)]
                        number += at_once
                        cold += _together(engine, asked, 1)[1]
                        kept += _together(engine, asked, 1)[1]
                    usage = engine.answer(asked[0]).usage
                    name = f"{at_once} clients, {questions} questions, state of {usage.state_tokens} tokens"
                    measured.append(Line("latency", f"{name}: new", statistics.median(cold) * 1e3, "ms"))
                    measured.append(Line("latency", f"{name}: kept", statistics.median(kept) * 1e3, "ms"))
    return measured


def _after_one_another(engine: Engine, asked: Sequence[Request], times: int = 2) -> float:
    since = time.perf_counter()
    for _ in range(times):
        for request in asked:
            engine.answer(request)
    return time.perf_counter() - since


def _together(engine: Engine, asked: Sequence[Request], times: int = 2) -> tuple[float, list[float]]:
    """Seconds in all, and every single wait."""
    waits: list[float] = []

    def client(request: Request) -> None:
        for _ in range(times):
            since = time.perf_counter()
            engine.answer(request)
            waits.append(time.perf_counter() - since)

    threads = [threading.Thread(target=client, args=(request,)) for request in asked]
    since = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return time.perf_counter() - since, waits
