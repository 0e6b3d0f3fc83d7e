"""SQL statements by their words: the rows of config/sql.toml, and where statements stand in one another."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import pairwise
from typing import Literal

from msgspec import Struct

from reflexd.shell.sqltext import Piece, Token
from reflexd.shell.statements import Does, File
from reflexd.shell.tables import table

WHAT_MAX = 80
_SMELLS = frozenset({"DROP", "TRUNCATE", "DELETE", "PURGE", "WIPE", "DESTROY", "SHUTDOWN", "FLUSHALL", "FLUSHDB"})


class _Functions(Struct, frozen=True, forbid_unknown_fields=True):
    reads_file: str
    writes_file: str
    runs_shell: str
    runs_sql: str
    runs: str
    destroys: str
    changes: str
    looks: str
    computes: str


class _Pragma(Struct, frozen=True, forbid_unknown_fields=True):
    keeps: str
    acts: str


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    sql: int
    heads: dict[Does, tuple[str, ...]]
    functions: _Functions
    pragma: _Pragma


@functools.cache
def data() -> _Data:
    return table("sql.toml", _Data)


@functools.cache
def _heads() -> dict[tuple[str, ...], Does]:
    return {tuple(text.upper().split()): does for does, texts in data().heads.items() for text in texts}


@functools.lru_cache(maxsize=1024)
def function(name: str) -> str:
    """The row of config/sql.toml's functions that names it, with or without its schema; empty for none."""
    table = data().functions
    for row in (
        "looks",
        "reads_file",
        "writes_file",
        "runs_shell",
        "runs_sql",
        "runs",
        "destroys",
        "changes",
        "computes",
    ):
        patterns = getattr(table, row).split()
        if any(fnmatchcase(each, pattern) for pattern in patterns for each in (name, name.rpartition(".")[2])):
            return row
    return ""


QUERIES = frozenset({"SELECT", "WITH", "VALUES", "TABLE", "FROM", "("})
STRUCTURED = QUERIES | {"INSERT", "UPDATE", "DELETE", "MERGE"}
WRITES = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "TRUNCATE", "DROP", "INTO"})
VERBS = STRUCTURED - {"(", "FROM", "TABLE", "VALUES"} | {
    *("DROP", "TRUNCATE", "ALTER", "CREATE", "GRANT", "REVOKE", "EXEC", "EXECUTE", "CALL", "COPY", "REPLACE"),
    *("SHUTDOWN", "RESTORE", "BACKUP", "KILL", "DBCC", "BULK", "DENY", "REINDEX", "VACUUM", "PURGE"),
}
RUN_ON = VERBS - {"SELECT", "WITH", "REPLACE", "KILL", "BULK"}
NOT_STARTS = frozenset(
    [
        "FOR",
        "ON",
        "AFTER",
        "BEFORE",
        "OR",
        "OF",
        "DO",
        "NO",
        "KEY",
        ",",
        ".",
        "INSTEAD",
        "AS",
        "GRANT",
        "REVOKE",
        "WITH",
        "ALTER",
    ]
)
"""Before a verb these make it a part of something else: FOR UPDATE, ON DELETE, AFTER INSERT OR UPDATE."""
ROUTINES = frozenset({"TRIGGER", "PROCEDURE", "PROC", "FUNCTION", "EVENT", "RULE", "TASK", "JOB"})
BRANCHES = frozenset({"ELSE", "ELSIF", "ELSEIF", "END", "THEN"})
KEPT_APART = frozenset({"TABLE", "DATABASE", "SCHEMA", "DYNAMIC"})
CLOUDS = frozenset({"bigquery", "snowflake"})
"""Where CREATE OR REPLACE TABLE is ordinary for tables that somebody else fills."""
TRUSTED = frozenset({"sql", "plpgsql", "pltcl", "plperl", "plv8", "javascript", "js", "python", "lua"})
DESTROYERS = frozenset({"DROP", "TRUNCATE"})
KEEPS_ROWS = frozenset(
    [
        "CONSTRAINT",
        "DEFAULT",
        "NOT",
        "INDEX",
        "KEY",
        "FOREIGN",
        "PRIMARY",
        "EXPRESSION",
        "IDENTITY",
        "CHECK",
        "UNIQUE",
        "STATISTICS",
        "PROJECTION",
        "TTL",
        "SPARSE",
        "ROW",
        "TAG",
        "CLUSTERING",
        "SEARCH",
        "POLICY",
    ]
)
"""What ALTER ... DROP takes from a table without taking anything that it holds."""
NAMES = frozenset({".", "AS", "ON", "THEN", "FOR", ",", "CREATE"})
"""After one of these a verb is a name, or belongs to a clause."""
DELETE = tuple(Token("word", word, word) for word in ("DELETE", "FROM", "T"))


