"""Rows that outlive the daemon: one frozen value for each table of the store, its fields named as the columns.

What grants anything carries a `signature`: a row edited behind reflex's back grants nothing. Times are Unix time,
0 for never. `holder` says whom a row hangs on: a session (`claude:<id>`), a process (`process:<pid>:<start>`) or a
directory (its real path), so that a new session id alone sheds nothing.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct


class Parked(Struct, frozen=True):
    """A call that waits for a person. `key`: what must be the same for an answer to fit, as a digest. `call` is
    redacted."""

    id: str
    key: str
    agent: str
    session: str
    cwd: str
    tool: str
    call: str
    rule: str
    reason: str
    at: float
    until: float
    state: Literal["waiting", "approved", "denied", "expired"] = "waiting"


class Approval(Struct, frozen=True):
    """A person's yes to one parked call; `used`: when it was taken, which is once."""

    id: str
    key: str
    at: float
    until: float
    used: float
    signature: bytes


class Trusted(Struct, frozen=True):
    """A file that a person vouches for, by its real path and its SHA-256."""

    path: str
    digest: str
    at: float
    signature: bytes


class Tainted(Struct, frozen=True):
    """Something that a holder met and that makes what it does next suspect. `why` is a few words for a reader."""

    holder: str
    why: str
    at: float


class Counted(Struct, frozen=True):
    """One call in a holder's window. `template`: the call without what varies between repetitions."""

    holder: str
    at: float
    template: str
    outcome: Literal["passed", "stopped", "failed"]
    read_only: bool


class Envelope(Struct, frozen=True):
    """What a holder's task may touch, as a person said; `terms` is JSON."""

    holder: str
    terms: str
    at: float
    until: float
    signature: bytes
