"""Settings of git that name a program somebody chose: which git subcommands would run it. Data: config/gitkeys.toml."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from fnmatch import fnmatchcase

from msgspec import Struct

from reflexd.shell.tables import table

PREFIX = "runs:"
"""What a repository's sighting puts before the name of a setting that it found."""


class _Key(Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    on: tuple[str, ...]
    fine: str = ""


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    gitkeys: int
    booleans: tuple[str, ...]
    pagers: tuple[str, ...]
    key: tuple[_Key, ...]
    fine: dict[str, tuple[str, ...]]


@functools.cache
def data() -> _Data:
    return table("gitkeys.toml", _Data)


def names_a_program(key: str, value: str) -> bool:
    """Whether a setting (its key with section and variable in lower case) names a program of somebody's own."""
    if key.startswith("alias."):
        return True
    row = _row(key)
    return row is not None and not any(fnmatchcase(value.strip().lower(), fine.lower()) for fine in _fine(row))


def run_by(subcommand: str, pairs: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """The keys among a sighting's pairs whose program `git SUBCOMMAND` may run."""
    found = []
    for name, _ in pairs:
        key = name.removeprefix(PREFIX)
        if key == name:
            continue
        row = _row(key)
        if key == f"alias.{subcommand}" or (row is not None and subcommand in row.on):
            found.append(key)
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def _row(key: str) -> _Key | None:
    lowered = key.lower()
    return next((row for row in data().key if any(fnmatchcase(lowered, name) for name in row.names)), None)


def _fine(row: _Key) -> tuple[str, ...]:
    known = data()
    match row.fine:
        case "":
            return ()
        case "booleans":
            return known.booleans
        case "pagers":
            return known.pagers
        case other:
            return known.fine[other]
