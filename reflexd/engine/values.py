"""What the halves of the engine hand each other. No torch here.

    schema -> Request -> prompt, orders, labels -> Job -> scheduler -> Pass -> backend -> Reading -> readout -> Response

A Job is one request in tokens: a prefix (the state) and branches (the questions, one for every order and
page). A Reading is what the model said at the end of one branch. The scheduler fills passes with branches
of any jobs; the backend alone knows tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

from msgspec import Struct


class Picture(Struct, frozen=True):
    """An image's place in a prefix: `tokens[start:stop]` are its placeholders. `digest` tells images apart."""

    start: int
    stop: int
    digest: str
    data: bytes


class Prefix(Struct, frozen=True):
    """The tokens of a state, with its images. Two prefixes agree as far as tokens and images both do."""

    tokens: tuple[int, ...]
    pictures: tuple[Picture, ...] = ()


class Branch(Struct, frozen=True):
    """The tokens of one question in one order (one page of it), and the label tokens read at its end.

    Equal branches of one prefix are computed once.
    """

    tokens: tuple[int, ...]
    labels: tuple[int, ...]


class Reading(Struct, frozen=True):
    """`logits` of the labels, in their order, and `norm`, the log-sum-exp over the whole vocabulary.

    Floats taken from float32 or wider, so that pages can be pooled by `logit - norm`.
    """

    logits: tuple[float, ...]
    norm: float


State = TypeVar("State")


class Row(Struct, frozen=True):
    """One branch to be read after one encoded state."""

    state: object
    branch: Branch


class OutOfMemory(Exception):
    """The device had no room for a pass. Everything the pass made is freed; every kept state is as it was."""


class PassFailed(Exception):
    """A pass failed for another reason, named here. Every kept state is as it was."""


class Backend(Protocol[State]):
    """The tensor half, driven by the one thread that owns the device.

    Every call is one forward pass (or none) and blocks until it is done. States are values: no call
    changes one it was given, whatever happens on the way. Raises OutOfMemory or PassFailed.
    """

    @property
    def recurrent(self) -> bool:
        """True where a state can only be continued at its end (hybrid models): `fork` then gives None."""

    def encode(self, parent: State | None, prefix: Prefix, start: int, stop: int) -> State:
        """The state after `prefix.tokens[:stop]`, from the one after `[:start]` (None where `start` is 0)."""

    def fork(self, state: State, length: int) -> State | None:
        """The state after the first `length` tokens of this one, sharing its memory; None where that takes a pass."""

    def read(self, rows: Sequence[Row]) -> list[Reading]:
        """Every row's branch after its state, all in one pass, in their order."""

    def cost(self, rows: Sequence[Row]) -> int:
        """How many token positions one pass over `rows` would compute (padding included)."""

    def size(self, state: State) -> int:
        """Bytes this state holds beyond those it shares with the one it was encoded or forked from."""
