"""Listening sockets that a service manager opened before it started us.

With them a call that comes while the daemon restarts waits instead of failing. A socket is taken by
the path it is bound to, which is what the shims connect to; the name a manager gives it says nothing.
"""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Iterable

from reflexd.errors import ReflexError

FIRST_FD = 3  # systemd's SD_LISTEN_FDS_START
LAUNCHD_NAMES = ("hook", "control")


def inherited(paths: Iterable[str]) -> dict[str, socket.socket]:
    """Those of `paths` that a service manager listens on for us. Takes the announcement out of os.environ.

    Raises ReflexError for a descriptor that is no listening Unix stream socket at one of `paths`:
    then the unit is wrong, and going on would leave the shims without an answer.
    """
    wanted = set(paths)
    found: dict[str, socket.socket] = {}
    for fd in _launchd() if sys.platform == "darwin" else _systemd():
        os.set_inheritable(fd, False)
        path = _listening_at(fd)
        if path not in wanted:
            raise ReflexError(f"the service manager passed a socket at {path or 'no path'}, which is not one of ours")
        if path in found:
            raise ReflexError(f"the service manager passed two sockets for {path}")
        found[path] = socket.socket(fileno=fd)
    return found


def _listening_at(fd: int) -> str:
    if not stat.S_ISSOCK(os.fstat(fd).st_mode):
        raise ReflexError(f"descriptor {fd} from the service manager is not a socket")
    probe = socket.socket(fileno=os.dup(fd))
    with probe:
        listening = probe.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
        if probe.family != socket.AF_UNIX or probe.type != socket.SOCK_STREAM or not listening:
            raise ReflexError(f"descriptor {fd} from the service manager is not a listening Unix stream socket")
        name = probe.getsockname()
    return name if isinstance(name, str) else ""


def _systemd() -> list[int]:
    pid, count = os.environ.pop("LISTEN_PID", ""), os.environ.pop("LISTEN_FDS", "")
    os.environ.pop("LISTEN_FDNAMES", None)
    if pid != str(os.getpid()) or not count.isdigit():
        return []
    return list(range(FIRST_FD, FIRST_FD + int(count)))


def _launchd() -> list[int]:
    import ctypes

    system = ctypes.CDLL(None)
    found: list[int] = []
    for name in LAUNCHD_NAMES:
        fds, count = ctypes.POINTER(ctypes.c_int)(), ctypes.c_size_t(0)
        # Non-zero: launchd did not start us, or the property list has no such socket.
        if system.launch_activate_socket(name.encode(), ctypes.byref(fds), ctypes.byref(count)) == 0:
            found += fds[: count.value]
            system.free(fds)
    return found
