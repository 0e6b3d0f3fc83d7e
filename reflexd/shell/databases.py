"""Clients of databases: how SQL (or what else they speak) reaches them, and what comes of it where they send it.

Reading has no effect. What changes rows or structures is `change`, what takes away what nobody gives back is
`destroy`; a database that is a file lies where that file lies. Data: config/databases.toml.
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterable, Iterator

from reflexd.shell import mongo, redis, sql
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.dbclients import Language, Speaks, Words, file, read, speaking
from reflexd.shell.dbtarget import Target, for_tests, target
from reflexd.shell.fields import UNKNOWN
from reflexd.shell.options import names
from reflexd.shell.places import Ground
from reflexd.shell.realms import machines
from reflexd.shell.sqltext import Client, Dialect
from reflexd.shell.statements import Statement
from reflexd.types import Effect, EffectKind, Place

_CONTAINERS = names("container docker podman nerdctl docker-compose podman-compose kubectl oc kubecolor")
EFFECTS_MAX = 12  # of one call; a reader needs no more, and every kind is among them


def statements(call: Call, speaks: Speaks, words: Words) -> tuple[Statement, ...]:
    """What it is told to do, as far as that stands in the call."""
    given = tuple(Statement("runs", f"{call.name} {value}") for value in words.all("code"))
    texts = [*words.all("sql")]
    if speaks.language == "redis" and texts:
        # The value of an option that nobody described may stand where the command seems to.
        texts = [shlex.join(texts[at:]) for at in range(min(len(texts), 3) if words.strange else 1)]
    if _reads_stdin(call, words) and call.stdin is not None:
        texts.append(call.stdin)
    return given + tuple(each for text in texts for each in _read(text, speaks.language, speaks.dialect, speaks.lines))


@functools.lru_cache(maxsize=64)
def _read(text: str, language: Language, dialect: Dialect, lines: Client) -> tuple[Statement, ...]:
    match language:
        case "redis":
            return redis.read(text, file().redis)
        case "mongo":
            return mongo.read(text, file().mongo)
        case _:
            return sql.read(text, dialect, lines)


def _reads_stdin(call: Call, words: Words) -> bool:
    return (bool(call.fed) and not words.all("sql", "file")) or "-" in words.all("file") or "--stdin" in words.flags


# ---- what it runs in turn -----------------------------------------------------------------------


def unwrap(call: Call) -> Unwrapped | None:
    """Shell code that statements start, files of SQL, and why what it is told may be more than was read."""
    found = speaking(call)
    if found is None:
        return None
    speaks, depth = found
    words = read(call, speaks, depth)
    done = statements(call, speaks, words)
    code = (*words.all("script"), *(code for each in done for code in each.code))
    files = [*words.all("file"), *(script for each in done for script in each.scripts)]
    # What it names where it runs is no file of this machine; what it is fed from here is.
    away = bool(machines(call)) or not _CONTAINERS.isdisjoint(call.via)
    files = [UNKNOWN if away else file for file in files if file not in ("-", "")]
    opaque = [f"{call.name} is given what could not be read ({each.what})" for each in done if each.does == "unclear"]
    if _reads_stdin(call, words) and call.stdin is None:
        if call.fed in ("download", "decoded"):
            source = "a download" if call.fed == "download" else "encoded text"
            opaque.append(f"{call.name} runs what comes out of {source}, which nobody has seen")
        else:
            files.append(call.input_file or UNKNOWN)
    if not (done or files or call.fed or words.all("sql", "write") or speaks.listing.intersection(words.flags)):
        opaque.append(f"a bare {call.name} runs whatever is typed into it")
    if not (code or files or opaque):
        return None
    return Unwrapped(code=code, files=tuple(files), opaque=tuple(opaque), arguments=words.base, kind="sql")


# ---- what comes of it -----------------------------------------------------------------------------


def effects(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """None of these for a call that only looks; the second value says whether that is proved."""
    found = speaking(call)
    if found is None:
        return [], False
    speaks, depth = found
    words = read(call, speaks, depth)
    done = statements(call, speaks, words)
    made: dict[Effect, None] = {}
    for path in words.all("write"):
        made[_file("write", path, call, ground)] = None
    if speaks.embedded:
        made.update(dict.fromkeys(_embedded(call, ground, words, done)))
    else:
        where = _where(call, ground, speaks, words)
        for each in done:
            if each.database:
                where = _where(call, ground, speaks, words, each.database)
            made.update(dict.fromkeys(_of(each, where, call, ground, speaks.dialect)))
        if words.all("file") or (_reads_stdin(call, words) and call.stdin is None):
            made[Effect("change", where.of("whatever a file of sql says"), where.places, detail="unread")] = None
    quiet = (
        not words.strange and bool(done or speaks.listing.intersection(words.flags)) and not words.all("file", "write")
    )
    return _few(made), quiet and all(each.does == "reads" and not each.code for each in done) and not call.fed


def _where(call: Call, ground: Ground, speaks: Speaks, words: Words, instead: str = "") -> Target:
    elsewhere = speaks.elsewhere or not speaks.remote.isdisjoint(words.flags)
    names = [*words.all("database", "url"), *([instead] if instead else [])]
    return target(call, ground, words.all("host"), names, words.all("user"), speaks.env, elsewhere)


_DROPPED = re.compile(r"drop database (?:if exists )?(\S+)", re.I)
_QUALIFIED = re.compile(r"[`\"\[]?([\w$-]+)[`\"\]]?\s*\.")
_ACROSS = frozenset({"mysql", "clickhouse", "tsql", "snowflake", "bigquery"})
"""Dialects in which a name with a dot may be of another database."""


def _passes(each: Statement, where: Target, dialect: Dialect) -> bool:
    """Only tests lose something: the database that is spoken to is theirs, or the one that is named."""
    dropped = _DROPPED.match(each.what)
    if dropped is not None:
        return where.places == ("service",) and for_tests(dropped[1])
    other = _QUALIFIED.search(each.what) if dialect in _ACROSS else None
    return where.passing and (other is None or for_tests(other[1]))


def _of(each: Statement, where: Target, call: Call, ground: Ground, dialect: Dialect) -> Iterator[Effect]:
    remote = "service" not in where.places
    for role, path in each.files:
        if not remote or each.what.startswith("\\"):
            yield _file(role, path, call, ground)
    match each.does:
        case "destroys":
            kind: EffectKind = "change" if _passes(each, where, dialect) else "destroy"
            yield Effect(kind, where.of(each.what), where.places, detail="sql")
        case "access":
            places: tuple[Place, ...] = (*where.places, "credentials") if remote else where.places
            yield Effect("change", where.of(each.what), places, detail="access")
        case "changes" | "unclear":
            yield Effect("change", where.of(each.what), where.places, detail="sql")
        case "runs" if not each.files or remote:
            yield Effect("change", where.of(each.what), where.places, detail="code")


def _file(role: str, path: str, call: Call, ground: Ground) -> Effect:
    shownpath, places = ground.locate(path, call.cwd)
    return Effect("write" if role == "write" or "reflex" in places else "read", shownpath, places, detail=call.name)


_MEMORY = frozenset({"", ":memory:"})


def _embedded(call: Call, ground: Ground, words: Words, done: tuple[Statement, ...]) -> Iterator[Effect]:
    """A database that is a file: the file is read or written, and what it holds goes."""
    path = next(iter(words.all("path")), "")
    readonly = not {"-readonly", "-safe"}.isdisjoint(words.flags)
    unread = bool(words.all("file")) or (_reads_stdin(call, words) and call.stdin is None)
    if not done and not unread and path not in _MEMORY:
        yield _file("write", path, call, ground)
    for each in done:
        for role, name in each.files:
            yield _file(role, name, call, ground)
        path = each.database or path
        if path in _MEMORY:
            continue
        place = _file("read" if readonly or each.does in ("reads", "calls") else "write", path, call, ground)
        yield place
        ours = {"scratch", "disposable"}.isdisjoint(place.places) and not for_tests(path.rpartition("/")[2])
        if each.does == "destroys" and not readonly and ours:
            yield Effect("destroy", f"{each.what} in {place.target}", place.places, detail="sql")
    if unread and path not in _MEMORY:
        yield _file("read" if readonly else "write", path, call, ground)


def _few(made: Iterable[Effect]) -> list[Effect]:
    """The worst first where there are more than a reader could use."""
    ordered = sorted(made, key=lambda effect: effect.kind != "destroy")
    kept = ordered[:EFFECTS_MAX]
    seen = {(effect.kind, effect.places) for effect in kept}
    for effect in ordered[EFFECTS_MAX:]:
        if (effect.kind, effect.places) not in seen:
            seen.add((effect.kind, effect.places))
            kept.append(effect)
    return kept
