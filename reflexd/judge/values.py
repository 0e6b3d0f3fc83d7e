"""What every judge has in common."""

from __future__ import annotations

import asyncio
from typing import Protocol

from reflexd.types import NoAnswer, Request, Response


class Judge(Protocol):
    """Whoever answers. A failure is a value: nothing but a cancellation is ever raised."""

    name: str

    async def ask(self, request: Request, deadline_s: float) -> Response | NoAnswer:
        """The answers to all questions, or why there are none. Returns within `deadline_s` of a call that waits."""
        ...

    def says(self) -> str:
        """What a person should know about it, in one line: where questions go. Empty where there is nothing to say."""
        ...


GRACE_S = 0.125
"""What a judge may take beyond the time that he was told of, before he is not waited for."""


async def answered(judge: Judge, request: Request, left_s: float) -> Response | NoAnswer:
    """What the judge says within `left_s`, or that he does not: one who breaks his word gives no answer either."""
    if left_s <= 0:
        return NoAnswer("timeout", "no time was left")
    try:
        async with asyncio.timeout(left_s + GRACE_S):
            return await judge.ask(request, left_s)
    except TimeoutError:
        return NoAnswer("timeout", f"no answer within {left_s:.1f} s")
    except Exception as e:
        return NoAnswer("error", type(e).__name__)
