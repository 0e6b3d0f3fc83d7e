"""What a person may ask of the running daemon: one interface on both ends of control.sock.

The daemon implements `Control`, and so does client.Client, which carries each call over the
socket. On the wire a request is a frame `RFX1 ctl <name> <deadline-ms> <length>` with the request's
JSON (nothing for the calls without one), a reply's stdout is the result's JSON. Exit 1: it failed,
exit 3: this caller may not do that; stderr then holds the message and, after a newline, a hint.
"""

from __future__ import annotations

import json
from typing import Literal, Protocol

from msgspec import Struct, field

from reflexd.types import Agent, EngineInfo, EngineStats, Facts, Mode, Near, Profile, Verdict

AGENT = "ctl"
FAILED, REFUSED = 1, 3


class CheckRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One call to judge, named as Claude Code would name it. Nothing of it is run or counted.

    `args` is the JSON object of a tool's arguments, for tools that are more than one of the other
    fields. `home` and `env` stand in for the caller's own, which no hook can do.
    """

    tool: str = "Bash"
    command: str | None = None
    path: str | None = None
    url: str | None = None
    text: str | None = None
    args: str | None = None
    cwd: str = ""
    home: str = ""
    env: dict[str, str] = field(default_factory=dict)


class CheckResult(Struct, frozen=True):
    """`facts` is None where the call was not understood; the verdict then asks. `near`: rules that nearly spoke."""

    verdict: Verdict
    facts: Facts | None
    mode: Mode
    near: tuple[Near, ...] = ()


class ModeRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Switch to `mode`: for `seconds` or (0) until it is switched again; below `cwd` or ("") everywhere."""

    mode: Mode
    seconds: int = 0
    cwd: str = ""


class ModeSet(Struct, frozen=True):
    """A mode that a person set. `until` is Unix time, 0 for no end; `cwd` is empty for everywhere."""

    mode: Mode
    cwd: str = ""
    until: float = 0


class EnvelopeRequest(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What `holder` (a session as `claude:<id>`, or a directory) may touch, in a person's words; without `terms` its
    envelope ends. For `seconds`, or (0) until it is changed."""

    holder: str
    terms: str = ""
    seconds: int = 0


class EnvelopeHeld(Struct, frozen=True):
    """An envelope that holds. Unix times; `until` is 0 for no end."""

    holder: str
    terms: str
    at: float
    until: float = 0


class Envelopes(Struct, frozen=True):
    """All that hold now, the oldest first."""

    held: tuple[EnvelopeHeld, ...] = ()


class AgentSeen(Struct, frozen=True):
    """The last real event of an agent (Unix time), and how many of them this daemon has seen."""

    agent: Agent
    event: str
    at: float
    session: str = ""
    count: int = 0


class EngineStatus(Struct, frozen=True):
    """The engine as reflexd sees it. `state`: off (no model), starting, ready, waiting (to be started again), down.

    `why` says what ended it last; `info` and `stats` are the running one's.
    """

    state: Literal["off", "starting", "ready", "waiting", "down"]
    model: str = ""
    pid: int = 0
    starts: int = 0
    why: str = ""
    url: str = ""
    info: EngineInfo | None = None
    stats: EngineStats | None = None


class Status(Struct, frozen=True):
    """How the daemon is. `broken` names, in words for a person, whatever does not work as it should."""

    version: str
    pid: int
    started: float
    mode: Mode
    profile: Profile
    policy: str
    rules: int
    modes: tuple[ModeSet, ...] = ()
    agents: tuple[AgentSeen, ...] = ()
    decisions: dict[str, int] = field(default_factory=dict)
    broken: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    activated: bool = False
    engine: EngineStatus = EngineStatus("off")


class Control(Protocol):
    """All raise ReflexError; client.Client also raises Unreachable, and Refused where a caller may not."""

    def status(self) -> Status: ...
    def check(self, request: CheckRequest) -> CheckResult: ...
    def mode(self, request: ModeRequest) -> Status: ...
    def envelope(self, request: EnvelopeRequest) -> Envelopes: ...
    def envelopes(self) -> Envelopes: ...
    def reload(self) -> Status: ...
    def stop(self) -> None: ...


CHANGES = frozenset({"envelope", "mode", "reload", "stop"})
"""The calls that need a person: a terminal, and no agent among the caller's ancestors."""


def hook_payload(request: CheckRequest) -> bytes:
    """The PreToolUse payload that Claude Code would send for this call: what `check` is judged by.

    Raises ValueError where `args` is not a JSON object. A field is given under every name that some
    tool has for it; those a tool does not know are ignored like any other unknown field.
    """
    given: dict[str, object] = {}
    if request.command is not None:
        given["command"] = request.command
    if request.path is not None:
        given |= dict.fromkeys(("file_path", "notebook_path", "path"), request.path)
    if request.url is not None:
        given["url"] = request.url
    if request.text is not None:
        given |= dict.fromkeys(("content", "new_string", "new_source", "prompt", "query", "pattern"), request.text)
    if request.args is not None:
        args = json.loads(request.args)
        if not isinstance(args, dict):
            raise ValueError("args is not a JSON object")
        given |= args
    payload = {"hook_event_name": "PreToolUse", "tool_name": request.tool, "tool_input": given, "cwd": request.cwd}
    return json.dumps(payload).encode()
