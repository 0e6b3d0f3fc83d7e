"""Who is at the other end of a Unix socket, as the kernel saw it when the connection was made."""

from __future__ import annotations

import socket
import struct
import sys
from typing import Protocol

from msgspec import Struct

_SOL_LOCAL, _LOCAL_PEERCRED, _LOCAL_PEERPID = 0, 1, 2


class HasOptions(Protocol):
    def getsockopt(self, level: int, option: int, size: int, /) -> bytes: ...


class Credentials(Struct, frozen=True):
    """`pid` is 0 where the kernel does not say, or says a process that we cannot see."""

    uid: int
    pid: int = 0


def credentials(sock: HasOptions) -> Credentials:
    """Raises OSError where the kernel does not say who the peer is."""
    if sys.platform == "darwin":
        # struct xucred: version, uid, group count, groups.
        _, uid = struct.unpack("2I", sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERCRED, 76)[:8])
        (pid,) = struct.unpack("i", sock.getsockopt(_SOL_LOCAL, _LOCAL_PEERPID, 4))
        return Credentials(uid, pid)
    pid, uid, _ = struct.unpack("iII", sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return Credentials(uid, pid)
