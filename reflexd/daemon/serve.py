"""From listening sockets to a clean stop: puts the parts together and keeps them going."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import resource
import signal
import sys
from typing import Any

import anyio

from reflexd import __version__, paths
from reflexd.daemon.conversations import Conversations
from reflexd.daemon.engine_proc import Engine
from reflexd.daemon.gate import Gate, log_bug
from reflexd.daemon.journal import Journal, Row, new_id, now
from reflexd.daemon.judging import Judging
from reflexd.daemon.lane import Lane
from reflexd.daemon.live import ControlDoor, Live
from reflexd.daemon.second import Parking
from reflexd.daemon.server import Server
from reflexd.daemon.sessions import Sessions
from reflexd.daemon.sockets import BACKLOG, Sockets
from reflexd.daemon.standing import Standing

FILES = 2048  # descriptors: every connection, and room
FINISH_S = 5.0
SYNC_EVERY_S = 5.0
WATCH_AGAIN_S = 1.0
LOOK_MS = 2000
MAPPED = 256 * 1024
LOG_MAX = 4 << 20
SWITCH_S = 0.0005  # how long a thread that parses may keep the loop from running

log = logging.getLogger("reflexd")


async def serve(base: str, sockets: Sockets) -> None:
    """Answer on `sockets` until a signal or reflexctl ends it. Raises ReflexError where it cannot begin."""
    _harden()
    _log_to(paths.daemon_log(base))
    work, disk = Lane(threads=2, waiting_max=32), Lane(threads=1, waiting_max=64)
    standing = Standing(base)
    journal = Journal(paths.journal_file(base), disk)
    sessions = Sessions(standing.seen())
    engine = Engine(base, lambda: standing.in_force.settings.engine, sockets.systemone)
    conversations = Conversations()
    judging = Judging(base, engine.ask, work, conversations.said, standing.envelope)
    gate = Gate(base, standing, journal, sessions, work, judging, conversations, Parking(base))
    gate.warm()
    gc.collect()
    gc.freeze()  # what is there by now stays: a collection that walks it all would hold a call up
    over = anyio.Event()
    live = Live(gate, standing, journal, sessions, engine.status, judging, sockets.activated, over.set)
    hook = Server(gate, os.geteuid())
    control = Server(ControlDoor(live, gate, journal, sessions, work, disk), os.geteuid())
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(_log_unexpected)
    listeners = [
        await loop.create_unix_server(server.connection, sock=sock, backlog=BACKLOG)
        for server, sock in ((hook, sockets.hook), (control, sockets.control))
    ]
    _note(journal, "start", "; ".join(live.status().broken))
    log.info("reflexd %s answers (pid %d)", __version__, os.getpid())
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_until_signal, over)
        tasks.start_soon(_reload_on_change, base, standing, disk, over)
        tasks.start_soon(_keep_up, journal, standing, sessions, disk)
        tasks.start_soon(_run_engine, engine)
        await over.wait()
        tasks.cancel_scope.cancel()
    sockets.unlink()
    for listener in listeners:
        listener.close()
    await hook.finish(FINISH_S)
    await control.finish(FINISH_S)
    _note(journal, "stop", "")
    standing.keep_seen(sessions.seen)
    standing.close()
    journal.close()
    log.info("reflexd stopped")


async def _run_engine(engine: Engine) -> None:
    try:
        await engine.run()
    except Exception as e:  # as below: the gate goes on without it
        log_bug(e)


async def _until_signal(over: anyio.Event) -> None:
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for _ in signals:
            over.set()


async def _reload_on_change(base: str, standing: Standing, disk: Lane, over: anyio.Event) -> None:
    # Not needed to listen, and not small. Its thread sees `over`, a cancellation it would sit out.
    from watchfiles import awatch

    directory = paths.config_dir(base)
    while True:
        try:
            os.makedirs(directory, mode=0o700, exist_ok=True)
            # What it does not tell of is looked for now and then: files behind links, disks without events,
            # and whatever came between making the directory and watching it.
            async for _ in awatch(
                directory, recursive=False, debounce=200, stop_event=over, rust_timeout=LOOK_MS, yield_on_timeout=True
            ):
                await disk.run(standing.reload)
                if not os.path.isdir(directory):  # noqa: ASYNC240
                    break
        except Exception as e:  # a chore that fails must not take the gate along
            log_bug(e)
        await anyio.sleep(WATCH_AGAIN_S)


async def _keep_up(journal: Journal, standing: Standing, sessions: Sessions, disk: Lane) -> None:
    """Passing rows reach the disk SYNC_EVERY_S late at most; what agents were last seen doing, too."""
    kept = sessions.seen
    while True:
        await anyio.sleep(SYNC_EVERY_S)
        try:
            await journal.synced()
            seen = sessions.seen
            if seen != kept:
                await disk.run(standing.keep_seen, seen)
                kept = seen
        except Exception as e:  # as above
            log_bug(e)


def _note(journal: Journal, call: str, reason: str) -> None:
    journal.append(Row(t=now(), id=new_id(), kind="daemon", call=call, decision="done", reason=reason))


def _harden() -> None:
    sys.setswitchinterval(SWITCH_S)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < FILES and (hard == resource.RLIM_INFINITY or hard > soft):
        wanted = FILES if hard == resource.RLIM_INFINITY else min(hard, FILES)
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    if sys.platform == "linux":
        import ctypes

        libc = ctypes.CDLL(None)
        # Other processes of the same user may then not read our memory or trace us.
        libc.prctl(4, 0, 0, 0, 0)  # PR_SET_DUMPABLE
        if hasattr(libc, "mallopt"):
            # Large payloads go back to the system when they are done with, instead of staying with the heap.
            libc.mallopt(-3, MAPPED)  # M_MMAP_THRESHOLD
            libc.mallopt(-8, 2)  # M_ARENA_MAX


def _log_to(path: str) -> None:
    logging.raiseExceptions = False  # a full disk is no reason to write tracebacks elsewhere
    shape = "%(asctime)s %(levelname)s %(message)s"
    try:
        if os.path.exists(path) and os.path.getsize(path) > LOG_MAX:
            os.replace(path, path + ".old")
        logging.basicConfig(filename=path, level=logging.INFO, format=shape)
    except OSError as e:
        logging.basicConfig(level=logging.INFO, format=shape)
        log.warning("%s cannot be written: %s", path, e.strerror)


def _log_unexpected(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    log_bug(context.get("exception") or RuntimeError(context["message"]))
