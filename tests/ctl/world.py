"""A throwaway home, and reflexctl run in it as a process of its own, with a terminal or without."""

from __future__ import annotations

import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from reflexd.client import Client
from reflexd.errors import ReflexError

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PATIENCE_S = 60
VOLATILE = ("/__pycache__", "/.cache")


class World:
    """Nothing of the test's environment gets in but the programs that are linked into `bin`."""

    def __init__(self) -> None:
        self.base = tempfile.mkdtemp(prefix="rx", dir="/tmp")  # short: sockets live below it
        self.home = os.path.join(self.base, "home")
        self.bin = os.path.join(self.base, "bin")
        os.makedirs(self.home, 0o700)
        os.makedirs(self.bin)
        self.link("python3", os.path.realpath(sys.executable))
        if node := shutil.which("node"):
            self.link("node", os.path.realpath(node))

    def close(self) -> None:
        self.kill_daemon()
        subprocess.run(["chmod", "-R", "u+rwX", self.base], check=False)
        shutil.rmtree(self.base, ignore_errors=True)

    # ---- files ---------------------------------------------------------------------

    def path(self, name: str) -> str:
        return os.path.join(self.home, name)

    def write(self, name: str, text: str, mode: int = 0o644) -> str:
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, mode)
        return path

    def read(self, name: str) -> str:
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def exists(self, name: str) -> bool:
        return os.path.lexists(self.path(name))

    def link(self, name: str, target: str) -> None:
        os.symlink(target, os.path.join(self.bin, name))

    def tree(self) -> dict[str, tuple[int, bytes]]:
        """Everything below the home: its mode, and its bytes or where it links to."""
        found: dict[str, tuple[int, bytes]] = {}
        for directory, subdirectories, files in os.walk(self.home):
            for name in (*subdirectories, *files):
                path = os.path.join(directory, name)
                if any(part in path for part in VOLATILE):
                    continue
                mode = os.lstat(path).st_mode
                if os.path.islink(path):
                    content = os.fsencode(os.readlink(path))
                elif os.path.isfile(path):
                    with open(path, "rb") as file:
                        content = file.read()
                else:
                    content = b""
                found[os.path.relpath(path, self.home)] = (mode, content)
        return found

    # ---- processes -----------------------------------------------------------------

    def env(self, extra: dict[str, str] | None = None) -> dict[str, str]:
        path = f"{self.bin}:/usr/bin:/bin"
        return {"HOME": self.home, "PATH": path, "LANG": "C.UTF-8", "PYTHONPATH": ROOT, **(extra or {})}

    def ctl(
        self,
        *args: str,
        env: dict[str, str] | None = None,
        stdin: str = "",
        cwd: str = "",
        patience_s: int = PATIENCE_S,
    ) -> subprocess.CompletedProcess[str]:
        """Without a terminal."""
        return subprocess.run(
            [sys.executable, "-m", "reflexd.ctl.main", *args],
            input=stdin,
            capture_output=True,
            text=True,
            env=self.env(env),
            cwd=cwd or self.home,
            timeout=patience_s,
            start_new_session=True,
        )

    def ctl_tty(self, *args: str, type_in: str = "") -> tuple[int, str]:
        """At a terminal of its own, as a person runs it."""
        return self.tty([sys.executable, "-m", "reflexd.ctl.main", *args], type_in)

    def tty(self, argv: list[str], type_in: str = "") -> tuple[int, str]:
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.home)
            os.execvpe(argv[0], argv, self.env())
        try:
            if type_in:
                os.write(terminal, type_in.encode())
            return _finish(pid, terminal)
        finally:
            os.close(terminal)

    def daemon_pid(self) -> int:
        try:
            return Client(self.home).status().pid
        except (ReflexError, OSError):
            return 0

    def kill_daemon(self) -> None:
        if pid := self.daemon_pid():
            os.kill(pid, signal.SIGKILL)
            end = time.monotonic() + PATIENCE_S
            while self.daemon_pid() and time.monotonic() < end:
                time.sleep(0.02)


def _finish(pid: int, terminal: int) -> tuple[int, str]:
    said = b""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                part = os.read(terminal, 1 << 16)
            except OSError:  # Linux says EIO once the last holder of the other end has gone
                part = b""
            if part:
                said += part
                continue
            break
        if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            continue_reading = select.select([terminal], [], [], 0)[0]
            if not continue_reading:
                break
    else:
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status), said.decode("utf-8", "replace").replace("\r\n", "\n")
