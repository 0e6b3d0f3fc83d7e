"""The store: schema, exclusive use, and what the daemon does without it."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from pathlib import Path

import pytest
from msgspec import Struct, structs

from reflexd import paths
from reflexd.control import AgentSeen, ModeRequest, ModeSet
from reflexd.daemon import store as stores
from reflexd.daemon.standing import Standing
from reflexd.daemon.store import TABLES, VERSION, Broken, Store
from reflexd.errors import ReflexError, UnsafePathError
from reflexd.kept import Approval, Counted, Envelope, Parked, Tainted, Trusted
from reflexd.settings import Sources
from tests.daemon.running import Daemon


@pytest.fixture
def path(short_home: str) -> str:
    paths.private_dir(paths.state_dir(short_home))
    return paths.store_file(short_home)


def by_hand(path: str, statement: str) -> None:
    with sqlite3.connect(path) as db:
        db.execute(statement)
    db.close()


def test_what_is_put_in_comes_out_again(path: str) -> None:
    first = Store(path)
    first.set_mode(ModeSet("shadow"))
    first.set_mode(ModeSet("off", "/tmp", time.time() + 100))
    first.keep_seen([AgentSeen("pi", "tool_call", 5.0, "s")])
    first.keep_good(Sources(b"mode='off'", None))
    first.close()
    second = Store(path)
    assert [(m.mode, m.cwd) for m in second.modes()] == [("shadow", ""), ("off", "/tmp")]
    assert second.seen() == (AgentSeen("pi", "tool_call", 5.0, "s"),)
    assert second.good() == Sources(b"mode='off'", None)
    second.keep_good(Sources(None, b"policy"))
    assert second.good() == Sources(None, b"policy")


def test_a_mode_ends_when_its_time_is_over(path: str) -> None:
    store = Store(path)
    store.set_mode(ModeSet("off", "", time.time() - 1))
    assert store.modes() == ()


def test_it_is_private_and_carries_its_version(path: str) -> None:
    Store(path).close()
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)


def test_a_newer_schema_is_refused_with_the_way_out(path: str, short_home: str) -> None:
    Store(path).close()
    by_hand(path, f"PRAGMA user_version={VERSION + 1}")
    code, said = Daemon(short_home).refusal()
    assert code == 1
    assert "newer reflex" in said
    assert "hint" in said


def test_an_older_schema_is_brought_up(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(path).close()
    monkeypatch.setattr(stores, "MIGRATIONS", (*stores.MIGRATIONS, ("CREATE TABLE later (x INTEGER) STRICT",)))
    monkeypatch.setattr(stores, "VERSION", VERSION + 1)
    Store(path).close()
    by_hand(path, "INSERT INTO later VALUES (1)")


OLD = (
    "CREATE TABLE mode (cwd TEXT PRIMARY KEY, mode TEXT NOT NULL, until REAL NOT NULL) STRICT",
    "CREATE TABLE seen (agent TEXT PRIMARY KEY, event TEXT NOT NULL, at REAL NOT NULL, session TEXT NOT NULL)",
    "CREATE TABLE good (name TEXT PRIMARY KEY, data BLOB NOT NULL) STRICT",
    "INSERT INTO mode VALUES ('', 'shadow', 0)",
    "INSERT INTO seen VALUES ('pi', 'tool_call', 5.0, 's')",
    "INSERT INTO good VALUES ('policy', X'6162')",
    "PRAGMA user_version=1",
)


def test_the_first_version_s_file_keeps_what_it_holds_and_gets_the_new_tables(path: str) -> None:
    with sqlite3.connect(path) as db:
        for statement in OLD:
            db.execute(statement)
    db.close()
    os.chmod(path, 0o600)
    store = Store(path)
    assert [mode.mode for mode in store.modes()] == ["shadow"]
    assert store.seen() == (AgentSeen("pi", "tool_call", 5.0, "s"),)
    assert store.good() == Sources(None, b"ab")
    assert [store.rows(kind) for kind in TABLES] == [()] * len(TABLES)  # type: ignore[type-var]
    store.close()
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA user_version").fetchone() == (VERSION,)


ROWS = (
    Parked("a", "k", "pi", "s", "/x", "Bash", "make", "destroy", "why", 1.0, 2.0, "denied"),
    Approval("a", "k", 1.0, 2.0, 0.0, b"sig"),
    Trusted("/x/run.sh", "d" * 64, 1.0, b"sig"),
    Tainted("pi:s", "a page that gives orders", 1.0),
    Counted("pi:s", 1.0, "ls", "failed", True),
    Envelope("pi:s", "{}", 1.0, 2.0, b"sig"),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: type(row).__name__)
def test_a_row_of_every_kind_comes_out_as_it_went_in(path: str, row: Struct) -> None:
    Store(path).close()
    values = structs.astuple(row)
    with sqlite3.connect(path) as db:
        db.execute(f"INSERT INTO {TABLES[type(row)]} VALUES ({', '.join('?' * len(values))})", values)
    db.close()
    store = Store(path)
    assert store.rows(type(row)) == (row,)
    store.close()
    columns = [name for _, name, *_ in sqlite3.connect(path).execute(f"PRAGMA table_info({TABLES[type(row)]})")]
    assert columns == list(row.__struct_fields__)


def test_taint_that_was_kept_taints_the_session_and_what_lies_below_a_directory(path: str, short_home: str) -> None:
    Store(path).close()
    by_hand(path, "INSERT INTO taint VALUES ('claude:s1', 'a page', 1), ('/work/x', 'a mail', 2)")
    standing = Standing(short_home)
    assert standing.taint("claude:s1", "/y") == ("a page",)
    assert standing.taint("claude:s1", "/work/x/y") == ("a page", "a mail")
    assert standing.taint("claude:s2", "/work/xy") == ()
    standing.close()


def test_a_tainted_session_is_judged_as_one(path: str, short_home: str) -> None:
    Store(path).close()
    by_hand(path, "INSERT INTO taint VALUES ('claude:s1', 'a page', 1)")
    with Daemon(short_home) as daemon:
        assert daemon.bash("./gone.sh", session_id="s1", cwd=short_home).exit == 2
        assert daemon.bash("./gone.sh", session_id="s2", cwd=short_home).exit == 0


def test_without_the_store_every_session_is_tainted(path: str, short_home: str) -> None:
    Path(path).write_bytes(b"not a database" * 1000)
    os.chmod(path, 0o600)
    assert Standing(short_home).taint("claude:s1", "/y")


def test_a_migration_that_fails_changes_nothing(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Store(path).close()
    monkeypatch.setattr(stores, "MIGRATIONS", (*stores.MIGRATIONS, ("CREATE TABLE later (x)", "NONSENSE")))
    monkeypatch.setattr(stores, "VERSION", VERSION + 1)
    with pytest.raises(Broken):
        Store(path)
    monkeypatch.undo()
    Store(path).close()


def test_two_cannot_use_it_at_once(path: str) -> None:
    held = Store(path)
    with pytest.raises(Broken, match="locked"):
        Store(path)
    held.set_mode(ModeSet("shadow"))
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        sqlite3.connect(path, timeout=0).execute("DELETE FROM mode")


def test_a_file_that_others_can_read_is_refused(path: str) -> None:
    Store(path).close()
    os.chmod(path, 0o644)
    with pytest.raises(UnsafePathError):
        Store(path)


def test_a_row_that_is_none_of_ours_is_not_taken(path: str) -> None:
    Store(path).close()
    by_hand(path, "INSERT INTO mode VALUES ('/tmp', 'anything goes', 0)")
    with pytest.raises(Broken):
        Store(path).modes()


@pytest.mark.parametrize("fault", ["garbage", "directory", "locked"])
def test_without_its_store_the_daemon_enforces_and_says_so(path: str, short_home: str, fault: str) -> None:
    Path(paths.config_dir(short_home)).mkdir(parents=True, mode=0o700)
    Path(paths.settings_file(short_home)).write_text('mode = "off"\n')
    stranger = sqlite3.connect(path, isolation_level=None) if fault == "locked" else None
    match fault:
        case "garbage":
            Path(path).write_bytes(b"not a database" * 1000)
            os.chmod(path, 0o600)
        case "directory":
            os.mkdir(path)
        case "locked":
            os.chmod(path, 0o600)
            assert stranger
            stranger.execute("BEGIN EXCLUSIVE")
    with Daemon(short_home) as daemon:
        status = daemon.client.status()
        assert status.mode == "enforce"
        assert any("reflex.db" in fault for fault in status.broken)
        assert daemon.bash("rm -rf ~").exit == 2
        assert daemon.bash("git status").exit == 0
    if stranger:
        stranger.close()


class TestStanding:
    def test_the_nearest_mode_above_a_directory_holds(self, path: str, short_home: str) -> None:
        standing = Standing(short_home)
        for name in ("a", "a/b", "ab"):
            os.mkdir(os.path.join(short_home, name))
        standing.set_mode(ModeRequest("shadow"))
        standing.set_mode(ModeRequest("off", cwd=os.path.join(short_home, "a")))
        standing.set_mode(ModeRequest("enforce", cwd=os.path.join(short_home, "a", "b")))
        held = {"": "shadow", "a": "off", "a/c/d": "off", "a/b": "enforce", "a/b/c": "enforce", "ab": "shadow"}
        for cwd, mode in held.items():
            assert standing.mode_at(os.path.join(short_home, cwd)) == mode, cwd
        assert standing.mode_at("") == "shadow"
        assert standing.mode_at("a") == "shadow"

    def test_a_link_into_a_directory_is_that_directory(self, path: str, short_home: str) -> None:
        standing = Standing(short_home)
        os.mkdir(os.path.join(short_home, "a"))
        os.symlink("a", os.path.join(short_home, "link"))
        standing.set_mode(ModeRequest("off", cwd=os.path.join(short_home, "link")))
        assert standing.mode_at(os.path.join(short_home, "a")) == "off"
        assert standing.mode_at(os.path.join(short_home, "a", "..")) == "enforce"

    def test_a_mode_for_a_while_ends(self, path: str, short_home: str, monkeypatch: pytest.MonkeyPatch) -> None:
        standing = Standing(short_home)
        standing.set_mode(ModeRequest("off", seconds=60))
        assert standing.mode_at("") == "off"
        later = time.time() + 61
        monkeypatch.setattr(time, "time", lambda: later)
        assert standing.mode_at("") == "enforce"

    def test_a_mode_outlives_the_daemon(self, path: str, short_home: str) -> None:
        first = Standing(short_home)
        first.set_mode(ModeRequest("shadow"))
        first.close()
        assert Standing(short_home).mode_at("") == "shadow"

    def test_a_mode_for_no_directory_is_refused(self, path: str, short_home: str) -> None:
        with pytest.raises(ReflexError, match="not a directory"):
            Standing(short_home).set_mode(ModeRequest("off", cwd=os.path.join(short_home, "none")))
