"""What outlives the daemon: modes that a person set, the last real event of each agent, the last good files,
and the rows of reflexd.kept.

SQLite, held exclusively: a stranger's lock on it is refused at start, ours keeps strangers out while
we run. Synced in full before a change is said to be done. One thread at a time may use it.
Nothing in here loosens by itself: a store that cannot be read means that no mode was set, see gate.Modes.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterable, Mapping
from typing import TypeVar

import msgspec
from msgspec import Struct

from reflexd.control import AgentSeen, ModeSet
from reflexd.errors import ReflexError, UnsafePathError
from reflexd.kept import Approval, Counted, Envelope, Parked, Tainted, Trusted
from reflexd.settings import Sources

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        "CREATE TABLE mode (cwd TEXT PRIMARY KEY, mode TEXT NOT NULL, until REAL NOT NULL) STRICT",
        "CREATE TABLE seen (agent TEXT PRIMARY KEY, event TEXT NOT NULL, at REAL NOT NULL, session TEXT NOT NULL)",
        "CREATE TABLE good (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT",
    ),
    (
        """CREATE TABLE queue (
            id TEXT PRIMARY KEY, key TEXT NOT NULL, agent TEXT NOT NULL, session TEXT NOT NULL, cwd TEXT NOT NULL,
            tool TEXT NOT NULL, call TEXT NOT NULL, rule TEXT NOT NULL, reason TEXT NOT NULL, at REAL NOT NULL,
            until REAL NOT NULL, state TEXT NOT NULL
        ) STRICT""",
        "CREATE INDEX queue_by_key ON queue (key)",
        """CREATE TABLE approvals (
            id TEXT PRIMARY KEY, key TEXT NOT NULL, at REAL NOT NULL, until REAL NOT NULL, used REAL NOT NULL,
            signature BLOB NOT NULL
        ) STRICT""",
        "CREATE INDEX approvals_by_key ON approvals (key)",
        """CREATE TABLE trust (
            path TEXT PRIMARY KEY, digest TEXT NOT NULL, at REAL NOT NULL, signature BLOB NOT NULL
        ) STRICT""",
        """CREATE TABLE taint (
            holder TEXT NOT NULL, why TEXT NOT NULL, at REAL NOT NULL, PRIMARY KEY (holder, why)
        ) STRICT""",
        """CREATE TABLE windows (
            holder TEXT NOT NULL, at REAL NOT NULL, template TEXT NOT NULL, outcome TEXT NOT NULL,
            read_only INTEGER NOT NULL
        ) STRICT""",
        "CREATE INDEX windows_by_holder ON windows (holder, at)",
        """CREATE TABLE envelopes (
            holder TEXT PRIMARY KEY, terms TEXT NOT NULL, at REAL NOT NULL, until REAL NOT NULL,
            signature BLOB NOT NULL
        ) STRICT""",
    ),
)
"""One entry a schema version; entry n makes version n + 1 out of version n. Never edited, only added to."""

VERSION = len(MIGRATIONS)
TABLES: Mapping[type[Struct], str] = {
    Parked: "queue",
    Approval: "approvals",
    Trusted: "trust",
    Tainted: "taint",
    Counted: "windows",
    Envelope: "envelopes",
}
"""Where the rows of each kind are kept."""
BUSY_MS = 200


T = TypeVar("T")


class _Good(Struct, frozen=True):
    name: str
    data: bytes


class Broken(ReflexError):
    """The store cannot be used; the daemon goes on without it, as strictly as it can."""


class Store:
    def __init__(self, path: str) -> None:
        """Raises Broken, or ReflexError where a newer reflex wrote it (then nothing here may go on)."""
        self.path = path
        _check(path)
        try:
            self._db = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
        except sqlite3.Error as e:
            raise Broken(f"{path} cannot be opened: {e}", _away(path)) from e
        try:
            self._begin()
        except sqlite3.Error as e:
            self._db.close()
            raise Broken(f"{path} cannot be used: {e}", _away(path)) from e
        except ReflexError:
            self._db.close()
            raise

    def close(self) -> None:
        self._db.close()

    def modes(self) -> tuple[ModeSet, ...]:
        """Those that still hold."""
        query = "SELECT mode, cwd, until FROM mode WHERE until = 0 OR until > ? ORDER BY cwd"
        return self._all(ModeSet, query, time.time())

    def set_mode(self, new: ModeSet) -> None:
        self._change(
            [
                ("DELETE FROM mode WHERE until != 0 AND until <= ?", (time.time(),)),
                ("INSERT OR REPLACE INTO mode (mode, cwd, until) VALUES (?, ?, ?)", (new.mode, new.cwd, new.until)),
            ]
        )

    def seen(self) -> tuple[AgentSeen, ...]:
        return self._all(AgentSeen, "SELECT agent, event, at, session FROM seen ORDER BY agent")

    def keep_seen(self, agents: Iterable[AgentSeen]) -> None:
        put = "INSERT OR REPLACE INTO seen (agent, event, at, session) VALUES (?, ?, ?, ?)"
        self._change([(put, (a.agent, a.event, a.at, a.session)) for a in agents])

    def good(self) -> Sources:
        """The last files that could be used."""
        rows = {row.name: row.data for row in self._all(_Good, "SELECT name, data FROM good")}
        return Sources(rows.get("settings"), rows.get("policy"))

    def keep_good(self, sources: Sources) -> None:
        put = "INSERT INTO good (name, data) VALUES (?, ?)"
        files = (("settings", sources.settings), ("policy", sources.policy))
        self._change([("DELETE FROM good", ()), *((put, pair) for pair in files if pair[1] is not None)])

    def set_envelope(self, new: Envelope) -> None:
        """In place of the one that its holder had."""
        columns = ", ".join(Envelope.__struct_fields__)
        put = f"INSERT OR REPLACE INTO envelopes ({columns}) VALUES (?, ?, ?, ?, ?)"  # noqa: S608  names of ours alone
        self._change(
            [
                ("DELETE FROM envelopes WHERE until != 0 AND until <= ?", (new.at,)),
                (put, tuple(getattr(new, name) for name in Envelope.__struct_fields__)),
            ]
        )

    def clear_envelope(self, holder: str) -> None:
        self._change([("DELETE FROM envelopes WHERE holder = ?", (holder,))])

    def rows(self, kind: type[T]) -> tuple[T, ...]:
        """Every row of one kind, oldest first."""
        columns = ", ".join(kind.__struct_fields__)  # type: ignore[attr-defined]
        table = TABLES[kind]  # type: ignore[index]
        return self._all(kind, f"SELECT {columns} FROM {table} ORDER BY at, rowid")  # noqa: S608  names of ours alone

    def _begin(self) -> None:
        self._db.execute("PRAGMA locking_mode=EXCLUSIVE")
        self._db.execute("PRAGMA synchronous=FULL")
        self._db.execute("PRAGMA trusted_schema=OFF")
        self._db.execute("BEGIN EXCLUSIVE")
        self._migrate()
        self._db.execute("COMMIT")
        if self._db.execute("PRAGMA quick_check(1)").fetchone() != ("ok",):
            raise Broken(f"{self.path} is damaged", _away(self.path))

    def _migrate(self) -> None:
        (found,) = self._db.execute("PRAGMA user_version").fetchone()
        if found > VERSION:
            raise ReflexError(
                f"{self.path} was written by a newer reflex (schema {found}, this one knows {VERSION})",
                f"install that version again, or move {self.path} away to lose the modes set in it",
            )
        for statements in MIGRATIONS[found:]:
            for statement in statements:
                self._db.execute(statement)
        self._db.execute(f"PRAGMA user_version={VERSION}")

    def _all(self, shape: type[T], query: str, *values: object) -> tuple[T, ...]:
        try:
            found = self._db.execute(query, values)
            names = [column[0] for column in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found]
            # SQLite has no booleans.
            return msgspec.convert(rows, type=tuple[shape, ...], strict=False)  # type: ignore[valid-type]
        except (sqlite3.Error, msgspec.ValidationError) as e:
            raise Broken(f"{self.path} cannot be read: {e}", _away(self.path)) from e

    def _change(self, statements: list[tuple[str, tuple[object, ...]]]) -> None:
        """All of them or none, on the disk when this returns."""
        try:
            with self._db:
                self._db.execute("BEGIN IMMEDIATE")
                for statement, values in statements:
                    self._db.execute(statement, values)
        except sqlite3.Error as e:
            raise Broken(f"{self.path} cannot be written: {e}") from e


def _away(path: str) -> str:
    return f"stop reflexd, move {path} away, and start it again"


def _check(path: str) -> None:
    """Make the file private before SQLite makes it; refuse one that is not ours alone."""
    try:
        fd = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o600)
    except OSError as e:
        raise Broken(f"{path} cannot be opened: {e.strerror}", _away(path)) from e
    found = os.fstat(fd)
    os.close(fd)
    if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
        raise UnsafePathError(f"{path} is not a private file of ours", f"move {path} away")
