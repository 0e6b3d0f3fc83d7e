"""Files that a repository protects: paths below its root, by patterns like those of its ignore rules.

`*` and `?` stay within one name, `**` crosses directories, a pattern without a slash means that name anywhere
below, and everything below what a pattern names is meant too.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

from msgspec import Struct

from reflexd.core.rules import one_line
from reflexd.shell import globs
from reflexd.types import Decision, Effect, Facts, Finding

RULE = "repository-protected"
_CHANGING = frozenset({"write", "delete", "move", "attributes"})
_ANY = "…"  # an unknown part of a target


class Protected(Struct, frozen=True):
    """Of one repository: `root` is absolute, without a slash at its end. `aliases`: directories reached through
    links, and what they really are."""

    root: str
    patterns: tuple[str, ...]
    aliases: tuple[tuple[str, str], ...] = ()

    def finding(self, facts: Facts) -> Finding | None:
        for effect in facts.effects:
            if effect.kind in _CHANGING and any(self._meets(effect, target) for target in self._names(effect.target)):
                target = one_line(effect.target)
                return Finding(RULE, Decision.ASK, f"{target} is protected by this repository; a person changes it")
        return None

    def _names(self, target: str) -> Iterator[str]:
        yield target
        for shown, real in self.aliases:
            if (target + "/").startswith(shown.rstrip("/") + "/"):
                yield real + target[len(shown) :]

    def _meets(self, effect: Effect, target: str) -> bool:
        deep = effect.recursive or effect.kind in ("delete", "move")
        if deep and (self.root + "/").startswith(target.rstrip("/") + "/"):
            return True
        if not target.startswith(self.root + "/"):
            return False
        names = tuple(target[len(self.root) + 1 :].replace(_ANY, "*").split("/"))
        return any(_overlap(names, parts(pattern), deep) for pattern in self.patterns)


def fault_of(pattern: str) -> str:
    """Why it cannot be used; empty where it can."""
    if pattern.startswith("!"):
        return "a pattern only adds, it cannot begin with !"
    if not pattern.strip("/") or {".", ".."} & set(pattern.split("/")):
        return "a pattern names files below the repository's root"
    return ""


@functools.lru_cache(maxsize=1024)
def parts(pattern: str) -> tuple[str, ...]:
    names = [name for name in pattern.split("/") if name]
    anchored = "/" in pattern.rstrip("/")
    while names and names[-1] == "**":
        names.pop()
    return tuple(names or ["*"]) if anchored else ("**", *names)


def _overlap(target: tuple[str, ...], pattern: tuple[str, ...], deep: bool) -> bool:
    """Whether the target may be what the pattern names, or below it; `deep`: or above it."""
    # Any directory might hold such a name as `**/name`: only one that the pattern itself names is above it.
    states = {0}
    for name in target:
        following: set[int] = set()
        for at in _spread(states, pattern):
            if at == len(pattern):
                return True
            if pattern[at] == "**":
                following.add(at)
            elif _may_be(name, pattern[at]):
                following.add(at + 1)
        states = following
    reached = _spread(states, pattern)
    return len(pattern) in reached or (deep and pattern[0] != "**" and any(at > 0 for at in reached))


def _spread(states: set[int], pattern: tuple[str, ...]) -> set[int]:
    found = set(states)
    for at in sorted(states):
        while at < len(pattern) and pattern[at] == "**":
            at += 1
            found.add(at)
    return found


def _may_be(name: str, pattern: str) -> bool:
    if not globs.has_marks(name):
        return globs.one(pattern)(name)
    return globs.has_marks(pattern) or globs.one(name)(pattern)
