"""The one thread that owns the device.

What holds: one pass at a time; whoever stops waiting ends his wait, never a pass; a pass that fails leaves every
kept state as it was and costs an answer only to the job that it cannot be computed for; no lock is held during a
pass; nothing that a pass raises ends the thread.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

from reflexd.engine.cache import Cache, Node
from reflexd.engine.errors import Busy, EngineFailed, Overloaded
from reflexd.engine.plan import Plan
from reflexd.engine.room import Room
from reflexd.engine.scheduler import Encode, Job, Read, Scheduler
from reflexd.engine.values import Backend, OutOfMemory, PassFailed, Reading, Row
from reflexd.errors import ReflexError
from reflexd.types import EngineStats

State = TypeVar("State")
T = TypeVar("T")

WAITING_MAX = 256
TOKENS_MAX = 1 << 20
RETRY_LEAST_MS, RETRY_MOST_MS = 50, 30_000
GATHER_SHARE, GATHER_MOST_S = 0.1, 0.03
"""Callers who were answered by one pass ask again at nearly the same time. The next pass waits for as many as the
last one carried, a tenth of what that took at most: without it the first caller gets a pass of his own each time.
"""

log = logging.getLogger("reflexd.engine")


class Done:
    """All readings of one job, and how many of its state's tokens were kept already."""

    __slots__ = ("hit", "readings")

    def __init__(self, readings: list[Reading], hit: int) -> None:
        self.readings = readings
        self.hit = hit


class Counts:
    """What happened so far. Written by the worker's thread; read by anyone, a figure at a time."""

    def __init__(self) -> None:
        self.requests = self.failed = self.cancelled = self.refused = 0
        self.passes = self.branches = self.tokens = self.shared = self.out_of_memory = 0
        self.busy = 0.0


