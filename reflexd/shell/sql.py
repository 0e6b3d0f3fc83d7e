"""SQL text -> what each statement of it does.

Statements with a structure are parsed (sqlglot, loaded on first use); those without are told by their first words
(config/sql.toml). A statement that the parser does not understand is never taken to only look: it is read by its
words, and what they leave open is `unclear` where one of them destroys things elsewhere, else a change.
What a function or procedure of the database's own does is not seen: `calls`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

import msgspec

from reflexd.shell import sqlclients
from reflexd.shell.fields import BRACKET, ONE, STAR, UNKNOWN, UNSET
from reflexd.shell.sqltext import Client, Dialect, Line, Piece, Token, split
from reflexd.shell.sqlwords import (
    CLOUDS,
    DELETE,
    DESTROYERS,
    KEEPS_ROWS,
    KEPT_APART,
    NAMES,
    QUERIES,
    ROUTINES,
    RUN_ON,
    STRUCTURED,
    TRUSTED,
    VERBS,
    WRITES,
    data,
    files_named,
    following,
    function,
    head,
    inner_statements,
    left_open,
    level,
    nesting,
    object_of,
    what_of,
    within,
)
from reflexd.shell.statements import Statement, together

if TYPE_CHECKING:
    from reflexd.shell import sqltree

PARSED_MAX = 24 * 1024  # characters given to the parser in one reading; what is left is read by its words
DEPTH_MAX = 4  # of SQL in texts of SQL
WITHIN_MAX = 6  # statements in statements
ROWS_FEW = 1000
NESTING_MAX = 24  # of what the parser recurses for

_MARKS = str.maketrans({UNKNOWN: "_unknown_", UNSET: "_unknown_", STAR: "*", ONE: "?", BRACKET: "["})


def read(text: str, dialect: Dialect, client: Client = "") -> tuple[Statement, ...]:
    """Every statement in turn. Total; linear in the length of `text`."""
    plain = text.translate(_MARKS)
    found = list(_Reading(dialect, client).all(plain))
    if dialect == "mysql" and "/*" in plain:
        # A version's comment runs or not: what either reading finds counts.
        found.extend(each for each in _Reading(dialect, client).all(plain, executed=False) if each not in found)
    return tuple(found)


class _Reading:
    """One text under way: how much may still be parsed, and which tables it made itself."""

    def __init__(self, dialect: Dialect, client: Client, depth: int = 0) -> None:
        self.dialect, self.client, self.depth = dialect, client, depth
        self.left = PARSED_MAX
        self.within = 0
        self.made: set[str] = set()

    def all(self, text: str, executed: bool = True) -> Iterator[Statement]:
        for part in split(text, self.dialect, self.client, executed):
            if isinstance(part, Line):
                yield from sqlclients.line(part, self.client, self.inner)
            else:
                yield self.statement(part)

    def inner(self, text: str) -> tuple[Statement, ...]:
        """SQL that stands as a text in SQL."""
        if self.depth >= DEPTH_MAX:
            return (Statement("unclear", "sql nested in sql"),)
        reading = _Reading(self.dialect, "", self.depth + 1)
        reading.left, reading.made = self.left, self.made
        found = tuple(reading.all(text))
        self.left = reading.left
        return found

    # -- one statement --------------------------------------------------------------------------

    def statement(self, piece: Piece) -> Statement:
        self.within += 1
        try:
            found = self._statement(piece) if self.within <= WITHIN_MAX else Statement(left_open(piece), what_of(piece))
        finally:
            self.within -= 1
        if piece.broken and found.does in ("reads", "calls", "changes"):
            found = msgspec.structs.replace(found, does=left_open(piece))
        if self.dialect == "tsql":
            found = self._run_on(piece, found)
        return found

    def _statement(self, piece: Piece) -> Statement:
        words = piece.words
        first = words[0]
        if first.startswith("_UNKNOWN_"):
            return Statement("unclear", "a statement that is not known")
        if piece.tokens[0].kind in ("number", "string") and not piece.broken:
            return Statement("calls", what_of(piece))
        special = _SPECIAL.get(first)
        if special is not None:
            return special(self, piece)
        if first in STRUCTURED or (first == "REPLACE" and self.dialect in ("mysql", "sqlite")):
            return self._structured(piece)
        does = head(words)
        if does is None and self.dialect == "tsql" and piece.tokens[0].kind in ("word", "name"):
            return self._procedure(piece)
        if does == "destroys" and first == "DROP" and object_of(piece) in self.made:
            does = "changes"
        if does == "runs":
            return Statement(does, what_of(piece), files=files_named(piece, first))
        return Statement(does or left_open(piece), what_of(piece))

    def _structured(self, piece: Piece) -> Statement:
        if piece.words[1:2] == ("TOP",) and piece.words[0] in ("DELETE", "UPDATE"):
            return self._rows(piece)
        tree = self._parsed(piece)
        if tree is None:
            return self._by_words(piece)
        found = [Statement("destroys", what) for what in tree.emptied]
        found.extend(Statement("changes", what) for what in tree.written)
        found.extend(Statement("calls", what_of(piece), files=(("read", name),)) for name in tree.files)
        for called in tree.called:
            found.extend(self._function(called.name, called.texts, called.strange))
        if not found:
            quiet = WRITES.isdisjoint(piece.words)
            return Statement("reads" if quiet else "calls", what_of(piece))
        return together(found, what_of(piece))

    def _parsed(self, piece: Piece) -> sqltree.Tree | None:
        text = piece.text
        if len(text) > self.left or piece.broken or nesting(piece) > NESTING_MAX:
            return None
        self.left -= len(text)
        from reflexd.shell import sqltree

        return sqltree.read(text, self.dialect)

    def _function(self, name: str, texts: tuple[str, ...], strange: bool) -> Iterator[Statement]:
        match function(name):
            case "reads_file":
                yield Statement("runs", name, files=tuple(("read", text) for text in texts[:1]))
            case "writes_file":
                yield Statement("runs", name, files=tuple(("write", text) for text in texts[:1]))
            case "runs_shell":
                yield Statement("runs", name, code=texts)
            case "runs_sql":
                yield Statement("calls", name)
                for text in texts:
                    if " " in text:
                        yield from self.inner(text)
            case "runs":
                yield Statement("runs", name)
            case "destroys":
                yield Statement("destroys", name)
            case "changes":
                yield Statement("changes", name)
            case "" if strange:
                yield Statement("calls", name)

    def _by_words(self, piece: Piece) -> Statement:
        """A statement with a structure that the parser does not know."""
        words, what = piece.words, what_of(piece)
        found = [Statement("changes" if words[0] not in QUERIES else "calls", what)]
        for at, token in enumerate(piece.tokens[:-1]):
            if piece.tokens[at + 1].word == "(" and token.kind in ("word", "name"):
                texts = tuple(each.text for each in within(piece.tokens, at + 1) if each.kind == "string")
                found.extend(self._function(token.text.lower(), texts, False))
        if "INTO" in words:
            after = words.index("INTO") + 1
            if words[after : after + 1] in (("OUTFILE",), ("DUMPFILE",)):
                found.append(Statement("runs", what, files=files_named(piece.after(after), "")[:1]))
        for at, word in enumerate(words):
            before = words[at - 1] if at else ""
            if word in ("DELETE", "UPDATE") and before in ("", "(", "EXPLAIN", ")", "BEGIN"):
                found.append(self._rows(piece.after(at)))
            elif word in ("DROP", "TRUNCATE", "DELETE") and before not in NAMES:
                found.append(Statement("unclear", what))
        return together(found, what)

    def _rows(self, piece: Piece) -> Statement:
        """DELETE or UPDATE in a form that the parser does not know: what its condition says is parsed alone."""
        words, what = piece.words, what_of(piece)
        at = next((i for i in level(words) if words[i] == "WHERE"), 0)
        few = re.search(r"\b(?:TOP|LIMIT)\s*\(?\s*(\d{1,6})\b", piece.text, re.I)
        if few and int(few[1]) <= ROWS_FEW:
            return Statement("changes", what)
        if not at:
            return Statement("destroys", f"{what} (every row)")
        ends = next(
            (i for i in level(words) if i > at and words[i] in ("RETURNING", "LIMIT", "ORDER", "SETTINGS")),
            len(words),
        )
        condition = Piece(piece.tokens[at:ends])
        tree = self._parsed(Piece((*DELETE, *condition.tokens)))
        if tree is None:
            return Statement("unclear", what)
        return Statement("destroys", f"{what} (every row)") if tree.emptied else Statement("changes", what)

    # -- statements that are told apart by more than their first word --------------------------------

    def explain(self, piece: Piece) -> Statement:
        """It runs what it explains where it is told to measure."""
        words = piece.words
        verb = next((at for at, word in enumerate(words) if at and word in VERBS), 0)
        if not verb:
            return Statement("reads", what_of(piece))
        if "ANALYZE" not in words[:verb] and "ANALYSE" not in words[:verb] and "PROFILE" not in words[:verb]:
            return Statement("reads", what_of(piece))
        return self.statement(piece.after(verb))

    def control(self, piece: Piece) -> Statement:
        """BEGIN, IF, LOOP, ...: what stands behind it, where anything does."""
        found = [self.statement(each) for each in inner_statements(piece, 1)]
        return together(found, what_of(piece)) if found else Statement("reads", what_of(piece))

    def create(self, piece: Piece) -> Statement:
        words, what = piece.words, what_of(piece)
        does = head(words) or "changes"
        start = words[:12]
        if not ROUTINES.isdisjoint(start):
            return self._routine(piece)
        if does == "runs":
            return Statement(does, what, files=files_named(piece, words[0]))
        if does != "changes":
            return Statement(does, what)
        if "REPLACE" in start[:3] and not KEPT_APART.isdisjoint(start[:6]) and self.dialect in CLOUDS:
            return Statement("destroys", what)
        if "TABLE" in start:
            if "EXISTS" not in start:
                self.made.add(object_of(piece))
            for at in range(1, len(words)):
                if words[at] in ("SELECT", "WITH") and words[at - 1] in ("AS", "("):
                    return together([Statement("changes", what), self.statement(piece.after(at))], what)
        return Statement("changes", what)

    def _routine(self, piece: Piece) -> Statement:
        """What is made runs later. It counts where it drops or empties tables or its language can do anything."""
        words, what = piece.words, what_of(piece)
        found = [Statement("changes", what)]
        languages = {token.text.lower() for token in following(piece.tokens, "LANGUAGE")}
        if languages - TRUSTED:
            found.append(Statement("runs", what))
        body = [token for token in piece.tokens if token.kind in ("body", "string")]
        inside = set(words[2:]) | {word for token in body for word in re.findall(r"\w+", token.text.upper())}
        if DESTROYERS.intersection(inside):
            found.append(Statement("destroys", f"{what} (it drops or empties tables)"))
        return together(found, what)

    def do(self, piece: Piece) -> Statement:
        """An anonymous block: every statement in its body, and every text that it might run as one."""
        body = next((token.text for token in piece.tokens if token.kind in ("body", "string")), None)
        if body is None:
            return self._structured(Piece((Token("word", "SELECT", "select"), *piece.tokens[1:])))
        found = [Statement("changes", "a block of code")]
        for part in split(body, self.dialect):
            if not isinstance(part, Piece):
                continue
            found.extend(self.statement(each) for each in inner_statements(part, 0))
            if not {"EXECUTE", "PERFORM"}.isdisjoint(part.words):
                for token in part.tokens:
                    if token.kind in ("string", "body") and " " in token.text.strip():
                        found.extend(self.inner(token.text))
        return together(found, "a block of code")

    def prepare(self, piece: Piece) -> Statement:
        at = next((i for i, word in enumerate(piece.words) if word in ("AS", "FROM")), 0)
        if at and at + 1 < len(piece.tokens):
            token = piece.tokens[at + 1]
            inner = self.inner(token.text) if token.kind == "string" else (self.statement(piece.after(at + 1)),)
            return together(list(inner), what_of(piece))
        return Statement(left_open(piece), what_of(piece))

    def execute(self, piece: Piece) -> Statement:
        """EXECUTE IMMEDIATE 'text', EXEC ('text'), EXEC procedure."""
        if piece.words[1:2] in (("IMMEDIATE",), ("(",)) or (len(piece.tokens) > 1 and piece.tokens[1].kind == "string"):
            texts = [token.text for token in piece.tokens if token.kind in ("string", "body")]
            if not texts:
                return Statement("unclear", what_of(piece))
            return together([each for text in texts for each in self.inner(text)], what_of(piece))
        return self._procedure(piece.after(1)) if len(piece.tokens) > 1 else Statement("changes", what_of(piece))

    def _procedure(self, piece: Piece) -> Statement:
        names = [token.text for token in piece.tokens[:8] if token.kind in ("word", "name")]
        name = next((text.lower() for text in names if function(text.lower())), names[0].lower() if names else "")
        texts = tuple(token.text for token in piece.tokens if token.kind == "string")
        found = list(self._function(name, texts, False))
        if function(name) == "looks":
            return Statement("calls", what_of(piece))
        return together(found or [Statement("changes", f"run {name}")], what_of(piece))

    def alter(self, piece: Piece) -> Statement:
        words, what = piece.words, what_of(piece)
        does = head(words)
        if does is not None and does != "changes":
            return Statement(does, what)
        if {"SECURITY", "OWNER"}.intersection(words) and ("ROW" in words or "TO" in words):
            return Statement("access", what)
        for at, word in enumerate(words):
            if at > 2 and word in ("DELETE", "UPDATE") and self.dialect == "clickhouse":
                return self._rows(piece.after(at))
            if at > 2 and word in ("TRUNCATE", "CLEAR", "REMOVE", "DISCARD"):
                return Statement("destroys", what)
            if at > 2 and word == "DROP" and words[at + 1 : at + 2] and words[at + 1] not in KEEPS_ROWS:
                return Statement("destroys", what)
        return Statement("changes", what)

    def copy(self, piece: Piece) -> Statement:
        """To or from a program, a file, or the client's own streams."""
        words, what = piece.words, what_of(piece)
        depth = 0
        for at, word in enumerate(words):
            depth += (word == "(") - (word == ")")
            if depth or word not in ("TO", "FROM") or at + 1 >= len(words):
                continue
            token = piece.tokens[at + 1]
            if token.word == "PROGRAM":
                return Statement("runs", what, code=tuple(t.text for t in piece.tokens[at + 2 : at + 3]))
            if token.word in ("STDIN", "STDOUT"):
                return Statement("changes" if word == "FROM" else "calls", what)
            if token.kind in ("string", "name") and self.dialect in ("postgres", "duckdb", "clickhouse"):
                role: Literal["read", "write"] = "write" if word == "TO" else "read"
                return Statement("runs", what, files=((role, token.text),))
        return Statement("changes", what)

    def pragma(self, piece: Piece) -> Statement:
        words = piece.words
        table = data().pragma
        at = 3 if words[2:3] == (".",) else 1
        name = piece.tokens[at].text.lower() if at < len(words) else ""
        given = words[at + 1 : at + 2] in (("=",), ("(",))
        changes = self.dialect == "sqlite" and (name in table.acts.split() or (given and name in table.keeps.split()))
        return Statement("changes" if changes else "reads", what_of(piece))

    def setting(self, piece: Piece) -> Statement:
        """Session settings; what a subquery in one does counts."""
        does = head(piece.words) or "reads"
        at = next((i for i, word in enumerate(piece.words) if word == "SELECT"), 0)
        if at:
            return together([Statement(does, what_of(piece)), self._by_words(piece.after(at))], what_of(piece))
        return Statement(does, what_of(piece))

    def _run_on(self, piece: Piece, found: Statement) -> Statement:
        """T-SQL needs nothing between statements."""
        if piece.words[0] in ("CREATE", "ALTER", "GRANT", "REVOKE", "DENY") or piece.words[0] in _CONTROL:
            return found
        more = [self._statement(each) for each in inner_statements(piece, 1) if each.words[0] in RUN_ON]
        return together([found, *more], found.what) if more else found


_CONTROL = frozenset(
    ["BEGIN", "IF", "ELSE", "ELSEIF", "ELSIF", "WHILE", "LOOP", "FOR", "REPEAT", "THEN", "DECLARE", "END"]
)
_SPECIAL = {
    "EXPLAIN": _Reading.explain,
    "CREATE": _Reading.create,
    "DO": _Reading.do,
    "PREPARE": _Reading.prepare,
    "EXECUTE": _Reading.execute,
    "EXEC": _Reading.execute,
    "ALTER": _Reading.alter,
    "COPY": _Reading.copy,
    "PRAGMA": _Reading.pragma,
    "SET": _Reading.setting,
    **dict.fromkeys(_CONTROL, _Reading.control),
}
