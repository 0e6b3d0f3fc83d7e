"""Patterns for names, targets and words: `*` stands for any text, `?` for one character, `[ab]` for one of these.

A match takes time linear in the text whatever the pattern, because patterns come from files that anybody may
have written: between stars stand pieces of fixed length, and each is looked for once, from the left.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

_PIECE = re.compile(r"\[(!?)(\]?[^]]*)\]|(.)", re.DOTALL)
_MARKS = frozenset("*?[")


@functools.lru_cache(maxsize=4096)
def one(pattern: str) -> Callable[[str], bool]:
    """Whether a whole text fits the pattern."""
    if _MARKS.isdisjoint(pattern):
        return pattern.__eq__
    pieces: list[list[str]] = [[]]
    for found in _PIECE.finditer(pattern):
        if found[3] == "*":
            pieces.append([])
        elif found[3] is not None:
            pieces[-1].append("." if found[3] == "?" else re.escape(found[3]))
        else:
            pieces[-1].append(_class(found[2], bool(found[1])))
    compiled = tuple(re.compile("(?s:" + "".join(piece) + ")") for piece in pieces)
    return functools.partial(_fits, compiled, tuple(map(len, pieces)))


def _class(members: str, negated: bool) -> str:
    """A range that runs backwards holds nothing."""
    out = ""
    for found in re.finditer(r"(.)-(.)|(.)", members, re.DOTALL):
        if found[3] is not None:
            out += re.escape(found[3])
        elif found[1] <= found[2]:
            out += f"{re.escape(found[1])}-{re.escape(found[2])}"
    if not out:
        return "." if negated else "(?!)"
    return f"[{'^' if negated else ''}{out}]"


def any_of(patterns: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a whole text fits one of the patterns."""
    plain = frozenset(pattern for pattern in patterns if _MARKS.isdisjoint(pattern))
    rest = tuple(one(pattern) for pattern in patterns if pattern not in plain)
    if not rest:
        return plain.__contains__
    return lambda text: text in plain or any(fits(text) for fits in rest)


def has_marks(text: str) -> bool:
    return not _MARKS.isdisjoint(text)


def _fits(pieces: tuple[re.Pattern[str], ...], lengths: tuple[int, ...], text: str) -> bool:
    if len(pieces) == 1:
        return pieces[0].fullmatch(text) is not None
    end = len(text) - lengths[-1]
    at = lengths[0]
    if end < at or not pieces[0].match(text) or not pieces[-1].match(text, end):
        return False
    for piece in pieces[1:-1]:
        found = piece.search(text, at, end)
        if found is None:
            return False
        at = found.end()
    return True