def head(words: tuple[str, ...]) -> Does | None:
    heads = _heads()
    return next((heads[words[:n]] for n in range(min(4, len(words)), 0, -1) if words[:n] in heads), None)


def left_open(piece: Piece) -> Does:
    """What is made of a statement that nothing describes."""
    texts = {word for token in piece.tokens for word in re.findall(r"[A-Z]+", token.text.upper())}
    return "changes" if _SMELLS.isdisjoint(texts) else "unclear"


def what_of(piece: Piece) -> str:
    """The beginning of a statement, up to what it is about."""
    shown: list[str] = []
    for token in piece.tokens:
        if shown and token.word in ("(", "WHERE", "SET", "VALUES", "SELECT", ";"):
            break
        text = token.raw.lower() if token.kind == "word" and len(shown) < 2 else token.raw
        shown.append(text if not shown or not token.gap else " " + text)
    text = "".join(shown)
    return text if len(text) <= WHAT_MAX else text[: WHAT_MAX - 1] + "…"


def object_of(piece: Piece) -> str:
    """The one thing that CREATE or DROP names, empty where there are several."""
    words = piece.words
    if "," in words:
        return ""
    at = next(
        (i for i, word in enumerate(words) if word in ("TABLE", "VIEW", "SCHEMA", "DATABASE", "SEQUENCE", "TYPE")),
        -1,
    )
    names = [token for token in piece.tokens[at + 1 :] if token.word not in ("IF", "NOT", "EXISTS")]
    parts: list[str] = []
    for token in names:
        if token.kind not in ("word", "name") and token.word != ".":
            break
        if parts and token.gap and token.word != ".":
            break
        parts.append(token.text.lower())
    return " ".join((words[at], *parts)) if at >= 0 and parts else ""


def files_named(piece: Piece, first: str) -> tuple[File, ...]:
    role: Literal["read", "write"] = "read" if first in ("LOAD", "INSTALL", "CREATE", "IMPORT") else "write"
    return tuple((role, token.text) for token in piece.tokens if token.kind == "string")[:1]


def following(tokens: tuple[Token, ...], word: str) -> Iterator[Token]:
    for before, token in pairwise(tokens):
        if before.word == word and token.kind in ("word", "name", "string"):
            yield token


def within(tokens: tuple[Token, ...], at: int) -> Iterator[Token]:
    """What stands in the parenthesis that opens at `at`."""
    depth = 0
    for token in tokens[at:]:
        depth += (token.word == "(") - (token.word == ")")
        if not depth:
            return
        yield token


def level(words: tuple[str, ...]) -> Iterator[int]:
    """Where words stand outside parentheses and CASE ... END."""
    depth = 0
    for at, word in enumerate(words):
        depth += (word in ("(", "CASE")) - (word == ")" or (word == "END" and depth > 0))
        if depth <= 0:
            yield at


def inner_statements(piece: Piece, start: int) -> list[Piece]:
    """The statements that stand in one: from each verb that can begin one to what ends its branch."""
    words = piece.words
    found: list[tuple[int, int]] = []
    for at in level(words):
        running = bool(found) and not found[-1][1]
        verb = at >= start and words[at] in VERBS and (not at or words[at - 1] not in NOT_STARTS)
        begins = verb and (not running or words[at] in RUN_ON)
        if running and (begins or words[at] in BRANCHES):
            found[-1] = (found[-1][0], at)
        if begins:
            found.append((at, 0))
    return [Piece(piece.tokens[at : end or len(words)], piece.broken) for at, end in found]


def nesting(piece: Piece) -> int:
    """How deep a parser goes: parentheses, CASE, and signs before signs."""
    depth = deepest = signs = 0
    for word in piece.words:
        depth += (word in ("(", "[", "{", "CASE")) - (word in (")", "]", "}", "END"))
        signs = signs + 1 if word in ("NOT", "-", "+", "~", "!", "EXISTS", "PRIOR", "<", "DISTINCT") else 0
        deepest = max(deepest, depth + signs)
    return deepest
