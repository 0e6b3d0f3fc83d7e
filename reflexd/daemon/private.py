"""Secrets that lie in files of their own."""

from __future__ import annotations

import os
import stat

from reflexd.errors import ReflexError

KEY_MAX = 4096


def key_file(path: str) -> str:
    """The key in a private file, empty where there is none. Raises ReflexError for one that others may read."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except FileNotFoundError:
        return ""
    except OSError as e:
        raise ReflexError(f"{path}: cannot be read: {e.strerror}") from e
    with open(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise ReflexError(f"{path}: others may read it", f"chmod 600 {path}")
        return file.read(KEY_MAX).decode("ascii", "replace").strip()
