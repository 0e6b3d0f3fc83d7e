"""The clients of databases: which of their words are what (config/databases.toml)."""

from __future__ import annotations

import functools
from typing import Literal

import msgspec
from msgspec import Struct, field

from reflexd.shell import mongo, redis
from reflexd.shell.calls import Call
from reflexd.shell.sqltext import Client, Dialect
from reflexd.shell.tables import table

Language = Literal["sql", "redis", "mongo"]


class _Row(Struct, frozen=True, forbid_unknown_fields=True):
    same_as: str = ""
    language: Language | None = None
    only_with: str = ""
    dialect: Dialect | None = None
    lines: Client | None = None
    sql: str = ""
    file: str = ""
    script: str = ""
    code: str = ""
    host: str = ""
    database: str = ""
    user: str = ""
    url: str = ""
    port: str = ""
    other: str = ""
    attached: str = ""
    write: str = ""
    flags: str = ""
    remote: str = ""
    listing: str = ""
    operands: tuple[str, ...] | None = None
    env: tuple[str, ...] | None = None
    embedded: bool | None = None
    elsewhere: bool | None = None


class Speaks(Struct, frozen=True):
    """One client: `roles` says what the value of an option is, `operands` what the operands are."""

    language: Language
    only_with: frozenset[str]
    dialect: Dialect
    lines: Client
    roles: dict[str, str]
    attached: tuple[str, ...]
    flags: frozenset[str]
    remote: frozenset[str]
    listing: frozenset[str]
    operands: tuple[str, ...]
    env: tuple[str, ...]
    embedded: bool
    elsewhere: bool


class Words(Struct, frozen=True):
    """A call's words by what they are; `strange`: an option that nothing describes."""

    given: tuple[tuple[str, str], ...]
    flags: frozenset[str]
    strange: bool
    base: tuple[str, ...] = field(default=())

    def all(self, *roles: str) -> tuple[str, ...]:
        return tuple(value for role, value in self.given if role in roles)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    databases: int
    clients: dict[str, _Row]
    redis: redis.Commands
    mongo: mongo.Methods


@functools.cache
def file() -> _File:
    return table("databases.toml", _File)


@functools.cache
def _client(name: str) -> Speaks:
    rows = file().clients
    chain = [rows[name]]
    while chain[-1].same_as:
        chain.append(rows[chain[-1].same_as])

    def words(*attributes: str) -> frozenset[str]:
        return frozenset(word for row in chain for name in attributes for word in getattr(row, name).split())

    def nearest(attribute: str, default: object) -> object:
        return next((value for row in chain if (value := getattr(row, attribute)) is not None), default)

    roles = {word: role for role in _ROLES for word in words(role)}
    return msgspec.convert(
        {
            "language": nearest("language", "sql"),
            "only_with": words("only_with"),
            "dialect": nearest("dialect", "postgres"),
            "lines": nearest("lines", ""),
            "roles": roles,
            "attached": tuple(sorted(words("attached"))),
            "flags": words("flags"),
            "remote": words("remote"),
            "listing": words("listing"),
            "operands": nearest("operands", ()),
            "env": nearest("env", ()),
            "embedded": nearest("embedded", False),
            "elsewhere": nearest("elsewhere", False),
        },
        Speaks,
    )


_ROLES = ("other", "port", "user", "database", "host", "url", "write", "script", "code", "file", "sql")


def is_client(name: str) -> bool:
    """Whether a client's name begins with this word."""
    return name in _programs()


def speaking(call: Call) -> tuple[Speaks, int] | None:
    """The client that `call` starts, and how many of its words name it."""
    if call.name not in _programs():
        return None
    for depth in range(min(3, len(call.argv)), 0, -1):
        name = " ".join((call.name, *call.argv[1:depth]))
        if name in file().clients:
            client = _client(name)
            wanted = not client.only_with or any(word.partition("=")[0] in client.only_with for word in call.argv)
            return (client, depth) if wanted else None
    return None


def read(call: Call, speaks: Speaks, depth: int) -> Words:
    """Options may stand anywhere; one letter after another where the client takes them so."""
    given: list[tuple[str, str]] = []
    flags: set[str] = set()
    operands: list[str] = []
    base = list(call.argv[:depth])
    strange = False
    pending = list(reversed(call.argv[depth:]))
    while pending:
        word = pending.pop()
        if speaks.embedded and word.startswith("--"):
            word = word[1:]
        name, equals, value = word.partition("=")
        if word == "--" or word == "-":
            operands.extend(reversed(pending) if word == "--" else ())
            pending = [] if word == "--" else pending
        elif not word.startswith("-") or len(word) == 1 or (operands and speaks.language == "redis"):
            operands.append(word)
        elif word in speaks.flags or word in speaks.remote or word in speaks.listing:
            flags.add(word)
            base.append(word)
        elif word.startswith(speaks.attached) and speaks.attached:
            base.append(word)
        elif name in speaks.roles and (equals or pending):
            value = value if equals else pending.pop()
            given.append((speaks.roles[name], value))
            base.extend(() if speaks.roles[name] in ("sql", "file", "write") else (name, value))
        elif word[:2] in speaks.roles and word[1] != "-" and not speaks.embedded:
            given.append((speaks.roles[word[:2]], word[2:]))
            base.extend(() if speaks.roles[word[:2]] in ("sql", "file", "write") else (word,))
        elif word[:2] in speaks.flags and word[1] != "-" and len(word) > 2 and not speaks.embedded:
            flags.add(word[:2])
            pending.append("-" + word[2:])
        else:
            strange = True
            flags.add(word)
    roles = list(speaks.operands)
    for word in operands:
        role = (roles[0] if roles[0].endswith("*") else roles.pop(0)).rstrip("*") if roles else "none"
        role = "file" if role == "database" and speaks.language == "mongo" and word.endswith(".js") else role
        given.append((role, word))
        base.extend(() if role in ("sql", "file") else (word,))
    return Words(tuple(given), frozenset(flags), strange, tuple(base))


@functools.cache
def _programs() -> frozenset[str]:
    """What such a client is started by; every call is looked up here."""
    return frozenset(name.partition(" ")[0] for name in file().clients)
