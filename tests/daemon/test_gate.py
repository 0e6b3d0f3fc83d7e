"""The gate where judging itself fails: late, broken, or with nobody to judge; and the modes."""

from __future__ import annotations

import asyncio
import json
import os
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from reflexd import paths, wire
from reflexd.adapters.all import ADAPTERS
from reflexd.control import ModeRequest
from reflexd.daemon import gate as gates
from reflexd.daemon.conversations import Conversations
from reflexd.daemon.gate import Gate
from reflexd.daemon.journal import Journal, Row, read_rows
from reflexd.daemon.judging import Judging
from reflexd.daemon.lane import Lane
from reflexd.daemon.second import Parking
from reflexd.daemon.server import Request
from reflexd.daemon.sessions import Sessions
from reflexd.daemon.standing import Standing
from reflexd.peer import Credentials
from reflexd.sight import repopolicy, ruling
from reflexd.types import NoAnswer, Reply, Response, Said
from reflexd.types import Request as Asked
from tests.daemon.running import Daemon, bash

LARGE = "echo " + "a " * 4000


async def no_engine(request: Asked, deadline_s: float) -> Response | NoAnswer:
    return NoAnswer("unavailable", "there is no engine here")


class World:
    """A gate in this process, with everything around it real."""

    def __init__(self, home: str) -> None:
        paths.private_dir(paths.state_dir(home))
        self.path = paths.journal_file(home)
        self.lane, self.disk = Lane(1, 1), Lane(1, 8)
        self.standing = Standing(home)
        judging = Judging(home, no_engine, self.lane, lambda event, context: Said(), lambda session, cwd: "")
        self.gate = Gate(
            home,
            self.standing,
            Journal(self.path, self.disk),
            Sessions(),
            self.lane,
            judging,
            Conversations(),
            Parking(home),
        )
        self.gate.warm()

    def answer(
        self, payload: bytes, agent: str = "claude", event: str = "PreToolUse", deadline_ms: int = 5000
    ) -> Reply:
        header = wire.decode_header(wire.encode_request(agent, event, deadline_ms, payload).partition(b"\n")[0])
        me = Credentials(os.geteuid(), os.getpid())
        return asyncio.run(self.gate.answer(Request(header, payload, me, time.monotonic())))

    @property
    def row(self) -> Row:
        return next(read_rows(self.path))


@pytest.fixture
def world(short_home: str) -> World:
    return World(short_home)


