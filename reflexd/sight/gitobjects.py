"""git's object store: whether it really holds an object, and what a commit or a tree in it says.

Loose files, packs with an index of version 2, and the stores that it borrows from. An object is not hashed again
when it is read: a damaged store is git's to find.
"""

from __future__ import annotations

import os
import stat
import struct
import zlib
from collections.abc import Iterator

from msgspec import Struct

from reflexd.sight.disk import Budget, Unread, is_file, look, read

_MOST_PACKS = 256
_MOST_STORES = 8
_LARGEST_TABLE = 256 << 20  # bytes of a pack's index; what is looked up in it is read in pieces
_WHOLE_TABLE = 2 << 20  # the names of a pack are kept whole where they take no more than that
_COST, _FAR_COST = 128, 4096  # bytes that one look-up in one pack counts for, with its names at hand or without
_LARGEST = 4 << 20  # bytes of a commit or a tree
_LONGEST_CHAIN = 64
_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_FROM_OFFSET, _FROM_OBJECT = 6, 7


class Object(Struct, frozen=True):
    kind: str
    data: bytes


class Objects:
    """For one look, in one thread. Closed by `close`, or by leaving a `with`."""

    def __init__(self, directory: str, oid_bytes: int, budget: Budget) -> None:
        self._stores = _stores(directory)
        self._oid_bytes = oid_bytes
        self._budget = budget
        self._packs: list[_Pack] | None = None

    def __enter__(self) -> Objects:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        for pack in self._packs or ():
            pack.close()
        self._packs = []

    def has(self, oid: bytes) -> bool:
        return self._loose(oid) is not None or self._packed(oid) is not None

    def read(self, oid: bytes) -> Object | Unread:
        """A commit or a tree, of at most so many bytes."""
        path = self._loose(oid)
        if path is not None:
            packed = read(path, _LARGEST)
            if isinstance(packed, Unread):
                return packed
            self._budget.take(files=1, size=len(packed))
            data = _inflated(packed, _LARGEST)
            head, nul, body = (data or b"").partition(b"\0")
            kind, _, size = head.decode("ascii", "replace").partition(" ")
            return Object(kind, body) if nul and size == str(len(body)) else Unread(path, "malformed")
        found = self._packed(oid)
        if found is None:
            return Unread(oid.hex(), "missing")
        pack, offset = found
        return self._unpacked(pack, offset, _LONGEST_CHAIN)

    def _loose(self, oid: bytes) -> str | None:
        name = oid.hex()
        for store in self._stores:
            path = f"{store}/{name[:2]}/{name[2:]}"
            seen = look(path, follow=True)
            if not isinstance(seen, Unread) and stat.S_ISREG(seen.st_mode) and seen.st_size:
                return path
        return None

    def _packed(self, oid: bytes) -> tuple[_Pack, int] | None:
        if self._packs is None:
            self._packs = list(self._opened())
        for number, pack in enumerate(self._packs):
            if not self._budget.take(size=_COST if pack.names else _FAR_COST):
                return None
            offset = pack.offset(oid)
            if offset is not None:
                self._packs[:] = [pack, *self._packs[:number], *self._packs[number + 1 :]]  # most lie in one pack
                return pack, offset
        return None

    def _opened(self) -> Iterator[_Pack]:
        left = _MOST_PACKS
        for store in self._stores:
            try:
                names = sorted(os.listdir(f"{store}/pack"))
            except OSError:
                continue
            for name in names:
                if name.endswith(".idx") and left:
                    left -= 1
                    pack = _Pack.opened(f"{store}/pack/{name[:-4]}", self._oid_bytes)
                    if pack is not None:
                        self._budget.take(files=1, size=len(pack.names))
                        yield pack

    def _unpacked(self, pack: _Pack, offset: int, left: int) -> Object | Unread:
        where = Unread(pack.path, "malformed")
        head = pack.bytes(offset, 64).ljust(64, b"\0")
        if not left:
            return where
        kind, size, i = _header(head)
        base: Object | Unread
        if kind == _FROM_OFFSET:
            back, i = _distance(head, i)
            if not 0 < back <= offset:
                return where
            base = self._unpacked(pack, offset - back, left - 1)
        elif kind == _FROM_OBJECT:
            oid, i = head[i : i + self._oid_bytes], i + self._oid_bytes
            found = self._packed(oid)
            base = self._unpacked(*found, left - 1) if found else self.read(oid) if self._loose(oid) else where
        elif kind in _KINDS:
            base = Object(_KINDS[kind], b"")
        else:
            return where
        if isinstance(base, Unread) or size > _LARGEST or not self._budget.take(size=size):
            return base if isinstance(base, Unread) else Unread(pack.path, "too large")
        data = _inflated(pack.bytes(offset + i, size + (size >> 4) + 512), size)
        if data is None or len(data) != size:
            return where
        if kind in _KINDS:
            return Object(base.kind, data)
        made = _patched(base.data, data)
        self._budget.take(size=len(made or b""))
        return where if made is None else Object(base.kind, made)


