"""Sets of paths and of names that other paths are held against: built once, asked for every path of every call."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable

from reflexd.shell.fields import UNKNOWN, UNSET
from reflexd.shell.patterns import MARKS, name_matches

_ONE = f"[^/{UNKNOWN}{UNSET}]*"  # what is not known may hold a slash


class Landmarks:
    """A few absolute paths. A path that is asked about may be a pattern: then it counts where it may match."""

    def __init__(self, marks: Iterable[str]) -> None:
        self.marks = tuple(dict.fromkeys(marks))
        self._exact = frozenset(self.marks)
        self._inside = tuple(mark + "/" for mark in self.marks)
        self._above = frozenset(mark[:at] or "/" for mark in self.marks for at, c in enumerate(mark) if c == "/")
        self._names = tuple(mark.split("/") for mark in self.marks)

    def meets(self, path: str, deep: bool = False) -> bool:
        """Whether the path is one of these; `deep`: or a directory above one."""
        if not MARKS.search(path):
            return path in self._exact or (deep and path in self._above)
        parts = path.split("/")
        if parts[1:2] in ([UNKNOWN], [UNSET]) or path.count(UNKNOWN) + path.count(UNSET) > 1:
            return False
        depth = len(parts)
        return any(
            (len(names) == depth or (deep and len(names) > depth)) and _fits(parts, names) for names in self._names
        )

    def covers(self, path: str) -> bool:
        """Whether one of these is the path itself or lies below it."""
        return self.meets(path, deep=True)

    def surely_below(self, path: str) -> bool:
        """Whether the path lies strictly below one of these whatever its patterns and unknown parts stand for."""
        return path.startswith(self._inside)

    def below(self, path: str) -> bool:
        """Whether the path lies, or may lie, strictly below one of these."""
        if not MARKS.search(path):
            return path.startswith(self._inside)
        parts = path.split("/")
        return any(len(parts) > len(names) and _fits(parts, names) for names in self._names)


def _fits(parts: list[str], names: list[str]) -> bool:
    return all(name_matches(pattern, name) for pattern, name in zip(parts, names, strict=False))


class Names:
    """Names of directories, some with a star, some of several levels (`go/pkg/mod`), found anywhere in a path."""

    def __init__(self, names: Iterable[str]) -> None:
        every = tuple(names)
        self._plain = frozenset(name for name in every if "*" not in name and "/" not in name)
        rest = [re.escape(name).replace(r"\*", _ONE) for name in every if name not in self._plain]
        self._rest = re.compile(f"/(?:{'|'.join(rest)})(?=/|\\Z)") if rest else None

    def within(self, path: str, start: int = 0) -> bool:
        """Whether a whole name in the path, from the slash at `start` on, is one of these."""
        if not self._plain.isdisjoint(path[start:].split("/")):
            return True
        return self._rest is not None and self._rest.search(path, start) is not None


class Endings:
    """Names of files, most of them a star with an ending. What is not known in a name does not change its ending."""

    def __init__(self, names: Iterable[str]) -> None:
        every = tuple(names)
        self._exact = frozenset(name for name in every if not set("*?[") & set(name))
        self._ends = tuple(name[1:] for name in every if name[:1] == "*" and not set("*?[") & set(name[1:]))
        rest = [name for name in every if name not in self._exact and name[1:] not in self._ends]
        self._rest = re.compile("|".join(map(fnmatch.translate, rest))) if rest else None

    def match(self, name: str) -> bool:
        return (
            name in self._exact
            or name.endswith(self._ends)
            or (self._rest is not None and self._rest.match(name) is not None)
        )
