"""A call's words, read by the row of its program: options, operands, what becomes of each."""

from __future__ import annotations

from msgspec import Struct

from reflexd.shell.fields import UNKNOWN, UNSET
from reflexd.shell.programs import Role, Row


class Parsed(Struct, frozen=True):
    """A call's words by its row. `strange`: an option that the row does not name was used."""

    flags: frozenset[str]
    values: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]
    strange: bool

    def has(self, names: frozenset[str]) -> bool:
        return not names.isdisjoint(self.flags)


def parse(args: tuple[str, ...], row: Row) -> Parsed:
    """Options may stand anywhere up to `--`; long ones may be cut short where only one fits."""
    flags: set[str] = set()
    values: list[tuple[str, str]] = []
    operands: list[str] = []
    strange = False
    i, n = 0, len(args)
    while i < n:
        word = args[i]
        i += 1
        if row.text:
            flags.add(word.partition("=")[0])
            operands.append(word)
        elif word == "--":
            operands.extend(args[i:])
            break
        elif word in row.pairs:
            flags.add(word)
            i += 2
        elif word.startswith("--"):
            name, equals, value = word.partition("=")
            if name not in row.long:
                # GNU programs take an option cut short, others do not: it may mean the long one, it proves nothing.
                strange = True
                name = _whole(name, row)
            flags.add(name)
            if name in row.with_value:
                if equals:
                    values.append((name, value))
                elif name not in row.attached and i < n:
                    values.append((name, args[i]))
                    i += 1
            elif name not in row.flags:
                strange = strange or not _named(name, row)
        elif len(word) > 1 and word[0] == "-":
            if word in row.flags or word in row.recursive or word in row.force:
                flags.add(word)
            elif word in row.with_value:
                flags.add(word)
                if word not in row.attached and i < n:
                    values.append((word, args[i]))
                    i += 1
            elif len(word) > 2 and _named(word, row):  # -help is a word, not letters
                flags.add(word)
            elif row.numeric and word[1:].isdigit():
                continue
            elif "=" in word and len(name := word.partition("=")[0]) > 2 and name in row.with_value:
                flags.add(name)  # -url=value, as Go's and Java's programs take it
                values.append((name, word.partition("=")[2]))
            elif row.modes and word[1:] and set(word[1:]) <= set("rwxXstugoaieAcdjP,=+-"):
                _mode(word, row, flags, operands)
                continue
            else:
                i, odd = _letters(args, i, word, row, flags, values)
                strange = strange or odd
            _spell(word, flags)
        elif word[:1] == "/" and len(word) == 2 and (word in row.recursive or word in row.force):
            flags.add(word)
        else:
            operands.append(word)
    return Parsed(frozenset(flags), tuple(values), tuple(operands), strange)


def roles(parsed: Parsed, row: Row) -> tuple[tuple[Role, str], ...]:
    """Each operand, and each option's value that names a file, with what becomes of it."""
    found: list[tuple[Role, str]] = [
        (row.takes[name], value) for name, value in parsed.values if row.takes.get(name, "none") != "none"
    ]
    pattern = next((turned for flag, turned in row.turns.items() if flag in parsed.flags), row.args)
    operands = parsed.operands
    directory = next((value for name, value in parsed.values if name in row.target), None)
    if directory is not None:
        found.append(("write", directory))
        pattern = pattern[:-1] or pattern
    if row.no_first and parsed.has(row.no_first) and pattern[:1] == ("none",):
        pattern = pattern[1:]
    star = next((i for i, role in enumerate(pattern) if role.endswith("*")), None)
    if star is None:
        named = zip(pattern, operands, strict=False)
    else:
        after = len(pattern) - star - 1
        middle = max(0, len(operands) - star - after)
        named = zip((*pattern[:star], *(pattern[star],) * middle, *pattern[star + 1 :]), operands, strict=False)
    for role, word in named:
        kind = role.rstrip("*")
        if kind != "none":
            found.append((kind, word))  # type: ignore[arg-type]
    return tuple(found)


def only_looks(parsed: Parsed, row: Row) -> bool:
    """Whether this call, by its words alone, changes nothing."""
    if not row.read_only or parsed.strange or (row.no_flags and parsed.has(row.no_flags)):
        return False
    operands = parsed.operands
    if not row.args and operands:
        return False
    if row.first and (not operands or operands[0] not in row.first):
        return False
    if row.words and operands and operands[0] not in row.words:
        return False
    written = any(role not in ("none", "path", "read") for role, _ in roles(parsed, row))
    return not written and not any(word[:1] in (UNKNOWN, UNSET) for word in operands)


def _letters(
    args: tuple[str, ...], i: int, word: str, row: Row, flags: set[str], values: list[tuple[str, str]]
) -> tuple[int, bool]:
    """A word of one-letter options: -rf, -n5, -Rf."""
    odd = False
    for at in range(1, len(word)):
        flag = "-" + word[at]
        flags.add(flag)
        if flag in row.with_value:
            if at + 1 < len(word):
                values.append((flag, word[at + 1 :]))
            elif flag not in row.attached and i < len(args):
                values.append((flag, args[i]))
                i += 1
            return i, odd
        if flag not in row.flags and flag not in row.recursive and flag not in row.force:
            if row.numeric and word[at].isdigit():
                continue
            odd = odd or not _named(flag, row)
    return i, odd


def _mode(word: str, row: Row, flags: set[str], operands: list[str]) -> None:
    """chmod's -R is an option, its -rwx a mode."""
    letters = {"-" + letter for letter in word[1:]}
    if letters & row.recursive or letters <= row.flags:
        flags.update(letters)
    else:
        operands.append(word)


def _spell(word: str, flags: set[str]) -> None:
    if UNKNOWN in word or UNSET in word:
        flags.add(UNKNOWN)


def _whole(name: str, row: Row) -> str:
    if name in row.long or len(name) < 3:
        return name
    fits = [known for known in row.long if known.startswith(name)]
    return fits[0] if fits and (len(fits) == 1 or fits[0] in row.recursive) else name


def _named(flag: str, row: Row) -> bool:
    return (
        flag in row.recursive
        or flag in row.force
        or flag in row.turns
        or flag in row.no_flags
        or flag in row.no_first
        or flag in row.harmless
        or flag in row.only_with
        or flag in row.does_with
    )
