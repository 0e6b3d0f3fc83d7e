"""The rows of config/wrappers.toml: where among a program's words the command stands that it runs."""

from __future__ import annotations

import functools

from msgspec import Struct

from reflexd.shell.calls import Call
from reflexd.shell.carriers import ITEMS_MAX, Unwrapped
from reflexd.shell.fields import UNKNOWN, known
from reflexd.shell.options import command_at, names, split
from reflexd.shell.tables import table

SUBCOMMANDS_MAX = 3
HOST_MAX = 200


class Row(Struct, frozen=True, forbid_unknown_fields=True):
    """One program or subcommand; see the head of the file for what the keys mean."""

    valued: str = ""
    globals: str = ""
    code: str = ""
    words: str = ""
    after: str = ""
    same_as: str = ""
    skip: int = 0
    each: bool = False
    line: bool = False
    stdin: bool = False
    typed: bool = False
    options: bool = False
    away: bool = False


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    wrappers: int
    rows: dict[str, Row]


@functools.cache
def rows() -> dict[str, Row]:
    read = table("wrappers.toml", _File).rows
    return {name: read[row.same_as] if row.same_as else row for name, row in read.items()}


@functools.cache
def away() -> frozenset[str]:
    """Programs that run commands on other machines."""
    return frozenset(name.partition(" ")[0] for name, row in rows().items() if row.away)


@functools.cache
def _beginnings() -> frozenset[str]:
    """Every name that a longer one begins with."""
    return frozenset(" ".join(name.split()[:count]) for name in rows() for count in range(1, len(name.split())))


def find(call: Call) -> tuple[Row, tuple[str, ...]] | None:
    """The row of the longest name that the call's words spell, and the words after that name."""
    title, args, at = call.name, call.argv[1:], 0
    row = rows().get(title)
    best = (row, args) if (row is not None and row != Row(globals=row.globals)) or row == Row() else None
    valued = names(row.globals) if row is not None else frozenset()
    for _ in range(SUBCOMMANDS_MAX):
        if title not in _beginnings():
            break
        at += command_at(args[at:], valued)
        if at >= len(args):
            break
        title = f"{title} {args[at]}"
        at += 1
        deeper = rows().get(title)
        best = (deeper, args[at:]) if deeper is not None else best
    return best


def unwrap(row: Row, args: tuple[str, ...], call: Call) -> Unwrapped | None:
    valued = names(f"{row.valued} {row.code}")
    command = _command(row, args, valued)
    before = args if row.options or row.each else args[: len(args) - len(command)]
    code = list(split(before, valued).all(*names(row.code)))
    if row.typed:
        code.append(_typed(split(args, valued).operands))
        command = ()
    elif row.each:
        code.extend(split(args, valued).operands[:ITEMS_MAX])
        command = ()
    if len(command) > 1 and command[0] in names(row.code):  # sg GROUP -c CODE
        code.append(command[1])
        command = ()
    assigned = []
    while command and "=" in command[0] and command[0].partition("=")[0].isidentifier():
        name, _, value = command[0].partition("=")
        assigned.append((name, value))
        command = command[1:]
    if command and (row.line or (len(command) == 1 and " " in command[0])):
        code.append(" ".join(command))
        command = ()
    code = [text for text in code if text]
    opaque: tuple[str, ...] = ()
    if row.stdin and not code and not command and call.fed:
        if call.stdin is None or not known(call.stdin):
            opaque = (f"{call.name} runs what it is given to read, which nobody has seen",)
        code.extend([call.stdin] if call.stdin is not None else [])
    if not code and not command and not opaque:
        return None
    return Unwrapped(
        commands=(command,) if command else (),
        code=tuple(code),
        assigned=tuple(assigned),
        opaque=opaque,
        host=_machine(row, before, valued) if row.away else "",
        cwd=UNKNOWN if row.away else "",
    )


def _machine(row: Row, before: tuple[str, ...], valued: frozenset[str]) -> str:
    """What names the machine: the words before the command, without the command itself."""
    words = split(before, valued)
    named = (value for name, value in words.values if name not in names(row.code))
    return " ".join((*words.operands, *named))[:HOST_MAX] or "?"


def _command(row: Row, args: tuple[str, ...], valued: frozenset[str]) -> tuple[str, ...]:
    if row.words:
        opens = names(row.words)
        for i, word in enumerate(args):
            if word in opens:
                return args[i + 1 + row.skip :]
            if word.startswith("--") and word.partition("=")[0] in opens:
                return (word.partition("=")[2], *args[i + 1 :])
        return ()
    if row.after:
        return args[args.index(row.after) + 1 :] if row.after in args else ()
    if row.options:
        return ()
    rest = args[command_at(args, valued) + row.skip :]
    return rest[1:] if rest[:1] == ("--",) else rest


def _typed(words: tuple[str, ...]) -> str:
    return " ".join(words).replace("\\n", "\n").replace("\\r", "\n").replace("^M", "\n").replace("\r", "\n")
