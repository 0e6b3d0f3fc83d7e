"""Code of other languages that empties a database: the SQL it hands over, and the methods of mappers that do the same.

A search for literal calls, as in shell.foreign: what the code says in so many words becomes a call of `database-call`
(or `database-change`), whose rows are in config/programs/databases.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reflexd.shell import sql
from reflexd.shell.sqltext import Dialect
from reflexd.shell.statements import worst

CODE_MAX = 64 * 1024
LANGUAGES = frozenset({"python", "js", "ruby", "php", "perl", "elixir"})
_SQL = re.compile(r"\s*(?:drop|truncate|delete|alter|insert|update|create|grant|revoke|merge|replace|with)\b", re.I)
_HANDED = re.compile(
    r"(?:\bexecute\w*|\bexec|\bexec_query|\b\$?(?:execute|query)Raw\w*|\bquery|\braw|\bstatement|\bunprepared|\bread_sql\w*)"
    r"\s{0,20}\(?\s{0,20}(?:(?:\w{1,30}\.)?(?:text|raw|sql)\s?\(\s{0,20})?[a-z]?"
    r"(?P<quote>'''|\"\"\"|['\"`])(?P<text>.{4,2000}?)(?P=quote)",
    re.S | re.I,
)
_METHODS = re.compile(
    r"(?P<ruby>\.(?:delete_all|destroy_all|truncate_all|drop_all)\b)"
    r"|(?P<django>\.(?:_default_manager|objects)(?:\.all\(\))?\.(?:all\(\)\.delete|_raw_delete)\()"
    r"|(?P<laravel>(?:::|->)(?:table\([^()]{0,80}\)->)?(?:truncate|dropAllTables|dropIfExists)\()"
    r"|(?P<prisma>\.deleteMany\(\s{0,20}(?:\{\s{0,20}\}\s{0,20})?\))"
    r"|(?P<sequelize>\.sync\(\s{0,20}\{\s{0,20}force\s{0,4}:\s{0,4}true|\.dropDatabase\()"
)
_OBJECT = re.compile(r"[\w.:$>()-]*\Z")
_OBJECT_MAX = 40
_OPENED = re.compile(r"\bconnect\w*\s*\(\s*[a-z]?['\"](?P<path>[^'\"]+)['\"]")
_URL = re.compile(r"['\"](?P<url>(?:postgres\w*|mysql|mariadb|mongodb)(?:\+\w+)?://[^'\"\s]+)['\"]")
_DROPPED = re.compile(r"drop\s+database\s+(?:if\s+exists\s+)?([\w-]+)", re.I)
_DIALECTS: tuple[tuple[str, Dialect], ...] = (("sqlite", "sqlite"), ("mysql", "mysql"), ("duckdb", "duckdb"))


def told(code: str) -> tuple[tuple[str, ...], ...]:
    """What the code makes a database do, as calls; nothing for what only looks."""
    code = code[:CODE_MAX]
    where = tuple(_where(code))
    return tuple((name, *where, *more) for name, *more in _calls(code))


def _calls(code: str) -> Iterator[tuple[str, ...]]:
    dialect: Dialect = next((dialect for word, dialect in _DIALECTS if word in code), "postgres")
    for match in _HANDED.finditer(code):
        if not _SQL.match(match["text"]):
            continue
        does = worst(sql.read(match["text"], dialect))
        dropped = _DROPPED.search(match["text"])
        named = ("-d", dropped[1]) if dropped else ()
        if does == "destroys":
            yield ("database-call", *named, " ".join(match["text"].split())[:60])
        elif does in ("changes", "access", "runs"):
            yield ("database-change", *named, " ".join(match["text"].split())[:60])
    for match in _METHODS.finditer(code):
        held = _OBJECT.search(code[max(0, match.start() - _OBJECT_MAX) : match.start()])
        yield ("database-call", f"{held[0] if held else ''}{match[0].rstrip(' (')}")


def _where(code: str) -> Iterator[str]:
    for match in _URL.finditer(code):
        yield from ("--url", match["url"])
    if "sqlite" in code or "duckdb" in code:
        for match in _OPENED.finditer(code):
            yield from ("--url", f"sqlite:{match['path']}")
