"""The daemon's process: started apart from the terminal, waited for, and ended also when it hangs."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time

import reflexd
from reflexd import paths
from reflexd.client import Client
from reflexd.control import Status
from reflexd.errors import ReflexError, Refused, Unreachable
from reflexd.setup.unhook import agent_above

PATIENCE_S = 15.0
STEP_S = 0.05
_KEEP = ("HOME", "PATH", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR")
"""What the daemon inherits. It takes nothing about a call from its own environment."""


def is_running(base: str) -> bool:
    """Whether a daemon holds its lock, which says more than its answer: a hung one has it too."""
    try:
        fd = os.open(paths.lock_file(base), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    except OSError as e:
        raise ReflexError(f"cannot open {paths.lock_file(base)}: {e.strerror}") from e
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def start(base: str) -> Status:
    """Start the daemon and wait until it answers. Raises ReflexError with the end of its log."""
    state = paths.private_dir(paths.state_dir(base))
    log = paths.daemon_log(base)
    fd = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "ab") as file:
        before = file.seek(0, os.SEEK_END)
        process = subprocess.Popen(
            _command(),
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            cwd=state,
            env={name: os.environ[name] for name in _KEEP if name in os.environ} | {"HOME": base},
            start_new_session=True,
        )
    last = time.monotonic() + PATIENCE_S
    while True:
        try:
            return Client(base, 1.0).status()
        except Unreachable as e:
            code = process.poll()
            if code is not None:
                raise ReflexError(f"the daemon ended at once (exit {code}): {_tail(log, before)}", f"see {log}") from e
            if time.monotonic() > last:
                process.terminate()
                raise ReflexError(f"the daemon does not answer after {PATIENCE_S:.0f} s", f"see {log}") from e
        time.sleep(STEP_S)


def stop(base: str) -> None:
    """Stop the daemon and wait until it is gone. Raises Refused where a person has to do that."""
    try:
        Client(base).stop()
    except Refused:
        raise
    except ReflexError:
        end(base)  # it hangs or is broken
    if not _gone(base, PATIENCE_S):
        end(base)


def end(base: str) -> None:
    """End the daemon's process without asking it. Raises Refused under an agent: a daemon that answers would."""
    if above := agent_above():
        raise Refused(f"this runs under {above}, and only a person stops the daemon")
    for number in (signal.SIGTERM, signal.SIGKILL):
        _kill(base, number)
        if _gone(base, PATIENCE_S / 3):
            return
    raise ReflexError("the daemon cannot be stopped", f"see {paths.daemon_log(base)}")


def _gone(base: str, seconds: float) -> bool:
    last = time.monotonic() + seconds
    while is_running(base):
        if time.monotonic() > last:
            return False
        time.sleep(STEP_S)
    return True


def _kill(base: str, number: signal.Signals) -> None:
    """Whoever holds the lock has written its pid into it."""
    try:
        with open(paths.lock_file(base), "rb") as file:
            pid = int(file.read(32))
        if is_running(base):
            os.kill(pid, number)
    except (ValueError, OSError) as e:
        raise ReflexError(f"the daemon does not answer, and its process is not known: {e}") from e


def _command() -> list[str]:
    """reflexd of this very installation; from a checkout that is not installed there is no script for it."""
    script = os.path.join(os.path.dirname(sys.executable), "reflexd")
    root = os.path.dirname(os.path.dirname(os.path.abspath(reflexd.__file__)))
    if os.access(script, os.X_OK) and root.startswith(sys.prefix + os.sep):
        return [sys.executable, "-I", script]
    code = f"import sys; sys.path.append({root!r}); from reflexd.daemon.app import main; sys.exit(main())"
    return [sys.executable, "-I", "-c", code]


def _tail(log: str, start: int) -> str:
    with open(log, "rb") as file:
        file.seek(start)
        lines = file.read()[-4000:].decode("utf-8", "replace").strip().splitlines()
    return lines[-1] if lines else "it said nothing"
