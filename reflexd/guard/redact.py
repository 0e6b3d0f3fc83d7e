"""Takes secrets out of text before anything is written down, shown, or sent on.

What holds: `redact` is total (any string, lone surrogates included), pure, safe in threads, and
idempotent; its time grows linearly with the text and its output is at most a few times as long.
Only the secret is replaced, by `[redacted:<kind>]`: the words around it stay readable.
What is not covered: a secret without a known shape that no telling word stands beside, and one that
was encoded, split or spelled in pieces.

How: patterns are data (config/redaction.toml). Each has literals, and one expression finds all of them:
a text with none costs one search. Where one stands, its patterns are tried; the leftmost match wins and
the scan restarts behind it as if the text began there, and a pattern takes a mask for a secret already
masked. So a second run nearly always changes nothing; where a mask made a new context after all, the
text is run until it is at rest.
"""

from __future__ import annotations

import pkgutil
import re
import tomllib
from functools import cache
from itertools import groupby
from typing import Literal

from msgspec import Struct, convert

_WORD_START = re.compile(r"[\s\"'`=,(\[]")
_FLAG_MAX = 40
_MASK = re.compile(r"\[redacted:[a-z0-9-]+\]", re.ASCII)
_MASK_START = "[redacted:"
_MASKED = -1
_PIECE = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|\((?!\?#)|\)(?:[*+?]\+|\{[0-9,]+\}\+)?", re.DOTALL)
_FRAGMENT = re.compile(r"<<([a-z]+)>>")
_RUNS_MAX = 8  # two are usual, three were never seen to be too few; the bound keeps the time linear
_END_MAX = 120  # how far what a pattern `ends` with reaches
_MARGIN = 4400  # longer than what any pattern has to see of a secret to know it
_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NOT_AFTER = {"any": frozenset[str](), "letter": _WORD - {"_"}, "word": _WORD, "token": _WORD | {"-"}}


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of secret. `literals` are lower case; a regular expression (the first that matches counts)
    begins at one of them and names its group `secret`.

    `starts`: what may not stand before the literal ("flag": it goes on with an option's name).
    `behind`: so many characters before it are looked at. `needs`: one of these is somewhere in the text.
    `after`: one of these is earlier on the same logical line. `ends`: the literal is in what the one
    expression ends with, not where it begins.
    """

    id: str
    kind: str
    literals: tuple[str, ...]
    regexes: tuple[str, ...]
    starts: Literal["any", "letter", "word", "token", "flag"] = "word"
    fold: bool = False
    behind: int = 0
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    ends: bool = False
    examples: tuple[tuple[str, str], ...] = ()
    leaves: tuple[str, ...] = ()


class Library(Struct, frozen=True, forbid_unknown_fields=True):
    version: int
    fragments: dict[str, str]
    patterns: tuple[Pattern, ...]


def redact(text: str) -> str:
    """`text` with every secret that is known by its shape or its context masked."""
    for _ in range(_RUNS_MAX):
        found = _redact_once(text)
        if found == text:
            break
        text = found
    return text


@cache
def library() -> Library:
    """The shipped patterns, read once."""
    data = pkgutil.get_data("reflexd.config", "redaction.toml")
    assert data is not None
    return convert(tomllib.loads(data.decode("utf-8")), Library)


def redact_head(text: str, limit: int) -> str:
    """At most `limit` characters of `redact(text)`, in time that grows with `limit` only.

    Where it stops early, what a cut could have made unknowable is left out.
    """
    window = text[: limit + 2 * _MARGIN]
    found = redact(window)
    if len(window) < len(text):
        found = found[: max(0, len(found) - _MARGIN)]
    return found[:limit]


def _redact_once(text: str) -> str:
    low = text.lower() if text.isascii() else _fold(text)
    return _Scan(text, low).run() if _literals()[0].search(low) else text


class _Scan:
    """One walk over one text. Every cursor only moves forward, so the walk is linear."""

    def __init__(self, text: str, low: str) -> None:
        self.text, self.low = text, low
        self.restart = 0
        self.ended = 0
        self.there: dict[str, bool] = {}
        self.seen = dict.fromkeys(_context_words(), (-1, 0))

    def run(self) -> str:
        patterns, (literals, by_literal) = library().patterns, _literals()
        text, copied, at = self.text, 0, 0
        out: list[str] = []
        while hit := literals.search(self.low, at):
            at = hit.start()
            for index in by_literal[hit[0]]:
                span = self.mask(at) if index == _MASKED else self.match(at, patterns[index], index)
                if span:
                    if index != _MASKED and not text.startswith(_MASK_START, span[0]):
                        out += (text[copied : span[0]], f"[redacted:{patterns[index].kind}]")
                        copied = span[1]
                    self.skip(*span)
                    at = self.restart
                    break
            else:
                at += 1
        if not out:
            return text
        out.append(text[copied:])
        return "".join(out)

    def mask(self, at: int) -> tuple[int, int] | None:
        found = _MASK.match(self.text, at)
        return found.span() if found else None

    def match(self, at: int, pattern: Pattern, index: int) -> tuple[int, int] | None:
        """The secret's span, if one of the pattern's literals at `at` begins one."""
        if not self.low.startswith(pattern.literals, at) or at - pattern.behind < self.restart:
            return None
        if at > self.restart and not self.may_start(pattern, at):
            return None
        if pattern.needs and not any(map(self.has, pattern.needs)):
            return None
        if pattern.after and not self.on_line(pattern.after, at):
            return None
        if pattern.ends:
            since, self.ended = max(self.restart, self.ended), at + 1
            (expression,) = _compiled(index)
            found = expression.search(self.text, since, at + _END_MAX)
            return found.span("secret") if found and found.start() < at else None
        for expression in _compiled(index):
            if found := expression.match(self.text, at):
                return found.span("secret")
        return None

    def may_start(self, pattern: Pattern, at: int) -> bool:
        if pattern.starts == "flag":
            word = _WORD_START.split(self.text[max(self.restart, at - _FLAG_MAX) : at])[-1]
            return word.startswith("-")
        return self.text[at - 1] not in _NOT_AFTER[pattern.starts]

    def has(self, word: str) -> bool:
        """Whether `word` stands anywhere in the text."""
        if word not in self.there:
            self.there[word] = word in self.low
        return self.there[word]

    def on_line(self, words: tuple[str, ...], at: int) -> bool:
        """Whether one of `words` stands before `at` on its logical line."""
        line = self.last("\n", at)
        return any(self.last(word, at) > line for word in words)

    def last(self, word: str, at: int) -> int:
        """Where `word` last stood before `at`, outside what was masked; -1 where nowhere. A newline
        behind a backslash is none."""
        last, since = self.seen[word]
        while (found := self.low.find(word, since, at)) >= 0:
            since = found + 1
            if word != "\n" or not self.low.startswith("\\", max(found - 1, 0)):
                last = found
        self.seen[word] = (last, max(since, at - len(word) + 1))
        return last

    def skip(self, start: int, end: int) -> None:
        """Move behind a secret; what it holds is no context of anything later."""
        for word in self.seen:
            self.seen[word] = (self.last(word, start), end)
        self.restart = end


@cache
def _literals() -> tuple[re.Pattern[str], dict[str, tuple[int, ...]]]:
    """An expression for the shortest literal at a place, and the patterns to try there, in their order."""
    known = {_MASK_START: [_MASKED]}
    for index, pattern in enumerate(library().patterns):
        for literal in pattern.literals:
            known.setdefault(literal, []).append(index)
    shortest = [one for one in known if not any(one != other and one.startswith(other) for other in known)]
    by_literal = {
        one: tuple(sorted({index for literal, group in known.items() if literal.startswith(one) for index in group}))
        for one in shortest
    }
    return re.compile(_alternatives(sorted(shortest))), by_literal


def _alternatives(words: list[str]) -> str:
    """One expression for sorted words of which none begins another; common beginnings are looked at once."""
    parts = []
    for first, group in groupby(words, key=lambda word: word[:1]):
        rest = [word[1:] for word in group]
        parts.append(re.escape(first) + (_alternatives(rest) if rest != [""] else ""))
    return parts[0] if len(parts) == 1 else f"(?:{'|'.join(parts)})"


@cache
def _context_words() -> tuple[str, ...]:
    return ("\n", *dict.fromkeys(word for pattern in library().patterns for word in pattern.after))


@cache
def _compiled(index: int) -> tuple[re.Pattern[str], ...]:
    """Compiled when its literal first turns up: compiling all of them would cost a start-up."""
    known = library()
    pattern = known.patterns[index]
    flags = re.ASCII | re.VERBOSE | (re.IGNORECASE if pattern.fold else 0)
    return tuple(re.compile(_atomic(_filled(source, known.fragments)), flags) for source in pattern.regexes)


def _filled(source: str, fragments: dict[str, str]) -> str:
    while (found := _FRAGMENT.search(source)) is not None:
        source = source.replace(found[0], fragments[found[1]])
    return source


def _atomic(source: str) -> str:
    """`source` with `(?>(...)*)` for every possessive group `(...)*+`, which means the same.

    Python before 3.11.5 matches the short form wrongly where the group itself backtracks
    (CPython issue 106052), and a secret would stay.
    """
    out: list[str] = []
    opened: list[int] = []
    at = 0
    while at < len(source):
        found = _PIECE.match(source, at)
        piece = found[0] if found else source[at]
        at += len(piece)
        if piece == "(":
            opened.append(len(out))
        elif piece[0] == ")":
            start = opened.pop()
            if piece.endswith("+") and len(piece) > 2:
                out[start] = "(?>" + out[start]
                piece = piece[:-1] + ")"
        out.append(piece)
    return "".join(out)


def _fold(text: str) -> str:
    """Lower case of the same length: U+0130 is the one character that would become two."""
    return text.replace("\u0130", "i").lower()
