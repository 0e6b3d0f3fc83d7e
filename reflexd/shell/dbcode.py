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
    r"\s*\(?\s*(?:(?:\w+\.)?(?:text|raw|sql)\s*\(\s*)?[a-z]?(?P<quote>'''|\"\"\"|['\"`])(?P<text>.{4,4000}?)(?P=quote)",
    re.S | re.I,
)
_METHODS = re.compile(
    r"(?P<ruby>\b[A-Z][\w:]*(?:\.\w+(?:\([^()]*\))?)*?\.(?:delete_all|destroy_all|truncate\w*))\b(?!\s*\()"
    r"|(?P<models>\b[A-Z]\w*\.(?:delete_all|destroy_all)\s*\(\s*[\w.]*\s*\))"
    r"|(?P<django>\b\w+\.(?:_default_manager|objects)(?:\.all\(\))?\.(?:all\(\)\.delete|_raw_delete)\s*\()"
    r"|(?P<laravel>\b[\w\\]+(?:::|->)(?:table\([^()]*\)->)?(?:truncate|dropAllTables|dropIfExists)\s*\()"
    r"|(?P<alchemy>\.drop_all\s*\()"
    r"|(?P<prisma>\.\w+\.deleteMany\s*\(\s*(?:\{\s*\}\s*)?\))"
    r"|(?P<sequelize>\.sync\s*\(\s*\{\s*force\s*:\s*true|\.dropDatabase\s*\()"
)
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
        yield ("database-call", match[0].rstrip(" ("))


def _where(code: str) -> Iterator[str]:
    for match in _URL.finditer(code):
        yield from ("--url", match["url"])
    if "sqlite" in code or "duckdb" in code:
        for match in _OPENED.finditer(code):
            yield from ("--url", f"sqlite:{match['path']}")
