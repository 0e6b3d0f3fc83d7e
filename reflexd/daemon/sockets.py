"""The run directory: one daemon at a time, and the sockets it listens on.

What holds: the directory is private and reached without a symlink; the lock's file is never
unlinked, so that two daemons always meet at the same file; only the lock's holder replaces a socket,
and only a socket of ours; a socket appears under its name with its final mode and already listening.
"""

from __future__ import annotations

import fcntl
import os
import socket
import stat
from types import TracebackType

from reflexd import paths
from reflexd.daemon import activation
from reflexd.errors import ReflexError, UnsafePathError

BACKLOG = 1024


class Sockets:
    """Both listening sockets, held with the lock. Close it last: it takes the names away."""

    def __init__(self, base: str) -> None:
        self._base = base
        self.hook_path = paths.hook_socket(base)
        self.control_path = paths.control_socket(base)
        _check_way(base, paths.run_dir(base))
        paths.private_dir(paths.state_dir(base))
        paths.private_dir(paths.run_dir(base))
        self._lock = _lock(paths.lock_file(base))
        given = activation.inherited((self.hook_path, self.control_path))
        self.activated = bool(given)
        self._bound: dict[str, tuple[int, int]] = {}
        self.hook = given.get(self.hook_path) or self._bind(self.hook_path)
        self.control = given.get(self.control_path) or self._bind(self.control_path)

    def __enter__(self) -> Sockets:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.unlink()
        self.hook.close()
        self.control.close()
        os.ftruncate(self._lock, 0)
        os.close(self._lock)

    def systemone(self, port: int) -> list[socket.socket]:
        """Listening sockets for System One's HTTP face: systemone.sock, and with a port 127.0.0.1. Raises OSError."""
        opened = [self._bind(paths.systemone_socket(self._base))]
        if port:
            tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            try:
                tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                tcp.bind(("127.0.0.1", port))
                tcp.listen(BACKLOG)
            except OSError:
                for sock in (tcp, *opened):
                    sock.close()
                raise
            opened.append(tcp)
        return opened

    def unlink(self) -> None:
        """Take away the names that we made, and no other's: callers then see at once that nobody answers."""
        for path, made in self._bound.items():
            try:
                found = os.lstat(path)
                if (found.st_dev, found.st_ino) == made:
                    os.unlink(path)
            except FileNotFoundError:
                pass
        self._bound.clear()

    def _bind(self, path: str) -> socket.socket:
        _check_replaceable(path)
        # A temporary name of the same length: sun_path is short.
        hidden = os.path.join(os.path.dirname(path), "." + os.path.basename(path)[1:])
        if _check_replaceable(hidden):
            os.unlink(hidden)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            sock.bind(hidden)
        finally:
            os.umask(before)
        sock.listen(BACKLOG)
        made = os.lstat(hidden)
        os.rename(hidden, path)
        self._bound[path] = (made.st_dev, made.st_ino)
        return sock


def _check_way(base: str, path: str) -> None:
    """Refuse a symlink, a foreign owner, or a directory that others can write to, from the home down to `path`."""
    at = base
    for name in os.path.relpath(path, base).split(os.sep):
        at = os.path.join(at, name)
        try:
            found = os.lstat(at)
        except FileNotFoundError:
            return
        if not stat.S_ISDIR(found.st_mode):
            raise UnsafePathError(f"{at} is not a directory of its own", "reflex follows no symlinks to its sockets")
        if found.st_uid != os.geteuid():
            raise UnsafePathError(f"{at} belongs to uid {found.st_uid}, not to us")
        if found.st_mode & 0o002 or (found.st_mode & 0o020 and not _is_private_group(found.st_gid)):
            raise UnsafePathError(f"{at} can be changed by others", f"chmod go-w {at}")


def _is_private_group(gid: int) -> bool:
    """Whether the group is the user's own by the usual scheme, where a umask of 002 is no risk."""
    import grp
    import pwd

    user = pwd.getpwuid(os.geteuid())
    try:
        group = grp.getgrgid(gid)
    except KeyError:
        return False
    return gid == user.pw_gid and group.gr_name == user.pw_name and not set(group.gr_mem) - {user.pw_name}


def _lock(path: str) -> int:
    """An open, locked descriptor with our pid in the file. Raises ReflexError where another daemon has it."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, 0o600)
    except OSError as e:
        raise UnsafePathError(f"{path} cannot be opened: {e.strerror}") from e
    found = os.fstat(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        os.close(fd)
        raise UnsafePathError(f"{path} is not a private file of ours")
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(fd, 20, 0).decode("ascii", "replace").strip() or "unknown"
        os.close(fd)
        raise ReflexError(f"reflexd is running already (pid {pid})", "stop it with: reflexctl stop") from None
    os.ftruncate(fd, 0)
    os.pwrite(fd, b"%d\n" % os.getpid(), 0)
    return fd


def _check_replaceable(path: str) -> bool:
    """False: nothing is there. True: a socket of ours is. Raises UnsafePathError for anything else."""
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return False
    if not stat.S_ISSOCK(found.st_mode):
        raise UnsafePathError(f"{path} is not a socket", "move it away, then start reflexd again")
    if found.st_uid != os.geteuid():
        raise UnsafePathError(f"{path} is a socket of uid {found.st_uid}, not of ours")
    return True
