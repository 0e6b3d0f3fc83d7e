"""What known programs do with their words: the rows of config/programs/, one file a family.

A row says which operands are read, written, deleted; which options change that; and whether a call
with nothing but these options only looks. An option that a row does not name takes that proof away.
"""

from __future__ import annotations

import functools
import tomllib
from fnmatch import fnmatchcase
from importlib import resources
from typing import Final, Literal

import msgspec
from msgspec import Struct

from reflexd.types import EffectKind, Place

FORMAT = 2
LOOKS: Final = "look"
Role = Literal["none", "path", "read", "write", "touch", "delete", "move", "attributes", "package", "source"]
"""touch is a write that takes nothing away: an empty file, a directory, a time stamp. package names code that comes
in, from elsewhere unless it is a local path; source says where packages come from, which only a URL changes."""


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
    subcommands: bool = False
    does: str | None = None
    does_with: dict[str, str] = {}
    only_with: str = ""
    harmless: str = ""
    realm: str = ""
    verbs: dict[str, str] = {}
    tasks: bool = False
    like: str = ""


class Doing(Struct, frozen=True):
    """What a call does as a whole, and places that this lies in whatever the realm says."""

    kind: EffectKind
    places: tuple[Place, ...] = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    programs: int
    others: str = ""
    secrets: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    rows: dict[str, _Raw] = {}


class Row(Struct, frozen=True):
    """One program (or subcommand), its option lists as sets; see config/programs/README.md for their meaning."""

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
    subcommands: bool
    does: Doing | None
    does_with: dict[str, Doing | None]
    only_with: frozenset[str]
    harmless: frozenset[str]
    realm: str
    verbs: tuple[tuple[str, Doing | Literal["look"] | None], ...]
    tasks: bool
    like: str
    with_value: frozenset[str]
    long: tuple[str, ...]


@functools.cache
def _file() -> _File:
    """Every family in one table. Raises ValueError where two of them describe the same program."""
    families = resources.files("reflexd.config").joinpath("programs").iterdir()
    read = {
        f.name: msgspec.convert(tomllib.loads(f.read_text()), _File)
        for f in sorted(families, key=lambda f: f.name)
        if f.name.endswith(".toml")
    }
    rows: dict[str, _Raw] = {}
    for name, family in read.items():
        if family.programs != FORMAT:
            raise ValueError(f"{name}: format {family.programs}, this reads {FORMAT}")
        twice = rows.keys() & family.rows.keys()
        if twice:
            raise ValueError(f"{name}: {min(twice)} is described elsewhere too")
        rows |= family.rows
    return _File(
        FORMAT,
        " ".join(family.others for family in read.values()),
        tuple(each for family in read.values() for each in family.secrets),
        tuple(each for family in read.values() for each in family.settings),
        rows,
    )


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


@functools.lru_cache(maxsize=1024)
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


@functools.cache
def with_subcommands() -> frozenset[str]:
    """Programs whose subcommands have rows of their own, with options that may stand before and after them."""
    return frozenset(name for name, row in _table()[0].items() if row.subcommands and " " not in name)


@functools.cache
def subcommands(name: str) -> tuple[str, ...]:
    """The names of all rows below a program or one of its subcommands."""
    return tuple(title for title in _table()[0] if title.startswith(name + " "))


def find_operation(name: str, words: tuple[str, ...]) -> tuple[str, Row] | None:
    """The row of the longest subcommand (up to three words) that `words` begin with, and its name."""
    rows = _table()[0]
    for length in range(min(3, len(words)), 0, -1):
        title = " ".join((name, *words[:length]))
        row = rows.get(title)
        if row is not None:
            return title, row
    return None


def _doing(name: str, text: str) -> Doing | None:
    """`destroy`, or with places: `change credentials`. Raises ValueError naming the row."""
    if not text:
        return None
    kind, *places = text.split()
    try:
        return msgspec.convert({"kind": kind, "places": places}, Doing)
    except msgspec.ValidationError as e:
        raise ValueError(f"{name}: {e}") from e


def _parent(name: str, raw: dict[str, _Raw]) -> str:
    """The row that a row builds on: the one it names, else the nearest above it whose subcommands share its options."""
    if raw[name].same_as:
        return raw[name].same_as
    above = name.rpartition(" ")[0]
    while above and not (above in raw and raw[above].subcommands):
        above = above.rpartition(" ")[0]
    return above


def _row(name: str, raw: dict[str, _Raw]) -> Row:
    own = raw[name]
    above = _parent(name, raw)
    base = _row(above, raw) if above else None
    inner = base if base and own.same_as else None  # what a program does is not what its subcommands do

    def several(attribute: str) -> frozenset[str]:
        words = frozenset(getattr(own, attribute).split())
        return words | getattr(base, attribute) if base else words

    does_with = {
        **(inner.does_with if inner else {}),
        **{option: _doing(name, text) for option, text in own.does_with.items()},
    }
    verbs: tuple[tuple[str, Doing | Literal["look"] | None], ...] = tuple(
        (pattern, LOOKS if does == LOOKS else _doing(name, does))
        for does, patterns in own.verbs.items()
        for pattern in patterns.split()
    )
    takes = {**(base.takes if base else {}), **own.takes}
    turns = {**(base.turns if base else {}), **own.turns}
    valued, target, attached = several("valued"), several("target"), several("attached")
    flags, recursive, force = several("flags"), several("recursive"), several("force")
    with_value = valued | target | attached | frozenset(takes)
    harmless, only_with = (
        several("harmless"),
        frozenset(own.only_with.split()) or (inner.only_with if inner else frozenset()),
    )
    named = frozenset(flag.partition("=")[0] for flag in (*does_with, *harmless, *only_with))
    every = flags | recursive | force | with_value | frozenset(turns) | several("no_first") | named
    return Row(
        args=own.args if own.args is not None else (base.args if base else ()),
        read_only=own.read_only if own.read_only is not None else (inner.read_only if inner else False),
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
        subcommands=own.subcommands or (base.subcommands if base else False),
        does=_doing(name, own.does) if own.does is not None else (inner.does if inner else None),
        does_with=does_with,
        only_with=only_with,
        harmless=harmless,
        realm=own.realm or (base.realm if base else ""),
        verbs=verbs or (inner.verbs if inner else ()),
        tasks=own.tasks or (inner.tasks if inner else False),
        like=own.like or (inner.like if inner else ""),
        with_value=with_value,
        long=tuple(sorted(flag for flag in every if flag.startswith("--"))),
    )
