"""Whether git could give a tracked file back byte for byte.

A file is the same where its bytes hash to what the index holds and the object is there. Stat data stands in for
the bytes where git itself would trust it, and nothing may have been changed on the way in.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import Literal

from reflexd.sight.disk import Budget, Unread
from reflexd.sight.gitconfig import Config, truth
from reflexd.sight.gitindex import GITLINK, LINK, Entry
from reflexd.sight.gitobjects import Objects

State = Literal["same", "changed", "lost object", "other form", "unread"]
_LOW = 0xFFFFFFFF  # the index keeps 32 bits of sizes and inodes


class Comparer:
    """For one look at one worktree; `index_mtime` as the index was read."""

    def __init__(self, objects: Objects, config: Config, index_mtime: int, budget: Budget) -> None:
        self._objects = objects
        self._index_mtime = index_mtime
        self._budget = budget
        self._converts = converts(config)
        self._trusts_stat = truth(config.last("core.trustctime") or "true") is True and (
            (config.last("core.checkstat") or "default").lower() == "default"
        )

    def state(
        self, path: str, seen: os.stat_result, entry: Entry, attributes: bool = False, stays: bool = False
    ) -> State:
        """`attributes`: some apply here, so that git may hold the file in another form. `stays`: what git takes
        for unchanged is left alone, in whatever form."""
        if entry.stage or entry.intended or entry.kind == GITLINK:
            return "changed"
        if stat.S_ISLNK(seen.st_mode) != (entry.kind == LINK):
            return "changed"
        clean = self._unchanged(seen, entry)
        converts = (self._converts or attributes) and entry.kind != LINK and not stays
        if not (clean and not converts):
            oid = self._hash(path, seen, len(entry.oid))
            if isinstance(oid, Unread):
                return "unread"
            if oid != entry.oid:
                return "other form" if converts else "changed"
        return "same" if self._objects.has(entry.oid) else "lost object"

    def _unchanged(self, seen: os.stat_result, entry: Entry) -> bool:
        """By stat data alone, where it cannot be older than the last change."""
        return (
            self._trusts_stat
            and seen.st_mtime_ns == entry.mtime < self._index_mtime
            and seen.st_ctime_ns == entry.ctime < self._index_mtime
            and seen.st_size & _LOW == entry.size
            and seen.st_ino & _LOW == entry.inode
        )

    def _hash(self, path: str, seen: os.stat_result, oid_bytes: int) -> bytes | Unread:
        made = hashlib.sha256() if oid_bytes == 32 else hashlib.sha1(usedforsecurity=False)
        try:
            if stat.S_ISLNK(seen.st_mode):
                text = os.fsencode(os.readlink(path))
                made.update(b"blob %d\0" % len(text) + text)
                return made.digest()
            if not self._budget.take(size=seen.st_size):
                return Unread(path, "too large")
            fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC | os.O_NOFOLLOW)
        except (OSError, ValueError):
            return Unread(path, "unreadable")
        try:
            left = seen.st_size
            made.update(b"blob %d\0" % left)
            while left > 0 and (part := os.read(fd, min(left, 1 << 20))):
                made.update(part)
                left -= len(part)
            if left or os.fstat(fd).st_size != seen.st_size:
                return Unread(path, "unreadable", "it changes while it is read")
            return made.digest()
        except OSError:
            return Unread(path, "unreadable")
        finally:
            os.close(fd)


def converts(config: Config) -> bool:
    """Whether files may be changed on their way into git without any attributes saying so."""
    return (
        truth(config.last("core.autocrlf") or "false") is not False or (config.last("core.eol") or "").lower() == "crlf"
    )
