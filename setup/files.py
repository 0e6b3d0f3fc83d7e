"""Files that belong to other programs, changed so that a crash leaves the old bytes or the new ones.

What holds: a file is only ever replaced by a complete one (written beside it, synced, renamed), only
while it still has the bytes that were planned on, and keeps its mode and owner. A symlink stays a
symlink: the file it points to is the one that changes. What is not covered: hard links part company.
"""

from __future__ import annotations

import hashlib
import os
import stat

from reflexd.errors import ReflexError

MARK = ".reflex-tmp"
"""The end of a temporary file's name: no agent loads a file called that, and the next run knows it for ours."""


def read(path: str) -> bytes | None:
    """The file's bytes, symlinks followed; None where there is none. Raises ReflexError."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as e:
        raise ReflexError(f"cannot read {path}: {e.strerror}") from e
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ReflexError(f"{path} is not a regular file", "move it away, then run reflexctl setup again")
    with open(fd, "rb") as file:
        return file.read()


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def mode_of(path: str, default: int) -> int:
    try:
        return stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return default


def check_writable(path: str) -> None:
    """Raises ReflexError where `replace` would fail or would change more than the bytes."""
    target = os.path.realpath(path)
    try:
        found = os.stat(target)
    except FileNotFoundError:
        found = None
    except OSError as e:
        raise ReflexError(f"cannot look at {path}: {e.strerror}") from e
    if found is not None:
        if not stat.S_ISREG(found.st_mode):
            raise ReflexError(f"{path} is not a regular file", "move it away, then run reflexctl setup again")
        if os.geteuid() not in (0, found.st_uid):
            raise ReflexError(f"{path} belongs to uid {found.st_uid}, not to you")
        if not found.st_mode & 0o200:
            raise ReflexError(f"{path} is read-only", f"chmod u+w {path}")
    parent = os.path.dirname(target)
    while not os.path.lexists(parent):
        parent = os.path.dirname(parent)
    if not os.path.isdir(parent):
        raise ReflexError(f"{parent} is not a directory", "move it away, then run reflexctl setup again")
    if not os.access(parent, os.W_OK | os.X_OK):
        raise ReflexError(f"cannot write in {parent}", f"{path} has to be in a directory of yours")


def missing_dirs(path: str) -> list[str]:
    """The directories that have to be made before `path` can be written, outermost first."""
    found: list[str] = []
    parent = os.path.dirname(os.path.realpath(path))
    while not os.path.isdir(parent):
        found.append(parent)
        parent = os.path.dirname(parent)
    return found[::-1]


def replace(path: str, before: bytes | None, after: bytes | None, mode: int) -> None:
    """Put `after` (None: no file) where `before` is. `mode` counts only for a file that is not there yet.

    Raises ReflexError if the file is no longer `before`, or cannot be written; then nothing has changed.
    """
    target = os.path.realpath(path)
    temp = os.path.join(os.path.dirname(target), f".{os.path.basename(target)}{MARK}")
    try:
        if after is not None:
            for directory in missing_dirs(target):
                os.mkdir(directory, 0o700)
            _write(temp, after, target, mode)
        if read(target) != before:
            discard(temp)
            raise ReflexError(f"{path} was changed by someone else meanwhile", "run the same command again")
        if after is not None:
            os.rename(temp, target)
        elif before is not None:
            os.unlink(target)
        sync_dir(os.path.dirname(target))
    except OSError as e:
        discard(temp)
        raise ReflexError(f"cannot write {path}: {e.strerror}") from e


def discard(temp: str) -> None:
    try:
        os.unlink(temp)
    except OSError:
        return


def sync_dir(path: str) -> None:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write(temp: str, data: bytes, target: str, mode: int) -> None:
    discard(temp)  # left over from a run that was killed
    fd = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with open(fd, "wb") as file:
        file.write(data)
        try:
            found = os.stat(target)
        except FileNotFoundError:
            os.fchmod(fd, mode)
        else:
            if (found.st_uid, found.st_gid) != (os.geteuid(), os.getegid()):
                os.fchown(fd, found.st_uid, found.st_gid)
            os.fchmod(fd, stat.S_IMODE(found.st_mode))
        file.flush()
        os.fsync(fd)
