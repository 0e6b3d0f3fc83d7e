"""A server on a real private socket that answers as a test says."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

from reflexd.types import Places

Answer = Callable[[socket.socket, bytes], None]


def reply(data: bytes) -> Answer:
    """Read the whole request, send `data`, close."""
    return lambda peer, request: peer.sendall(data)


def slowly(data: bytes) -> Answer:
    def answer(peer: socket.socket, request: bytes) -> None:
        for byte in data:
            peer.sendall(bytes([byte]))

    return answer


def nothing(peer: socket.socket, request: bytes) -> None:
    """Close without a word."""


def hang(peer: socket.socket, request: bytes) -> None:
    """Keep the connection open until the other side has had enough."""
    peer.settimeout(20)
    with contextlib.suppress(OSError):
        while peer.recv(1):
            pass


def begin_and_die(data: bytes) -> Answer:
    def answer(peer: socket.socket, request: bytes) -> None:
        peer.sendall(data[: len(data) // 2])

    return answer


@contextlib.contextmanager
def listening(places: Places, answer: Answer, received: list[bytes] | None = None) -> Iterator[None]:
    """Serve `places.socket`; every request lands in `received` as header and payload."""
    os.makedirs(os.path.dirname(places.socket), mode=0o700, exist_ok=True)
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.bind(places.socket)
    os.chmod(places.socket, 0o600)
    server.listen(16)

    def serve() -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=handle, args=(peer,), daemon=True).start()

    def handle(peer: socket.socket) -> None:
        with peer, contextlib.suppress(OSError):
            peer.settimeout(20)
            request = _whole_request(peer)
            if received is not None:
                received.append(request)
            answer(peer, request)

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown(socket.SHUT_RDWR)
        server.close()
        thread.join(5)
        with contextlib.suppress(OSError):
            os.unlink(places.socket)


def _whole_request(peer: socket.socket) -> bytes:
    data = b""
    while b"\n" not in data:
        part = peer.recv(65536)
        if not part:
            return data
        data += part
    head, _, body = data.partition(b"\n")
    length = int(head.rsplit(b" ", 1)[1])
    parts, size = [body], len(body)
    while size < length:
        part = peer.recv(1 << 20)
        if not part:
            break
        parts.append(part)
        size += len(part)
    return head + b"\n" + b"".join(parts)


def wait_for(path: str) -> None:
    for _ in range(200):
        if os.path.exists(path):
            return
        time.sleep(0.02)
    raise AssertionError(f"{path} did not appear")
