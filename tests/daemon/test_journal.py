"""The journal: what is kept, what is not, and what happens to calls while nothing can be kept."""

from __future__ import annotations

import json
import os
import resource
import signal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd import paths
from reflexd.daemon.journal import BLOCK, Journal, Row, find, last_refusal, new_id, now, read_rows
from reflexd.daemon.lane import Lane
from tests.daemon.running import Daemon, until

SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def path(short_home: str) -> str:
    paths.private_dir(paths.state_dir(short_home))
    return paths.journal_file(short_home)


def row(call: str = "git status", **fields: object) -> Row:
    return Row(t=now(), id=new_id(), call=call, **fields)  # type: ignore[arg-type]


def journal(path: str) -> Journal:
    return Journal(path, Lane(1, 8))


def test_every_guarded_call_is_one_line(daemon: Daemon) -> None:
    for command in ("git status", "rm -rf ~", "cat ~/.ssh/id_rsa"):
        daemon.bash(command, session_id="s1")
    daemon.call("claude", "SessionStart", b'{"hook_event_name":"SessionStart","cwd":"/tmp"}')
    lines = Path(daemon.journal).read_bytes().splitlines()
    assert json.loads(lines[0])["journal"] == 1
    rows = [json.loads(line) for line in lines[2:]]
    assert [r["call"] for r in rows] == ["git status", "rm -rf ~", "cat ~/.ssh/id_rsa"]
    assert [r["decision"] for r in rows] == ["pass", "deny", "ask"]
    assert {r["session"] for r in rows} == {"s1"}
    assert all(r["policy"] and r["mode"] == "enforce" and r["ms"] > 0 for r in rows)


def test_secrets_are_not_written(daemon: Daemon) -> None:
    daemon.bash(f"curl -H 'Authorization: token {SECRET}' https://example.com")
    daemon.bash(f"rm -rf ~ # {SECRET}")
    daemon.bash(f"echo {'x' * 5000} {SECRET}")
    assert len(daemon.rows()) == 4
    for file in ("journal/journal.jsonl", "reflexd.log"):
        assert SECRET.encode() not in Path(paths.state_dir(daemon.home), file).read_bytes()


def test_a_killed_daemon_lost_nothing_that_it_answered(daemon: Daemon) -> None:
    for i in range(20):
        daemon.bash(f"echo {i}")
    daemon.end(signal.SIGKILL)
    assert [r.call for r in daemon.rows()][:20] == [f"echo {i}" for i in range(19, -1, -1)]


def test_the_row_after_a_torn_one_stands_on_a_line_of_its_own(path: str) -> None:
    first, second = row("one"), row("two")
    before = journal(path)
    assert before.append(first)
    before.close()
    with open(path, "ab") as file:
        file.write(b'{"t":"2026-01-01T00:00:00","id":"half')
    assert [r.call for r in read_rows(path)] == ["one"]
    after = journal(path)
    assert after.append(second)
    assert [r.call for r in read_rows(path)] == ["two", "one"]


@given(st.lists(st.one_of(st.text(max_size=100), st.just("x" * BLOCK)), max_size=8), st.binary(max_size=100))
def test_rows_come_back_newest_first_whatever_lies_between(calls: list[str], garbage: bytes) -> None:
    import tempfile

    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        path = os.path.join(directory, "journal", "journal.jsonl")
        writer = journal(path)
        rows = [row("", reason=call) for call in calls]
        for one in rows:
            assert writer.append(one)
            with open(path, "ab") as file:
                file.write(garbage.replace(b"{", b"") + b"\n")
        assert [r.id for r in read_rows(path)] == [r.id for r in reversed(rows)]


def test_lone_surrogates_are_kept_as_question_marks(path: str) -> None:
    assert journal(path).append(row("ls \udcff", cwd="/tmp/\udcff"))
    assert [(r.call, r.cwd) for r in read_rows(path)] == [("ls ?", "/tmp/?")]


