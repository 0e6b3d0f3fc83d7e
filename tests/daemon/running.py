"""A real reflexd in a home of its own, and a client's side of its hook socket."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

from reflexd import paths, wire
from reflexd.client import Client
from reflexd.control import Status
from reflexd.daemon.journal import Row, read_rows
from reflexd.errors import ReflexError
from reflexd.types import Reply

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE_S = 20.0
TERMINAL = os.path.join(os.path.dirname(__file__), "terminal.py")


def until(seen: Callable[[], Any], what: str) -> Any:
    """Poll until `seen` gives something; fail after a patience that only a hang exhausts."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        found = seen()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"waited {PATIENCE_S:g} s in vain for {what}")


def in_terminal(home: str, kind: str, *command: str) -> tuple[int, str]:
    """Run `command` as terminal.py says; its exit and what it printed."""
    out = os.path.join(home, f"out{len(os.listdir(home))}")
    env = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": ROOT}
    subprocess.run([sys.executable, TERMINAL, kind, out, *command], env=env, check=True, stdin=subprocess.DEVNULL)
    until(lambda: os.path.exists(out), "the terminal's end")
    with open(out) as file:
        code, _, said = file.read().partition("\n")
    return int(code), said.replace("\r", "")


class Daemon:
    """Started in `home`; killed at the end of the with-block whatever happened."""

    def __init__(self, home: str, env: dict[str, str] | None = None, **popen: Any) -> None:
        self.home = home
        self.hook = paths.hook_socket(home)
        self.control = paths.control_socket(home)
        self.journal = paths.journal_file(home)
        self._env = {"PATH": os.environ["PATH"], "HOME": home, "PYTHONPATH": ROOT, **(env or {})}
        self._popen = popen
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.daemon.guarded"]
        self.process = subprocess.Popen(
            command, env=self._env, cwd=ROOT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **self._popen
        )

    def __enter__(self) -> Daemon:
        self.ready()
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate(timeout=PATIENCE_S)

    def ready(self) -> Status:
        return until(self._status, "the daemon's first answer")

    def _status(self) -> Status | None:
        if self.process.poll() is not None:
            raise AssertionError(f"reflexd ended with {self.process.returncode}: {self.process.communicate()[1]}")
        try:
            return self.client.status()
        except ReflexError:
            return None

    @property
    def client(self) -> Client:
        return Client(self.home)

    def end(self, how: signal.Signals = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(PATIENCE_S)

    def refusal(self) -> tuple[int, str]:
        """The exit and the words of a daemon that would not start."""
        said = self.process.communicate(timeout=PATIENCE_S)[1]
        return self.process.returncode, said

    def rows(self) -> list[Row]:
        return list(read_rows(self.journal))

    def log(self) -> str:
        with open(paths.daemon_log(self.home)) as file:
            return file.read()

    # ---- the hook's side

    def connect(self) -> socket.socket:
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.settimeout(PATIENCE_S)
        sock.connect(self.hook)
        return sock

    def send(self, data: bytes) -> Reply:
        """The answer to these very bytes."""
        with self.connect() as sock:
            with contextlib.suppress(BrokenPipeError):  # answered before it read everything
                sock.sendall(data)
            return answer(sock)

    def call(self, agent: str, event: str, payload: bytes, deadline_ms: int = 5000) -> Reply:
        return self.send(wire.encode_request(agent, event, deadline_ms, payload))

    def bash(self, command: str, **fields: object) -> Reply:
        return self.call("claude", "PreToolUse", bash(command, **fields))


def bash(command: str, **fields: object) -> bytes:
    said = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command}, "cwd": "/tmp"}
    return json.dumps({**said, **fields}).encode()


def answer(sock: socket.socket) -> Reply:
    data = b""
    while part := sock.recv(1 << 16):
        data += part
    line, _, body = data.partition(b"\n")
    head = wire.decode_reply_header(line)
    assert len(body) == head.stdout + head.stderr
    return Reply(head.exit, body[: head.stdout], body[head.stdout :])