class _Pack:
    """A pack and its index, both open."""

    def __init__(self, path: str, index: int, pack: int, size: int, oid_bytes: int) -> None:
        self.path = path
        self._index = index
        self._pack = pack
        self._size = size
        self._oid_bytes = oid_bytes
        self._fan = struct.unpack(">256L", os.pread(index, 1024, 8))
        length = self._fan[255] * oid_bytes
        self.names = os.pread(index, length, 1032) if length <= _WHOLE_TABLE else b""

    @classmethod
    def opened(cls, path: str, oid_bytes: int) -> _Pack | None:
        """None: there is no such pair of files, or not of a form that is known here."""
        if not is_file(path + ".idx") or not is_file(path + ".pack"):
            return None
        fds: list[int] = []
        try:
            for ending in (".idx", ".pack"):
                fds.append(os.open(path + ending, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC))
            index, pack = fds
            size = os.fstat(index).st_size
            known = os.pread(index, 8, 0) == b"\xfftOc\0\0\0\2" and os.pread(pack, 4, 0) == b"PACK"
            if known and 1032 <= size <= _LARGEST_TABLE:
                made = cls(path, index, pack, size, oid_bytes)
                fds = []
                return made
        except (OSError, ValueError, struct.error):
            pass
        finally:
            for fd in fds:
                os.close(fd)
        return None

    def close(self) -> None:
        os.close(self._index)
        os.close(self._pack)

    def offset(self, oid: bytes) -> int | None:
        low = self._fan[oid[0] - 1] if oid[0] else 0
        high = self._fan[oid[0]]
        width, total = self._oid_bytes, self._fan[255]
        try:
            while low < high:
                middle = (low + high) // 2
                start = middle * width
                there = self.names[start : start + width] or os.pread(self._index, width, 1032 + start)
                if there == oid:
                    return self._at(middle, 1032 + total * (width + 4))
                if len(there) < width:
                    return None
                low, high = (middle + 1, high) if there < oid else (low, middle)
        except OSError:
            pass
        return None

    def _at(self, place: int, offsets: int) -> int | None:
        raw = os.pread(self._index, 4, offsets + 4 * place)
        value = int.from_bytes(raw, "big")
        if value & 0x80000000:
            raw = os.pread(self._index, 8, offsets + 4 * self._fan[255] + 8 * (value & 0x7FFFFFFF))
            value = int.from_bytes(raw, "big")
        return value if len(raw) in (4, 8) else None

    def bytes(self, offset: int, size: int) -> bytes:
        try:
            return os.pread(self._pack, size, offset)
        except (OSError, OverflowError):
            return b""


def _stores(directory: str) -> tuple[str, ...]:
    """The store and those that it borrows from."""
    found = [directory]
    for store in found:
        text = read(f"{store}/info/alternates", 1 << 16)
        for line in b"".splitlines() if isinstance(text, Unread) else text.splitlines():
            if line and not line.startswith((b"#", b'"')) and b"\0" not in line:
                path = os.path.normpath(os.path.join(store, os.fsdecode(line)))
                if path not in found and len(found) < _MOST_STORES:
                    found.append(path)
    return tuple(found)


def _inflated(packed: bytes, size: int) -> bytes | None:
    try:
        return zlib.decompressobj().decompress(packed, size + 64)
    except zlib.error:
        return None


def _header(head: bytes) -> tuple[int, int, int]:
    """Kind, size, and where the header ends."""
    kind, size = head[0] >> 4 & 7, head[0] & 15
    i, shift = 1, 4
    while head[i - 1] & 0x80 and i < len(head) - 40:
        size |= (head[i] & 0x7F) << shift
        i, shift = i + 1, shift + 7
    return kind, size, i


def _distance(head: bytes, i: int) -> tuple[int, int]:
    value = head[i] & 0x7F
    while head[i] & 0x80 and i < len(head) - 1:
        i += 1
        value = (value + 1) << 7 | head[i] & 0x7F
    return value, i + 1


def _patched(base: bytes, delta: bytes) -> bytes | None:
    """The object that a delta makes of its base; None where the delta does not fit it."""
    try:
        source, i = _size(delta, 0)
        target, i = _size(delta, i)
        if source != len(base) or target > _LARGEST:
            return None
        made = bytearray()
        while i < len(delta):
            op = delta[i]
            i += 1
            if op & 0x80:
                start = length = 0
                for bit in range(7):
                    if op & 1 << bit:
                        if bit < 4:
                            start |= delta[i] << 8 * bit
                        else:
                            length |= delta[i] << 8 * (bit - 4)
                        i += 1
                length = length or 0x10000
                made += base[start : start + length]
            elif op:
                made += delta[i : i + op]
                i += op
            else:
                return None
            if len(made) > target:
                return None
        return bytes(made) if len(made) == target else None
    except IndexError:
        return None


def _size(delta: bytes, i: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        value |= (delta[i] & 0x7F) << shift
        shift += 7
        i += 1
        if not delta[i - 1] & 0x80:
            return value, i
