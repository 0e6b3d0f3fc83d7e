"""SQL text -> its statements as tokens, and the lines that are meant for the client that reads it.

What holds: a quote or comment that is not closed takes the rest and marks the statement `broken`; nothing is lost.
One pass, linear. What is a comment or a string depends on the dialect, and the client fixes that.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

Dialect = Literal["postgres", "mysql", "sqlite", "tsql", "bigquery", "snowflake", "clickhouse", "duckdb"]
Client = Literal["", "psql", "mysql", "sqlite3", "duckdb", "sqlcmd"]

STATEMENTS_MAX = 500
_ESCAPES = frozenset({"mysql", "bigquery", "clickhouse", "snowflake"})
_NESTED = frozenset({"postgres", "tsql", "duckdb", "clickhouse"})
_HASH = frozenset({"mysql", "bigquery"})
_DOLLAR = frozenset({"postgres", "duckdb", "snowflake", "clickhouse"})
_BACKTICK = frozenset({"mysql", "sqlite", "bigquery", "clickhouse"})
_BRACKET = frozenset({"tsql", "sqlite"})
_TEXT_IN_DOUBLE = frozenset({"mysql", "bigquery"})


class Token(Struct, frozen=True):
    """`text` is upper-cased for a word, and without its quotes for what has any; `gap`: blanks stand before it."""

    kind: Literal["word", "name", "string", "body", "number", "mark"]
    text: str
    raw: str
    gap: bool = True

    @property
    def word(self) -> str:
        """What a keyword is compared with: empty for anything quoted."""
        return self.text if self.kind in ("word", "mark") else ""


class Piece(Struct, frozen=True):
    """One statement without its comments."""

    tokens: tuple[Token, ...]
    broken: bool = False

    @property
    def text(self) -> str:
        return "".join((" " if token.gap else "") + token.raw for token in self.tokens).strip()

    @property
    def words(self) -> tuple[str, ...]:
        return tuple(token.word for token in self.tokens)

    def after(self, start: int) -> Piece:
        return Piece(self.tokens[start:], self.broken)


class Line(Struct, frozen=True):
    """A command of the client itself: its name without the sign that begins it, and the rest of the line."""

    name: str
    rest: str


@functools.cache
def _pattern(dialect: Dialect) -> re.Pattern[str]:
    inside = {quote: rf"{quote}(?:[^{quote}]|{quote}{quote})*{quote}" for quote in "'\""}
    if dialect in _ESCAPES:
        inside = {quote: rf"{quote}(?:[^{quote}\\]|{quote}{quote}|\\.)*{quote}" for quote in "'\""}
    dashes = r"--(?=\s|\Z)[^\n]*" if dialect == "mysql" else r"--[^\n]*"
    hashes = r"|\#[^\n]*" if dialect in _HASH else ""
    slashes = r"|//[^\n]*" if dialect == "snowflake" else ""
    parts = [r"(?P<space>\s+)", rf"(?P<line>{dashes}{hashes}{slashes})", r"(?P<block>/\*)"]
    if dialect == "bigquery":
        parts.append(r"(?P<triple>[rRbB]{0,2}(?:'''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"))")
    if dialect == "postgres":
        parts.append(r"(?P<escaped>[eE]'(?:[^'\\]|''|\\.)*')")
    if dialect in _DOLLAR:
        parts.append(r"(?P<dollar>\$(?:[A-Za-z_]\w*)?\$)")
    parts += [
        rf"(?P<string>(?:[nNxXbBrR]|[uU]&)?{inside[chr(39)]})",
        rf"(?P<double>(?:[uU]&)?{inside[chr(34)]})",
    ]
    if dialect in _BACKTICK:
        parts.append(r"(?P<tick>`(?:[^`]|``)*`)")
    if dialect in _BRACKET:
        parts.append(r"(?P<bracket>\[[^\]]*\])")
    parts += [
        r"(?P<number>\d[\w.]*)",
        r"(?P<word>[@#]{0,2}[^\W\d][\w$]*)",
        r"(?P<open>['\"`])",
        r"(?P<mark>.)",
    ]
    return re.compile("|".join(parts), re.S)


class _Scan:
    """Where the reading stands, and the statement that is being put together."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self.text, self.dialect = text, dialect
        self.at = 0
        self.tokens: list[Token] = []
        self.gap = self.broken = self.routine = False
        self.depth = 0  # of BEGIN and CASE in a routine's body
        self.running = 0  # comments that MySQL runs and that are still open

    def piece(self) -> Iterator[Piece]:
        if self.tokens:
            yield Piece(tuple(self.tokens), self.broken)
        self.tokens = []
        self.gap = self.broken = self.routine = False
        self.depth = 0

    def keep(self, token: Token) -> None:
        self.tokens.append(token)
        self.gap = False


