"""`reflexd-engine`: a model in a process of its own, a child of reflexd.

It speaks `link` over one descriptor and serves HTTP on the listening ones it was given. What holds: it ends
with its parent (the link's end, and on Linux a signal); it is ready only when it is warm; nothing of a request
is written anywhere.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import os
import signal
import socket
import sys
import threading
import time
from concurrent.futures import CancelledError, Future

import msgspec
from msgspec import Struct

from reflexd.engine import hashed, link
from reflexd.engine.engine import Engine
from reflexd.engine.errors import Busy, Invalid, Overloaded
from reflexd.engine.hashed import Hashed
from reflexd.engine.link import Answered, Ask, Beat, Cancel, Failed, Ready, Unable, Up
from reflexd.errors import FrameError, ReflexError
from reflexd.settings import EngineSettings
from reflexd.types import Response

log = logging.getLogger("reflexd.engine")

PR_SET_PDEATHSIG = 1
UNABLE = 3


class Start(Struct, frozen=True, forbid_unknown_fields=True):
    """What reflexd says in argv. `link` and `http` are descriptors; `key` names the file that holds the key.

    `parent` is reflexd's process. `stand_in`: seconds that a pass takes of the backend without a model, which then
    is used.
    """

    link: int
    settings: EngineSettings
    http: tuple[int, ...] = ()
    key: str = ""
    parent: int = 0
    stand_in: float | None = None


def main(argv: list[str]) -> int:
    start = msgspec.json.decode(argv[0].encode(), type=Start)
    _die_with_parent(start.parent)
    os.umask(0o077)
    logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(levelname)s %(message)s")
    sock = socket.socket(fileno=start.link)
    try:
        engine = opened(start)
    except ReflexError as e:
        log.error("%s", e.message)
        sock.sendall(link.frame(Unable(e.message, e.hint)))
        return UNABLE
    stop = threading.Event()
    linked = threading.Thread(target=lambda: asyncio.run(_Linked(engine, sock, stop).run()), name="link")
    linked.start()
    _serve(engine, start, stop)
    engine.close()
    linked.join()
    return 0


def opened(start: Start) -> Engine:
    """Raises ReflexError."""
    wanted = start.settings
    if start.stand_in is not None:
        seconds = start.stand_in
        return hashed.engine(wanted.orders, wanted.confidence, Hashed(trouble=lambda number: time.sleep(seconds)))
    return Engine.open(
        wanted.model,
        device=wanted.device,
        precision=wanted.precision,
        orders=wanted.orders,
        confidence=wanted.confidence,
        style=wanted.style,
        prompt_file=wanted.prompt,
        calibration_file=wanted.calibration,
        adapter=wanted.adapter,
    )


def _serve(engine: Engine, start: Start, stop: threading.Event) -> None:
    """HTTP, in the main thread, until the link ends or a signal comes."""
    if not start.http:
        signal.signal(signal.SIGTERM, lambda number, frame: stop.set())
        stop.wait()
        return
    from reflexd.engine.http import serve_on

    key = None
    if start.key:
        with open(start.key, encoding="ascii") as file:
            key = file.read().strip()
    serve_on(engine, [socket.socket(fileno=fd) for fd in start.http], key, stop=stop)
    stop.set()


class _Linked:
    """The link's loop, in a thread of its own: HTTP clients never hold the gate's questions up."""

    def __init__(self, engine: Engine, sock: socket.socket, stop: threading.Event) -> None:
        self._engine = engine
        self._sock = sock
        self._stop = stop
        self._asked: dict[int, Future[Response]] = {}

    async def run(self) -> None:
        reader, writer = await asyncio.open_connection(sock=self._sock)
        self._loop, self._writer = asyncio.get_running_loop(), writer
        self._send(Ready(self._engine.info))
        beating = asyncio.create_task(self._beat())
        try:
            while not self._stop.is_set() and (value := await link.down(reader)) is not None:
                match value:
                    case Ask():
                        self._ask(value)
                    case Cancel(number):
                        if future := self._asked.get(number):
                            future.cancel()
        except FrameError as e:
            log.error("%s", e.message)
        finally:
            beating.cancel()
            self._stop.set()
            writer.close()

    def _ask(self, ask: Ask) -> None:
        try:
            future = self._engine.submit(ask.request)
        except ReflexError as e:
            self._send(_failed(ask.number, e))
            return
        self._asked[ask.number] = future
        future.add_done_callback(lambda done: self._loop.call_soon_threadsafe(self._done, ask.number, done))

    def _done(self, number: int, future: Future[Response]) -> None:
        del self._asked[number]
        try:
            self._send(Answered(number, future.result()))
        except CancelledError:
            pass
        except ReflexError as e:
            self._send(_failed(number, e))
        except Exception as e:
            log.error("a bug: %s", type(e).__name__)
            self._send(Failed(number, "error", "this is a bug in the engine"))

    async def _beat(self) -> None:
        while True:
            self._send(Beat(self._engine.stats()))
            await asyncio.sleep(link.BEAT_S)

    def _send(self, value: Up) -> None:
        self._writer.write(link.frame(value))


def _failed(number: int, error: ReflexError) -> Failed:
    match error:
        case Invalid():
            return Failed(number, "refused", error.message)
        case Busy() | Overloaded():
            return Failed(number, "busy", error.message)
        case _:
            return Failed(number, "error", error.message)


def _die_with_parent(parent: int) -> None:
    """On Linux the kernel sees to it, also where this process is in the middle of a pass."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it ended before we could say so
            sys.exit(0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
