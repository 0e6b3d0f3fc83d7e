"""A backend without a model: its logits are hashes of the tokens. For tests, and for trying what is around the engine.

Equal tokens after an equal state give equal logits, whatever shares the pass, as with a real model; that is all
they say. `trouble` is called before every pass with its number and may raise what a device would.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence

from msgspec import Struct

from reflexd.engine import prompt
from reflexd.engine.bytetokens import ByteTokens
from reflexd.engine.cache import keys
from reflexd.engine.engine import Engine
from reflexd.engine.values import Branch, Prefix, Reading, Row
from reflexd.types import Confidence, EngineInfo


class Digest(Struct, frozen=True):
    """A state: what it was encoded from, and where its own part begins."""

    keys: tuple[int | str, ...]
    start: int = 0


class Hashed:
    """`recurrent`: states can only be continued at their end. `passes` counts them; `rows` lists how many each had."""

    BYTES = 100  # of one token

    def __init__(
        self, recurrent: bool = False, budget: int = 512, trouble: Callable[[int], None] = lambda number: None
    ) -> None:
        self.budget = budget
        self.joins = not recurrent
        self.passes = 0
        self.rows: list[int] = []
        self._recurrent = recurrent
        self._trouble = trouble

    def encode(self, parent: Digest | None, prefix: Prefix, start: int, stop: int) -> Digest:
        if len(parent.keys if parent else ()) != start:
            raise AssertionError("the parent is not the state after `start` tokens")
        self._pass(0)
        return Digest(keys(prefix)[:stop], start)

    def begin(
        self, parent: Digest | None, prefix: Prefix, start: int, stop: int, branches: Sequence[Branch]
    ) -> tuple[Digest, list[Reading]]:
        self._pass(len(branches))
        state = Digest(keys(prefix)[:stop], start)
        return state, [_reading(Row(state, branch)) for branch in branches]

    def split(self, state: Digest, parent: int, length: int) -> tuple[Digest, Digest] | None:
        if self._recurrent:
            return None
        return Digest(state.keys[:length], parent), Digest(state.keys, length)

    def read(self, rows: Sequence[Row[Digest]]) -> list[Reading]:
        self._pass(len(rows))
        return [_reading(row) for row in rows]

    def size(self, state: Digest) -> int:
        return (len(state.keys) - state.start) * self.BYTES

    def _pass(self, rows: int) -> None:
        self.passes += 1
        self.rows.append(rows)
        self._trouble(self.passes)


def engine(orders: int = 2, confidence: Confidence = "entropy", backend: Hashed | None = None) -> Engine:
    """An engine over this backend, with bytes for tokens."""
    words = prompt.load("markdown")
    info = EngineInfo(
        model="stand-in",
        revision="0",
        family="hashed",
        device="cpu",
        precision="float32",
        strategy="packed",
        prompt=words.version,
        orders=orders,
        confidence=confidence,
        vision=False,
        context=1 << 20,
        kernels="",
    )
    return Engine(backend or Hashed(), ByteTokens(), info, words)


def _reading(row: Row[Digest]) -> Reading:
    seen = hashlib.sha256(repr((row.state.keys, row.branch.tokens)).encode()).digest()
    logits = tuple(
        int.from_bytes(hashlib.sha256(seen + bytes((label % 256,))).digest()[:4], "big") / 2**30
        for label in row.branch.labels
    )
    return Reading(logits, math.log(sum(map(math.exp, logits))) + 1.0)
