"""reflexd's side of the engine's process: real children, over the backend without a model."""

from __future__ import annotations

import asyncio
import functools
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

from reflexd import paths
from reflexd.daemon import engine_child, engine_proc
from reflexd.daemon.engine_child import Launch
from reflexd.daemon.engine_proc import Engine
from reflexd.engine import hashed
from reflexd.errors import ReflexError, Unreachable
from reflexd.settings import EngineSettings
from reflexd.systemone import SystemOne
from reflexd.types import NoAnswer, Noul, Request, Response

WAIT_S = 30.0
QUESTIONS = (("red", Noul("Is it red?")), ("late", Noul("Is it late?")))
ASKED = Request("the state", QUESTIONS)


@dataclass
class World:
    """What an engine is told, changeable while it runs."""

    base: str
    settings: EngineSettings = field(default_factory=lambda: EngineSettings(model="m"))
    seconds: float = 0.0
    prepared: int = 0

    def prepare(self, base: str, settings: EngineSettings, link: int, http: Any) -> Launch:
        self.prepared += 1
        return engine_child.prepare(base, settings, link, http, stand_in=self.seconds)

    def listening(self, port: int) -> list[socket.socket]:
        path = paths.systemone_socket(self.base)
        if os.path.exists(path):
            os.unlink(path)
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        sock.bind(path)
        sock.listen()
        return [sock]


@pytest.fixture
def world(short_home: str) -> World:
    paths.private_dir(paths.state_dir(short_home))
    paths.private_dir(paths.run_dir(short_home))
    return World(short_home)


def with_engine(world: World, test: Callable[[Engine], Awaitable[None]], prepare: Any = None) -> None:
    before = frozenset(psutil.Process().children())

    async def run() -> None:
        engine = Engine(world.base, lambda: world.settings, world.listening, prepare or world.prepare)
        running = asyncio.create_task(engine.run())
        try:
            await test(engine)
        finally:
            running.cancel()
            (ended,) = await asyncio.gather(running, return_exceptions=True)
            assert isinstance(ended, asyncio.CancelledError), ended
        _, left = psutil.wait_procs(frozenset(psutil.Process().children()) - before, WAIT_S)
        assert not left

    asyncio.run(run())


async def until(true: Callable[[], bool]) -> None:
    last = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < last
        await asyncio.sleep(0.01)


async def ready(engine: Engine) -> int:
    await until(lambda: engine.status().state == "ready")
    return engine.status().pid


def test_it_answers_as_the_engine_itself(world: World) -> None:
    with hashed.engine() as plain:
        wanted = plain.answer(ASKED).answers

    async def test(engine: Engine) -> None:
        await ready(engine)
        answers = await asyncio.gather(*(engine.ask(ASKED, WAIT_S) for _ in range(20)))
        assert all(isinstance(answer, Response) and answer.answers == wanted for answer in answers)
        await until(lambda: (stats := engine.status().stats) is not None and stats.requests == 20)
        assert engine.status().info is not None

    with_engine(world, test)


def test_the_kill_of_an_engine_costs_what_was_asked_and_it_comes_back(world: World) -> None:
    world.seconds = 5.0

    async def test(engine: Engine) -> None:
        pid = await ready(engine)
        asked = [asyncio.create_task(engine.ask(ASKED, WAIT_S)) for _ in range(5)]
        await asyncio.sleep(0.1)
        world.seconds = 0.0
        os.kill(pid, signal.SIGKILL)
        since = time.monotonic()
        for answer in await asyncio.gather(*asked):
            assert answer == NoAnswer("unavailable", "the engine ended")
        assert time.monotonic() - since < WAIT_S / 2
        assert await ready(engine) != pid
        assert isinstance(await engine.ask(ASKED, WAIT_S), Response)
        assert engine.status().starts == 2

    with_engine(world, test)


def test_a_stopped_engine_costs_each_caller_his_own_deadline(world: World) -> None:
    async def test(engine: Engine) -> None:
        pid = await ready(engine)
        os.kill(pid, signal.SIGSTOP)
        stopped = os.WSTOPPED | os.WNOWAIT
        await asyncio.to_thread(os.waitid, os.P_PID, pid, stopped)  # until every thread of it stands still
        answers = await asyncio.gather(engine.ask(ASKED, 0.05), engine.ask(ASKED, 0.2))
        assert [answer.why for answer in answers if isinstance(answer, NoAnswer)] == ["timeout", "timeout"]
        os.kill(pid, signal.SIGCONT)
        assert isinstance(await engine.ask(ASKED, WAIT_S), Response)

    with_engine(world, test)


def test_an_engine_that_hangs_is_replaced(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_proc, "SILENT_S", 1.0)
    monkeypatch.setattr(engine_proc, "END_S", 0.2)

    async def test(engine: Engine) -> None:
        pid = await ready(engine)
        await until(lambda: engine.status().stats is not None)
        os.kill(pid, signal.SIGSTOP)
        await until(lambda: engine.status().pid not in (0, pid))
        await ready(engine)

    with_engine(world, test)


def test_an_engine_over_its_memory_is_replaced_and_says_why(world: World) -> None:
    world.settings = EngineSettings(model="m", memory_mib=1)

    async def test(engine: Engine) -> None:
        await until(lambda: engine.status().starts > 1 or engine.status().state == "waiting")
        assert "more than 1 MiB" in engine.status().why
        world.settings = EngineSettings(model="m")
        await ready(engine)

    with_engine(world, test)