class Worker(Generic[State]):
    """`submit` may be called from any thread."""

    def __init__(self, backend: Backend[State], state_budget: int, waiting_max: int = WAITING_MAX) -> None:
        self.counts = Counts()
        self._backend = backend
        self._cache = Cache(backend, state_budget)
        self._room = Room(backend.budget)
        self._scheduler: Scheduler[State] = Scheduler(self._room)
        self._futures: dict[int, Future[Done]] = {}
        self._waiting_max = waiting_max
        self._inbox: deque[tuple[Job[State], Future[Done]]] = deque()
        self._last_jobs = 1
        self._last_s = 0.0
        self._queued = 0  # tokens that wait, those of the inbox included
        self._wake = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)
        self._thread.start()

    def submit(self, plan: Plan) -> Future[Done]:
        """Raises Busy where too much waits, EngineFailed after `close`. Cancelling the future gives the job up."""
        future: Future[Done] = Future()
        job: Job[State] = Job(plan, lambda: not future.cancelled())
        with self._wake:
            if self._closing:
                raise EngineFailed("the engine is closing")
            if len(self._inbox) + len(self._scheduler) >= self._waiting_max or self._queued > TOKENS_MAX:
                self.counts.refused += 1
                raise Busy(self._retry_ms())
            self._queued += job.tokens
            self._inbox.append((job, future))
            self.counts.requests += 1
            self._wake.notify()
        return future

    def close(self, wait_s: float = 30.0) -> None:
        """What waits fails with EngineFailed; the pass that runs comes to its end."""
        with self._wake:
            self._closing = True
            self._wake.notify()
        if threading.current_thread() is not self._thread:
            self._thread.join(wait_s)

    def stats(self) -> EngineStats:
        """Figures of now, taken without stopping the worker: they may be one pass apart."""
        counts = self.counts
        return EngineStats(
            requests=counts.requests,
            refused=counts.refused,
            failed=counts.failed,
            cancelled=counts.cancelled,
            waiting=len(self._inbox) + len(self._scheduler),
            passes=counts.passes,
            branches=counts.branches,
            tokens=counts.tokens,
            shared_passes=counts.shared,
            out_of_memory=counts.out_of_memory,
            states=self._cache.count,
            state_bytes=self._cache.bytes,
            state_budget=self._cache.budget,
            pass_tokens=self._room.tokens,
            busy_seconds=counts.busy,
        )

    def _retry_ms(self) -> int:
        rate = self.counts.tokens / self.counts.busy if self.counts.busy else 1000.0
        return int(min(RETRY_MOST_MS, max(RETRY_LEAST_MS, self._queued / rate * 1000 / 2)))

    # ---- the thread ---------------------------------------------------------------------

    def _run(self) -> None:
        while self._admit():
            try:
                self._step()
            except Exception as e:  # in the bookkeeping, so nobody can tell whose it was: no one waits for ever
                log.exception("the engine's bookkeeping failed")
                for job in tuple(self._scheduler.jobs):
                    self._fail(job, bug(e))
        for job in tuple(self._scheduler.jobs):
            self._fail(job, EngineFailed("the engine is closing"))
        self._cache.shrink(0)

    def _step(self) -> None:
        for job in self._scheduler.given_up():
            self.counts.cancelled += 1
            self._leave(job)
        for job in tuple(self._scheduler.jobs):
            if not job.encoded:
                self._guarded(job, self._find_kept)
        match self._scheduler.next():
            case Encode(job):
                self._guarded(job, self._encode)
            case Read(rows):
                self._read(rows)
            case None:
                pass

    def _admit(self) -> bool:
        """Takes in what was submitted, waiting for it where there is nothing to do. False: closing."""
        with self._wake:
            while not self._inbox and not len(self._scheduler) and not self._closing:
                self._wake.wait()
            self._gather()
            while self._inbox:
                job, future = self._inbox.popleft()
                self._scheduler.add(job)
                self._futures[job.number] = future
            self._queued = sum(job.tokens for job in self._scheduler.jobs)
            return not self._closing

    def _gather(self) -> None:
        """Called with the lock, which waiting gives up."""
        until = time.monotonic() + min(GATHER_SHARE * self._last_s, GATHER_MOST_S)
        while len(self._inbox) + len(self._scheduler) < self._last_jobs and not self._closing:
            left = until - time.monotonic()
            if left <= 0:
                self._last_jobs = 1  # they have gone: nobody waits for them a second time
                return
            self._wake.wait(left)

    def _find_kept(self, job: Job[State]) -> None:
        """A job whose whole state is kept can be read at once: it takes no turn for it."""
        match = self._cache.match(job.keys)
        if match.along is None and match.length == len(job.keys):
            self._begin(job, match.node)

    def _begin(self, job: Job[State], node: Node[State]) -> None:
        if job.hit is None:
            job.hit = node.end
        self._hold(job, node)
        job.encoded = node.end == len(job.keys)

    def _guarded(self, job: Job[State], step: Callable[[Job[State]], None]) -> None:
        """A bug in a step fails the job it was for, and no other."""
        try:
            step(job)
        except Exception as e:
            log.exception("a step of the engine failed")
            self._fail(job, bug(e))

    def _encode(self, job: Job[State]) -> None:
        """One pass at most: the next piece of the job's state, kept as a node of its own."""
        prefix = job.plan.prefix
        tokens = 0
        try:
            node, stop = self._nearest(job)
            self._begin(job, node)
            if job.encoded:
                return
            stop = whole(min(stop, node.end + self._room.tokens), job)
            tokens = stop - node.end
            if stop == len(job.keys) and (rows := self._along(job, tokens)):
                self._join(job, node, rows)
                return
            state = self._timed(tokens, lambda: self._backend.encode(node.state, prefix, node.end, stop))
        except OutOfMemory:
            self._out_of_memory(job, tokens)
        except PassFailed as e:
            self._fail(job, EngineFailed(f"the model failed on the state: {e}"))
        else:
            job.served += tokens
            self._hold(job, self._cache.add(node, job.keys[node.end : stop], state))
            self._cache.shrink()
            job.encoded = stop == len(job.keys)

    def _along(self, job: Job[State], tokens: int) -> tuple[int, ...]:
        """The branches that the end of the job's state, so many tokens, leaves room for in its pass."""
        if job.apart or not self._backend.joins:
            return ()
        rows = []
        for index in job.waiting:
            tokens += len(job.plan.branches[index].tokens)
            if tokens > self._room.tokens:
                break
            rows.append(index)
        return tuple(rows)

    def _join(self, job: Job[State], node: Node[State], rows: tuple[int, ...]) -> None:
        """State and branches in one pass. Where that fails they go apart, and what they fail of then counts."""
        branches = [job.plan.branches[index] for index in rows]
        start, stop = node.end, len(job.keys)
        tokens = stop - start + sum(len(branch.tokens) for branch in branches)
        try:
            state, readings = self._timed(
                tokens, lambda: self._backend.begin(node.state, job.plan.prefix, start, stop, branches)
            )
        except Exception as e:
            if isinstance(e, OutOfMemory):
                self.counts.out_of_memory += 1
                self._cache.shrink(0)
                self._room.fell_short(tokens)
            elif not isinstance(e, PassFailed):
                log.exception("a pass failed in a way that was not foreseen")
            job.apart = True
            return
        job.served += tokens
        self._hold(job, self._cache.add(node, job.keys[start:stop], state))
        self._cache.shrink()
        job.encoded = True
        for _ in rows:
            job.waiting.popleft()
        self._last_jobs = 1
        self.counts.branches += len(rows)
        self._given(tuple((job, index) for index in rows), readings)

    def _nearest(self, job: Job[State]) -> tuple[Node[State], int]:
        """The longest state that the job's can be continued from, and how far to go from there."""
        match = self._cache.match(job.keys)
        if job.node is not None and job.node.end >= match.length:
            return job.node, len(job.keys)
        node = self._cache.branched(match)
        if node is None:  # a recurrent state: this far others went the same way, so it is kept from now on
            return match.node, match.length
        return node, len(job.keys)

    def _out_of_memory(self, job: Job[State], tokens: int) -> None:
        """Give up what is kept for others, then go on in smaller pieces; where neither helps the job fails."""
        self.counts.out_of_memory += 1
        before = self._cache.bytes
        self._cache.shrink(0)
        if self._cache.bytes == before and not self._room.fell_short(tokens):
            self._room.restore()  # it was the state that is too large, not the pass
            self._fail(job, Overloaded("the device has no room for this state"))

    def _read(self, rows: tuple[tuple[Job[State], int], ...], last: bool = False) -> None:
        """`last`: these rows failed before; one that fails alone then costs its job the answer."""
        error: ReflexError
        try:
            readings = self._readings(rows)
        except OutOfMemory:
            self.counts.out_of_memory += 1
            self._cache.shrink(0)
            if len(rows) > 1:  # alone it is too large itself
                self._room.fell_short(sum(len(job.plan.branches[index].tokens) for job, index in rows))
            error = Overloaded("the device has no room for this question")
        except PassFailed as e:
            error = EngineFailed(f"the model failed on a question: {e}")
        except Exception as e:
            log.exception("a pass failed in a way that was not foreseen")
            error = bug(e)
        else:
            self._given(rows, readings)
            return
        if len(rows) == 1 and last:
            self._fail(rows[0][0], error)
            return
        half = -(-len(rows) // 2)
        for part in (rows[:half], rows[half:]):
            if alive := tuple(row for row in part if row[0].number in self._futures):
                self._read(alive, last=True)

    def _readings(self, rows: tuple[tuple[Job[State], int], ...]) -> list[Reading]:
        asked = []
        for job, index in rows:
            assert job.node is not None
            assert job.node.state is not None
            asked.append(Row(job.node.state, job.plan.branches[index]))
        tokens = sum(len(row.branch.tokens) for row in asked)
        self._last_jobs = len({job.number for job, _ in rows})
        readings = self._timed(tokens, lambda: self._backend.read(asked))
        self.counts.branches += len(rows)
        self.counts.shared += self._last_jobs > 1
        return readings

    def _given(self, rows: tuple[tuple[Job[State], int], ...], readings: list[Reading]) -> None:
        for (job, index), reading in zip(rows, readings, strict=True):
            job.readings[index] = reading
        for job in dict.fromkeys(job for job, _ in rows):
            if job.answered:
                self._finish(job)

    def _timed(self, tokens: int, step: Callable[[], T]) -> T:
        since = time.monotonic()
        try:
            made = step()
            self._room.fitted()
            return made
        finally:
            self._last_s = time.monotonic() - since
            self.counts.busy += self._last_s
            self.counts.passes += 1
            self.counts.tokens += tokens

    # ---- ends of jobs -------------------------------------------------------------------

    def _hold(self, job: Job[State], node: Node[State]) -> None:
        self._cache.hold(node)
        if job.node is not None:
            self._cache.release(job.node)
        job.node = node

    def _leave(self, job: Job[State]) -> Future[Done]:
        self._scheduler.remove(job)
        if job.node is not None:
            self._cache.release(job.node)
            job.node = None
            self._cache.shrink()
        return self._futures.pop(job.number)

    def _finish(self, job: Job[State]) -> None:
        future = self._leave(job)
        if future.set_running_or_notify_cancel():
            readings = [reading for reading in job.readings if reading is not None]
            future.set_result(Done(readings, job.hit or 0))

    def _fail(self, job: Job[State], error: ReflexError) -> None:
        if job.number not in self._futures:
            return
        self.counts.failed += 1
        future = self._leave(job)
        if future.set_running_or_notify_cancel():
            future.set_exception(error)


def bug(error: Exception) -> EngineFailed:
    return EngineFailed(f"this is a bug in the engine: {type(error).__name__}")


def whole(stop: int, job: Job[State]) -> int:
    """`stop`, moved behind an image that it would cut."""
    for picture in job.plan.prefix.pictures:
        if picture.start < stop < picture.stop:
            return picture.stop
    return stop
