"""Brace expansion: one raw word -> the raw words that bash makes of it before anything else."""

from __future__ import annotations

import re
from itertools import pairwise

from reflexd.shell.fields import UNKNOWN
from reflexd.shell.scan import ansi_c_end, closed_end, quoted_end

FIELDS_MAX = 256
LENGTH_MAX = 64 * 1024  # of all the words on the way, together
_MARKS = re.compile(r"[\\'\"`${},]")
_SEQUENCE = re.compile(r"(-?\d{1,9}|[a-zA-Z])\.\.(-?\d{1,9}|[a-zA-Z])(?:\.\.(-?\d{1,9}))?\Z")


def braces(raw: str) -> list[str]:
    """Brace expansion of a raw word; quotes and ${...} are left alone. UNKNOWN stands for the words beyond the caps."""
    if "{" not in raw:
        return [raw]
    done: list[str] = []
    pending = [raw]
    length = 0
    while pending:
        if len(done) + len(pending) > FIELDS_MAX:
            return [*done, *pending, UNKNOWN]
        if length > LENGTH_MAX:
            return [*done, UNKNOWN]
        word = pending.pop(0)
        split = _first_brace(word)
        if split is None:
            done.append(word)
        else:
            before, choices, after = split
            made = [before + choice + after for choice in choices]
            length += sum(map(len, made))
            pending[:0] = made
    return done


def _first_brace(word: str) -> tuple[str, list[str], str] | None:
    """The first brace that is one (it closes, and holds a comma or is a sequence), cut out of the word.

    One pass, whatever is open: a brace that never closes is not looked for from every other one again.
    """
    opened: list[list[int]] = []  # of each open brace: where it opens, and its own commas
    first: tuple[int, list[str], int] | None = None
    i = 0
    while found := _MARKS.search(word, i):
        i = found.start()
        c = word[i]
        if c == "\\":
            i += 2
            continue
        if c in "'\"`":
            i = quoted_end(word, i)
            continue
        if c == "$":
            after = word[i + 1 : i + 2]
            i = ansi_c_end(word, i + 1) if after == "'" else closed_end(word, i + 1) if after in ("{", "(") else i + 1
            continue
        if c == "{":
            opened.append([i])
        elif opened and c == ",":
            opened[-1].append(i)
        elif opened:
            at, *commas = opened.pop()
            inside = _choices(word, at, commas, i)
            if inside and (first is None or at < first[0]):
                first = at, inside, i + 1
            if first and not opened:
                break
        i += 1
    return (word[: first[0]], first[1], word[first[2] :]) if first else None


def _choices(word: str, at: int, commas: list[int], end: int) -> list[str] | None:
    """The choices of the brace from `at` to `end`; None where it is only text."""
    if not commas:
        return _sequence(word[at + 1 : end])
    edges = [at, *commas, end]
    return [word[left + 1 : right] for left, right in pairwise(edges)]


def _sequence(text: str) -> list[str] | None:
    found = _SEQUENCE.match(text)
    if not found:
        return None
    first, last, step = found.groups()
    letters = first.isalpha() and last.isalpha()
    if not letters and (first.isalpha() or last.isalpha()):
        return None
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    by = max(abs(int(step)) if step else 1, 1)
    numbers = range(low, high + 1, by) if low <= high else range(low, high - 1, -by)
    return [chr(x) if letters else str(x) for x in numbers[:FIELDS_MAX]]
