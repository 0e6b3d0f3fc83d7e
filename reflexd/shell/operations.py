"""Programs whose subcommands act on what a service holds or on work in bulk, by the rows of config/programs/."""

from __future__ import annotations

from typing import Literal

import msgspec

from reflexd.shell import globs
from reflexd.shell.arguments import Parsed, only_looks, parse, roles
from reflexd.shell.calls import Call
from reflexd.shell.dbtarget import of_tool
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.operands import effect
from reflexd.shell.places import Ground
from reflexd.shell.programs import LOOKS, Doing, Row, find_operation, find_row, subcommands
from reflexd.shell.realms import data, places
from reflexd.types import Effect, EffectKind

WORDS_SHOWN = 8
WORDS_READ = 256  # operands among which a subcommand is looked for
_TRUE = frozenset({"true", "1", "t", "T", "TRUE", "True"})
_SEVERITY: tuple[EffectKind, ...] = ("destroy", "discard", "control", "change", "install", "send", "read")


def operation(call: Call, name: str, ground: Ground) -> tuple[list[Effect], bool] | None:
    """What the call's subcommand does, and whether it is proved to change nothing; None where no row knows it."""
    base = find_row(name)
    if base is None:
        return None
    other, *shared = base.like.split() or [name]
    row, title, depth = base, name, 0
    parsed = parse(call.argv[1:], base)
    # A subcommand has options of its own, which may stand before the next word of its name.
    while True:
        found = find_operation(name, parsed.operands) or find_operation(other, (*shared, *parsed.operands))
        if found is None or found[0].count(" ") <= title.count(" "):
            break
        words = found[0].split(" ")[1:]
        own = len(words) - (0 if found[0].startswith(name + " ") else len(shared))
        read = parse(call.argv[1:], found[1])
        if own < 1 or list(read.operands[:own]) != words[-own:]:
            break  # an option's value was taken for a subcommand
        (title, row), depth, parsed = found, own, read
    group = title if depth else " ".join((other, *shared))
    if parsed.strange and subcommands(group):
        hidden = _hidden(
            call, other, base, Parsed(parsed.flags, parsed.values, (*shared, *parsed.operands), True), ground
        )
        if hidden is not None:
            told = _by_verb(call, name, row, parsed, ground) if row.verbs else ([], False)
            return [*hidden[0], *told[0]], False
    shares = find_row(other)
    if shares is not None and other != name and row.realm == shares.realm:
        row = msgspec.structs.replace(row, realm=base.realm)
    if depth and not row.verbs:
        inner = Parsed(parsed.flags, parsed.values, parsed.operands[depth:], parsed.strange)
        return by_row(call, title, row, inner, ground)
    if row.verbs:
        return _by_verb(call, name, row, parsed, ground)
    return None


def _hidden(call: Call, program: str, base: Row, parsed: Parsed, ground: Ground) -> tuple[list[Effect], bool] | None:
    """What a call does whose subcommand may stand behind the value of an option that nobody described."""
    does, row = None, base
    for each in subcommands(program):
        words = iter(parsed.operands[:WORDS_READ])
        if all(word in words for word in each.split(" ")[1:]):
            candidate = find_row(each)
            found = doing(candidate, parsed) if candidate is not None else None
            if candidate is not None and found is not None and _severity(found) < _severity(does):
                does, row = found, candidate
    if does is None:
        return None
    return [_whole(does, program, row.realm, call, parsed, ground)], False


def by_row(call: Call, title: str, row: Row, parsed: Parsed, ground: Ground) -> tuple[list[Effect], bool]:
    """The effects of a call whose words were read by `row`, and whether it is proved to change nothing."""
    if harmless(call, row, parsed):
        return [], False
    deep = row.always_recursive or parsed.has(row.recursive) or (UNKNOWN in parsed.flags and bool(row.recursive))
    force = parsed.has(row.force)
    found: list[Effect] = []
    for role, word in roles(parsed, row):
        made = effect(role, word, call, ground, deep, force, title)
        if made is not None:
            found.append(made)
    does = doing(row, parsed)
    if does:
        found.append(_whole(does, title, row.realm, call, parsed, ground, deep, force))
    return found, not does and only_looks(parsed, row)


