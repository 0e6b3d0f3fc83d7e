"""What can be told of the process at the other end of a socket.

Rule 1: what cannot be told counts against it: an unreadable namespace is a foreign one, a run
that is not seen to prompt does not prompt, a caller without a terminal is no person.
Rule 2: a process is known by its pid and its start time, so a reused pid is another process.
Not covered: a process of the same user can look like any other (a double fork with a terminal of its
own passes for a person). This is a first sieve.
"""

from __future__ import annotations

import glob
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from reflexd.daemon import asking
from reflexd.daemon.asking import Run
from reflexd.types import Agent, Origin

if TYPE_CHECKING:
    import psutil

ENV_USUAL = 16 * 1024
ENV_MAX = 256 * 1024
DEPTH_MAX = 64
LINUX = sys.platform == "linux"


def _namespaces(pid: int | str) -> tuple[str, str] | None:
    try:
        return os.readlink(f"/proc/{pid}/ns/mnt"), os.readlink(f"/proc/{pid}/ns/pid")
    except OSError:
        return None


_OURS = _namespaces("self") if LINUX else None


def unseen() -> tuple[str, ...]:
    """What this system does not let us tell of callers, in words for a person."""
    if not LINUX:
        return ("callers' environments and namespaces are not looked at on this system",)
    return () if _OURS else ("namespaces cannot be read here, so every call counts as one from a foreign one",)


def foreign_namespace(pid: int) -> bool:
    """Whether the process lives (or may live) among other mounts or processes than we do."""
    return LINUX and (_OURS is None or pid <= 0 or _namespaces(pid) != _OURS)


class Environment(Struct, frozen=True):
    """What a process was started with; empty where it cannot be read whole."""

    pairs: tuple[tuple[str, str], ...] = ()

    def get(self, name: str) -> str:
        return next((value for known, value in self.pairs if known == name), "")


