"""Files of the user's own: secrets, and what others must not write."""

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


def owned_file(path: str, size_max: int) -> bytes | None:
    """The bytes of a file that only we or root can write to, None where there is none. Raises ReflexError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise ReflexError(f"{path}: cannot be read: {e.strerror}") from e
    try:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise ReflexError(f"{path}: is not a file")
        if found.st_uid not in (os.geteuid(), 0) or found.st_mode & 0o022:
            raise ReflexError(f"{path}: others may write to it", f"chmod go-w {path}")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(size_max + 1)
    except OSError as e:
        raise ReflexError(f"{path}: cannot be read: {e.strerror}") from e
    finally:
        os.close(fd)
    if len(data) > size_max:
        most = f"{size_max >> 20} MiB" if size_max >= 1 << 20 else f"{size_max >> 10} KiB"
        raise ReflexError(f"{path}: is larger than {most}")
    return data