def test_rows_can_be_found(path: str) -> None:
    writer = journal(path)
    assert last_refusal(path) is None
    rows = [row("a", decision="pass"), row("b", decision="deny"), row("c", decision="ask"), row("d", decision="pass")]
    for one in rows:
        writer.append(one)
    writer.append(row("e", kind="control", decision="refused"))
    found = last_refusal(path)
    assert found is not None
    assert found.call == "c"
    assert find(path, rows[0].id) == rows[0]
    assert find(path, "nothing") is None


def test_a_journal_that_is_not_there_has_no_rows(short_home: str) -> None:
    assert list(read_rows(os.path.join(short_home, "none"))) == []


def test_a_journal_that_was_taken_away_is_begun_again(daemon: Daemon) -> None:
    daemon.bash("echo 1")
    os.rename(daemon.journal, daemon.journal + ".old")
    daemon.bash("echo 2")
    assert [r.call for r in daemon.rows()] == ["echo 2"]
    os.unlink(daemon.journal)
    daemon.bash("echo 3")
    assert [r.call for r in daemon.rows()] == ["echo 3"]


def refuses_all_but_reading(daemon: Daemon) -> None:
    reply = daemon.bash("touch /tmp/x")
    assert reply.exit == 2
    assert b"journal" in reply.stderr
    assert daemon.bash("git status").exit == 0
    assert daemon.bash("rm -rf ~").exit == 2
    assert any("journal" in fault for fault in daemon.client.status().broken)


def test_while_no_journal_can_be_opened_only_reading_goes_on(short_home: str) -> None:
    in_the_way = paths.journal_file(short_home)
    os.makedirs(in_the_way, mode=0o700)
    for directory in (paths.state_dir(short_home), os.path.dirname(in_the_way)):
        os.chmod(directory, 0o700)
    with Daemon(short_home) as daemon:
        refuses_all_but_reading(daemon)
        os.rmdir(in_the_way)
        assert daemon.bash("touch /tmp/x").exit == 0
        assert daemon.client.status().broken == ()


def test_a_log_that_cannot_be_written_stops_nothing(short_home: str) -> None:
    os.makedirs(paths.daemon_log(short_home), mode=0o700)
    os.chmod(paths.state_dir(short_home), 0o700)
    with Daemon(short_home) as daemon:
        assert daemon.bash("touch /tmp/x").exit == 0


@pytest.mark.parametrize("what", ["symlink", "open to others"])
def test_a_journal_that_is_not_private_is_not_written(short_home: str, what: str) -> None:
    path = Path(paths.journal_file(short_home))
    paths.private_dir(paths.state_dir(short_home))
    paths.private_dir(str(path.parent))
    target = path.with_name("elsewhere")
    target.touch(0o600)
    if what == "symlink":
        path.symlink_to(target)
    else:
        path.touch()
        path.chmod(0o644)
    with Daemon(short_home) as daemon:
        refuses_all_but_reading(daemon)
    assert path.stat().st_size == 0


def test_a_full_disk_stops_all_but_reading_and_tears_no_line(short_home: str) -> None:
    limit = 160 * 1024  # of any file's size: the store's file stays below it

    def full() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    with Daemon(short_home, preexec_fn=full) as daemon:
        # The last call that fits is the shortest one there is, so that no other fits after it.
        for command in (f"mkdir -p /tmp/{'y' * 600}", "touch /tmp/x", "w"):
            until(lambda command=command: daemon.bash(command) and daemon.client.status().broken, "a full disk")
        filled = len(daemon.rows())
        refuses_all_but_reading(daemon)
        assert os.path.getsize(daemon.journal) <= limit
        assert all(json.loads(line) for line in Path(daemon.journal).read_bytes().splitlines())
        resource.prlimit(daemon.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        assert daemon.bash("touch /tmp/x").exit == 0
        assert daemon.client.status().broken == ()
        assert len(daemon.rows()) == filled + 1
