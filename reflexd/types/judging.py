"""What a judge is told around a call, and what it answered."""

from __future__ import annotations

from msgspec import Struct

from reflexd.types.systemone import Answer

__all__ = ["Judged", "Said"]


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
    `answers` is empty; `ms` is the time from asking to the answer. `gates`: ids of the gates that spoke.
    """

    judge: str
    questions: str
    answers: tuple[tuple[str, Answer], ...] = ()
    none: str = ""
    ms: float = 0
    gates: tuple[str, ...] = ()
