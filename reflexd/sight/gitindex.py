"""git's index: which files it tracks below some paths, with the content and the stat data it last saw of each.

Versions 2 to 4. An index that keeps its entries in another file, or in a form that is not known here, cannot be
looked at, and says so.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence

from msgspec import Struct

from reflexd.sight.disk import Unread, read

LARGEST = 16 << 20
MOST = 100_000
_LONGEST = 4096  # bytes of a path
LINK, GITLINK, TREE = 0o120000, 0o160000, 0o040000
_SKIPPED = frozenset({b"sdir"})  # extensions that a reader has to know: this one says that entries may be trees
_STAT = struct.Struct(">10L")


class Entry(Struct, frozen=True):
    """One tracked path. Times are in nanoseconds; `stage` is not 0 in a conflict.

    `intended`: only its name was added so far. `absent`: a sparse checkout leaves it out of the worktree.
    """

    path: str
    mode: int
    oid: bytes
    size: int
    mtime: int
    ctime: int
    dev: int
    inode: int
    stage: int = 0
    assumed: bool = False
    intended: bool = False
    absent: bool = False

    @property
    def kind(self) -> int:
        return self.mode & 0o170000


class Index(Struct, frozen=True):
    """`entries` are those that were asked for; `total` counts all. `mtime` is the file's own, in nanoseconds."""

    entries: tuple[Entry, ...] = ()
    total: int = 0
    mtime: int = 0


def load(path: str, oid_bytes: int = 20, below: Sequence[str] = ("",), most: int = MOST) -> Index | Unread:
    """The entries at or below each of the paths, which are relative to the worktree; an absent index is empty.

    An index with more than `most` of them is not read.
    """
    try:
        mtime = os.stat(path).st_mtime_ns  # taken first: an index written meanwhile counts as older than it is
    except (OSError, ValueError):
        mtime = 0
    data = read(path, LARGEST)
    if isinstance(data, Unread):
        return Index() if data.why == "missing" else data
    parsed = parse(data, oid_bytes, below, most)
    return Unread(path, "malformed", parsed) if isinstance(parsed, str) else Index(*parsed, mtime)


def parse(
    data: bytes, oid_bytes: int, below: Sequence[str] = ("",), most: int = MOST
) -> tuple[tuple[Entry, ...], int] | str:
    """The entries that were asked for and the number of all; or what is wrong with the index."""
    if len(data) < 12 + oid_bytes or data[:4] != b"DIRC":
        return "not an index"
    version, total = struct.unpack_from(">LL", data, 4)
    if version not in (2, 3, 4):
        return f"version {version}"
    wanted = [os.fsencode(name).strip(b"/") for name in below]
    everything = b"" in wanted
    heads = tuple(name + b"/" for name in wanted)
    found: list[Entry] = []
    place = 12
    end = len(data) - oid_bytes
    try:
        for name, start, place in _named(data, version, total, oid_bytes):
            if place > end:
                return "cut short"
            # A sparse index names a directory in one entry: it stands for all below.
            if everything or name in wanted or name.startswith(heads) or _holds(name, heads):
                if len(found) >= most:
                    return "too many files"
                found.append(_entry(data, start, oid_bytes, name, version))
    except (IndexError, struct.error):
        return "cut short"
    fault = _extensions(data, place, end)
    return fault or (tuple(found), total)


def _named(data: bytes, version: int, total: int, oid_bytes: int) -> Iterator[tuple[bytes, int, int]]:
    """Every entry's name, where it begins, and where the next one does."""
    place, name = 12, b""
    fixed = 40 + oid_bytes + 2
    for _ in range(total):
        flags = data[place + fixed - 2]
        start = place + fixed + 2 * bool(version > 2 and flags & 0x40)
        if version == 4:
            dropped, start = _number(data, start)
            stop = data.find(b"\0", start)
            # A name is made of the one before: unchecked, a small file could hold very many very long ones.
            if stop < 0 or dropped > len(name) or len(name) - dropped + stop - start > _LONGEST:
                raise IndexError
            name = name[: len(name) - dropped] + data[start:stop]
            yield name, place, stop + 1
            place = stop + 1
            continue
        length = (flags << 8 | data[place + fixed - 1]) & 0xFFF
        if length == 0xFFF:
            length = data.find(b"\0", start) - start
        if length < 0 or start + length > len(data):
            raise IndexError
        name = data[start : start + length]
        after = place + (start + length - place + 8) // 8 * 8
        yield name, place, after
        place = after


def _number(data: bytes, place: int) -> tuple[int, int]:
    """How many bytes of the name before are not shared, and where the rest of the name begins."""
    byte = data[place]
    value = byte & 0x7F
    while byte & 0x80:
        place += 1
        byte = data[place]
        value = (value + 1) << 7 | byte & 0x7F
        if value > LARGEST:
            raise IndexError
    return value, place + 1


def _holds(name: bytes, heads: tuple[bytes, ...]) -> bool:
    return name.endswith(b"/") and any(head.startswith(name) for head in heads)


def _entry(data: bytes, start: int, oid_bytes: int, name: bytes, version: int) -> Entry:
    ctime, ctime_ns, mtime, mtime_ns, dev, inode, mode, _, _, size = _STAT.unpack_from(data, start)
    oid = data[start + 40 : start + 40 + oid_bytes]
    flags = data[start + 40 + oid_bytes]
    more = data[start + 40 + oid_bytes + 2] if version > 2 and flags & 0x40 else 0
    return Entry(
        os.fsdecode(name),
        mode,
        oid,
        size,
        mtime * 1_000_000_000 + mtime_ns,
        ctime * 1_000_000_000 + ctime_ns,
        dev,
        inode,
        flags >> 4 & 3,
        assumed=bool(flags & 0x80),
        intended=bool(more & 0x20),
        absent=bool(more & 0x40),
    )


def _extensions(data: bytes, place: int, end: int) -> str:
    """What an extension says that keeps the entries from being all there is; empty where nothing does."""
    while place + 8 <= end:
        name = data[place : place + 4]
        if name == b"link":
            return "split index"
        if not 0x41 <= name[0] <= 0x5A and name not in _SKIPPED:
            return f"extension {name!r}"
        place += 8 + int.from_bytes(data[place + 4 : place + 8], "big")
    return "" if place == end else "cut short"
