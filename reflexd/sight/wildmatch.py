"""git's patterns for paths, as its ignore rules and conditional includes use them.

A match costs time linear in the text, whatever the pattern: patterns come from files that anybody may have
written, and a backtracking matcher can be kept busy for hours by twenty characters. Works on bytes, as git does.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

LONGEST = 1024  # bytes of a pattern; a longer one matches nothing, and who asks has to know
SLASH = 0x2F
_KNOWN_STATES = 4096  # remembered steps of one pattern; beyond, they are worked out again

_CLASSES: dict[bytes, frozenset[int]] = {
    b"alnum": frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"alpha": frozenset(b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"blank": frozenset(b" \t"),
    b"cntrl": frozenset([*range(32), 127]),
    b"digit": frozenset(b"0123456789"),
    b"graph": frozenset(range(33, 127)),
    b"lower": frozenset(b"abcdefghijklmnopqrstuvwxyz"),
    b"print": frozenset(range(32, 127)),
    b"punct": frozenset(b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"),
    b"space": frozenset(b" \t\n\r\v\f"),
    b"upper": frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
    b"xdigit": frozenset(b"0123456789abcdefABCDEF"),
}


class _Token(NamedTuple):
    """`takes`: bytes that lead to the next token; `loops`: bytes that stay; `skips`: how far on it may be left out."""

    takes: frozenset[int] = frozenset()
    loops: frozenset[int] = frozenset()
    skips: tuple[int, ...] = ()


_ALL = frozenset(range(256))
_NAME = _ALL - {SLASH}


class Pattern:
    """One compiled pattern. `paths`: a slash is matched by a slash or by `**` alone. Safe in several threads."""

    def __init__(self, pattern: bytes, paths: bool = True, fold: bool = False) -> None:
        self._fold = fold
        tokens = _tokens(pattern, paths, fold) if len(pattern) <= LONGEST else None
        self._dead = tokens is None
        self._end = 1 << len(tokens or ())
        self._takes: dict[frozenset[int], int] = {}  # which tokens take just these bytes
        self._loops: dict[frozenset[int], int] = {}
        self._skips: list[tuple[int, int]] = []
        for place, token in enumerate(tokens or ()):
            self._takes[token.takes] = self._takes.get(token.takes, 0) | 1 << place
            self._loops[token.loops] = self._loops.get(token.loops, 0) | 1 << place
            self._skips += [(1 << place, 1 << (place + far)) for far in token.skips]
        self._start = self._spread(1)
        self._masks: dict[int, tuple[int, int]] = {}
        self._steps: dict[int, int] = {}

    def matches(self, text: bytes) -> bool:
        if self._dead:
            return False
        state, steps = self._start, self._steps
        for byte in text.lower() if self._fold else text:
            key = state << 8 | byte
            known = steps.get(key)
            if known is None:
                takes, loops = self._masks.get(byte) or self._mask(byte)
                known = self._spread((state & takes) << 1 | state & loops)
                if len(steps) >= _KNOWN_STATES:
                    steps = self._steps = {}
                steps[key] = known
            state = known
            if not state:
                return False
        return bool(state & self._end)

    def _mask(self, byte: int) -> tuple[int, int]:
        """The tokens that take a byte, and those that stay with it."""
        takes = sum(places for members, places in self._takes.items() if byte in members)
        loops = sum(places for members, places in self._loops.items() if byte in members)
        self._masks[byte] = takes, loops
        return takes, loops

    def _spread(self, state: int) -> int:
        """With the tokens that may match nothing left out. They only lead forward, so one round in order does."""
        for here, there in self._skips:
            if state & here:
                state |= there
        return state


@functools.lru_cache(maxsize=1024)
def compiled(pattern: bytes, paths: bool = True, fold: bool = False) -> Pattern:
    return Pattern(pattern, paths, fold)


def _tokens(pattern: bytes, paths: bool, fold: bool) -> list[_Token] | None:
    """None: it matches nothing at all (an unfinished class, a backslash at the end)."""
    found: list[_Token] = []
    i = 0
    while i < len(pattern):
        byte = pattern[i]
        i += 1
        if byte == 0x5C:  # backslash
            if i == len(pattern):
                return None
            found.append(_Token(frozenset((pattern[i],))))
            i += 1
        elif byte == 0x3F:  # ?
            found.append(_Token(_NAME if paths else _ALL))
        elif byte == 0x2A:  # *
            start = i - 1
            while i < len(pattern) and pattern[i] == 0x2A:
                i += 1
            found += _stars(pattern, start, i, paths)
        elif byte == 0x5B:  # [
            taken = _bracket(pattern, i, fold)
            if taken is None:
                return None
            members, i = taken
            found.append(_Token(members - {SLASH} if paths else members))
        else:
            found.append(_Token(frozenset(bytes((byte,)).lower() if fold else (byte,))))
    return found


def _stars(pattern: bytes, start: int, end: int, paths: bool) -> tuple[_Token, ...]:
    """A run of stars. Two or more that fill a whole component cross slashes, and `**/` may be nothing at all."""
    if not paths:
        return (_Token(loops=_ALL, skips=(1,)),)
    whole = (start == 0 or pattern[start - 1] == SLASH) and (
        end == len(pattern) or pattern[end] == SLASH or pattern[end : end + 2] == b"\\/"
    )
    if end - start < 2 or not whole:
        return (_Token(loops=_NAME, skips=(1,)),)
    crossing = _Token(loops=_ALL, skips=(1,))
    if pattern[end : end + 1] != b"/":
        return (crossing,)
    return _Token(skips=(1, 3)), crossing  # past the stars and the slash, but only before the stars took anything


def _bracket(pattern: bytes, i: int, fold: bool) -> tuple[frozenset[int], int] | None:
    """The bytes of a class whose `[` lies before i, and where it ends; None where it does not end."""
    negated = pattern[i : i + 1] in (b"!", b"^")
    i += negated
    members: set[int] = set()
    before = 0  # what a dash would range from; 0 after a range or a named class
    first = True
    while True:
        if i >= len(pattern):
            return None
        byte = pattern[i]
        if byte == 0x5D and not first:
            break
        first = False
        if byte == 0x5C:
            i += 1
            if i >= len(pattern):
                return None
            byte = pattern[i]
            members.add(byte)
        elif byte == 0x2D and before and i + 1 < len(pattern) and pattern[i + 1] != 0x5D:
            i += 1
            if pattern[i] == 0x5C:
                i += 1
                if i >= len(pattern):
                    return None
            ranged = range(before, pattern[i] + 1)
            members.update(ranged)
            if fold:  # the text comes in lower case: a range of capitals takes it, a single capital does not
                members.update(capital + 32 for capital in ranged if 0x41 <= capital <= 0x5A)
            byte = 0
        elif byte == 0x5B and pattern[i + 1 : i + 2] == b":":
            end = pattern.find(b"]", i + 2)
            if end < 0:
                return None
            if end - 1 >= i + 2 and pattern[end - 1] == 0x3A:
                named = _CLASSES.get(pattern[i + 2 : end - 1])
                if named is None:
                    return None
                members |= named
                if fold and named is _CLASSES[b"upper"]:
                    members |= _CLASSES[b"lower"]
                i = end
                byte = 0
            else:
                members.add(byte)
        else:
            members.add(byte)
        before = byte
        i += 1
    return (_ALL - members if negated else frozenset(members)), i + 1
