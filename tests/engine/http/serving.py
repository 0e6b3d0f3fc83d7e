"""A server on real sockets over the stand-in backend, and a client that sends bytes as they are."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from msgspec import Struct

from reflexd.engine import prompt
from reflexd.engine.bytetokens import ByteTokens
from reflexd.engine.engine import Engine
from reflexd.engine.hashed import Hashed
from reflexd.engine.http import Caps, serve_on
from reflexd.types import EngineInfo

KEY = "a-key-for-tests"
INFO = EngineInfo(
    model="hashed",
    revision="0",
    family="none",
    device="cpu",
    precision="float32",
    strategy="packed",
    prompt="",
    orders=2,
    confidence="margin",
    vision=False,
    context=1 << 20,
    kernels="",
)
ASK = {
    "model": "jev-latest",
    "state": "The invoice was charged twice.",
    "questions": {"refund": {"type": "noul", "instructions": "Is a refund due?"}},
}


class Reply(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Served(Struct, frozen=True):
    port: int
    path: str
    engine: Engine

    def connect(self, unix: bool = False) -> socket.socket:
        if unix:
            sock = socket.socket(socket.AF_UNIX)
            sock.connect(self.path)
        else:
            sock = socket.create_connection(("127.0.0.1", self.port))
        sock.settimeout(30)
        return sock

    def raw(self, data: bytes, unix: bool = False) -> Reply:
        with self.connect(unix) as sock:
            sock.sendall(data)
            return receive(sock)

    def ask(
        self,
        body: bytes | None = None,
        headers: dict[str, str | None] | None = None,
        path: str = "/v1/systemone",
        method: str = "POST",
        unix: bool = False,
    ) -> Reply:
        """A header of None is left out."""
        given = json.dumps(ASK).encode() if body is None else body
        sent: dict[str, str | None] = {
            "host": f"127.0.0.1:{self.port}",
            "authorization": f"Bearer {KEY}",
            "content-type": "application/json",
            "content-length": str(len(given)),
            "connection": "close",
        }
        lines = [f"{name}: {value}" for name, value in (sent | (headers or {})).items() if value is not None]
        head = "\r\n".join((f"{method} {path} HTTP/1.1", *lines, "", ""))
        return self.raw(head.encode("latin-1") + given, unix)


def receive(sock: socket.socket) -> Reply:
    """One response that says its length."""
    with sock.makefile("rb") as file:
        status = file.readline().split()
        assert status, "the connection was closed without a response"
        headers = {}
        while (line := file.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.lower()] = value.strip()
        return Reply(int(status[1]), headers, file.read(int(headers.get("content-length", "0"))))


@contextmanager
def served(
    directory: str,
    caps: Caps | None = None,
    trouble: Callable[[int], None] = lambda number: None,
    engine: Engine | None = None,
) -> Iterator[Served]:
    """`engine`: another than the stand-in; it is closed at the end."""
    engine = engine or Engine(Hashed(trouble=trouble), ByteTokens(), INFO, prompt.load("markdown"))
    path = os.path.join(directory, "one.sock")
    unix = socket.socket(socket.AF_UNIX)
    unix.bind(path)
    tcp = socket.create_server(("127.0.0.1", 0))
    ready, stop = threading.Event(), threading.Event()
    thread = threading.Thread(
        target=serve_on,
        args=(engine, [unix, tcp], KEY),
        kwargs={"caps": caps, "ready": ready.set, "stop": stop},
    )
    thread.start()
    try:
        assert ready.wait(30)
        yield Served(tcp.getsockname()[1], path, engine)
    finally:
        stop.set()
        thread.join(30)
        engine.close()
        unix.close()
        tcp.close()
    assert not thread.is_alive()
