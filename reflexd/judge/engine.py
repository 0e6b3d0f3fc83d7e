"""The judge on this machine: reflexd's own engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reflexd.types import NoAnswer, Request, Response

Ask = Callable[[Request, float], Awaitable[Response | NoAnswer]]


class EngineJudge:
    """`ask`: as daemon.engine_proc.Engine answers, which keeps the deadline itself."""

    name = "engine"

    def __init__(self, ask: Ask) -> None:
        self._ask = ask

    async def ask(self, request: Request, deadline_s: float) -> Response | NoAnswer:
        return await self._ask(request, deadline_s)

    def says(self) -> str:
        return ""
