"""Programs whose subcommands act on what a service holds or on work in bulk, by the rows of config/programs/."""

from __future__ import annotations

from typing import Literal

from reflexd.shell.arguments import Parsed, only_looks, parse, roles
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, shown
from reflexd.shell.operands import effect
from reflexd.shell.places import Ground
from reflexd.shell.programs import Row, find_operation, find_row
from reflexd.shell.realms import places
from reflexd.types import Effect, EffectKind

WORDS_SHOWN = 8


def operation(call: Call, name: str, ground: Ground) -> tuple[list[Effect], bool] | None:
    """What the call's subcommand does, and whether it is proved to change nothing; None where no row knows it."""
    base = find_row(name)
    if base is None:
        return None
    outer = parse(call.argv[1:], base)
    found = find_operation(name, outer.operands)
    if found is None:
        return None
    title, row = found
    parsed = parse(call.argv[1:], row)
    depth = title.count(" ")
    if parsed.operands[:depth] != tuple(title.split(" ")[1:]):
        return None  # an option's value was taken for a subcommand; the program's own row says what is left
    inner = Parsed(parsed.flags, parsed.values, parsed.operands[depth:], parsed.strange)
    return by_row(call, title, row, inner, ground)


def by_row(call: Call, title: str, row: Row, parsed: Parsed, ground: Ground) -> tuple[list[Effect], bool]:
    """The effects of a call whose words were read by `row`, and whether it is proved to change nothing."""
    if parsed.has(row.harmless) or any(f"{name}={value}" in row.harmless for name, value in parsed.values):
        return [], False
    deep = row.always_recursive or parsed.has(row.recursive) or (UNKNOWN in parsed.flags and bool(row.recursive))
    force = parsed.has(row.force)
    found: list[Effect] = []
    for role, word in roles(parsed, row):
        made = effect(role, word, call, ground, deep, force, title)
        if made is not None:
            found.append(made)
    does = kind(row, parsed)
    if does:
        words = (title, *parsed.operands)[:WORDS_SHOWN]
        where = places(row.realm, call, parsed, ground)
        found.append(Effect(does, " ".join(map(shown, words)), where, deep, force, title.partition(" ")[2] or title))
    return found, not does and only_looks(parsed, row)


def kind(row: Row, parsed: Parsed) -> EffectKind | Literal[""]:
    """What the call does as a whole, empty for nothing of the kind."""
    for option, does in row.does_with.items():
        name, equals, value = option.partition("=")
        if (name, value) in parsed.values if equals else name in parsed.flags:
            return does
    if row.only_with and not parsed.has(row.only_with):
        return ""
    return row.does
