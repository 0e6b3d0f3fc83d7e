"""Ours and two other engines, each behind its own server on the same weights; and how soon ours is ready."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from bench.engine_asked import body
from bench.figures import BETTER_HIGH, BETTER_LOW, Gap, Line, Measured
from bench.home import ROOT
from bench.peers.engines import Ask, any2jev, qev, serving
from reflexd.types import Precision

PART = "one request over HTTP, 6 questions, one order"
KEY = "a-key-of-the-benchmark"


def measure(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    """All servers run, one is asked at a time: the same state again and again, and a new one each time."""
    measured: list[Measured] = []
    with ExitStack() as stack:
        made = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ours = (sys.executable, "-m", "reflexd.ctl.main", "serve", "--model", str(model), "--device", "cpu")
        ours += ("--precision", precision, "--api-key", KEY, "--port")
        asks: dict[str, Ask] = {"ours": stack.enter_context(serving(ours, "ours", key=KEY))}
        for peer in (any2jev(model, made, precision), qev(model, precision)):
            if isinstance(peer, str):
                measured.append(Gap(PART, peer))
            else:
                asks[peer.name] = stack.enter_context(serving(peer.command, peer.name))
        cold: dict[str, list[float]] = {name: [] for name in asks}
        kept: dict[str, list[float]] = {name: [] for name in asks}
        for number in range(rounds + 1):
            for name, ask in asks.items():
                first, again = ask(body(number)), ask(body(number))
                if number:
                    cold[name].append(first)
                    kept[name].append(again)
    for said, taken, floor in (("a new state", cold, 1.2), ("the same state again", kept, 2.2)):
        middle = {name: statistics.median(samples) for name, samples in taken.items()}
        detail = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in middle.items())
        measured += [
            Line(PART, f"{said}: {name} / ours", middle[name] / middle["ours"], "x", floor, BETTER_HIGH, detail)
            for name in asks
            if name != "ours"
        ]
    return measured


OURS = """
import sys
from reflexd.engine import Engine
Engine.open(sys.argv[1], device="cpu", precision=sys.argv[2])
"""
THEIRS = """
import sys, torch
from transformers import AutoModelForCausalLM, AutoTokenizer
AutoTokenizer.from_pretrained(sys.argv[1])
AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=getattr(torch, sys.argv[2]))
"""


def ready(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    """Whole processes: ours until it is warm, theirs until the weights are loaded."""
    taken: dict[str, list[float]] = {"ours": [], "from_pretrained": []}
    for number in range(max(2, rounds // 2) + 1):
        for name, code in (("ours", OURS), ("from_pretrained", THEIRS)):
            since = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", code, str(model), precision], cwd=ROOT, check=True, capture_output=True
            )
            if number:
                taken[name].append(time.perf_counter() - since)
    middle = {name: statistics.median(samples) for name, samples in taken.items()}
    detail = ", ".join(f"{name} {seconds:.2f} s" for name, seconds in middle.items())
    name = "ours ready (and warm) / from_pretrained alone"
    return [Line("ready after exec", name, middle["ours"] / middle["from_pretrained"], "x", 1.5, BETTER_LOW, detail)]
