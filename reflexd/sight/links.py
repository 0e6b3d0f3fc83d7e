"""What really lies at a path: after symbolic links, under which kind and owner, and under which other names."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping, Sequence
from typing import Literal

from msgspec import Struct

from reflexd.sight.disk import Unread, look
from reflexd.sight.disk import real as resolved

Kind = Literal["missing", "file", "dir", "fifo", "socket", "device", "loop", "unknown"]
_MOST = 2_000  # entries below the protected places that are compared

_KINDS: Mapping[int, Kind] = {
    stat.S_IFREG: "file",
    stat.S_IFDIR: "dir",
    stat.S_IFIFO: "fifo",
    stat.S_IFSOCK: "socket",
    stat.S_IFCHR: "device",
    stat.S_IFBLK: "device",
    stat.S_IFLNK: "loop",
}


class Real(Struct, frozen=True):
    """`path` has every link in it followed, as far as it exists; what does not exist is appended as it was written.

    `linked`: a symbolic link was followed on the way. `ours`: the owner is this process's user. `names`: how many
    hard links there are to the file.
    """

    path: str
    kind: Kind = "missing"
    linked: bool = False
    ours: bool = False
    names: int = 0


def real(path: str) -> Real:
    """`path` is absolute."""
    found = resolved(path)
    linked = found != os.path.normpath(path)
    seen = look(found)
    if isinstance(seen, Unread):
        return Real(found, "missing" if seen.why == "missing" else "unknown", linked)
    return Real(
        found, _KINDS.get(stat.S_IFMT(seen.st_mode), "unknown"), linked, seen.st_uid == os.geteuid(), seen.st_nlink
    )


def other_names(path: str, protected: Sequence[str]) -> tuple[str, ...]:
    """The files at or below the protected places that are the very file at `path`, under another name.

    Costs one look where the file has one name only, which is nearly always. Where too much lies below the
    protected places to compare, the place itself is named.
    """
    seen = look(path, follow=True)
    if isinstance(seen, Unread) or not stat.S_ISREG(seen.st_mode) or seen.st_nlink < 2:
        return ()
    here = resolved(path)
    found: list[str] = []
    left = _MOST
    for place in protected:
        pending = [place]
        while pending:
            one = pending.pop()
            left -= 1
            if left < 0:
                found.append(place)
                break
            there = look(one)
            if isinstance(there, Unread):
                continue
            if stat.S_ISDIR(there.st_mode):
                pending += _listed(one)
            elif (there.st_dev, there.st_ino) == (seen.st_dev, seen.st_ino) and resolved(one) != here:
                found.append(one)
    return tuple(found)


def _listed(directory: str) -> list[str]:
    try:
        with os.scandir(directory) as entries:
            return [entry.path for entry, _ in zip(entries, range(_MOST), strict=False)]
    except OSError:
        return []
