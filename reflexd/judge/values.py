"""What every judge has in common."""

from __future__ import annotations

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
