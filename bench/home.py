"""A throwaway home with a daemon and installed shims in it. The user's own home is never looked at."""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
from msgspec import Struct

from reflexd import paths, shims, wire
from reflexd.types import Places

ROOT = Path(__file__).resolve().parents[1]
READ_ONLY = "git status --short && ls -la src/part{} | head -20"
ORDINARY = "python3 -m pytest tests/unit/test_{}.py -q && npm run build"
DIFFERENT = 4096  # calls before a command comes again: more than anybody would remember the answers of
REFUSED = "rm -rf ~"
START_S = 30.0


class Home(Struct, frozen=True):
    path: str
    places: Places

    @property
    def socket(self) -> str:
        return self.places.socket

    @property
    def hook(self) -> str:
        return shims.hook_path(self.places)

    def environment(self) -> dict[str, str]:
        """For a program that stands in for an agent's child."""
        return {"HOME": self.path, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}


@contextlib.contextmanager
def throwaway() -> Iterator[Home]:
    """Short, because a socket's path may have a hundred bytes."""
    path = tempfile.mkdtemp(prefix="rfxb-", dir="/tmp")
    try:
        places = paths.places(path, {})
        for name in (shims.HOOK_NAME, "opencode.js", "pi.ts", "hermes/__init__.py", "hermes/plugin.yaml"):
            target = Path(places.share, "shims", name)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(shims.render(name, places))
        yield Home(path, places)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def spawn_daemon(home: Home) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "reflexd.daemon.app"],
        cwd=ROOT,
        env=home.environment(),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )


@contextlib.contextmanager
def daemon(home: Home) -> Iterator[int]:
    """A running daemon's pid, after its first answer."""
    process = spawn_daemon(home)
    try:
        until_answering(home, process)
        yield process.pid
    finally:
        stop(process)


def stop(process: subprocess.Popen[bytes]) -> None:
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def until_listening(path: str, process: subprocess.Popen[bytes]) -> None:
    """Until a connection is taken. The socket's file is waited for, so that waiting costs the starter little."""
    end = time.monotonic() + START_S
    while True:
        if os.path.exists(path):
            with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as peer:
                peer.connect(path)
                return
        if process.poll() is not None or time.monotonic() > end:
            raise RuntimeError(f"nothing listens on {path} (exit status {process.returncode})")
        time.sleep(0.0005)


def until_answering(home: Home, process: subprocess.Popen[bytes]) -> None:
    until_listening(home.socket, process)
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(START_S)
        peer.connect(home.socket)
        peer.sendall(request(READ_ONLY))
        while peer.recv(65536):
            pass


def payload(command: str) -> bytes:
    """What Claude Code sends before a shell call."""
    return json.dumps(
        {
            "session_id": "7b17f429-245e-4a03-b76a-0feae0671f97",
            "transcript_path": "/home/dev/.claude/projects/-home-dev-project/7b17f429.jsonl",
            "cwd": "/home/dev/project",
            "permission_mode": "default",
            "hook_event_name": "PreToolUse",
            "tool_name": "Bash",
            "tool_input": {"command": command, "description": "Do the next step"},
            "tool_use_id": "toolu_01AbCdEfGhIjKlMnOpQrStUv",
        }
    ).encode()


def request(command: str, number: int = 0) -> bytes:
    return wire.encode_request("claude", "PreToolUse", shims.DEADLINE_MS, payload(command.format(number)))


def requests(command: str) -> Iterator[bytes]:
    """Without end, and made beforehand: what a client sends costs it nothing while time is taken."""
    return itertools.cycle([request(command, number) for number in range(DIFFERENT)])


def memory(pid: int) -> tuple[float, float | None]:
    """Resident and proportional set size in MiB. The daemon cannot be read by its own user, so PSS needs root."""
    rss = float(psutil.Process(pid).memory_info().rss) / 2**20
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
        pss = next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return rss, None
    return rss, pss / 1024
