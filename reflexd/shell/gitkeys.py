"""What makes git run a program of somebody's choosing, and which subcommands would. Data: config/gitkeys.toml.

A key is a setting (section and variable in lower case), `env:NAME` for a variable, or `hook:NAME`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable

from msgspec import Struct

from reflexd.shell.tables import table

PREFIX = "runs:"
"""What a repository's sighting puts before the name of a key that it found."""
WALKED = "walk:"
"""The same before a key whose text is not a person's: it is judged as if it had been typed. Aliases always are."""

ENV, HOOK = "env:", "hook:"
_TRUTHS = re.compile(r"(?:true|yes|on|false|no|off|\s*[+-]?(?:0x[0-9a-f]+|\d+)[kmg]?|)\Z", re.IGNORECASE)
_PLAIN = re.compile(r"[\w./~:=,@%+-]+\Z")
# Options that write a file, read commands from one, or name another program.
_RISKY = re.compile(r"\+|--?(?:pager|log-file|lesskey|tag|use-color-cmd)|-[a-z]*[okt]", re.IGNORECASE)
_SSH_RISKY = re.compile(r"(?i:command)|\s-[A-Za-z]*[FE](?!\s*/dev/null\b)")
_ODD_TRANSPORT = re.compile(
    r"(?!(?:https?|ssh|git|file|ftps?|git\+ssh|ssh\+git)(?::|\Z))[A-Za-z][A-Za-z0-9+.-]*(?:::|://)"
)


class _Key(Struct, frozen=True, forbid_unknown_fields=True):
    names: tuple[str, ...]
    on: tuple[str, ...]
    but: str = ""
    booleans: bool = False
    words: tuple[str, ...] = ()
    programs: str = ""
    only: str = ""
    urls: bool = False
    code: bool = True


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    gitkeys: int
    others: str
    groups: dict[str, str]
    programs: dict[str, str]
    key: tuple[_Key, ...]


@functools.cache
def data() -> _Data:
    return table("gitkeys.toml", _Data)


def names_a_program(key: str, value: str) -> bool:
    """Whether a key's value names a program of somebody's own; a setting without a value is "true"."""
    row = _row(key)
    if row is None or value in row.words or (row.booleans and _TRUTHS.match(value)):
        return False
    if row.only:
        return re.match(row.only, value) is not None
    if row.urls:
        return _ODD_TRANSPORT.match(value) is not None
    if not value.strip():
        return False
    known = frozenset(data().programs[row.programs].split()) if row.programs else frozenset()
    return not all(_is_known(stage, known, row.programs) for stage in value.split("|"))


def code(key: str, value: str) -> str:
    """The text that a shell would run for a key's value, empty where it would run none. What git adds is left out."""
    row = _row(key)
    if row is None or not row.code or not value.strip() or (row.booleans and _TRUTHS.match(value)):
        return ""
    if row.only and not re.match(row.only, value):
        return ""
    if row.urls:
        return carried(value)
    if value.startswith("!"):
        return value[1:]
    match key.lower().rpartition(".")[2]:
        case _ if key.lower().startswith("alias."):
            return f"git {value}"
        case "helper":
            return value if value.startswith("/") else f"git credential-{value}"
        case _:
            return value.lstrip("|-") if key == "env:lessopen" else value


def carried(url: str) -> str:
    """What a URL runs by itself: `ext::COMMAND`, in which `% ` is a blank of a word and `%%` a percent sign."""
    if not url.startswith("ext::"):
        return ""
    return re.sub(r"%(.)", lambda mark: {" ": "\\ ", "%": "%"}.get(mark[1], ""), url.removeprefix("ext::"))


def run_by(subcommand: str, pairs: Iterable[tuple[str, str]], prefix: str = PREFIX) -> tuple[tuple[str, str], ...]:
    """The keys among a sighting's pairs, with their values, whose program `git SUBCOMMAND` may run."""
    keys = [(name.removeprefix(prefix), value) for name, value in pairs if name.startswith(prefix)]
    return tuple((key, value) for key, value in keys if _touches(key, subcommand))


@functools.cache
def named(prefix: str) -> frozenset[str]:
    """The variables (ENV) or hooks (HOOK) that are keys."""
    return frozenset(name.removeprefix(prefix) for row in data().key for name in row.names if name.startswith(prefix))


def _touches(key: str, subcommand: str) -> bool:
    row = _row(key)
    if row is None:
        return False
    for on in row.on:
        if on == ".":
            named_one = key.partition(".")[2].removesuffix(".command")
            if named_one == subcommand and not (key.startswith("alias.") and subcommand in _own()):
                return True
        elif (on == "*" and subcommand not in row.but.split()) or subcommand in _subcommands(on):
            return True
    return False


@functools.cache
def _own() -> frozenset[str]:
    """The subcommands that git brings along."""
    known = data()
    return frozenset(word for words in (known.others, *known.groups.values()) for word in words.split())


@functools.cache
def _subcommands(on: str) -> frozenset[str]:
    return frozenset(data().groups.get(on, on).split())


@functools.lru_cache(maxsize=1024)
def _row(key: str) -> _Key | None:
    lowered = key.lower()
    return next((row for row, pattern in _patterns() if pattern.match(lowered)), None)


@functools.cache
def _patterns() -> tuple[tuple[_Key, re.Pattern[str]], ...]:
    found = []
    for row in data().key:
        names = "|".join(re.escape(name).replace(r"\.\*\.", r"\.(?:.*\.)?").replace(r"\*", ".*") for name in row.names)
        found.append((row, re.compile(f"(?:{names})\\Z", re.DOTALL)))
    return tuple(found)


def _is_known(stage: str, known: frozenset[str], kind: str) -> bool:
    """Whether a command is one of the known programs by its bare name, with options that do nothing else."""
    words = stage.split()
    if not words or words[0] not in known or not all(map(_PLAIN.match, words)):
        return False
    if kind == "shells":
        return _SSH_RISKY.search(stage) is None
    return kind not in ("pagers", "compares") or not any(map(_RISKY.match, words[1:]))
