"""What a judge is told around a call, and what it answered."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from reflexd.types.systemone import Answer

__all__ = ["Allow", "Judged", "Said"]

Allow = Literal["off", "shadow", "on"]
"""Whether a judge may let a call skip the agent's own prompt; in shadow it is only noted that it would have."""


class Said(Struct, frozen=True):
    """What the agent's own records say around a call: redacted, bounded, and empty rather than stale.

    `prompt`: the person's last words to the agent. `intent`: what the agent said since, before this call.
    `calls`: its last calls, oldest first, a line each. Of these the person wrote `prompt` alone.
    """

    prompt: str = ""
    intent: str = ""
    calls: tuple[str, ...] = ()


class Judged(Struct, frozen=True):
    """What one judge said about one call.

    `questions` is the version of the questions; `none` says why there is no answer ("timeout: ..."), and then
    `answers` is empty; `ms` is the time from asking to the answer. `gates`: ids of the gates that spoke; `held`: the
    circumstances that they were told.
    """

    judge: str
    questions: str
    answers: tuple[tuple[str, Answer], ...] = ()
    none: str = ""
    ms: float = 0
    gates: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
