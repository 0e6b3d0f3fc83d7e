"""Servers that stand where reflexd should, each misbehaving in one way."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress

Serve = Callable[[socket.socket], None]
GO_ON = b"RFX1 0 0 0\n"
TOO_MUCH = 9 * 1024 * 1024


class StandIn:
    """Listens at `path` and gives each connection to `serve`, one after the other."""

    def __init__(self, path: str, serve: Serve, mode: int = 0o600) -> None:
        self._path, self._serve = path, serve
        self._server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._server.bind(path)
        os.chmod(path, mode)
        self._server.listen(16)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self) -> None:
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._thread.join(30)
        with suppress(FileNotFoundError):
            os.unlink(self._path)

    def _run(self) -> None:
        while True:
            try:
                peer, _ = self._server.accept()
            except OSError:
                return
            with peer, suppress(OSError):
                self._serve(peer)


def request(peer: socket.socket) -> tuple[bytes, bytes]:
    """The header line and the payload of one whole request."""
    data = b""
    while b"\n" not in data:
        data += peer.recv(1 << 16)
    head, _, payload = data.partition(b"\n")
    while len(payload) < int(head.split(b" ")[4]):
        payload += peer.recv(1 << 16)
    return head, payload


def hangs_up(peer: socket.socket) -> None:
    pass


def dies_half_way(peer: socket.socket) -> None:
    request(peer)
    peer.sendall(b"RFX1 0 0 400\nhalf of")


def answers(reply: bytes) -> Serve:
    def serve(peer: socket.socket) -> None:
        request(peer)
        peer.sendall(reply)

    return serve


def drips(peer: socket.socket) -> None:
    """A well-formed answer, a byte at a time, slower than anyone should wait."""
    request(peer)
    for byte in b"RFX1 0 400 0\n" + b"x" * 400:
        peer.sendall(bytes((byte,)))
        time.sleep(0.05)


def mangles(real: str) -> Serve:
    """Hands the request on to the real daemon with its payload cut in half, and the answer back."""

    def serve(peer: socket.socket) -> None:
        head, payload = request(peer)
        half = payload[: len(payload) // 2]
        words = head.split(b" ")
        words[4] = str(len(half)).encode()
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as daemon:
            daemon.connect(real)
            daemon.sendall(b" ".join(words) + b"\n" + half)
            while part := daemon.recv(1 << 16):
                peer.sendall(part)

    return serve