def split(text: str, dialect: Dialect, client: Client = "", executed: bool = True) -> Iterator[Piece | Line]:
    """At most STATEMENTS_MAX statements; the last one then holds all that is left, and is broken.

    `executed`: whether the comments that only some versions of MySQL run are taken to run.
    """
    scan = _Scan(text, dialect)
    pattern = _pattern(dialect)
    delimiter, count = ";", 0
    while scan.at < len(text):
        at = scan.at
        starts = not scan.tokens or (client == "sqlcmd" and text[at - 1] == "\n")
        if client and starts and (line := _LINES[client].match(text, at)) is not None:
            yield from scan.piece()
            rest = line["rest"]
            # mysql hands a whole line to its own command and goes on with what follows the delimiter.
            ends = rest.find(delimiter) if client == "mysql" else -1
            scan.at = line.end() if ends < 0 else line.start("rest") + ends
            name = next((group for group in line.groups()[:-1] if group), "")
            if client == "mysql" and name.lower() in ("delimiter", "d"):
                delimiter = rest.strip() or ";"
                scan.at = line.end()
            else:
                yield Line(name if client in ("psql", "mysql") and len(name) == 1 else name.lower(), rest.strip())
        elif text.startswith(delimiter, at) and not scan.depth:
            scan.at += len(delimiter)
            yield from _whole(scan, count := count + 1)
        elif text[at] == "\\" and client in ("psql", "mysql"):
            yield from scan.piece()  # the client's own command comes next, and may send what stands before it
            if _LINES[client].match(text, at) is None:
                scan.at += 2
        else:
            match = pattern.match(text, at)
            assert match is not None, "every character is at least a mark"
            scan.at = match.end()
            _take(scan, match, executed)
    yield from scan.piece()


def _whole(scan: _Scan, count: int) -> Iterator[Piece]:
    if count < STATEMENTS_MAX:
        yield from scan.piece()
    else:
        scan.broken = True


_LINES: dict[str, re.Pattern[str]] = {
    "psql": re.compile(
        r"\s*\\(?:(!|copy)|([A-Za-z_]+\+?|[^\s\w;:]))"
        r"(?P<rest>(?(1)[^\n]*|(?:[^\n\\'\"`]|'(?:[^'\n]|'')*'|\"[^\"\n]*\"|`[^`\n]*`|['\"`])*))"
    ),
    "mysql": re.compile(
        r"\s*(?:\\([^\s\w]|[A-Za-z])|(system|source|tee|pager|delimiter|edit|use|nopager|notee)\b)(?P<rest>[^\n]*)",
        re.I,
    ),
    "sqlite3": re.compile(r"\s*(?:\.([A-Za-z]\w*)|(\#))(?P<rest>[^\n]*)"),
    "duckdb": re.compile(r"\s*(?:\.([A-Za-z]\w*)|(\#))(?P<rest>[^\n]*)"),
    "sqlcmd": re.compile(r"\s*(:!!|!!|:\w+|GO\b|EXIT\b|QUIT\b)(?P<rest>[^\n]*)", re.I),
}
"""Where a statement could begin, a client looks for commands of its own."""


