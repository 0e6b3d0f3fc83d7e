"""Control of the running daemon, and the door of control.sock that carries it to other processes.

The door alone asks who is calling: `Live` itself does what it is told.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import msgspec
from msgspec import Struct

from reflexd import __version__
from reflexd.control import (
    AGENT,
    CHANGES,
    FAILED,
    REFUSED,
    CheckRequest,
    CheckResult,
    EngineStatus,
    EnvelopeRequest,
    Envelopes,
    ModeRequest,
    Status,
)
from reflexd.daemon import peers
from reflexd.daemon.gate import BUG, Gate, log_bug
from reflexd.daemon.journal import Journal, Row, new_id, now
from reflexd.daemon.judging import Judging
from reflexd.daemon.lane import Lane
from reflexd.daemon.server import Request
from reflexd.daemon.sessions import Sessions
from reflexd.daemon.standing import Standing
from reflexd.errors import ReflexError, Refused
from reflexd.guard.redact import redact
from reflexd.judge.second.settings import says
from reflexd.settings import Settings
from reflexd.types import Reply
from reflexd.wire import Header


class Live:
    """Control of this process. Any thread may call it, one at a time; `stop` is for the loop's."""

    def __init__(
        self,
        gate: Gate,
        standing: Standing,
        journal: Journal,
        sessions: Sessions,
        engine: Callable[[], EngineStatus],
        judging: Judging,
        activated: bool,
        stop: Callable[[], None],
    ) -> None:
        self._gate = gate
        self._standing = standing
        self._journal = journal
        self._sessions = sessions
        self._engine = engine
        self._judging = judging
        self._activated = activated
        self._stop = stop
        self._started = time.time()

    def status(self) -> Status:
        standing = self._standing
        force = standing.in_force
        journal = (f"the journal cannot be kept: {self._journal.fault}",) if self._journal.fault else ()
        return Status(
            version=__version__,
            pid=os.getpid(),
            started=self._started,
            mode=standing.mode_at(""),
            profile=force.settings.profile,
            policy=force.policy.version,
            rules=len(force.policy.rules),
            modes=tuple(mode for mode in standing.modes if mode.until == 0 or mode.until > time.time()),
            agents=self._sessions.seen,
            decisions=self._sessions.decisions,
            broken=(*standing.faults, *self._gate.faults, *journal),
            notes=(*peers.unseen(), *self._judging.notes(force.settings), *_second(force.settings)),
            activated=self._activated,
            engine=self._engine(),
        )

    def check(self, request: CheckRequest) -> CheckResult:
        return self._gate.check_by_rules(request, os.getpid())

    def mode(self, request: ModeRequest) -> Status:
        self._standing.set_mode(request)
        return self.status()

    def envelope(self, request: EnvelopeRequest) -> Envelopes:
        self._standing.set_envelope(request)
        return self.envelopes()

    def envelopes(self) -> Envelopes:
        return Envelopes(self._standing.envelopes)

    def reload(self) -> Status:
        self._standing.reload()
        return self.status()

    def stop(self) -> None:
        self._stop()


def _second(settings: Settings) -> tuple[str, ...]:
    said = says(settings.second) if settings.profile == "autonomous" else ""
    return (said,) if said else ()


class ControlDoor:
    """The door of control.sock."""

    def __init__(self, live: Live, gate: Gate, journal: Journal, sessions: Sessions, work: Lane, disk: Lane) -> None:
        self._live = live
        self._gate = gate
        self._journal = journal
        self._sessions = sessions
        self._work = work
        self._disk = disk

    async def answer(self, request: Request) -> Reply:
        head = request.header
        try:
            if head.agent != AGENT:
                raise ReflexError(f"this socket is reflexctl's, not {head.agent}'s")
            if head.event in CHANGES:
                await self._let_person(request)
            result = await self._call(head.event, request)
            return Reply(0, msgspec.json.encode(result))
        except Refused as e:
            return _failure(REFUSED, e)
        except ReflexError as e:
            return _failure(FAILED, e)
        except (msgspec.MsgspecError, UnicodeError, RecursionError) as e:
            return _failure(FAILED, ReflexError(f"request not understood: {e}"))
        except Exception as e:
            log_bug(e)
            return _failure(FAILED, ReflexError(BUG))

    def refuse(self, header: Header | None, why: str) -> Reply:
        return _failure(FAILED, ReflexError(why))

    async def _call(self, name: str, request: Request) -> Struct | None:
        match name:
            case "status":
                return self._live.status()
            case "check":
                wanted = msgspec.json.decode(request.payload, type=CheckRequest)
                return await self._gate.check(wanted, request.peer.pid)
            case "mode":
                change = msgspec.json.decode(request.payload, type=ModeRequest)
                status = await self._disk.run(self._live.mode, change)
                self._note("mode", "done", msgspec.json.encode(change).decode())
                return status
            case "envelope":
                wish = msgspec.json.decode(request.payload, type=EnvelopeRequest)
                held = await self._disk.run(self._live.envelope, wish)
                self._note("envelope", "done", redact(msgspec.json.encode(wish).decode()))
                return held
            case "envelopes":
                return self._live.envelopes()
            case "reload":
                status = await self._disk.run(self._live.reload)
                self._note("reload", "done", "; ".join(status.broken))
                return status
            case "stop":
                self._note("stop", "done", "")
                self._live.stop()
                return None
            case _:
                raise ReflexError(f"nothing here is called {name}")

    async def _let_person(self, request: Request) -> None:
        why = await self._work.run(peers.why_no_person, request.peer.pid, self._sessions.hooked)
        if why:
            self._note(request.header.event, "refused", why)
            raise Refused(
                f"only a person may do that: {why}", f"run reflexctl {request.header.event} in a terminal of your own"
            )

    def _note(self, call: str, decision: str, reason: str) -> None:
        self._journal.append(Row(t=now(), id=new_id(), kind="control", call=call, decision=decision, reason=reason))


def _failure(code: int, error: ReflexError) -> Reply:
    return Reply(code, b"", f"{error.message}\n{error.hint}".encode("utf-8", "replace"))
