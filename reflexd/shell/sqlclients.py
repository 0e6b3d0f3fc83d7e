"""Lines that a database's client takes for itself: psql's backslashes, SQLite's dots, mysql's and sqlcmd's words."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator

from reflexd.shell.sqltext import Client, Line
from reflexd.shell.statements import Statement

Inner = Callable[[str], tuple[Statement, ...]]
"""Reads SQL that stands in such a line."""


def line(found: Line, client: Client, inner: Inner) -> Iterator[Statement]:
    match client:
        case "psql":
            yield from _psql(found.name, found.rest, inner)
        case "mysql":
            yield from _mysql(found.name, found.rest)
        case "sqlcmd":
            yield from _sqlcmd(found.name, found.rest, inner)
        case _:
            yield from _dot(found.name, found.rest)


def _words(rest: str) -> list[str]:
    try:
        return shlex.split(rest)
    except ValueError:
        return rest.split()


def _first(rest: str) -> str:
    return next(iter(_words(rest)), "")


def _output(what: str, rest: str) -> Statement:
    """A file to write, or a program to write to."""
    if rest.startswith("|"):
        return Statement("runs", what, code=(rest[1:],))
    return Statement("runs", what, files=(("write", _first(rest)),)) if _first(rest) else Statement("reads", what)


_BACKQUOTED = re.compile(r"`([^`]*)`")
_COPY = re.compile(r"(?is)\b(?P<way>to|from)\s+(?P<program>program\s+)?(?P<target>'(?:[^']|'')*'|\S+)")
_PAREN = re.compile(r"(?s)\A\s*(?P<query>\(.*\))")


def _psql(name: str, rest: str, inner: Inner) -> Iterator[Statement]:
    what = f"\\{name} {rest}".strip()
    if name != "!":
        for code in _BACKQUOTED.findall(rest):
            yield Statement("runs", what, code=(code,))
    match name.rstrip("+"):
        case "!":
            yield Statement("runs", what, code=(rest,))
        case "copy":
            yield from _psql_copy(what, rest, inner)
        case "i" | "ir" | "include" | "include_relative":
            yield Statement("calls", what, scripts=(_first(rest),))
        case "o" | "out" | "w" | "write" | "s" | "g" | "gx":
            yield _output(what, re.sub(r"\A\([^)]*\)\s*", "", rest))
        case "gexec":
            yield Statement("unclear", f"{what} runs what a query gives")
        case "lo_import":
            yield Statement("runs", what, files=(("read", _first(rest)),))
        case "lo_export":
            yield Statement("runs", what, files=tuple(("write", word) for word in _words(rest)[1:2]))
        case "lo_unlink":
            yield Statement("destroys", what)
        case "password":
            yield Statement("access", what)
        case "c" | "connect":
            yield Statement("reads", what, database=" ".join(word for word in _words(rest) if word != "-"))
        case "setenv" if re.search(r"PAGER|EDITOR|VISUAL|SHELL", rest):
            yield Statement("runs", what, code=tuple(_words(rest)[1:2]))
        case "e" | "edit" | "ef" | "ev":
            yield Statement("calls", what)
        case _:
            yield Statement("reads", what)


def _psql_copy(what: str, rest: str, inner: Inner) -> Iterator[Statement]:
    query = _PAREN.match(rest)
    if query:
        yield from inner(query["query"])
        rest = rest[query.end() :]
    found = _COPY.search(rest)
    if found is None:
        yield Statement("changes", what)
        return
    target = found["target"].strip("'").replace("''", "'")
    does = Statement("changes" if found["way"].lower() == "from" else "calls", what)
    if found["program"]:
        yield Statement("runs", what, code=(target,))
    elif target.lower().rstrip(";") not in ("stdin", "stdout", "pstdin", "pstdout"):
        yield Statement(does.does, what, files=(("read" if does.does == "changes" else "write", target),))
    else:
        yield does


def _mysql(name: str, rest: str) -> Iterator[Statement]:
    what = f"{name if len(name) > 1 else chr(92) + name} {rest}".strip()
    word = rest.partition(";")[0].strip()
    match name:
        case "!" | "system" | "P" | "pager":
            yield Statement("runs", what, code=(rest,)) if rest else Statement("reads", what)
        case "." | "source":
            yield Statement("calls", what, scripts=(word,))
        case "T" | "tee":
            yield Statement("runs", what, files=(("write", word),))
        case "u" | "use" | "r":
            yield Statement("reads", what, database=word)
        case _:
            yield Statement("reads", what)


def _sqlcmd(name: str, rest: str, inner: Inner) -> Iterator[Statement]:
    what = f"{name} {rest}".strip()
    match name.removeprefix(":"):
        case "!!":
            yield Statement("runs", what, code=(rest,))
        case "r":
            yield Statement("calls", what, scripts=(_first(rest),))
        case "out" | "error" | "perftrace":
            yield _output(what, rest)
        case "connect":
            yield Statement("reads", what, database=_first(rest))
        case "exit" | "quit" if rest.startswith("("):
            yield from inner(rest.strip("()"))
        case _:
            yield Statement("reads", what)


_DOTS = (
    *(
        "archive",
        "backup",
        "clone",
        "excel",
        "import",
        "load",
        "log",
        "once",
        "open",
        "output",
        "read",
        "restore",
    ),
    *("save", "session", "shell", "system", "trace", "www"),
)
"""Those that reach past the database; the client takes any beginning of a name."""


def _dot(name: str, rest: str) -> Iterator[Statement]:
    what = f".{name} {rest}".strip()
    words = [word for word in _words(rest) if not word.startswith("-")]
    meant = [full for full in _DOTS if full.startswith(name)] or (["archive"] if name == "ar" else [])
    if not meant:
        yield Statement("reads", what)
    for full in meant:
        match full:
            case "shell" | "system":
                yield Statement("runs", what, code=(rest,))
            case "import" | "read" if words[:1] and words[0].startswith("|"):
                yield Statement("runs", what, code=(words[0][1:],))
            case "import":
                yield Statement("changes", what, files=tuple(("read", word) for word in words[:1]))
            case "read":
                yield Statement("calls", what, scripts=tuple(words[:1]))
            case "load":
                yield Statement("runs", what)
            case "restore":
                yield Statement("destroys", what)
            case "open":
                fresh = "--new" in rest or "-new" in rest
                files = tuple(("write", word) for word in words[:1] if fresh)
                yield Statement("runs" if fresh else "reads", what, files=files, database="".join(words[:1]))  # type: ignore[arg-type]
            case "archive":
                reads = re.match(r"\s*-*(?:t|-list|list)", rest) is not None
                yield Statement("reads" if reads else "runs", what)
            case "backup" | "save" | "clone":
                yield Statement("runs", what, files=tuple(("write", word) for word in words[-1:]))
            case "excel" | "www":
                yield Statement("calls", what)
            case _:
                yield _output(what, rest.removeprefix("-e").removeprefix("-x").strip())
