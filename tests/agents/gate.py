"""reflexd in one world, and what can happen to it, its socket and the way there."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack

from tests.agents.standin import Serve, StandIn
from tests.agents.world import World

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE_S = 20
DAEMON = ("-m", "reflexd.daemon.app")
VOUCHED = 'policy = 1\nversion = "lab"\n\n[[mcp]]\nserver = "lab"\ntools = ["mark"]\n'
"""The person whose world it is vouches for the MCP server that the agents are given."""


class Gate:
    """A running reflexd. Each `arrange` of a fault is undone by the stack that it is given."""

    def __init__(self, world: World, judge: str = "") -> None:
        """`judge`: the URL of a System One server that decides what rules do not; "": nobody does."""
        self.world = world
        self._judge = judge
        self.run_dir = os.path.join(state_dir(world), "run")
        self.socket = os.path.join(self.run_dir, "hook.sock")
        self.aside = os.path.join(self.run_dir, "real.sock")
        self._daemon: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Gate:
        os.chmod(os.path.dirname(self.world.write(".config/reflex/policy.toml", VOUCHED)), 0o700)
        if self._judge:
            self.world.write(".config/reflex/config.toml", f'[judge]\nkind = "remote"\nurl = "{self._judge}"\n')
        try:
            self.start()
        except BaseException:
            self.stop(signal.SIGKILL)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop(signal.SIGKILL)

    def start(self) -> None:
        env = self.world.environment({"PYTHONPATH": ROOT})
        with open(os.path.join(self.world.base, "reflexd.out"), "ab") as out:
            self._daemon = subprocess.Popen(
                [sys.executable, *DAEMON],
                cwd=self.world.base,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        wait_until(self._listens, "reflexd does not listen")

    def stop(self, how: signal.Signals) -> None:
        if self._daemon:
            self._daemon.send_signal(how)
            self._daemon.wait(PATIENCE_S)
            self._daemon = None

    def restart_after(self, undo: ExitStack, how: signal.Signals) -> None:
        self.stop(how)
        undo.callback(self.start)

    def freeze(self, undo: ExitStack) -> None:
        self._signal(signal.SIGSTOP)
        undo.callback(self._signal, signal.SIGCONT)

    def kill_at_next_call(self, undo: ExitStack) -> None:
        """Kill reflexd as soon as somebody waits at its socket for an answer."""
        self._signal(signal.SIGSTOP)

        def strike() -> None:
            try:
                wait_until(lambda: callers(self.run_dir) > 0, "nobody calls")
            finally:
                self.stop(signal.SIGKILL)

        thread = threading.Thread(target=strike, daemon=True)
        thread.start()
        undo.callback(self.start)
        undo.callback(thread.join)

    def move_aside(self, undo: ExitStack) -> None:
        """Take the real socket from its place, with the daemon still behind it."""
        os.rename(self.socket, self.aside)
        undo.callback(os.rename, self.aside, self.socket)

    def stand_in(self, undo: ExitStack, serve: Serve, mode: int = 0o600) -> None:
        self.move_aside(undo)
        undo.callback(StandIn(self.socket, serve, mode).close)

    def chmod(self, undo: ExitStack, path: str, mode: int) -> None:
        undo.callback(os.chmod, path, os.stat(path).st_mode & 0o7777)
        os.chmod(path, mode)

    def chown(self, undo: ExitStack, path: str, uid: int) -> None:
        undo.callback(os.chown, path, os.stat(path).st_uid, -1)
        os.chown(path, uid, -1)

    def _signal(self, number: signal.Signals) -> None:
        if self._daemon:
            self._daemon.send_signal(number)

    def _listens(self) -> bool:
        if self._daemon and self._daemon.poll() is not None:
            with open(os.path.join(self.world.base, "reflexd.out"), encoding="utf-8", errors="replace") as out:
                raise AssertionError(f"reflexd ended at its start: {out.read()[-2000:]}")
        return answers(self.socket)


def end_daemon(world: World) -> None:
    """End the daemon that somebody else started in this world: whoever holds its lock has written its pid there."""
    try:
        with open(os.path.join(state_dir(world), "run", "lock"), encoding="utf-8") as lock:
            pid = int(lock.read())
        os.kill(pid, signal.SIGKILL)
    except (OSError, ValueError):
        return
    wait_until(lambda: not os.path.exists(f"/proc/{pid}"), "the daemon does not end")


def state_dir(world: World) -> str:
    return os.path.join(world.home, ".local", "state", "reflex")


Arrange = Callable[[Gate, ExitStack], None]
"""Sets a scene and pushes what undoes it."""


def answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
        return peer.connect_ex(path) == 0


def callers(run_dir: str) -> int:
    """How many connections there are to sockets of this directory, those not yet taken included. The table
    names a socket as it was bound, which need not be as it is called now."""
    with open("/proc/net/unix", encoding="utf-8") as table:
        rows = [line.rstrip("\n").split(" ", 7) for line in table if f" {run_dir}/" in line]
    return sum(row[3] == "00000000" for row in rows)


def wait_until(holds: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        if time.monotonic() > end:
            raise AssertionError(what)
        time.sleep(0.02)
