"""The engine's process: started, watched, asked, started again.

What holds: the gate never waits for it longer than a caller's own deadline, and never ends with it; its death,
its silence and its failures are values (NoAnswer); the HTTP listeners stay open across restarts, so that a
request meanwhile waits in the queue; what cannot work (a model that is not there) is not tried again until the
settings change.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import os
import signal
import socket
import time
from collections.abc import Callable, Sequence

import msgspec

from reflexd import paths
from reflexd.control import EngineStatus
from reflexd.daemon import engine_child
from reflexd.daemon.engine_child import Launch
from reflexd.engine import link
from reflexd.engine.link import Answered, Ask, Beat, Cancel, Failed, Ready, Unable
from reflexd.errors import FrameError, ReflexError
from reflexd.settings import EngineSettings
from reflexd.types import EngineInfo, EngineStats, NoAnswer, Request, Response

log = logging.getLogger("reflexd")

SILENT_S = 30.0
"""A pass may hold the engine's interpreter for a while; half a minute without a beat is no pass."""
AGAIN_S = (0.5, 2.0, 10.0, 60.0)
WELL_S = 120.0
"""An engine that ran this long had a good start: its next death counts as the first."""
START_S = 1800.0
"""A large model from a slow disk, and a GGUF file that is converted first, take their time."""
WAITING_MAX = 16 << 20
END_S = 5.0
LOOK_S = 0.25


