"""Which programs a PATH finds first where others than root could have put them.

What such a name does cannot be known from the name. A place counts as root's where the directory, everything above
it and the file, after links, belong to root and nobody else may write them; below a home or the working
directory nothing does, whoever owns it.
"""

from __future__ import annotations

import functools
import itertools
import os
import stat
import time
from collections.abc import Iterable

from msgspec import Struct

from reflexd.sight.disk import Unread, is_file, look, real

ANY = "*"
_MOST_PLACES = 128
_MOST_NAMES = 20_000
_MOST_LINKS = 40
_SETTLED = 2_000_000_000  # nanoseconds: a directory may have changed again in the tick of its last change
# Working directories that hold the machine's programs without making them anybody's own.
_MACHINES = frozenset(
    ["/usr", "/usr/bin", "/usr/sbin", "/usr/local", "/usr/local/bin", "/bin", "/sbin", "/opt", "/nix", "/opt/homebrew"]
)


class Program(Struct, frozen=True):
    """`path` as PATH leads to it; `writable`: others than root could have put it there."""

    path: str
    writable: bool


class _Listing(Struct, frozen=True):
    """One directory's programs: all names, and those of them that others than root could have put there."""

    names: frozenset[str] = frozenset()
    writable: frozenset[str] = frozenset()


def writable_first(path: str, cwd: str, home: str = "") -> frozenset[str]:
    """The names that are found first in a place that others than root can write.

    It holds ANY where such a place cannot be listed: then every name may lie there. A relative entry of PATH
    is taken from `cwd`: what runs in another directory has to be asked about anew. Names are remembered by
    their directories' times, so that a second call costs a few looks.
    """
    first: set[str] = set()
    found: set[str] = set()
    for place in _places(path, cwd):
        listing = _listing(place, cwd, home)
        found |= listing.writable - first
        if ANY in found:
            break
        first |= listing.names
    return frozenset(found)


def resolve(name: str, path: str, cwd: str, home: str = "") -> Program | None:
    """The file that a shell would run for a name; None where PATH leads to none. An empty PATH is the cwd."""
    if "/" in name:
        whole = os.path.normpath(os.path.join(cwd, name))
        return Program(whole, _is_writable(whole, cwd, home)) if _runs(whole) else None
    for place in _places(path, cwd):
        whole = os.path.join(place, name)
        if name and _runs(whole):
            return Program(whole, _is_writable(whole, cwd, home))
    return None


def _places(path: str, cwd: str) -> Iterable[str]:
    places = dict.fromkeys(os.path.normpath(os.path.join(cwd, entry)) for entry in path.split(":"))
    return itertools.islice(places, _MOST_PLACES)


def _listing(place: str, cwd: str, home: str) -> _Listing:
    seen = look(place, follow=True)
    if isinstance(seen, Unread) or not stat.S_ISDIR(seen.st_mode):
        return _Listing()  # nor could anything be run from there
    whole = _is_writable(place, cwd, home)
    if time.time_ns() - seen.st_mtime_ns < _SETTLED:
        return _list(place, whole)
    return _remembered(place, whole, seen.st_dev, seen.st_ino, seen.st_mtime_ns, seen.st_ctime_ns)


@functools.lru_cache(maxsize=256)
def _remembered(place: str, whole: bool, *_: int) -> _Listing:
    """Until the directory changes: in a place of root's, only root can change what the files are."""
    return _list(place, whole)


def _list(place: str, whole: bool) -> _Listing:
    names: set[str] = set()
    writable: set[str] = set()
    try:
        with os.scandir(place) as entries:
            for number, entry in enumerate(entries):
                if number >= _MOST_NAMES:
                    return _unlisted(whole)
                if whole:  # whether a file can be run may change without a trace in the directory
                    if not entry.is_dir(follow_symlinks=False):
                        names.add(entry.name)
                elif _runs(entry.path):
                    names.add(entry.name)
                    if _in_others_hands(entry.path) if entry.is_symlink() else _others_write(entry.path):
                        writable.add(entry.name)
    except OSError:
        return _unlisted(whole)
    return _Listing(frozenset(names), frozenset(names if whole else writable))


def _unlisted(whole: bool) -> _Listing:
    return _Listing(writable=frozenset({ANY} if whole else ()))


def _is_writable(path: str, cwd: str, home: str) -> bool:
    if not os.path.isabs(path):
        return True
    places = (path, real(path))
    for near in (home, "" if cwd in _MACHINES else cwd):
        if near and near != "/" and any(f"{place}/".startswith(near.rstrip("/") + "/") for place in places):
            return True
    # For root itself owners say nothing: a project's own tools are known by their shape.
    if os.geteuid() == 0 and any(_is_projects(place) for place in places):
        return True
    return _in_others_hands(path)


def _is_projects(path: str) -> bool:
    return "/node_modules/" in f"{path}/" or any(
        is_file(f"{above}/pyvenv.cfg") for above in (os.path.dirname(path), os.path.dirname(os.path.dirname(path)))
    )


def _in_others_hands(path: str) -> bool:
    """Whether others than root can say what the path leads to: by the file, a link, or a directory on the way."""
    done: set[str] = set()
    left = _MOST_LINKS
    todo = [part for part in reversed(path.split("/")) if part]
    here = "/"
    while True:
        # A directory with the sticky bit keeps its entries from others, but takes new ones.
        if here not in done and _others_write(here, within=bool(todo)):
            return True
        done.add(here)
        if not todo:
            return False
        part = todo.pop()
        if part in (".", ".."):
            here = os.path.dirname(here) if part == ".." else here
            continue
        there = os.path.join(here, part)
        seen = look(there)
        if isinstance(seen, Unread):
            return True
        if not stat.S_ISLNK(seen.st_mode):
            here = there
            continue
        left -= 1
        target = _target(there)
        if not target or not left or seen.st_uid != 0:
            return True
        here = "/" if target.startswith("/") else here
        todo += [part for part in reversed(target.split("/")) if part]


def _others_write(path: str, within: bool = False) -> bool:
    seen = look(path)
    if isinstance(seen, Unread) or seen.st_uid != 0:
        return True
    if within and seen.st_mode & stat.S_ISVTX:
        return False
    return bool(seen.st_mode & stat.S_IWOTH or (seen.st_mode & stat.S_IWGRP and seen.st_gid != 0))


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return ""


def _runs(path: str) -> bool:
    seen = look(path, follow=True)
    return not isinstance(seen, Unread) and stat.S_ISREG(seen.st_mode) and bool(seen.st_mode & 0o111)
