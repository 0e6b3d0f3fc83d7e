"""What the halves of the engine hand each other. No torch here.

    schema -> Request -> prompt, orders, labels -> Job -> scheduler -> Pass -> backend -> Reading -> readout -> Response

A Job is one request in tokens: a prefix (the state) and branches (the questions, one for every order and
page). A Reading is what the model said at the end of one branch. The scheduler fills passes with branches
of any jobs; the backend alone knows tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, Protocol, TypeVar

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


class Row(Struct, Generic[State], frozen=True):
    """One branch to be read after one encoded state."""

    state: State
    branch: Branch


class OutOfMemory(Exception):
    """The device had no room for a pass. Everything the pass made is freed; every kept state is as it was."""


class PassFailed(Exception):
    """A pass failed for another reason, named here. Every kept state is as it was."""


class Backend(Protocol[State]):
    """The tensor half, driven by the one thread that owns the device.

    Every call blocks until it is done. States are values: no call changes one it was given, whatever happens
    on the way. `encode`, `begin` and `read` are forward passes and raise OutOfMemory or PassFailed.
    """

    @property
    def budget(self) -> int:
        """Tokens that fill a pass: more of them take longer in proportion. Measured or set per device."""

    @property
    def joins(self) -> bool:
        """Whether a state and its branches can be one pass: only then is `begin` called."""

    def encode(self, parent: State | None, prefix: Prefix, start: int, stop: int) -> State:
        """The state after `prefix.tokens[:stop]`, from the one after `[:start]` (None where `start` is 0)."""

    def begin(
        self, parent: State | None, prefix: Prefix, start: int, stop: int, branches: Sequence[Branch]
    ) -> tuple[State, list[Reading]]:
        """`encode`, and `read` of branches after that state, in one pass."""

    def split(self, state: State, parent: int, length: int) -> tuple[State, State] | None:
        """The state after the first `length` tokens, and this one again as its continuation, sharing memory.

        `parent` < `length`: where this state's own part begins. None where a state can only be continued at its
        end (recurrent layers).
        """

    def read(self, rows: Sequence[Row[State]]) -> list[Reading]:
        """Every row's branch after its state, in one pass, in their order."""

    def size(self, state: State) -> int:
        """Bytes of this state's own part: what it does not share with the one it continues."""
