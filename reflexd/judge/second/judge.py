"""One case to one stronger judge after another, until one is sure."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from reflexd.judge.second import opinion, tiers
from reflexd.judge.second.case import Case
from reflexd.judge.second.limits import Breaker, Budget
from reflexd.judge.second.opinion import Opinion
from reflexd.judge.second.settings import SecondSettings
from reflexd.judge.second.tiers import SecondFailed

TOGETHER = 2


class SecondJudge:
    """Belongs to one loop. `key` reads the key when it is needed, and raises SecondFailed where it cannot."""

    def __init__(
        self, settings: SecondSettings, key: Callable[[], str], clock: Callable[[], float] = time.time
    ) -> None:
        self._settings = settings
        self._key = key
        self._clock = clock
        self._budget = Budget(settings.per_day, settings.per_session)
        self._breakers = [Breaker() for _ in settings.tiers]
        self._free = asyncio.Semaphore(TOGETHER)

    async def consider(self, case: Case, session: str) -> Opinion:
        """Never raises but for a cancellation. Takes as long as the tiers take, one after another."""
        if not case.whole:
            return Opinion("human", "the call is too long to be shown whole")
        last = Opinion("human", "there is no stronger judge")
        for tier, breaker in zip(self._settings.tiers, self._breakers, strict=True):
            if breaker.open(self._clock()):
                last = Opinion("human", "the stronger judge failed too often and is left alone for a while")
                continue
            if why := self._budget.spend(session, self._clock()):
                return Opinion("human", why)
            try:
                async with self._free:
                    said = await asyncio.to_thread(tiers.send, tier, case, self._key(), tier.timeout_s)
            except SecondFailed as e:
                breaker.failed(self._clock())
                last = Opinion("human", f"the stronger judge gave no answer: {e}")
                continue
            except Exception as e:
                breaker.failed(self._clock())
                last = Opinion("human", f"the stronger judge gave no answer: {type(e).__name__}")
                continue
            breaker.worked()
            last = opinion.read(said)
            if last.verdict != "human":
                return last
        return last
