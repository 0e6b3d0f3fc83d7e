"""Frames in, frames out, on a listening Unix socket.

Rule 1: whoever connects is answered or cut off: READ_S from accept for the whole request, then an
answer that says why, then the connection closes whether or not the peer reads.
Rule 2: a peer costs a bounded amount. At most OPEN_MAX connections; the one that has been idle
longest makes room. At most BULKY_MAX payloads above BULKY are held at a time, the others wait unread.
Rule 3: what could not be read is never an answer: the door says what refusing means for that peer.
Not covered: any process of the same user may speak here.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import Literal, Protocol, cast

from msgspec import Struct

from reflexd import wire
from reflexd.errors import FrameError
from reflexd.peer import Credentials, HasOptions, credentials
from reflexd.types import Reply
from reflexd.wire import Header

READ_S = 2.0
LINGER_S = 0.5
SWEEP_S = 0.1
OPEN_MAX = 256
BULKY = 256 * 1024
BULKY_MAX = 2


class Request(Struct, frozen=True):
    """A whole request. `accepted` is monotonic time."""

    header: Header
    payload: bytes
    peer: Credentials
    accepted: float


class Door(Protocol):
    """What answers. Neither raises."""

    async def answer(self, request: Request) -> Reply: ...
    def refuse(self, header: Header | None, why: str) -> Reply:
        """The answer to a request that could not be read; `header` where that much came."""
        ...


class Server:
    """Every connection of one listening socket. Its methods are for its connections and its owner."""

    def __init__(self, door: Door, uid: int) -> None:
        self.door = door
        self.uid = uid
        self.reading: dict[Connection, None] = {}  # by age: who reads longest comes first
        self.ending: dict[Connection, None] = {}
        self.working: set[asyncio.Task[None]] = set()
        self._bulky = 0
        self._waiting: deque[Connection] = deque()
        self._sweep: asyncio.TimerHandle | None = None

    def connection(self) -> Connection:
        return Connection(self)

    def opened(self, new: Connection) -> None:
        if len(self.reading) + len(self.working) >= OPEN_MAX:
            oldest = next(iter(self.reading), new)
            oldest.refuse("too many connections at once")
            if oldest is new:
                return
        self.reading[new] = None
        self._watch()

    def work(self, connection: Connection, request: Request) -> None:
        task = asyncio.get_running_loop().create_task(self._work(connection, request))
        self.working.add(task)
        task.add_done_callback(self.working.discard)

    def ended(self, connection: Connection) -> None:
        """`connection` has its answer; it goes when its peer has read it, or soon."""
        if len(self.ending) >= OPEN_MAX:
            next(iter(self.ending)).abort()
        self.ending[connection] = None
        self._watch()

    def take_bulky(self, connection: Connection) -> bool:
        """Whether a large payload may be read now; else the connection is resumed when its turn comes."""
        if self._bulky < BULKY_MAX:
            self._bulky += 1
            return True
        self._waiting.append(connection)
        return False

    def give_bulky(self) -> None:
        self._bulky -= 1
        while self._waiting and self._bulky < BULKY_MAX:
            if self._waiting.popleft().resume():
                self._bulky += 1

    async def finish(self, within_s: float) -> None:
        """Answer what is being worked on, refuse what is still being read."""
        for connection in list(self.reading):
            connection.refuse("the daemon is stopping")
        if self.working:
            await asyncio.wait(self.working, timeout=within_s)
        if self._sweep is not None:
            self._sweep.cancel()
        for connection in list(self.ending):
            connection.close()

    async def _work(self, connection: Connection, request: Request) -> None:
        try:
            connection.reply(await self.door.answer(request))
        except BaseException:
            connection.abort()
            raise

    def _cut_off(self) -> None:
        now = time.monotonic()
        for connection in list(self.reading):
            if connection.since + READ_S > now:
                break
            connection.refuse("the request came too slowly")
        for connection in list(self.ending):
            if connection.since + LINGER_S <= now:
                connection.abort()
        self._sweep = None
        if self.reading or self.ending:
            self._watch()

    def _watch(self) -> None:
        if self._sweep is None:
            self._sweep = asyncio.get_running_loop().call_later(SWEEP_S, self._cut_off)


class Connection(asyncio.Protocol):
    """One request and its answer. `since` is when it was accepted, once it was answered when that was."""

    __slots__ = ("_body", "_bulky", "_head", "_header", "_missing", "_peer", "_server", "_state", "_transport", "since")

    def __init__(self, server: Server) -> None:
        self._server = server
        self._state: Literal["reading", "working", "ended"] = "reading"
        self._head = b""
        self._header: Header | None = None
        self._body: list[bytes] = []
        self._missing = 0
        self._bulky = False
        self.since = time.monotonic()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        try:
            self._peer = credentials(cast(HasOptions, transport.get_extra_info("socket")))
        except OSError:
            self._state = "ended"
            self.abort()
            return
        if self._peer.uid != self._server.uid:
            self.refuse("this socket is another user's")
        else:
            self._server.opened(self)

    def data_received(self, data: bytes) -> None:
        if self._state != "reading":
            return
        try:
            if self._header is None:
                data = self._read_header(data)
            if self._header is not None:
                self._read_payload(self._header, data)
        except FrameError as e:
            self.refuse(e.message)

    def eof_received(self) -> bool:
        if self._state == "reading":
            self.refuse("the request ended before it was complete")
        if self._state == "ended":
            self.close()
        return True  # a peer that only closed its sending half still waits for its answer

    def connection_lost(self, exc: Exception | None) -> None:
        self._leave("ended")
        self._server.ending.pop(self, None)

    def refuse(self, why: str) -> None:
        """Answer a request that was not read whole. What still comes of it is thrown away for a moment:
        closing on unread bytes would take the answer from the peer."""
        self._answer(self._server.door.refuse(self._header, why))
        if not self._transport.is_closing():
            self._transport.write_eof()
            self._transport.resume_reading()

    def reply(self, reply: Reply) -> None:
        self._answer(reply)
        self._transport.close()

    def resume(self) -> bool:
        """Go on reading a large payload; False where nobody waits for that any more."""
        if self._state != "reading":
            return False
        self._bulky = True
        self._transport.resume_reading()
        return True

    def close(self) -> None:
        self._transport.close()

    def abort(self) -> None:
        self._transport.abort()

    def _answer(self, reply: Reply) -> None:
        self._leave("ended")
        if not self._transport.is_closing():
            self.since = time.monotonic()
            self._server.ended(self)
            self._transport.write(wire.encode_reply(reply))

    def _leave(self, state: Literal["working", "ended"]) -> None:
        """End reading: nothing of the request is kept here from now on."""
        self._state = state
        self._body = []
        self._server.reading.pop(self, None)
        if self._bulky and state == "ended":
            self._bulky = False
            self._server.give_bulky()

    def _read_header(self, data: bytes) -> bytes:
        """Takes the header off the front of what came, once it is whole; what is left belongs to the payload."""
        head = self._head + data if self._head else data
        end = head.find(b"\n", 0, wire.HEADER_MAX)
        if end < 0:
            if len(head) >= wire.HEADER_MAX:
                raise FrameError("request header is malformed")
            self._head = head
            return b""
        self._header = wire.decode_header(head[:end])
        self._missing = self._header.length
        if BULKY < self._missing <= wire.PAYLOAD_MAX:
            self._bulky = self._server.take_bulky(self)
            if not self._bulky:
                self._transport.pause_reading()
        return head[end + 1 :]

    def _read_payload(self, header: Header, data: bytes) -> None:
        self._missing -= len(data)
        if self._missing < 0:
            raise FrameError("the request is longer than it says")
        oversize = header.length > wire.PAYLOAD_MAX
        if not oversize and data:
            self._body.append(data)
        if self._missing == 0:
            if oversize:
                self.refuse(f"the event is larger than {wire.PAYLOAD_MAX >> 20} MiB")
                return
            payload = self._body[0] if len(self._body) == 1 else b"".join(self._body)
            self._leave("working")
            self._server.work(self, Request(header, payload, self._peer, self.since))