def _whole(
    does: Doing,
    title: str,
    realm: str,
    call: Call,
    parsed: Parsed,
    ground: Ground,
    deep: bool = False,
    force: bool = False,
) -> Effect:
    words = (title, *parsed.operands)[:WORDS_SHOWN]
    kind, target = does.kind, " ".join(map(shown, words))
    told = data().realm.get(realm)
    if told is not None and told.database:
        database = of_tool(told, call, parsed, ground)
        lies = database.places
        kind = "change" if kind == "destroy" and database.passing else kind
    elif "elsewhere" in does.places:
        lies = ()  # the row knows better than the realm: an image is built here and pushed away
    else:
        lies = places(realm, call, parsed, ground)
    where = dict.fromkeys((*lies, *does.places))
    detail = title.partition(" ")[2] or title
    return Effect(kind, target, tuple(where), deep, force, detail)


def _by_verb(call: Call, name: str, base: Row, parsed: Parsed, ground: Ground) -> tuple[list[Effect], bool]:
    """A program with more subcommands than anybody lists, by the word among them that says what is done."""
    if not parsed.operands:
        return [], base.read_only and only_looks(parsed, base)
    if harmless(call, base, parsed):
        return [], False
    read = [(at, _verb(base, word)) for at, word in enumerate(parsed.operands[:WORDS_READ])]
    fits = [(at, does) for at, does in read if does is not _NO_VERB]
    does: _Verb
    if not fits:
        at, does = len(parsed.operands), doing(base, parsed)
    elif parsed.strange or base.tasks:
        # The value of an option that nobody named may stand where the verb seems to.
        at, does = min(fits, key=lambda fit: _severity(fit[1]))
    else:
        at, does = fits[0]
    if not isinstance(does, Doing):
        return [], does == LOOKS and not parsed.strange
    first = at if base.tasks else 0  # what stands before a task is another one, or a setting of all of them
    title = " ".join((name, *map(shown, parsed.operands[first : at + 1])))
    others = (*parsed.operands[:first], *parsed.operands[at + 1 :])
    if base.tasks:
        others = tuple(word for word in others if _verb(base, word) is _NO_VERB)
    rest = Parsed(parsed.flags, parsed.values, others, parsed.strange)
    made = _whole(does, title, base.realm, call, rest, ground)
    if base.tasks:
        made = msgspec.structs.replace(made, target=" ".join((name, *map(shown, parsed.operands[:WORDS_SHOWN]))))
    return [made], False


_NO_VERB = Doing("read")
_Verb = Doing | Literal["look"] | None


def _verb(row: Row, word: str) -> _Verb:
    """What a word says is done, _NO_VERB for a word that says nothing of the kind."""
    return next((does for pattern, does in row.verbs if globs.one(pattern)(word)), _NO_VERB)


def _severity(does: _Verb) -> int:
    return _SEVERITY.index(does.kind) if isinstance(does, Doing) and does.kind in _SEVERITY else len(_SEVERITY)


def harmless(call: Call, row: Row, parsed: Parsed) -> bool:
    """Whether an option says that nothing is done at all (--help, --dry-run).

    Not where it could be another option's value, and not where it is taken back later in the line.
    """
    if parsed.strange or not row.harmless:
        return False
    for option in row.harmless:
        name, equals, _ = option.partition("=")
        if equals:
            given = [value for each, value in parsed.values if each == name]
            if given and all(f"{name}={value}" in row.harmless for value in given):
                return True
        elif name in parsed.flags:
            spelled = [word.partition("=")[2] for word in call.argv if word.startswith(name + "=")]
            if all(value in _TRUE for value in spelled):
                return True
    return False


def doing(row: Row, parsed: Parsed) -> Doing | None:
    """What the call does as a whole, None for nothing of the kind."""
    for option, does in row.does_with.items():
        name, equals, value = option.partition("=")
        if (name, value) in parsed.values if equals else name in parsed.flags:
            return does
    if row.only_with and not parsed.has(row.only_with) and UNKNOWN not in parsed.flags and UNSET not in parsed.flags:
        return None
    return row.does
