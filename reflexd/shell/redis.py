"""What Redis and its kin are told, a command a line. Data: config/databases.toml."""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator

from msgspec import Struct

from reflexd.shell.options import names
from reflexd.shell.statements import Does, File, Statement

LINES_MAX = 500
_WORD = re.compile(r"[a-z]+")


class Commands(Struct, frozen=True, forbid_unknown_fields=True):
    """Commands by what they do, `command#subcommand` before `command`; what is named nowhere changes something."""

    reads: str
    changes: str
    destroys: str
    runs: str
    access: str


def read(text: str, known: Commands) -> tuple[Statement, ...]:
    lines = [line for line in text.splitlines() if line.strip()]
    found = [_statement(line, known) for line in lines[:LINES_MAX]]
    return (*found, Statement("unclear", "more commands than are read")) if len(lines) > LINES_MAX else tuple(found)


def _statement(line: str, known: Commands) -> Statement:
    try:
        words = shlex.split(line)
    except ValueError:
        words = line.split()
    if words[:1] and words[0].isdigit():
        words = words[1:]  # that many times
    if words[:1] == ["call"] and len(words) > 2:
        words = words[2:]  # redis-cli --cluster call HOST COMMAND
    if not words:
        return Statement("reads", line.strip())
    name = words[0].lower()
    longer = f"{name}#{words[1].lower()}" if len(words) > 1 else name
    what = " ".join(words[:3]) if "#" in longer and longer in _table(known) else " ".join(words[:2])
    does = _table(known).get(longer) or _table(known).get(name, "changes")
    if does == "runs" and _destroyers(known).intersection(_WORD.findall(line.lower())):
        does = "destroys"  # a script that calls it
    files = tuple(_files(longer, words))
    return Statement(does, what, files=files)


def _files(longer: str, words: list[str]) -> Iterator[File]:
    """The server writes its dumps wherever it is told to."""
    pairs = zip(words[2::2], words[3::2], strict=False)
    for key, value in pairs if longer == "config#set" else ():
        if key.lower() in ("dir", "dbfilename", "logfile", "appenddirname", "aclfile"):
            yield "write", value


@functools.cache
def _destroyers(known: Commands) -> frozenset[str]:
    return names(known.destroys)


@functools.cache
def _table(known: Commands) -> dict[str, Does]:
    every: tuple[tuple[Does, str], ...] = (
        ("reads", known.reads),
        ("changes", known.changes),
        ("runs", known.runs),
        ("destroys", known.destroys),
        ("access", known.access),
    )
    return {name: does for does, text in every for name in names(text)}