def environment(pid: int) -> Environment:
    if not LINUX or pid <= 0:
        return Environment()
    try:
        fd = os.open(f"/proc/{pid}/environ", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return Environment()
    try:
        # Usually a few kilobytes; a buffer as large as the cap would cost more than the read.
        data = os.read(fd, ENV_USUAL)
        if len(data) == ENV_USUAL:
            data += os.read(fd, ENV_MAX)
    except OSError:
        return Environment()
    finally:
        os.close(fd)
    return _environment(data) if len(data) < ENV_MAX else Environment()


@lru_cache(maxsize=64)
def _environment(data: bytes) -> Environment:
    """The hooks of one agent's run mostly bring the same bytes."""
    pairs = (entry.partition("=") for entry in os.fsdecode(data).split("\0"))
    return Environment(tuple((name, value) for name, given, value in pairs if given and name))


def can_ask(agent: Agent, origin: Origin, pid: int) -> bool:
    """Whether the agent's run that the process `pid` belongs to is proved to prompt a person."""
    import psutil

    try:
        for process in _line(pid)[:6]:
            argv, exe = _argv(process), _exe(process)
            if agent in asking.agents_in(argv, exe):
                return asking.prompts(agent, origin, _run(agent, process, argv, exe))
    except (psutil.Error, OSError):
        pass
    return False


def why_no_person(pid: int, hooked: Mapping[int, float]) -> str:
    """Why the process `pid` may not change anything; empty where it looks like a person's own.

    `hooked`: processes that asked on hook.sock about calls of their own, and when they last did.
    """
    import psutil

    try:
        terminal = _terminal(psutil.Process(pid))
        if not terminal:
            return "it has no terminal"
        lines = [_line(pid), *(_line(holder) for holder in _terminal_holders(terminal))]
        for process in (process for line in lines for process in line):
            if process.pid == os.getpid():
                return "reflexd itself started it"
            if process.create_time() <= hooked.get(process.pid, 0):
                return f"an agent that reflex answers started it (pid {process.pid})"
            agents = asking.agents_in(_argv(process), _exe(process))
            if agents:
                return f"{min(agents)} started it (pid {process.pid})"
    except (psutil.Error, OSError) as e:
        return f"it could not be looked at ({type(e).__name__})"
    return ""


def _line(pid: int) -> list[psutil.Process]:
    """The process and its ancestors, nearest first. psutil compares start times on the way up."""
    import psutil

    process = psutil.Process(pid)
    return [process, *process.parents()[:DEPTH_MAX]]


def _exe(process: psutil.Process) -> str:
    import psutil

    try:
        return process.exe()
    except psutil.AccessDenied:
        return ""


def _argv(process: psutil.Process) -> tuple[str, ...]:
    return tuple(word for word in process.cmdline() if word)


def _run(agent: Agent, process: psutil.Process, argv: tuple[str, ...], exe: str) -> Run:
    return Run(
        argv=argv,
        terminal=bool(_terminal(process)),
        on_terminal=_on_terminal(process.pid),
        env=frozenset(process.environ()),
        version=_claude_version(argv, exe) if agent == "claude" else _hermes_version(argv) if agent == "hermes" else (),
    )


def _terminal(process: psutil.Process) -> str:
    """The controlling terminal; empty where there is none."""
    if not LINUX:
        # Its map from numbers to names is made once, and knows no terminal that was opened later.
        from psutil import _psposix

        _psposix.get_terminal_map.cache_clear()  # type: ignore[attr-defined]
        return process.terminal() or ""
    with open(f"/proc/{process.pid}/stat", "rb") as file:
        number = int(file.read().rpartition(b")")[2].split()[4])
    major, minor = number >> 8 & 0xFFF, number & 0xFF | number >> 12 & 0xFFF00
    return f"/dev/pts/{(major - 136) * 256 + minor}" if 136 <= major < 144 else "/dev/tty" if number else ""


def _on_terminal(pid: int) -> bool | None:
    if not LINUX:
        return None
    ends = [os.readlink(f"/proc/{pid}/fd/{fd}") for fd in (0, 1)]
    return all(re.match(r"/dev/(pts/\d+|tty\w+|console)\Z", end) for end in ends)


def _claude_version(argv: tuple[str, ...], exe: str) -> tuple[int, ...]:
    """From the name of the installed file, or the npm package that it lies in."""
    for path in (exe, *(os.path.realpath(word) for word in argv[1:2])):
        found = re.search(r"/claude/versions/(\d+(?:\.\d+)+)\Z", path)
        if found:
            return _version(found[1])
        for _ in range(2):
            path = os.path.dirname(path)
            try:
                with open(os.path.join(path, "package.json"), "rb") as file:
                    package = json.loads(file.read(1 << 20))
            except (OSError, ValueError):
                continue
            if isinstance(package, dict) and package.get("name") == "@anthropic-ai/claude-code":
                return _version(str(package.get("version")))
    return ()


def _hermes_version(argv: tuple[str, ...]) -> tuple[int, ...]:
    """From what is installed beside the interpreter that runs it."""
    prefix = os.path.dirname(os.path.dirname(argv[0]))
    pattern = os.path.join(glob.escape(prefix), "lib", "python3*", "site-packages", "hermes_agent-*.dist-info")
    found = [re.search(r"hermes_agent-([\d.]+)\.dist-info\Z", path) for path in glob.glob(pattern)]
    return min((_version(match[1]) for match in found if match), default=())


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", text)[:3])


def _terminal_holders(terminal: str) -> Iterator[int]:
    """The processes that hold the other end of a pseudo-terminal: whoever can type into it."""
    number = re.match(r"/dev/pts/(\d+)\Z", terminal)
    if not LINUX or not number:
        return
    for path in glob.iglob("/proc/[0-9]*/fd/*"):
        try:
            if not os.readlink(path).endswith("/ptmx"):
                continue
            with open(path.replace("/fd/", "/fdinfo/")) as file:
                if re.search(rf"^tty-index:\s*{number[1]}$", file.read(4096), re.M):
                    yield int(path.split("/")[2])
        except OSError:
            continue
