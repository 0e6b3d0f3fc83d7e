"""Which programs a caller's PATH finds first where others than root could have put them; known without waiting.

Listing directories may hang, so it happens in a thread of its own, and a call takes what was known last. Of a PATH
that was never seen nothing is known: then no program is what its name says.
"""

from __future__ import annotations

import queue
import threading
import time

from reflexd.sight.onpath import ANY, writable_first

FRESH_S = 2.0
KEPT = 64
NOT_YET = frozenset({ANY, "?"})
"""Of a PATH that nobody has looked at."""

_Where = tuple[str, str, str]


class Programs:
    """Methods may be called from any thread."""

    def __init__(self) -> None:
        self._known: dict[_Where, tuple[float, frozenset[str]]] = {}
        self._asked: queue.SimpleQueue[_Where] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._under_way: set[_Where] = set()
        self._started = False

    def shadowed(self, path: str, cwd: str, home: str, wait: bool = False) -> frozenset[str]:
        """Names that prove nothing; with ANY among them, every name. `wait`: look at once, for who has the time."""
        where = (path, cwd, home)
        if not path:
            return frozenset({ANY})
        if wait:
            self._keep(where, self._look(where))
        with self._lock:
            at, names = self._known.get(where, (0.0, NOT_YET))
            if time.monotonic() - at > FRESH_S and where not in self._under_way:
                self._under_way.add(where)
                self._asked.put(where)
                if not self._started:
                    self._started = True
                    threading.Thread(target=self._serve, daemon=True, name="programs").start()
        return names

    def _serve(self) -> None:
        while True:
            where = self._asked.get()
            self._keep(where, self._look(where))

    def _look(self, where: _Where) -> frozenset[str]:
        try:
            return writable_first(*where)
        except (OSError, ValueError):
            return frozenset({ANY})

    def _keep(self, where: _Where, names: frozenset[str]) -> None:
        with self._lock:
            self._under_way.discard(where)
            self._known.pop(where, None)
            self._known[where] = (time.monotonic(), names)
            while len(self._known) > KEPT:
                del self._known[next(iter(self._known))]
