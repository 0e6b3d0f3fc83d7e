"""Brace expansion: one raw word -> the raw words that bash makes of it before anything else."""

from __future__ import annotations

import re

from reflexd.shell.fields import UNKNOWN
from reflexd.shell.scan import ansi_c_end, closed_end, quoted_end

FIELDS_MAX = 256
LENGTH_MAX = 64 * 1024  # of all the words on the way, together
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
    i, n = 0, len(word)
    while i < n:
        c = word[i]
        if c == "\\":
            i += 2
        elif c in "'\"`":
            i = quoted_end(word, i)
        elif c == "$" and word[i + 1 : i + 2] in ("{", "("):
            i = closed_end(word, i + 1)
        elif c == "$" and word[i + 1 : i + 2] == "'":
            i = ansi_c_end(word, i + 1)
        elif c == "{":
            inside = _choices(word, i)
            if inside:
                return word[:i], inside[0], word[inside[1] :]
            i += 1
        else:
            i += 1
    return None


def _choices(word: str, at: int) -> tuple[list[str], int] | None:
    """The comma-separated choices (or the sequence) of the brace at `at`, and where it ends."""
    parts, start, depth, i, n = [], at + 1, 0, at + 1, len(word)
    while i < n:
        c = word[i]
        if c == "\\":
            i += 1
        elif c in "'\"`":
            i = quoted_end(word, i) - 1
        elif c == "$" and word[i + 1 : i + 2] in ("{", "("):
            i = closed_end(word, i + 1) - 1
        elif c == "{":
            depth += 1
        elif c == "," and not depth:
            parts.append(word[start:i])
            start = i + 1
        elif c == "}" and depth:
            depth -= 1
        elif c == "}":
            parts.append(word[start:i])
            if len(parts) > 1:
                return parts, i + 1
            sequence = _sequence(parts[0])
            return (sequence, i + 1) if sequence else None
        i += 1
    return None


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
