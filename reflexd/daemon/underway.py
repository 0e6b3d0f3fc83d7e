"""Calls between their two events, and what finished ones left: bookkeeping, no I/O, no clock.

A call is under way from the moment it is let go until the event that tells how it ended. Where an agent
never says, it counts as ended after LASTS_S. What came from the network is remembered for everyone:
whose session fetched a file makes it no safer.
"""

from __future__ import annotations

import threading
from typing import TypeVar

from msgspec import Struct

from reflexd.core.past import Traces
from reflexd.types import Past, Source

T = TypeVar("T")

LASTS_S = 600.0
CALLS_MAX = 256
FILES_MAX = 500
SESSIONS_MAX = 256
EXPORTS_MAX = 64


class _Call(Struct, frozen=True):
    session: str
    at: float
    traces: Traces


class Underway:
    """Methods may be called from any thread; times are monotonic seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._calls: dict[str, _Call] = {}
        self._downloaded: dict[str, None] = {}
        self._exported: dict[str, dict[str, str]] = {}
        self._jobs: dict[str, float] = {}

    def past(self, session: str, now: float) -> Past:
        """What bears on a call of `session` that is about to be judged."""
        with self._lock:
            live = [call for call in self._calls.values() if now - call.at < LASTS_S]
            job = self._jobs.get(session)
            pending = dict.fromkeys(path for call in live for path in call.traces.writes or ())
            unclear = any(call.traces.writes is None for call in live if call.session == session)
            busy = "another call of this session is still running" if unclear else ""
            if job is not None:
                busy = "a job of this session runs in the background"
            return Past(tuple(self._downloaded), tuple(pending), busy, tuple(self._exported.get(session, {}).items()))

    def began(self, session: str, call: str, traces: Traces, now: float) -> None:
        """A call was let go. One without an id cannot be told from others, and counts until it is too old."""
        with self._lock:
            for path in traces.downloaded:
                self._downloaded.pop(path, None)
                self._downloaded[path] = None
            _trim(self._downloaded, FILES_MAX)
            if traces.exported:
                kept = self._exported.setdefault(session, {})
                kept.update(traces.exported)
                _trim(kept, EXPORTS_MAX)
                _trim(self._exported, SESSIONS_MAX)
            if traces.background:
                self._jobs[session] = now
                _trim(self._jobs, SESSIONS_MAX)
            if call and (traces.writes is None or traces.writes or traces.sources):
                self._calls[f"{session}\0{call}"] = _Call(session, now, traces)
                _trim(self._calls, CALLS_MAX)

    def ended(self, session: str, call: str) -> tuple[Source, ...]:
        """The call's second event came; the code that it was judged by."""
        with self._lock:
            found = self._calls.pop(f"{session}\0{call}", None)
            return found.traces.sources if found else ()

    def forget(self, session: str) -> None:
        """The session is over, and its jobs with it as far as anyone can tell."""
        with self._lock:
            self._jobs.pop(session, None)
            self._exported.pop(session, None)
            for key in [key for key, call in self._calls.items() if call.session == session]:
                del self._calls[key]


def _trim(kept: dict[str, T], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]
