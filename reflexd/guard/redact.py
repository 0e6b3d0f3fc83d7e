"""Takes secrets out of text before anything is written down, shown, or sent on.

What holds: `redact` is total (any string, lone surrogates included), pure, safe in threads, and
idempotent; its time grows linearly with the text and its output is at most a few times as long.
Only the secret is replaced, by `[redacted:<kind>]`: the words around it stay readable.
What is not covered: a secret without a known shape that no telling word stands beside, and one that
was encoded, split or spelled in pieces.

How: patterns are data (config/redaction.toml). Each has literals; a text with none of them costs a
few substring searches. Otherwise the literals' places are walked from left to right; the leftmost
match wins and the scan restarts behind it as if the text began there, and a pattern takes a mask for a
secret already masked. So a second run nearly always changes nothing; where a mask made a new context
after all, the text is run until it is at rest.
"""

from __future__ import annotations

import heapq
import pkgutil
import re
import tomllib
from functools import cache
from typing import Literal

from msgspec import Struct, convert

_MASK = re.compile(r"\[redacted:[a-z0-9-]+\]", re.ASCII)
_MASK_START = "[redacted:"
_FRAGMENT = re.compile(r"<<([a-z]+)>>")
_RUNS_MAX = 8  # two are usual, three were never seen to be too few; the bound keeps the time linear
_MARGIN = 4400  # longer than what any pattern has to see of a secret to know it
_GATES = "_-:=./ "
"""Characters that many literals hold: a text without one of them needs no search for those literals."""

_WORD = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_NOT_AFTER = {"any": frozenset[str](), "letter": _WORD - {"_"}, "word": _WORD, "token": _WORD | {"-"}}


class Pattern(Struct, frozen=True, forbid_unknown_fields=True):
    """One kind of secret. `literals` are lower case; a regular expression (the first that matches counts)
    begins at one of them and names its group `secret`.

    `starts`: what may not stand before the literal. `behind`: so many characters before it are looked
    at. `needs`: one of these is somewhere in the text. `after`: one of these is earlier on the same
    logical line. `scan`: the literal is anywhere, the expression is searched for.
    """

    id: str
    kind: str
    literals: tuple[str, ...]
    regexes: tuple[str, ...]
    starts: Literal["any", "letter", "word", "token"] = "word"
    fold: bool = False
    behind: int = 0
    needs: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    scan: bool = False
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
    hits = [
        (literal, index) for gate, group in _literals() if gate in low for literal, index in group if literal in low
    ]
    return _Scan(text, low).run(hits) if hits else text


class _Scan:
    """One walk over one text. Every cursor only moves forward, so the walk is linear."""

    def __init__(self, text: str, low: str) -> None:
        self.text, self.low = text, low
        self.restart = 0
        self.seen = {"\n": (-1, 0)}

    def run(self, hits: list[tuple[str, int]]) -> str:
        patterns = library().patterns
        text, copied = self.text, 0
        out: list[str] = []
        heap = [(self.low.find(_MASK_START), -1, _MASK_START)] if _MASK_START in self.low else []
        for literal, index in hits:
            if not patterns[index].needs or any(word in self.low for word in patterns[index].needs):
                self.seen.update(dict.fromkeys(patterns[index].after, (-1, 0)))
                self.push(heap, literal, index, 0)
        heapq.heapify(heap)
        while heap:
            at, index, literal = heapq.heappop(heap)
            if at < self.restart:
                self.push(heap, literal, index, self.restart)
                continue
            found = self.match(at, index)
            if found:
                start, end = found
                if index >= 0 and not text.startswith(_MASK_START, start):
                    out += (text[copied:start], f"[redacted:{patterns[index].kind}]")
                    copied = end
                self.skip(start, end)
            self.push(heap, literal, index, max(at + 1, self.restart))
        if not out:
            return text
        out.append(text[copied:])
        return "".join(out)

    def push(self, heap: list[tuple[int, int, str]], literal: str, index: int, since: int) -> None:
        if index >= 0 and library().patterns[index].scan:
            (expression,) = _compiled(index)
            found = expression.search(self.text, since)
            at = found.start() if found else -1
        else:
            at = self.low.find(literal, since)
        if at >= 0:
            heapq.heappush(heap, (at, index, literal))

    def match(self, at: int, index: int) -> tuple[int, int] | None:
        """The secret's span, if the pattern's literal at `at` begins one."""
        if index < 0:
            mask = _MASK.match(self.text, at)
            return mask.span() if mask else None
        pattern = library().patterns[index]
        if at - pattern.behind < self.restart:
            return None
        if at > self.restart and self.text[at - 1] in _NOT_AFTER[pattern.starts]:
            return None
        if pattern.after and not self.on_line(pattern.after, at):
            return None
        for expression in _compiled(index):
            if found := expression.match(self.text, at):
                return found.span("secret")
        return None

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
            last = self.last(word, start)
            self.seen[word] = (last, end)
        self.restart = end


@cache
def _literals() -> tuple[tuple[str, tuple[tuple[str, int], ...]], ...]:
    """Literals with their pattern's index, by a character without which none of them can be there."""
    groups: dict[str, list[tuple[str, int]]] = {}
    for index, pattern in enumerate(library().patterns):
        for literal in pattern.literals:
            gate = next((c for c in _GATES if c in literal), "")
            groups.setdefault(gate, []).append((literal, index))
    return tuple((gate, tuple(group)) for gate, group in groups.items())


@cache
def _compiled(index: int) -> tuple[re.Pattern[str], ...]:
    """Compiled when its literal first turns up: compiling all of them would cost a start-up."""
    known = library()
    pattern = known.patterns[index]
    flags = re.ASCII | re.VERBOSE | (re.IGNORECASE if pattern.fold else 0)
    return tuple(re.compile(_filled(source, known.fragments), flags) for source in pattern.regexes)


def _filled(source: str, fragments: dict[str, str]) -> str:
    while (found := _FRAGMENT.search(source)) is not None:
        source = source.replace(found[0], fragments[found[1]])
    return source


def _fold(text: str) -> str:
    """Lower case of the same length: U+0130 is the one character that would become two."""
    return text.replace("\u0130", "i").lower()
