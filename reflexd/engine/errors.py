"""Why a request got no answer. Each is handled differently: its HTTP status says how."""

from __future__ import annotations

from msgspec import Struct

from reflexd.errors import ReflexError


class Fault(Struct, frozen=True):
    """One thing wrong with a body: where it is, in words, and the kind of mistake."""

    loc: tuple[str | int, ...]
    msg: str
    type: str


class Invalid(ReflexError):
    """The request cannot be answered as it stands: 422, every fault with its place."""

    def __init__(self, faults: tuple[Fault, ...]) -> None:
        super().__init__("; ".join(f"{'.'.join(map(str, fault.loc))}: {fault.msg}" for fault in faults))
        self.faults = faults


class TooLarge(ReflexError):
    """The body is over a cap: 413."""


class Busy(ReflexError):
    """The queue is full: 429, with the time after which another try makes sense."""

    def __init__(self, retry_after_ms: int) -> None:
        super().__init__("too many requests are waiting", f"try again in {retry_after_ms} ms")
        self.retry_after_ms = retry_after_ms


class Overloaded(ReflexError):
    """The device has no room for this request, not even alone and in parts: 529."""


class EngineFailed(ReflexError):
    """A pass failed, or the engine is closing: 500. Says what failed, never the request's text."""


class ModelError(ReflexError):
    """A model, adapter, tokenizer or calibration cannot be used; says which file and why."""
