"""How much a stronger judge may be used, and when it is left alone for a while. Pure: callers say what time it is."""

from __future__ import annotations

from collections import Counter

DAY_S = 86_400.0


class Budget:
    """So many cases a day and a session."""

    def __init__(self, per_day: int, per_session: int) -> None:
        self._per_day, self._per_session = per_day, per_session
        self._day = -1
        self._today = 0
        self._sessions: Counter[str] = Counter()

    def spend(self, session: str, now: float) -> str:
        """Why there is nothing left to spend; empty where one case was spent. `now`: Unix time, days are UTC's."""
        if int(now // DAY_S) != self._day:
            self._day, self._today = int(now // DAY_S), 0
            self._sessions.clear()
        if self._today >= self._per_day:
            return "today's budget of the stronger judge is spent"
        if self._sessions[session] >= self._per_session:
            return "this session's budget of the stronger judge is spent"
        self._today += 1
        self._sessions[session] += 1
        return ""


class Breaker:
    """After some failures in a row nobody asks for a while."""

    def __init__(self, after: int = 3, for_s: float = 300.0) -> None:
        self._after, self._for_s = after, for_s
        self._failed = 0
        self._until = 0.0

    def open(self, now: float) -> bool:
        return now < self._until

    def failed(self, now: float) -> None:
        self._failed += 1
        if self._failed >= self._after:
            self._until = now + self._for_s
            self._failed = 0

    def worked(self) -> None:
        self._failed = 0