class Engine:
    """All of it belongs to the daemon's loop."""

    def __init__(
        self,
        base: str,
        wanted: Callable[[], EngineSettings],
        open_http: Callable[[int], Sequence[socket.socket]],
        prepare: Callable[[str, EngineSettings, int, Sequence[int]], Launch] = engine_child.prepare,
    ) -> None:
        """`wanted` gives the settings in force; `open_http` the listening sockets of HTTP, given a port (0: none)."""
        self._base = base
        self._wanted = wanted
        self._open_http = open_http
        self._prepare = prepare
        self._http: tuple[int, list[socket.socket]] | None = None
        self._numbers = itertools.count()
        self._asked: dict[int, asyncio.Future[Response | NoAnswer]] = {}
        self._writer: asyncio.StreamWriter | None = None
        self._process: asyncio.subprocess.Process | None = None
        self._status = EngineStatus("off")
        self._info: EngineInfo | None = None
        self._stats: EngineStats | None = None
        self._heard = 0.0
        self._starts = 0

    def status(self) -> EngineStatus:
        return msgspec.structs.replace(self._status, info=self._info, stats=self._stats, starts=self._starts)

    async def ask(self, request: Request, deadline_s: float) -> Response | NoAnswer:
        """The answer, or why there is none. Returns within `deadline_s`; the engine may finish its pass after."""
        if self._writer is None or self._info is None:
            return NoAnswer("unavailable", self._status.why or f"the engine is {self._status.state}")
        number = next(self._numbers)
        answer: asyncio.Future[Response | NoAnswer] = asyncio.get_running_loop().create_future()
        try:
            data = link.frame(Ask(number, request))
        except FrameError as e:
            return NoAnswer("refused", e.message)
        if self._writer.transport.get_write_buffer_size() > WAITING_MAX:  # it does not read: hung, or stopped
            return NoAnswer("busy", "the engine takes nothing in")
        self._asked[number] = answer
        self._writer.write(data)
        try:
            return await asyncio.wait_for(answer, deadline_s)
        except TimeoutError:
            if self._writer is not None:
                self._writer.write(link.frame(Cancel(number)))
            return NoAnswer("timeout", f"no answer within {deadline_s:g} s")
        finally:
            self._asked.pop(number, None)

    async def run(self) -> None:
        """Until it is cancelled; the engine is gone then."""
        deaths = 0
        try:
            while True:
                settings = self._wanted()
                if not settings.model:
                    self._close_http()
                    self._say("off")
                    await self._until_changed(settings)
                    continue
                began = time.monotonic()
                why, again = await self._one(settings)
                if self._wanted() != settings:
                    deaths = 0
                    continue
                deaths = 0 if time.monotonic() - began > WELL_S else deaths + 1
                log.warning("the engine ended: %s", why)
                if not again or deaths > len(AGAIN_S):
                    self._close_http()  # nobody will come and answer: whoever asks gets to know at once
                    self._say("down", settings, why)
                    await self._until_changed(settings)
                    deaths = 0
                else:
                    self._say("waiting", settings, why)
                    await self._until_changed(settings, AGAIN_S[deaths - 1] if deaths else AGAIN_S[0])
        finally:
            self._close_http()

    async def _one(self, settings: EngineSettings) -> tuple[str, bool]:
        """One engine from its start to its end: why it ended, and whether another try makes sense."""
        ours, theirs = socket.socketpair()
        try:
            http = await asyncio.to_thread(self._listening, settings.port)
            self._starts += 1
            self._process = await self._spawn(settings, theirs, http)
        except (OSError, ReflexError) as e:
            ours.close()
            return f"it cannot be started: {e}", False
        finally:
            theirs.close()
        self._say("starting", settings, self._status.why)
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._heard = time.monotonic()
        listening = asyncio.create_task(self._listen(reader, settings))
        watching = asyncio.create_task(self._watch(settings))
        why = "it was ended"
        try:
            done, _ = await asyncio.wait({listening, watching}, return_when=asyncio.FIRST_COMPLETED)
            why, again = next(iter(done)).result()
        finally:
            listening.cancel()
            watching.cancel()
            self._forget()
            self._say("waiting", settings, why)
            code = await self._end()
        if not why:
            why = f"signal {-code}" if code < 0 else f"exit {code}"
            return f"{why} (see {paths.engine_log(self._base)})", again
        return why, again

    async def _listen(self, reader: asyncio.StreamReader, settings: EngineSettings) -> tuple[str, bool]:
        while True:
            try:
                value = await link.up(reader)
            except FrameError as e:
                return e.message, True
            self._heard = time.monotonic()
            match value:
                case None:
                    return "", True
                case Ready(info):
                    self._info = info
                    self._say("ready", settings)
                case Unable(message, hint):
                    return f"{message}{f' ({hint})' if hint else ''}", False
                case Beat(stats):
                    self._stats = stats
                case Answered(number, response):
                    self._give(number, response)
                case Failed(number, why, detail):
                    self._give(number, NoAnswer(why, detail))

    async def _watch(self, settings: EngineSettings) -> tuple[str, bool]:
        while True:
            await asyncio.sleep(LOOK_S)
            if self._wanted() != settings:
                return "the settings changed", True
            allowed = START_S if self._info is None else SILENT_S
            if time.monotonic() - self._heard > allowed:
                return f"it hung for {allowed:.0f} s", True
            if settings.memory_mib and self._stats and self._stats.resident_bytes > settings.memory_mib << 20:
                return f"it took more than {settings.memory_mib} MiB of memory", True

    def _give(self, number: int, answer: Response | NoAnswer) -> None:
        future = self._asked.get(number)
        if future is not None and not future.done():
            future.set_result(answer)

    def _forget(self) -> None:
        """Whoever waits gets to know at once."""
        if self._writer is not None:
            self._writer.close()
        self._writer = self._info = self._stats = None
        for number in tuple(self._asked):
            self._give(number, NoAnswer("unavailable", "the engine ended"))

    async def _end(self) -> int:
        process, self._process = self._process, None
        assert process is not None
        for number, patience_s in ((0, LOOK_S), (signal.SIGTERM, END_S), (signal.SIGKILL, END_S)):
            if process.returncode is not None:
                break
            with contextlib.suppress(ProcessLookupError):
                # Not process.send_signal: it would take the exit code of one that is dead already from the loop.
                os.kill(process.pid, number)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), patience_s)
        return process.returncode if process.returncode is not None else 0

    async def _until_changed(self, settings: EngineSettings, at_most_s: float = float("inf")) -> None:
        until = time.monotonic() + at_most_s
        while self._wanted() == settings and time.monotonic() < until:  # noqa: ASYNC110  a person's change, seldom
            await asyncio.sleep(LOOK_S)

    def _say(self, state: str, settings: EngineSettings | None = None, why: str = "") -> None:
        port = settings.port if settings else 0
        self._status = EngineStatus(
            state,  # type: ignore[arg-type]
            settings.model if settings else "",
            self._process.pid if self._process else 0,
            why=why,
            url=f"http://127.0.0.1:{port}" if port else "",
        )

    # ---- what it is given ---------------------------------------------------------------

    def _listening(self, port: int) -> list[socket.socket]:
        """Raises OSError where the port is taken."""
        if self._http is None or self._http[0] != port:
            self._close_http()
            self._http = (port, list(self._open_http(port)))
        return self._http[1]

    def _close_http(self) -> None:
        if self._http is not None:
            for sock in self._http[1]:
                sock.close()
        self._http = None

    async def _spawn(
        self, settings: EngineSettings, theirs: socket.socket, http: Sequence[socket.socket]
    ) -> asyncio.subprocess.Process:
        inherited = [theirs.fileno(), *(sock.fileno() for sock in http)]
        launch = await asyncio.to_thread(self._prepare, self._base, settings, inherited[0], inherited[1:])
        try:
            return await asyncio.create_subprocess_exec(
                *launch.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=launch.log,
                stderr=launch.log,
                cwd=launch.cwd,
                env=launch.env,
                pass_fds=inherited,
                start_new_session=True,
            )
        finally:
            os.close(launch.log)
