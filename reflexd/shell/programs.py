"""What known programs do with their words: the rows of config/programs.toml, and reading words by them.

A row says which operands are read, written, deleted; which options change that; and whether a call
with nothing but these options only looks. An option that a row does not name takes that proof away.
"""

from __future__ import annotations

import functools
import tomllib
from fnmatch import fnmatchcase
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

Role = Literal["none", "path", "read", "write", "touch", "delete", "move", "attributes"]
"""touch is a write that takes nothing away: an empty file, a directory, a time stamp."""


class _Raw(Struct, frozen=True, forbid_unknown_fields=True):
    same_as: str = ""
    args: tuple[str, ...] | None = None
    read_only: bool | None = None
    numeric: bool = False
    text: bool = False
    modes: bool = False
    always_recursive: bool = False
    flags: str = ""
    valued: str = ""
    attached: str = ""
    recursive: str = ""
    force: str = ""
    no_first: str = ""
    no_flags: str = ""
    target: str = ""
    pairs: str = ""
    first: str = ""
    words: str = ""
    takes: dict[str, Role] = {}
    turns: dict[str, tuple[str, ...]] = {}


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    programs: int
    others: str
    secrets: tuple[str, ...]
    settings: tuple[str, ...]
    rows: dict[str, _Raw]


class Row(Struct, frozen=True):
    """One program (or subcommand), its option lists as sets; see the head of programs.toml for their meaning."""

    args: tuple[str, ...]
    read_only: bool
    numeric: bool
    text: bool
    modes: bool
    always_recursive: bool
    flags: frozenset[str]
    valued: frozenset[str]
    attached: frozenset[str]
    recursive: frozenset[str]
    force: frozenset[str]
    no_first: frozenset[str]
    no_flags: frozenset[str]
    target: frozenset[str]
    pairs: frozenset[str]
    first: frozenset[str]
    words: frozenset[str]
    takes: dict[str, Role]
    turns: dict[str, tuple[str, ...]]
    with_value: frozenset[str]
    long: tuple[str, ...]


@functools.cache
def _file() -> _File:
    text = resources.files("reflexd.config").joinpath("programs.toml").read_text()
    return msgspec.convert(tomllib.loads(text), _File)


@functools.cache
def known() -> frozenset[str]:
    """Programs of which it is known that their words are not a command."""
    read = _file()
    return frozenset(read.others.split()) | frozenset(name for name in read.rows if " " not in name)


@functools.cache
def _secrets() -> dict[str, list[tuple[str, ...]]]:
    found: dict[str, list[tuple[str, ...]]] = {}
    for text in _file().secrets:
        name, *words = text.split()
        found.setdefault(name, []).append(tuple(words))
    return found


@functools.cache
def _settings() -> dict[str, tuple[str, ...]]:
    """By the program's name, because every call is looked up here."""
    found: dict[str, tuple[str, ...]] = {}
    for text in _file().settings:
        name = text.partition(" ")[0]
        found[name] = (*found.get(name, ()), text + " ")
    return found


def prints_settings(name: str, args: tuple[str, ...]) -> bool:
    """Whether this call prints assignments for the shell, which is what it is evaluated for."""
    known = _settings().get(name.partition(" ")[0], ())
    return bool(known) and (" ".join((name, *args)) + " ").startswith(known)


def prints_secret(name: str, args: tuple[str, ...]) -> bool:
    """Whether this call is one of those that print a secret."""
    plain = [word for word in args if not word.startswith("-")]
    for words in _secrets().get(name, ()):
        wanted = [word for word in words if not word.startswith("-")]
        if plain[: len(wanted)] == wanted and all(word in args for word in words if word.startswith("-")):
            return True
    return False


@functools.cache
def _table() -> tuple[dict[str, Row], tuple[tuple[str, Row], ...]]:
    raw = _file().rows
    rows = {name: _row(name, raw) for name in raw}
    return rows, tuple((name, row) for name, row in rows.items() if "*" in name)


def find_row(name: str, subcommand: str = "") -> Row | None:
    """The row of a program's name; of `name subcommand` where that has one of its own."""
    exact, patterns = _table()
    if subcommand:
        found = exact.get(f"{name} {subcommand}")
        if found is not None:
            return found
    row = exact.get(name)
    if row is None:
        row = next((row for pattern, row in patterns if fnmatchcase(name, pattern)), None)
    return row


def _row(name: str, raw: dict[str, _Raw]) -> Row:
    own = raw[name]
    base = _row(own.same_as, raw) if own.same_as else None

    def several(attribute: str) -> frozenset[str]:
        words = frozenset(getattr(own, attribute).split())
        return words | getattr(base, attribute) if base else words

    takes = {**(base.takes if base else {}), **own.takes}
    turns = {**(base.turns if base else {}), **own.turns}
    valued, target, attached = several("valued"), several("target"), several("attached")
    flags, recursive, force = several("flags"), several("recursive"), several("force")
    with_value = valued | target | attached | frozenset(takes)
    every = flags | recursive | force | with_value | frozenset(turns) | several("no_first")
    return Row(
        args=own.args if own.args is not None else (base.args if base else ()),
        read_only=own.read_only if own.read_only is not None else (base.read_only if base else False),
        numeric=own.numeric or (base.numeric if base else False),
        text=own.text or (base.text if base else False),
        modes=own.modes or (base.modes if base else False),
        always_recursive=own.always_recursive or (base.always_recursive if base else False),
        flags=flags,
        valued=valued,
        attached=attached,
        recursive=recursive,
        force=force,
        no_first=several("no_first"),
        no_flags=several("no_flags"),
        target=target,
        pairs=several("pairs"),
        first=several("first"),
        words=several("words"),
        takes=takes,
        turns=turns,
        with_value=with_value,
        long=tuple(sorted(flag for flag in every if flag.startswith("--"))),
    )
