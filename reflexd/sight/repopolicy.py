"""The rules that repositories bring along: `.reflex/policy.toml` below the root of each repository around a call.

They only ever tighten. A file that is not what it should be (a link, a FIFO, another user's, too large, broken) is
a fault: the call is then judged as if the file said to ask about everything. A repository whose root belongs to
somebody else is no concern of this user's: its file is not looked at.
What was found for a directory holds for FRESH_S, so that most calls need not wait for a disk: taking a rule away
takes effect that much later, and so does adding one.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterable, Iterator

from msgspec import structs

from reflexd.core.policy import Policy, Repository, load_repository, tightened
from reflexd.errors import PolicyError
from reflexd.sight import disk

FILE_MAX = 64 * 1024
FRESH_S = 2.0
KEPT_MAX = 1024
PATH_MAX = 4096
_DIRECTORY, _NAME = ".reflex", "policy.toml"

Signature = tuple[int, ...]


class Repositories:
    """Any thread may use it: what it keeps is swapped whole."""

    def __init__(self) -> None:
        self._around: dict[str, tuple[float, tuple[Repository, ...]]] = {}
        self._read: dict[str, tuple[Signature, Repository]] = {}
        self._made: dict[tuple[object, ...], Policy] = {}

    def known(self, directories: Iterable[str]) -> tuple[tuple[Repository, ...], bool] | None:
        """What was found when last looked, and whether that was lately; None where nobody looked. Looks at nothing."""
        now, found = time.monotonic(), dict[tuple[object, ...], Repository]()
        fresh = True
        for directory in _absolute(directories):
            held = self._around.get(directory)
            if held is None:
                return None
            fresh = fresh and now - held[0] <= FRESH_S
            found.update((_key(each), each) for each in held[1])
        return tuple(found.values()), fresh

    def around(self, directories: Iterable[str]) -> tuple[Repository, ...]:
        """What the repositories around these directories say. Looks at the disk."""
        now, found = time.monotonic(), dict[tuple[object, ...], Repository]()
        above: dict[str, tuple[Repository, ...]] = {}
        resolved: dict[str, str] = {"/": "/"}
        for directory in sorted(_absolute(directories)):
            mine = tuple(self._of(directory, _real(directory, resolved), above))
            if len(self._around) >= KEPT_MAX:
                self._around = {}
            self._around[directory] = (now, mine)
            found.update((_key(each), each) for each in mine)
        return tuple(found.values())

    def tightened(self, base: Policy, repositories: tuple[Repository, ...]) -> Policy:
        """`base` with what they add; the same ones give the same object again."""
        if not repositories:
            return base
        key = (base.version, *map(_key, repositories))
        made = self._made.get(key)
        if made is None:
            made = tightened(base, repositories)
            if len(self._made) >= KEPT_MAX:
                self._made = {}
            self._made[key] = made
        return made

    @property
    def faults(self) -> tuple[str, ...]:
        """What is wrong with the files of repositories that calls were made in."""
        return tuple(repository.fault for _, repository in tuple(self._read.values()) if repository.fault)

    def _of(self, directory: str, real: str, above: dict[str, tuple[Repository, ...]]) -> Iterator[Repository]:
        if real == directory:
            yield from self._above(directory, above)
            return
        every = (*self._above(directory, above), *self._above(real, above))
        for found in {_key(each): each for each in every}.values():
            yield structs.replace(found, aliases=((directory, real),))

    def _above(self, directory: str, above: dict[str, tuple[Repository, ...]]) -> tuple[Repository, ...]:
        """Of `directory` and all above it, the nearest first; each is looked at once however many lie below it."""
        below: list[str] = []
        found: tuple[Repository, ...] = ()
        for path in _upwards(directory):
            if path in above:
                found = above[path]
                break
            below.append(path)
        for path in reversed(below):
            mine = self._at(path)
            found = above[path] = (mine, *found) if mine is not None else found
        return found

    def _at(self, root: str) -> Repository | None:
        """What the repository at `root` says; None where none of this user's is there, or it has no such file."""
        try:
            os.lstat(f"{root.rstrip('/')}/.git")
            mine = os.stat(root).st_uid == os.geteuid()
        except (OSError, ValueError):
            mine = False
        if not mine:
            self._read.pop(root, None)
            return None
        name = f"{root.rstrip('/')}/{_DIRECTORY}/{_NAME}"
        try:
            signature, data = _file(root, self._read.get(root, ((), None))[0])
        except FileNotFoundError:
            self._read.pop(root, None)
            return None
        except (PolicyError, OSError) as e:
            said = e.message if isinstance(e, PolicyError) else f"it cannot be read: {e.strerror}"
            return self._keep(root, (), Repository(root, fault=f"{name}: {said}"))
        if data is None:
            return self._read[root][1]
        try:
            return self._keep(root, signature, load_repository(data, name, root))
        except PolicyError as e:
            return self._keep(root, signature, Repository(root, fault=e.message))

    def _keep(self, root: str, signature: Signature, found: Repository) -> Repository:
        if len(self._read) >= KEPT_MAX:
            self._read = {}
        self._read[root] = (signature, found)
        return found


