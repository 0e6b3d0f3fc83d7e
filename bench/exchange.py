"""The one client: a connection a call, everything in flight watched by one poll loop.

Cheap on purpose, and the same for the daemon and the bare echo, so that a ratio says something about the
servers. A call lasts from before connect to the server's end of file.
"""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Iterator

from msgspec import Struct


class Burst(Struct, frozen=True):
    """`calls` one after another on `clients` connections at a time."""

    latencies: list[float]
    seconds: float

    @property
    def per_second(self) -> float:
        return len(self.latencies) / self.seconds


def burst(path: str, data: Iterator[bytes], clients: int, calls: int, timeout_s: float = 30.0) -> Burst:
    """Every call sends the next of `data`. Raises RuntimeError where a call has no answer at all."""
    poll = select.poll()
    open_now: dict[int, tuple[socket.socket, float, int]] = {}
    latencies: list[float] = []
    clock = time.perf_counter
    left = calls

    def begin() -> None:
        message = next(data)
        since = clock()
        peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        peer.connect(path)
        peer.setblocking(False)
        peer.send(message)
        poll.register(peer, select.POLLIN)
        open_now[peer.fileno()] = (peer, since, 0)

    started = clock()
    while left > 0 and len(open_now) < clients:
        left -= 1
        begin()
    while open_now:
        ready = poll.poll(timeout_s * 1000)
        if not ready:
            raise RuntimeError(f"no answer on {path} within {timeout_s:g} s")
        for fd, _ in ready:
            peer, since, got = open_now[fd]
            while True:
                try:
                    part = peer.recv(65536)
                except BlockingIOError:
                    open_now[fd] = (peer, since, got)
                    break
                if part:
                    got += len(part)
                    continue
                if not got:
                    raise RuntimeError(f"an empty answer on {path}")
                latencies.append(clock() - since)
                poll.unregister(fd)
                del open_now[fd]
                peer.close()
                if left > 0:
                    left -= 1
                    begin()
                break
    return Burst(latencies, clock() - started)