@pytest.fixture
def busy(world: World, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every thread that judges is taken, and stays so."""
    world.answer(bash("ls"))  # the directory has been looked at
    monkeypatch.setattr(gates, "RULES_S", 0.05)
    taken, over = threading.Event(), threading.Event()

    def wait() -> None:
        taken.set()
        over.wait()

    async def take() -> None:
        task = asyncio.ensure_future(world.lane.run(wait))
        await asyncio.to_thread(taken.wait)
        task.cancel()

    asyncio.run(take())
    yield
    over.set()


SAID = "what the payload said"


def breaks(*_: object) -> Any:
    raise RuntimeError(SAID)


def test_no_verdict_in_time_is_a_refusal(world: World, busy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = world.answer(bash(LARGE))
    assert reply.exit == 2
    assert b"no verdict within" in reply.stderr
    assert (world.row.decision, world.row.decided_by) == ("ask", "deadline")
    # What needs none of those threads is judged as ever, if need be by what was known of the directory.
    assert world.answer(bash("ls")).exit == 0
    monkeypatch.setattr(repopolicy, "FRESH_S", -1.0)
    assert world.answer(bash("ls")).exit == 0
    assert world.answer(bash("ls", cwd="/usr")).exit == 2


def test_too_many_that_wait_are_refused_at_once(world: World, busy: None) -> None:
    async def several() -> list[Reply]:
        payload = bash(LARGE)
        header = wire.decode_header(b"RFX1 claude PreToolUse 5000 %d" % len(payload))
        request = Request(header, payload, Credentials(os.geteuid(), os.getpid()), time.monotonic())
        return await asyncio.gather(*(world.gate.answer(request) for _ in range(4)))

    replies = asyncio.run(several())
    assert [reply.exit for reply in replies] == [2, 2, 2, 2]
    assert any(b"too many" in reply.stderr for reply in replies)


def test_a_late_event_of_another_kind_goes_on(world: World, busy: None) -> None:
    payload = json.dumps({"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {"command": LARGE}})
    reply = world.answer(payload.encode(), event="PostToolUse")
    assert reply.exit == 0
    assert b"no verdict within" in reply.stderr


def test_a_caller_in_a_hurry_is_answered_in_its_time(world: World, busy: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "RULES_S", 60.0)
    assert world.answer(bash(LARGE), deadline_ms=50).exit == 2
    assert world.row.decided_by == "deadline"


def test_a_verdict_that_came_too_late_lets_nothing_through(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "RULES_S", -1.0)
    assert world.answer(bash("git status")).exit == 2
    assert world.row.decided_by == "deadline"
    # A deny once found stands.
    world.answer(bash("rm -rf ~"))
    assert (world.row.decision, world.row.decided_by) == ("deny", "rule")


@pytest.mark.parametrize("where", ["facts", "understood", "decide", "shown"])
@pytest.mark.parametrize("agent", list(ADAPTERS))
def test_a_bug_is_a_refusal_that_tells_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, where: str, agent: str
) -> None:
    monkeypatch.setattr(gates if where == "shown" else ruling, where, breaks)
    payloads = {
        "opencode": {
            "event": "tool.execute.before",
            "input": {"tool": "bash"},
            "output": {"args": {"command": "cat /x"}},
        },
        "pi": {"event": "tool_call", "payload": {"toolName": "bash", "input": {"command": "cat /x"}}},
        "hermes": {"event": "pre_tool_call", "payload": {"tool_name": "terminal", "args": {"command": "cat /x"}}},
    }
    payload = json.dumps(payloads[agent]).encode() if agent in payloads else bash("cat /x")
    event = payloads[agent]["event"] if agent in payloads else "PreToolUse"
    reply = world.answer(payload, agent, event)  # type: ignore[arg-type]
    assert reply.exit == 2
    assert b"bug" in reply.stderr
    assert (world.row.decision, world.row.decided_by) == ("ask", "bug")
    assert "RuntimeError" in caplog.text
    assert SAID not in caplog.text + reply.stderr.decode()


def test_a_bug_after_the_verdict_is_a_refusal_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(world.gate._journal, "synced", breaks)
    monkeypatch.setattr(gates, "row", breaks)
    assert world.answer(bash("git status")).exit == 2


def test_a_refusal_is_on_the_disk_before_it_is_told(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[str] = []
    fsync = os.fsync

    def noting(fd: int) -> None:
        fsync(fd)
        synced.append(world.row.call)

    monkeypatch.setattr(os, "fsync", noting)
    world.answer(bash("git status"))
    assert synced == []
    world.answer(bash("rm -rf ~"))
    assert synced == ["rm -rf ~"]


def test_a_disk_that_hangs_holds_no_refusal_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gates, "RULES_S", 0.05)
    over = threading.Event()

    def hang(_: int) -> None:
        over.wait(20)

    monkeypatch.setattr(os, "fsync", hang)
    try:
        assert world.answer(bash("rm -rf ~")).exit == 2
    finally:
        over.set()


def test_a_hang_up_while_a_call_is_judged_leaves_the_gate_serving(world: World) -> None:
    """Cancelled at every point it waits at; the next call is judged all the same."""

    async def cut_off(after: int) -> None:
        header = wire.decode_header(b"RFX1 claude PreToolUse 5000 10")
        request = Request(header, bash(LARGE + "; rm -rf ~"), Credentials(0, os.getpid()), time.monotonic())
        task = asyncio.ensure_future(world.gate.answer(request))
        for _ in range(after):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    for after in range(6):
        asyncio.run(cut_off(after))
    ends = time.monotonic() + 20  # what PATH finds first is looked at in a thread of its own
    while (found := world.answer(bash("git status")).exit) and time.monotonic() < ends:
        time.sleep(0.02)
    assert found == 0
    assert world.answer(bash("rm -rf ~")).exit == 2


class TestModes:
    def test_off_lets_everything_go_and_keeps_the_rows(self, world: World, short_home: str) -> None:
        world.standing.set_mode(ModeRequest("off"))
        for payload in (bash("rm -rf ~"), b"{"):
            assert world.answer(payload).exit == 0
            assert (world.row.decision, world.row.decided_by, world.row.mode) == ("pass", "mode", "off")

    def test_off_below_a_directory_is_off_there_alone(self, world: World, short_home: str) -> None:
        os.mkdir(os.path.join(short_home, "work"))
        world.standing.set_mode(ModeRequest("off", cwd=os.path.join(short_home, "work")))
        assert world.answer(bash("rm -rf ~", cwd=os.path.join(short_home, "work"))).exit == 0
        assert world.answer(bash("rm -rf ~", cwd=short_home)).exit == 2

    def test_rules_hold_in_shadow(self, world: World) -> None:
        world.standing.set_mode(ModeRequest("shadow"))
        assert world.answer(bash("rm -rf ~")).exit == 2

    def test_a_journal_that_fails_stops_nothing_that_is_off(self, world: World) -> None:
        world.standing.set_mode(ModeRequest("off"))
        os.unlink(world.path)
        os.mkdir(world.path)
        assert world.answer(bash("touch /tmp/x")).exit == 0


def test_calls_at_once_all_get_their_own_answer(daemon: Daemon) -> None:
    wrong: list[str] = []

    def ask(number: int) -> None:
        for i in range(20):
            command, code = (f"echo {number} {i}", 0) if (number + i) % 2 else (f"rm -rf ~ # {number} {i}", 2)
            if daemon.bash(command).exit != code:
                wrong.append(command)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    rows = [row for row in daemon.rows() if row.kind == "verdict"]
    assert len({row.id for row in rows}) == len(rows) == 160
