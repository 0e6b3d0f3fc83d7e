"""How many files would be lost, which, and why."""

from __future__ import annotations

from msgspec import Struct

_NAMED = 5
_WHY = {
    "changed": "differs from what git holds",
    "untracked": "git does not track it",
    "ignored": "ignored by git, and not known as something that is built",
    "unseen": "cannot be looked at",
}


class Some(Struct, frozen=True):
    """How many, and the first of them, relative to the worktree. A directory that was not gone into counts once."""

    count: int = 0
    names: tuple[str, ...] = ()


class Losses(Struct, frozen=True):
    """`same` and `made` come back (from git, from a build); everything else would not, or nobody knows.

    `unseen` could not be looked at. `why` is the first reason for not being recoverable, in words.
    """

    recoverable: bool
    why: str = ""
    same: Some = Some()
    made: Some = Some()
    changed: Some = Some()
    untracked: Some = Some()
    ignored: Some = Some()
    unseen: Some = Some()


class Tally:
    """What was found so far, name by name."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._names: dict[str, list[str]] = {}
        self.why = ""

    def add(self, group: str, name: str, why: str = "") -> None:
        self._counts[group] = self._counts.get(group, 0) + 1
        names = self._names.setdefault(group, [])
        if len(names) < _NAMED:
            names.append(name or ".")
        if group not in ("same", "made"):
            self.why = self.why or f"{name or '.'}: {why or _WHY[group]}"

    def result(self) -> Losses:
        groups = {group: Some(count, tuple(self._names[group])) for group, count in self._counts.items()}
        return Losses(not self.why, self.why, **groups)
