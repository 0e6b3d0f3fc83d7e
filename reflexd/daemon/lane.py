"""Work that would hold the loop up: a few threads, and a bounded number of calls that wait for them.

A thread cannot be stopped. A caller that gives up leaves its work behind, which then keeps one thread
until it ends; that is why what runs here is bounded by its own caps, and why these threads never
keep the process alive.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ParamSpec, TypeVar

from reflexd.errors import ReflexError

P = ParamSpec("P")
T = TypeVar("T")


class Lane:
    def __init__(self, threads: int, waiting_max: int) -> None:
        self._threads = threads
        self._started = 0
        self._queue: queue.Queue[tuple[Future[Any], Callable[[], Any]]] = queue.Queue(waiting_max)

    async def run(self, work: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Raises ReflexError at once where too many wait already; whatever `work` raises otherwise."""
        if self._started < self._threads:
            self._started += 1
            threading.Thread(target=self._serve, daemon=True, name=f"lane-{self._started}").start()
        done: Future[T] = Future()
        try:
            self._queue.put_nowait((done, lambda: work(*args, **kwargs)))
        except queue.Full:
            raise ReflexError("too many calls wait to be looked at") from None
        return await asyncio.wrap_future(done)

    def _serve(self) -> None:
        while True:
            _do(*self._queue.get())


def _do(done: Future[T], work: Callable[[], T]) -> None:
    """In a frame of its own, so that an idle thread keeps nothing of its last work alive."""
    if done.set_running_or_notify_cancel():
        try:
            done.set_result(work())
        except BaseException as e:
            done.set_exception(e)
