"""What a tool does, told from its name: config/mcp.toml holds the words."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from typing import Literal

from msgspec import Struct, field

from reflexd.shell.sqltext import Dialect
from reflexd.shell.tables import table

Level = Literal["", "read", "change", "destroy"]
"""Empty: nothing in the name says it."""
LEVELS: tuple[Level, ...] = ("", "read", "change", "destroy")
_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


class Verbs(Struct, frozen=True, forbid_unknown_fields=True):
    read: frozenset[str]
    change: frozenset[str]
    destroy: frozenset[str]
    nouns: frozenset[str]
    phrases: tuple[str, ...]
    light: frozenset[str]
    joints: frozenset[str]
    screens: frozenset[str]
    watching: frozenset[str]
    outward: frozenset[str]
    terminals: frozenset[str]


class Keys(Struct, frozen=True, forbid_unknown_fields=True):
    """Keys of arguments, by what stands under them."""

    action: frozenset[str]
    method: frozenset[str]
    beside_method: frozenset[str]
    shell: frozenset[str]
    typed: frozenset[str]
    named: frozenset[str]
    code: frozenset[str]
    arguments: frozenset[str]
    directory: frozenset[str]
    sql: frozenset[str]
    query: frozenset[str]
    path: frozenset[str]
    source: frozenset[str]
    target: frozenset[str]
    content: frozenset[str]
    size: frozenset[str]
    prose: frozenset[str]


class Sql(Struct, frozen=True, forbid_unknown_fields=True):
    words: frozenset[str]
    unlike: frozenset[str] = field(name="not")
    heads: frozenset[str]
    dialects: dict[str, Dialect]


class Data(Struct, frozen=True, forbid_unknown_fields=True):
    mcp: int
    verbs: Verbs
    keys: Keys
    sql: Sql
    programs: dict[str, str]
    realms: dict[str, str]


@functools.cache
def data() -> Data:
    return table("mcp.toml", Data)


@functools.lru_cache(maxsize=1024)
def words(name: str) -> tuple[str, ...]:
    """`createPullRequest`, `create-pull_request` -> create, pull, request."""
    return tuple(re.findall(r"[a-z0-9]+", _BOUNDARY.sub("_", name).lower()))


@functools.lru_cache(maxsize=1024)
def level(name: str) -> Level:
    """What the first verb of the name says; where a joint leads to another one, the strictest of them."""
    known = data().verbs
    said = words(name)
    text = f" {' '.join(said)} "
    for phrase in known.phrases:
        text = text.replace(f" {phrase} ", " _ ")
    parts: list[list[str]] = [[]]
    for word in text.split():
        if word in known.joints:
            parts.append([])
        else:
            parts[-1].append(word)
    return strictest(_first(part) for part in parts)


def strictest(levels: Iterable[Level]) -> Level:
    return max(levels, key=LEVELS.index, default="")


def _first(part: list[str]) -> Level:
    known = data().verbs
    verbs = [word for word in part if word in known.read or word in known.change or word in known.destroy]
    first = next((word for word in verbs if word not in known.nouns), verbs[0] if verbs else "")
    if first in known.destroy:
        return "change" if not known.light.isdisjoint(part) else "destroy"
    if first in known.change:
        return "read" if first in ("start", "stop") and not known.watching.isdisjoint(part) else "change"
    return "read" if first else ""