def test_one_that_dies_at_once_is_tried_ever_more_seldom_and_then_left(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_proc, "AGAIN_S", (0.01, 0.01, 0.01))

    def prepare(base: str, settings: EngineSettings, link: int, http: Any) -> Launch:
        found = world.prepare(base, settings, link, http)
        return Launch((sys.executable, "-c", "import sys; sys.exit(9)"), found.env, found.cwd, found.log)

    async def test(engine: Engine) -> None:
        await until(lambda: engine.status().state == "down")
        assert engine.status().starts == 4
        assert "exit 9" in engine.status().why
        assert await engine.ask(ASKED, WAIT_S) == NoAnswer("unavailable", engine.status().why)
        before = world.prepared
        await asyncio.sleep(0.5)
        assert world.prepared == before
        world.settings = EngineSettings(model="other")  # a person changed something: worth another try
        await until(lambda: world.prepared > before)

    with_engine(world, test, prepare)


def test_a_model_that_is_not_there_is_not_tried_again(world: World) -> None:
    world.settings = EngineSettings(model="/nowhere/at/all")
    prepare = functools.partial(engine_child.prepare)

    async def test(engine: Engine) -> None:
        await until(lambda: engine.status().state == "down")
        assert "there is no model at /nowhere/at/all" in engine.status().why
        assert engine.status().starts == 1

    with_engine(world, test, prepare)


def test_changed_settings_start_another_and_none_ends_it(world: World) -> None:
    async def test(engine: Engine) -> None:
        pid = await ready(engine)
        world.settings = EngineSettings(model="m", orders=1)
        await until(lambda: engine.status().pid not in (0, pid))
        later = await ready(engine)
        info = engine.status().info
        assert info is not None
        assert info.orders == 1
        world.settings = EngineSettings()
        await until(lambda: engine.status().state == "off")
        assert not psutil.pid_exists(later)
        answer = await engine.ask(ASKED, 1)
        assert isinstance(answer, NoAnswer)
        assert answer.why == "unavailable"

    with_engine(world, test)


def test_http_is_served_on_a_socket_that_outlives_the_engine(world: World) -> None:
    async def test(engine: Engine) -> None:
        pid = await ready(engine)
        local = SystemOne.local(world.base, WAIT_S)
        first = await asyncio.to_thread(local.ask, "s", {"q": Noul("x")})
        os.kill(pid, signal.SIGKILL)
        again = await asyncio.to_thread(local.ask, "s", {"q": Noul("x")})  # waits for the next one
        assert first.answers == again.answers
        with pytest.raises(ReflexError, match="questions"):
            await asyncio.to_thread(local.ask, "s", {})

    with_engine(world, test)


def test_the_engine_ends_with_its_parent(world: World, tmp_path: Any) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        f"""
import asyncio, sys
sys.path.insert(0, {os.getcwd()!r})
from tests.engine.process.test_engine_proc import World, ready
from reflexd.daemon.engine_proc import Engine

async def main():
    world = World({world.base!r})
    engine = Engine(world.base, lambda: world.settings, world.listening, world.prepare)
    running = asyncio.create_task(engine.run())
    print(await ready(engine), flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = psutil.Process(int(parent.stdout.readline()))
    parent.kill()
    parent.wait()
    child.wait(WAIT_S)
    parent.stdout.close()


def test_its_environment_holds_no_secret_and_its_log_is_private(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "planted-secret")

    async def test(engine: Engine) -> None:
        child = psutil.Process(await ready(engine))
        assert "planted-secret" not in str(child.environ())
        assert child.environ()["HF_HUB_OFFLINE"] == "1"
        log = os.stat(paths.engine_log(world.base))
        assert stat.S_IMODE(log.st_mode) == 0o600
        await engine.ask(Request("a state that nobody writes down", QUESTIONS), WAIT_S)
        log_text = await asyncio.to_thread(Path(paths.engine_log(world.base)).read_text)
        assert "nobody writes down" not in log_text

    with_engine(world, test)


def test_an_answer_too_large_to_ask_for_is_refused_here(world: World) -> None:
    async def test(engine: Engine) -> None:
        await ready(engine)
        answer = await engine.ask(Request("x" * (65 << 20), QUESTIONS), WAIT_S)
        assert isinstance(answer, NoAnswer)
        assert answer.why == "refused"
        refused = await engine.ask(Request("s", (("q", Noul("x" * 9000)),)), WAIT_S)
        assert isinstance(refused, NoAnswer)
        assert refused.why == "refused"

    with_engine(world, test)


def test_an_engine_that_reads_nothing_does_not_fill_the_daemons_memory(world: World) -> None:
    async def test(engine: Engine) -> None:
        pid = await ready(engine)
        os.kill(pid, signal.SIGSTOP)
        large = Request("x" * (4 << 20), QUESTIONS)
        answers = [await engine.ask(large, 0.01) for _ in range(12)]
        whys = [answer.why for answer in answers if isinstance(answer, NoAnswer)]
        assert len(whys) == 12
        assert whys.count("busy") >= 6
        os.kill(pid, signal.SIGCONT)

    with_engine(world, test)


def test_where_no_engine_will_come_clients_get_to_know_at_once(world: World) -> None:
    world.settings = EngineSettings(model="/nowhere/at/all")

    async def test(engine: Engine) -> None:
        await until(lambda: engine.status().state == "down")
        with pytest.raises(Unreachable):
            await asyncio.to_thread(SystemOne.local(world.base, WAIT_S).ask, "s", {"q": Noul("x")})

    with_engine(world, test, functools.partial(engine_child.prepare))
