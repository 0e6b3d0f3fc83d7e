"""Runs the application on sockets that were opened elsewhere, until it is told to stop."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from reflexd import peer
from reflexd.engine import images
from reflexd.engine.engine import Engine
from reflexd.engine.http.app import Resolve, application
from reflexd.engine.http.bodies import Caps
from reflexd.engine.http.refusals import Refusal, refused

HEADERS_MAX = 32 << 10
HEADER_SECONDS = 20.0
IDLE_SECONDS = 30
GRACE_SECONDS = 10
BACKLOG = 128


def serve_on(
    engine: Engine,
    sockets: Sequence[socket.socket],
    key: str | None,
    *,
    caps: Caps | None = None,
    names: frozenset[str] = frozenset(),
    resolve: Resolve = functools.partial(images.resolve, policy=images.Policy()),
    ready: Callable[[], None] = lambda: None,
    stop: threading.Event | None = None,
) -> None:
    """Serves until SIGINT or SIGTERM (in the main thread), or until `stop` is set; answers under way get ten seconds.

    Images that come along in a body are taken, no file and no URL is read for one, unless `resolve` does. Stream
    sockets, bound; a Unix one only hears its own user. Over TCP everything but `/health` takes `key`.
    `ready` is called when all of them listen. The engine stays open.
    """
    app = application(engine, key, caps=caps, names=names, resolve=resolve)
    config = uvicorn.Config(
        app,
        http=_Protocol,
        ws="none",
        loop="asyncio",
        lifespan="off",
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=HEADERS_MAX,
    )
    _Server(config, ready, stop).run(list(sockets))


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, ready: Callable[[], None], stop: threading.Event | None) -> None:
        super().__init__(config)
        self._ready = ready
        self._stop = stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or (self._stop is not None and self._stop.is_set())

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """A signal ends serving; unlike the original's it is then done with and not raised again."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class _Protocol(H11Protocol):
    """Strangers on the Unix socket are hung up on, slow heads too, and what is not HTTP gets its 400 as JSON."""

    _head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        sock: Any = transport.get_extra_info("socket")
        if sock is not None and sock.family == socket.AF_UNIX and not _is_mine(sock):
            transport.abort()
            return
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._unwatch()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        self._unwatch()
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()
        if self.conn.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            self.transport.abort()
            return
        response = refused(Refusal(400, "this is not an HTTP request, or its head is too large", close=True))
        head = h11.Response(status_code=400, headers=response.raw_headers)
        for event in (head, h11.Data(data=bytes(response.body)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _watch(self) -> None:
        """The clock runs from the first byte of a head to its last."""
        if self.conn.their_state is not h11.IDLE:
            self._unwatch()
        elif self._head_timer is None:
            self._head_timer = self.loop.call_later(HEADER_SECONDS, self.transport.abort)

    def _unwatch(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None


def _is_mine(sock: peer.HasOptions) -> bool:
    try:
        return peer.credentials(sock).uid in (os.geteuid(), 0)
    except OSError:
        return False
