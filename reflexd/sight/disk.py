"""Reading what others may have put there: regular files alone, so much of them, and no exception.

Nothing here waits: a FIFO, a socket or a device is not opened, and a file is opened so that reading it
cannot block. What cannot be read is a value that says why.
"""

from __future__ import annotations

import os
import stat
from typing import Literal

from msgspec import Struct

Why = Literal["missing", "not a file", "too large", "not permitted", "unreadable", "malformed", "too many"]


class Unread(Struct, frozen=True):
    """What could not be read, and why."""

    path: str
    why: Why
    detail: str = ""


class Budget:
    """How much one look may still cost, in files touched and bytes read; `spent` once either ran out.

    Not for two threads at once: each look has its own.
    """

    def __init__(self, files: int, size: int) -> None:
        self.files = files
        self.size = size

    @property
    def spent(self) -> bool:
        return self.files < 0 or self.size < 0

    def take(self, files: int = 0, size: int = 0) -> bool:
        """Whether that much was left."""
        self.files -= files
        self.size -= size
        return not self.spent


def read(path: str, cap: int) -> bytes | Unread:
    """The whole of a regular file of at most `cap` bytes."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            return Unread(path, "not a file")
        # Between the two looks it may have become a FIFO: opened this way, that does not block.
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)
    except (OSError, ValueError) as error:
        return refused(path, error)
    try:
        seen = os.fstat(fd)
        if not stat.S_ISREG(seen.st_mode):
            return Unread(path, "not a file")
        if seen.st_size > cap:
            return Unread(path, "too large")
        parts = []
        left = cap + 1
        while left and (part := os.read(fd, min(left, 1 << 20))):
            parts.append(part)
            left -= len(part)
        return b"".join(parts) if left else Unread(path, "too large")
    except OSError as error:
        return refused(path, error)
    finally:
        os.close(fd)


def look(path: str, follow: bool = False) -> os.stat_result | Unread:
    """What lies at the path; a symbolic link itself, unless `follow`."""
    try:
        return os.stat(path, follow_symlinks=follow)
    except (OSError, ValueError) as error:
        return refused(path, error)


def is_dir(path: str) -> bool:
    seen = look(path, follow=True)
    return not isinstance(seen, Unread) and stat.S_ISDIR(seen.st_mode)


def is_file(path: str) -> bool:
    seen = look(path, follow=True)
    return not isinstance(seen, Unread) and stat.S_ISREG(seen.st_mode)


def real(path: str) -> str:
    """The path with what exists of it resolved. A loop of links stays as it is written."""
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path


def refused(path: str, error: OSError | ValueError) -> Unread:
    match error:
        case FileNotFoundError() | NotADirectoryError():
            return Unread(path, "missing")
        case PermissionError():
            return Unread(path, "not permitted")
        case _:
            return Unread(path, "unreadable", type(error).__name__)
