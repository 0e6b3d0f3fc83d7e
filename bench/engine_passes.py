"""One request against plain forward passes of transformers over the same tokens, in one process."""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bench.engine_asked import ticket
from bench.figures import BETTER_HIGH, BETTER_LOW, Line, Measured
from reflexd.engine import labels, plan, prompt
from reflexd.engine.plan import Limits, Plan
from reflexd.engine.prompt import Composer
from reflexd.engine.tensor import loader
from reflexd.engine.values import Branch, Prefix, Row
from reflexd.types import Precision


def measure(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    """The state kept, six questions in two orders: all branches alone, one continuation, and ours, in turns."""
    loaded = loader.load(str(model), "cpu", precision, None, False)
    composer = Composer(prompt.load("markdown"), loaded.tokenizer, labels.labels(loaded.tokenizer))
    planned = plan.plan(ticket(2), composer, Limits(loaded.info.context), 2)
    network = _network(model, loaded.info.family, precision)
    return _compared("state kept, 6 questions x 2 orders", loaded.backend, network, planned, rounds)


def hybrid(model: Path, precision: Precision, rounds: int) -> list[Measured]:
    """The same on a random Qwen3.5 of four layers: rows instead of one sequence. Shown for what it is."""
    from tests.engine import models

    directory = models.tiny("qwen3_5_text")
    loaded = loader.load(str(directory), "cpu", "float32", None, False)
    draw = random.Random(5)
    prefix = Prefix(tuple(draw.randrange(256) for _ in range(407)))
    branches = tuple(Branch(tuple(draw.randrange(256) for _ in range(69)), (1, 2, 3)) for _ in range(12))
    planned = Plan(prefix, branches, (), 0)
    network = _network(directory, loaded.info.family, "float32")
    return _compared("random Qwen3.5, 12 branches of 69 tokens", loaded.backend, network, planned, rounds, floors=False)


def _network(model: Path, family: str, precision: Precision) -> Any:
    dtype = {"float32": torch.float32, "bfloat16": torch.bfloat16}[precision]
    return loader.family(family).load().from_pretrained(model, dtype=dtype, attn_implementation="sdpa").eval()


def _compared(part: str, backend: Any, network: Any, planned: Plan, rounds: int, floors: bool = True) -> list[Measured]:
    prefix, branches = planned.prefix, planned.branches
    state = backend.encode(None, prefix, 0, len(prefix.tokens))
    rows = [Row(state, branch) for branch in branches]
    tokens = sum(len(branch.tokens) for branch in branches)
    whole = [torch.tensor([prefix.tokens + branch.tokens]) for branch in branches]
    after = torch.tensor([[token for branch in branches for token in branch.tokens]])

    def each_alone() -> None:
        for ids in whole:
            network(input_ids=ids, logits_to_keep=1)

    kept = _Kept(network, torch.tensor([prefix.tokens]))

    def continued() -> None:
        network(input_ids=after, cache=kept.again(), logits_to_keep=1)

    took = in_turns({"alone": each_alone, "continuation": continued, "ours": lambda: backend.read(rows)}, rounds)
    detail = ", ".join(f"{name} {seconds * 1e3:.0f} ms" for name, seconds in took.items())
    return [
        Line(
            part,
            "each branch alone / ours",
            took["alone"] / took["ours"],
            "x",
            6 if floors else None,
            BETTER_HIGH,
            detail,
        ),
        Line(
            part,
            f"ours / one continuation by {tokens} tokens",
            took["ours"] / took["continuation"],
            "x",
            1 if floors else None,
            BETTER_LOW,
        ),
    ]


class _Kept:
    """The state in transformers' own cache; every continuation gets a copy, outside the time that is taken."""

    def __init__(self, network: Any, ids: torch.Tensor) -> None:
        from transformers import DynamicCache

        self._cache = DynamicCache(config=network.config.get_text_config())
        with torch.inference_mode():
            network(input_ids=ids, cache=self._cache, use_cache=True, logits_to_keep=1)

    def again(self) -> Any:
        import copy

        return copy.deepcopy(self._cache)


def in_turns(steps: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median seconds of each; one round warms up, and the machine's moods fall on all alike."""
    taken: dict[str, list[float]] = {name: [] for name in steps}
    with torch.inference_mode():
        for number in range(rounds + 1):
            for name, step in steps.items():
                since = time.perf_counter()
                step()
                if number:
                    taken[name].append(time.perf_counter() - since)
    return {name: statistics.median(samples) for name, samples in taken.items()}