def _take(scan: _Scan, match: re.Match[str], executed: bool) -> None:
    kind, raw, gap = match.lastgroup, match[0], scan.gap
    escapes = scan.dialect in _ESCAPES or kind == "escaped"
    match kind:
        case "space" | "line":
            scan.gap = True
        case "block":
            _comment(scan, match.start(), executed)
        case "dollar":
            end = scan.text.find(raw, scan.at)
            body = scan.text[scan.at : end if end >= 0 else len(scan.text)]
            scan.broken = scan.broken or end < 0
            scan.at = end + len(raw) if end >= 0 else len(scan.text)
            scan.keep(Token("body", body, raw + body + raw, gap))
        case "string" | "escaped":
            scan.keep(Token("string", _unquoted(raw, escapes), raw, gap))
        case "triple":
            scan.keep(Token("string", raw.lstrip("rRbB")[3:-3], raw, gap))
        case "double":
            text = _unquoted(raw, escapes)
            scan.keep(Token("string" if scan.dialect in _TEXT_IN_DOUBLE else "name", text, raw, gap))
        case "tick" | "bracket":
            scan.keep(Token("name", raw[1:-1], raw, gap))
        case "open":
            scan.broken = True
            scan.keep(Token("string", scan.text[scan.at :], raw, gap))
            scan.at = len(scan.text)
        case "word":
            _nest(scan, raw.upper())
            scan.keep(Token("word", raw.upper(), raw, gap))
        case "mark" if raw == "*" and scan.running and scan.text.startswith("/", scan.at):
            scan.running -= 1
            scan.at += 1
        case _:
            scan.keep(Token("number" if kind == "number" else "mark", raw, raw, gap))


def _unquoted(raw: str, escapes: bool) -> str:
    quote = raw[-1]
    text = raw[raw.index(quote) + 1 : -1].replace(quote * 2, quote)
    if escapes:
        text = re.sub(r"\\(.)", lambda m: {"n": "\n", "t": "\t"}.get(m[1], m[1]), text, flags=re.S)
    return text


_RUNS = re.compile(r"/\*M?!\d*")
_COMMENT_MARKS = re.compile(r"/\*|\*/")


def _comment(scan: _Scan, start: int, executed: bool) -> None:
    """Past a comment; one that MySQL runs is read as if its marks were not there."""
    scan.gap = True
    runs = _RUNS.match(scan.text, start) if scan.dialect == "mysql" and executed else None
    if runs is not None:
        scan.running += 1
        scan.at = runs.end()
        return
    depth, scan.at = 1, start + 2
    while depth:
        found = _COMMENT_MARKS.search(scan.text, scan.at)
        scan.broken = scan.broken or found is None
        if found is None:
            scan.keep(Token("string", scan.text[scan.at :], "/*"))
            scan.at = len(scan.text)
            return
        scan.at = found.end()
        if found[0] == "*/":
            depth -= 1
        elif scan.dialect in _NESTED:
            depth += 1


_ROUTINES = frozenset({"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "EVENT", "PACKAGE"})
_NOT_AN_END = re.compile(r"\s+(?:IF|LOOP|WHILE|REPEAT|FOR)\b", re.I)
_NOT_A_BLOCK = re.compile(r"\s+TRAN(?:SACTION)?\b", re.I)


def _nest(scan: _Scan, word: str) -> None:
    """The statements of a routine's body belong to the statement that creates it."""
    if word in _ROUTINES and len(scan.tokens) < 12 and scan.tokens and scan.tokens[0].text in ("CREATE", "ALTER"):
        scan.routine = True
    elif scan.routine and (word == "CASE" or (word == "BEGIN" and not _NOT_A_BLOCK.match(scan.text, scan.at))):
        if not (word == "CASE" and scan.tokens[-1].text == "END"):
            scan.depth += 1
    elif word == "END" and scan.depth and not _NOT_AN_END.match(scan.text, scan.at):
        scan.depth -= 1
