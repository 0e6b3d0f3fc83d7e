"""Reading a program's words: which are options, which their values, which operands."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Words(Struct, frozen=True):
    """`flags` holds every option ("-r", "--force"), single letters taken apart; `values` what they were given."""

    flags: frozenset[str]
    values: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    def has(self, *names: str) -> bool:
        return any(name in self.flags for name in names)

    def value(self, *names: str) -> str | None:
        return next((value for name, value in self.values if name in names), None)

    def all(self, *names: str) -> tuple[str, ...]:
        return tuple(value for name, value in self.values if name in names)


def names(text: str) -> frozenset[str]:
    """A set of names, written as one string."""
    return frozenset(text.split())


def split(args: Iterable[str], valued: frozenset[str] = frozenset()) -> Words:
    """GNU order: options anywhere up to `--`. `valued` are the options that take a value."""
    words = list(args)
    flags: set[str] = set()
    values: list[tuple[str, str]] = []
    operands: list[str] = []
    i = 0
    while i < len(words):
        word = words[i]
        if word == "--":
            operands.extend(words[i + 1 :])
            break
        if word.startswith("--"):
            name, equals, value = word.partition("=")
            flags.add(name)
            if equals:
                values.append((name, value))
            elif name in valued and i + 1 < len(words):
                i += 1
                values.append((name, words[i]))
        elif word.startswith("-") and len(word) > 1:
            i = _letters(words, i, valued, flags, values)
        else:
            operands.append(word)
        i += 1
    return Words(frozenset(flags), tuple(values), tuple(operands))


def _letters(words: list[str], i: int, valued: frozenset[str], flags: set[str], values: list[tuple[str, str]]) -> int:
    word = words[i]
    if word in valued:
        flags.add(word)
        if i + 1 < len(words):
            values.append((word, words[i + 1]))
            return i + 1
        return i
    name, equals, value = word.partition("=")
    if equals and len(name) > 2 and name in valued:  # go's way: -exec=PROGRAM
        flags.add(name)
        values.append((name, value))
        return i
    flags.add(word)
    for at, letter in enumerate(word[1:], 1):
        flags.add("-" + letter)
        if "-" + letter in valued:
            if at + 1 < len(word):
                values.append(("-" + letter, word[at + 1 :]))
            elif i + 1 < len(words):
                values.append(("-" + letter, words[i + 1]))
                return i + 1
            break
    return i


def command_at(args: tuple[str, ...], valued: frozenset[str], skip: int = 0) -> int:
    """The index in `args` of the command that a wrapper runs: after its options and `skip` operands."""
    i = 0
    while i < len(args):
        word = args[i]
        if word == "--":
            i += 1
            break
        if not word.startswith("-") or word == "-":
            break
        name = word.partition("=")[0]
        attached = "=" in word or (not word.startswith("--") and len(word) > 2 and word[:2] in valued)
        # -itv DIR: the last of several letters may take the next word.
        last = len(word) > 2 and word[1] != "-" and "=" not in word and not attached and "-" + word[-1] in valued
        i += 2 if (name in valued and not attached) or last else 1
    return min(i + skip, len(args))