def _absolute(directories: Iterable[str]) -> Iterator[str]:
    return (directory for directory in directories if directory.startswith("/"))


def _key(repository: Repository) -> tuple[object, ...]:
    return (repository.root, repository.version, repository.fault, repository.aliases)


def _real(path: str, resolved: dict[str, str]) -> str:
    """As disk.real, from what is `resolved` above it: each directory is looked at once however many lie below it."""
    if os.path.normpath(path) != path or path.startswith("//") or "\0" in path:
        return disk.real(path)
    below: list[str] = []
    at = path
    while at not in resolved:
        below.append(at)
        at = os.path.dirname(at)
    for at in reversed(below):
        joined = os.path.join(resolved[os.path.dirname(at)], os.path.basename(at))
        resolved[at] = disk.real(joined) if os.path.islink(joined) else joined
    return resolved[path]


def _upwards(path: str) -> Iterator[str]:
    if len(path) > PATH_MAX:  # it names nothing, but what it begins with may
        path = path[:PATH_MAX].rpartition("/")[0] or "/"
    while True:
        yield path
        if path in ("/", ""):
            return
        path = os.path.dirname(path)


def _file(root: str, known: Signature) -> tuple[Signature, bytes | None]:
    """The file's bytes, None where it is the one `known`. Raises FileNotFoundError where there is none, PolicyError
    for what may not be one."""
    try:
        directory = os.open(f"{root}/{_DIRECTORY}", os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except NotADirectoryError as e:  # what O_DIRECTORY says of links too
        raise PolicyError(f"{_DIRECTORY} is not a directory") from e
    try:
        _owned(os.fstat(directory), f"{_DIRECTORY} belongs")
        found = os.stat(_NAME, dir_fd=directory, follow_symlinks=False)
        if not stat.S_ISREG(found.st_mode):
            raise PolicyError("it is a symbolic link" if stat.S_ISLNK(found.st_mode) else "it is not a file")
        # Between the two looks it may have become anything: opened this way, that neither blocks nor follows.
        fd = os.open(_NAME, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC, dir_fd=directory)
    finally:
        os.close(directory)
    with open(fd, "rb") as file:
        found = os.fstat(fd)
        if not stat.S_ISREG(found.st_mode):
            raise PolicyError("it is not a file")
        _owned(found, "it belongs")
        signature = (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns)
        if signature == known:
            return signature, None
        data = file.read(FILE_MAX + 1)
    if len(data) > FILE_MAX:
        raise PolicyError(f"it is larger than {FILE_MAX >> 10} KiB")
    return signature, data


def _owned(found: os.stat_result, what: str) -> None:
    if found.st_uid not in (os.geteuid(), 0):
        raise PolicyError(f"{what} to another user")
