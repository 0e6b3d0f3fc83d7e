"""What the device does next. Bookkeeping alone: no thread, no clock, no tensor.

What holds: a pass carries branches of any jobs and states, up to a budget of tokens; whoever had least so far
goes first, then whoever came first, so a small job never waits for more than one pass of a large one; encoding
states and reading branches take turns; a job that was given up leaves with what it still waited for.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

from msgspec import Struct

from reflexd.engine.cache import Key, Node, keys
from reflexd.engine.plan import Plan
from reflexd.engine.room import Room
from reflexd.engine.values import Reading

State = TypeVar("State")


class Job(Generic[State]):
    """One request on its way. `served`: the tokens it had so far, what fairness goes by.

    `apart`: a pass of its state together with its branches has failed, so they go one after the other.
    """

    def __init__(self, plan: Plan, wanted: Callable[[], bool]) -> None:
        self.plan = plan
        self.keys: tuple[Key, ...] = keys(plan.prefix)
        self.waiting: deque[int] = deque(range(len(plan.branches)))
        self.readings: list[Reading | None] = [None] * len(plan.branches)
        self.node: Node[State] | None = None
        self.encoded = False
        self.apart = False
        self.hit: int | None = None
        self.served = 0
        self.number = 0
        self.wanted = wanted

    @property
    def answered(self) -> bool:
        return None not in self.readings

    @property
    def tokens(self) -> int:
        """What it still costs, at most."""
        done = self.node.end if self.node else 0
        return len(self.keys) - done + sum(len(self.plan.branches[index].tokens) for index in self.waiting)


class Encode(Struct, Generic[State], frozen=True):
    """One more piece of a job's state."""

    job: Job[State]


class Read(Struct, Generic[State], frozen=True):
    """Branches of jobs whose states are there."""

    rows: tuple[tuple[Job[State], int], ...]


class Scheduler(Generic[State]):
    """Not thread-safe: it belongs to the thread that owns the device."""

    def __init__(self, room: Room) -> None:
        self._room = room
        self._jobs: dict[int, Job[State]] = {}
        self._arrivals = 0
        self._read_last = False
        self._share = 0.0  # the virtual time of fair queueing: tokens computed, each over the jobs there were
        self._encoding: tuple[Job[State], int] | None = None

    def __len__(self) -> int:
        return len(self._jobs)

    @property
    def jobs(self) -> Iterable[Job[State]]:
        return self._jobs.values()

    def add(self, job: Job[State]) -> None:
        job.number = self._arrivals
        self._arrivals += 1
        # Counted from zero, or from the least of those who wait, a row of small jobs would go before a large one for
        # ever; whoever comes now begins where a job with its fair share of all passes so far would be.
        job.served = int(self._share)
        self._jobs[job.number] = job

    def remove(self, job: Job[State]) -> None:
        self._jobs.pop(job.number, None)

    def given_up(self) -> list[Job[State]]:
        """Jobs that nobody waits for any more; they are out of here."""
        gone = [job for job in self._jobs.values() if not job.wanted()]
        for job in gone:
            self.remove(job)
        return gone

    def next(self) -> Encode[State] | Read[State] | None:
        """The next pass; None where nothing waits."""
        if self._encoding is not None:  # what a piece took is known when it is done
            job, before = self._encoding
            self._share += (job.served - before) / max(1, len(self._jobs))
            self._encoding = None
        encoding = [job for job in self._jobs.values() if not job.encoded]
        reading = [job for job in self._jobs.values() if job.encoded and job.waiting]
        if encoding and not (reading and not self._read_last):
            self._read_last = False
            first = min(encoding, key=lambda job: (job.served, job.number))
            self._encoding = first, first.served
            return Encode(first)
        if not reading:
            return None
        self._read_last = True
        return Read(tuple(self._picked(reading)))

    def _picked(self, jobs: list[Job[State]]) -> list[tuple[Job[State], int]]:
        order = [(job.served, job.number, job) for job in jobs]
        heapq.heapify(order)
        rows: list[tuple[Job[State], int]] = []
        room = self._room.tokens
        while order:
            _, number, job = heapq.heappop(order)
            tokens = len(job.plan.branches[job.waiting[0]].tokens)
            if tokens > room and rows:
                continue  # another's may be shorter
            rows.append((job, job.waiting.popleft()))
            room -= tokens
            job.served += tokens
            self._share += tokens / len(self._jobs)
            if job.waiting:
                heapq.heappush(order, (job.served, number, job))
        return rows
