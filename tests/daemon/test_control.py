"""Control: the same on both ends of its socket, and closed to whoever is not a person."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any, TypeVar

import msgspec
import pytest

from reflexd import paths, wire
from reflexd.client import Client, exchange
from reflexd.control import (
    CheckRequest,
    CheckResult,
    Control,
    EngineStatus,
    EnvelopeRequest,
    Envelopes,
    ModeRequest,
    Status,
    hook_payload,
)
from reflexd.daemon.conversations import Conversations
from reflexd.daemon.gate import Gate
from reflexd.daemon.journal import Journal
from reflexd.daemon.judging import Judging
from reflexd.daemon.lane import Lane
from reflexd.daemon.live import Live
from reflexd.daemon.second import Parking
from reflexd.daemon.sessions import Sessions
from reflexd.daemon.standing import Standing
from reflexd.errors import ReflexError, Refused, Unreachable, UnsafePathError
from reflexd.types import Decision, NoAnswer, Request, Response, Said
from tests.daemon.running import ROOT, Daemon, in_terminal, until

T = TypeVar("T")

CALL = """
import sys, msgspec
from reflexd.client import Client
from reflexd.control import *
from reflexd.errors import ReflexError
name, shape, request = sys.argv[2:]
try:
    given = (msgspec.json.decode(request, type=globals()[shape]),) if shape else ()
    print(msgspec.json.encode(getattr(Client(sys.argv[1]), name)(*given)).decode())
except ReflexError as e:
    print(f"{type(e).__name__}: {e.message}")
    sys.exit(9)
"""


class PersonsClient:
    """Client, called from a terminal of its own."""

    def __init__(self, home: str) -> None:
        self._home = home

    def _do(self, shape: type[T], name: str, request: msgspec.Struct | None = None) -> T:
        given = ["", ""] if request is None else [type(request).__name__, msgspec.json.encode(request).decode()]
        code, said = in_terminal(self._home, "person", sys.executable, "-c", CALL, self._home, name, *given)
        if code:
            raise ReflexError(said.partition(": ")[2].strip())
        return msgspec.json.decode(said, type=shape)

    def status(self) -> Status:
        return self._do(Status, "status")

    def check(self, request: CheckRequest) -> CheckResult:
        return self._do(CheckResult, "check", request)

    def mode(self, request: ModeRequest) -> Status:
        return self._do(Status, "mode", request)

    def envelope(self, request: EnvelopeRequest) -> Envelopes:
        return self._do(Envelopes, "envelope", request)

    def envelopes(self) -> Envelopes:
        return self._do(Envelopes, "envelopes")

    def reload(self) -> Status:
        return self._do(Status, "reload")

    def stop(self) -> None:
        self._do(type(None), "stop")


async def no_engine(request: Request, deadline_s: float) -> Response | NoAnswer:
    return NoAnswer("unavailable", "there is no engine here")


class Ended(list[bool]):
    def __call__(self) -> None:
        self.append(True)


@pytest.fixture(params=["in memory", "over the socket"])
def control(request: pytest.FixtureRequest, short_home: str) -> Iterator[tuple[Control, Any]]:
    """A Control, and what tells whether it was stopped."""
    if request.param == "over the socket":
        with Daemon(short_home) as daemon:
            yield PersonsClient(short_home), lambda: daemon.process.poll() == 0
        return
    paths.private_dir(paths.state_dir(short_home))
    ended, lane = Ended(), Lane(1, 8)
    standing, sessions = Standing(short_home), Sessions()
    journal = Journal(paths.journal_file(short_home), lane)
    parking = Parking(short_home)
    judging = Judging(short_home, no_engine, lane, lambda event, context: Said(), lambda session, cwd: "")
    gate = Gate(short_home, standing, journal, sessions, lane, judging, Conversations(), parking)
    off = EngineStatus("off")
    yield Live(gate, standing, journal, sessions, lambda: off, judging, False, ended), lambda: bool(ended)


def test_control_is_the_same_on_both_ends(control: tuple[Control, Any], short_home: str) -> None:
    live, stopped = control
    first = live.status()
    assert (first.mode, first.profile, first.modes, first.broken) == ("enforce", "supervised", (), ())
    assert first.rules > 0

    denied = live.check(CheckRequest(command="rm -rf ~", cwd="/tmp"))
    assert denied.verdict.decision is Decision.DENY
    assert denied.verdict.rule
    assert denied.facts is not None
    assert denied.facts.effects
    passed = live.check(CheckRequest(command="git log --oneline", cwd="/tmp"))
    assert (passed.verdict.decision, passed.verdict.decided_by) == (Decision.PASS, "read-only")
    home = live.check(CheckRequest(command="rm -rf ~/", cwd="/tmp", home="/home/other"))
    assert home.facts is not None
    assert home.facts.effects[0].target.startswith("/home/other")
    variable = live.check(CheckRequest(command="rm -rf $WHERE", cwd="/tmp", env={"WHERE": "/home/other/x/y"}))
    assert variable.facts is not None
    assert variable.facts.effects[0].target == "/home/other/x/y"
    unread = live.check(CheckRequest("Bash", args='{"command": 7}'))
    assert (unread.verdict.decision, unread.verdict.decided_by, unread.facts) == (Decision.ASK, "payload", None)
    assert live.check(CheckRequest("Bash", args="[]")).verdict.decided_by == "payload"

    assert live.mode(ModeRequest("shadow", seconds=100)).mode == "shadow"
    with pytest.raises(ReflexError, match="not a directory"):
        live.mode(ModeRequest("off", cwd="/nowhere"))
    assert live.check(CheckRequest(command="rm -rf ~", cwd="/tmp")).mode == "shadow"

    assert live.envelopes() == Envelopes()
    held = live.envelope(EnvelopeRequest(short_home, "only the docs", seconds=100)).held
    assert [(e.holder, e.terms) for e in held] == [(os.path.realpath(short_home), "only the docs")]
    assert live.envelopes().held == held
    with pytest.raises(ReflexError, match="neither a whole path nor a session"):
        live.envelope(EnvelopeRequest("docs", "only the docs"))
    assert live.envelope(EnvelopeRequest(short_home)) == Envelopes()
    with pytest.raises(ReflexError, match="no envelope is set"):
        live.envelope(EnvelopeRequest(short_home))

    os.makedirs(paths.config_dir(short_home), exist_ok=True)
    with open(paths.settings_file(short_home), "w") as file:
        file.write("mode = 7\n")
    assert any("line 1" in fault for fault in live.reload().broken)

    live.stop()
    until(stopped, "the stop")


def test_check_is_neither_counted_nor_kept(daemon: Daemon) -> None:
    daemon.client.check(CheckRequest(command="rm -rf ~"))
    assert daemon.client.status().decisions == {}
    assert [row.call for row in daemon.rows()] == ["start"]


@pytest.mark.parametrize(
    ("request_", "decision"),
    [
        (CheckRequest("Read", path="/etc/hostname"), Decision.PASS),
        (CheckRequest("Read", path="~/.ssh/id_rsa", home="/home/u"), Decision.ASK),
        (CheckRequest("Write", path="/home/u/.local/state/reflex/reflex.db", text="", home="/home/u"), Decision.DENY),
        (CheckRequest("WebFetch", url="https://example.com"), Decision.PASS),
        (CheckRequest("Task", text="look around"), Decision.PASS),
        (CheckRequest("mcp__a__b", args='{"x": 1}'), Decision.PASS),
    ],
)
def test_every_kind_of_call_can_be_checked(daemon: Daemon, request_: CheckRequest, decision: Decision) -> None:
    assert daemon.client.check(request_).verdict.decision is decision


def test_a_check_is_judged_as_its_hook_would_be(daemon: Daemon) -> None:
    request = CheckRequest(command="cat ~/.ssh/id_rsa", cwd="/tmp")
    checked = daemon.client.check(request)
    daemon.call("claude", "PreToolUse", hook_payload(request))
    row = daemon.rows()[0]
    assert (row.decision, row.rule, row.reason) == (
        checked.verdict.decision,
        checked.verdict.rule,
        checked.verdict.reason,
    )


class TestWhoMayChange:
    @pytest.mark.parametrize("name", ["mode", "reload", "stop"])
    def test_without_a_terminal_nobody_does(self, daemon: Daemon, name: str) -> None:
        given = ["ModeRequest", '{"mode":"off"}'] if name == "mode" else ["", ""]
        said = subprocess.run(
            [sys.executable, "-c", CALL, daemon.home, name, *given],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        assert said.returncode == 9
        assert "Refused: only a person may do that: it has no terminal" in said.stdout
        row = daemon.rows()[0]
        assert (row.kind, row.call, row.decision) == ("control", name, "refused")
        assert "terminal" in row.reason
        assert daemon.client.status().mode == "enforce"

    def test_a_terminal_that_an_agent_holds_is_no_persons(self, daemon: Daemon) -> None:
        command = [sys.executable, "-c", CALL, daemon.home, "mode", "ModeRequest", '{"mode":"off"}']
        _, said = in_terminal(daemon.home, "held", *command)
        assert "Refused: only a person may do that: claude started it" in said
        assert daemon.client.status().mode == "enforce"

    def test_an_agents_descendant_is_no_person(self, daemon: Daemon) -> None:
        link = os.path.join(daemon.home, "codex")
        os.symlink(sys.executable, link)
        deeper = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        client = [sys.executable, "-c", CALL, daemon.home, "stop", "", ""]
        code, said = in_terminal(daemon.home, "person", link, "-c", deeper, *client)
        assert code == 9
        assert "codex started it" in said
        assert daemon.client.status().pid == daemon.process.pid

    def test_what_a_plugin_started_is_no_person(self, daemon: Daemon) -> None:
        asks = (
            "import subprocess, sys; from reflexd.client import exchange;"
            'payload = b\'{"event":"tool_call","payload":{"toolName":"bash","input":{"command":"id"}}}\';'
            "exchange(sys.argv[1], 'pi', 'tool_call', payload); sys.exit(subprocess.run(sys.argv[2:]).returncode)"
        )
        client = [sys.executable, "-c", CALL, daemon.home, "stop", "", ""]
        code, said = in_terminal(daemon.home, "person", sys.executable, "-c", asks, daemon.hook, *client)
        assert code == 9
        assert "an agent that reflex answers started it" in said

    def test_what_a_person_changes_is_kept(self, daemon: Daemon) -> None:
        PersonsClient(daemon.home).mode(ModeRequest("shadow"))
        row = daemon.rows()[0]
        assert (row.kind, row.call, row.decision) == ("control", "mode", "done")
        assert "shadow" in row.reason


class TestTheDoor:
    def test_hook_sock_changes_nothing(self, daemon: Daemon) -> None:
        for name in ("status", "mode", "stop"):
            assert daemon.send(wire.encode_request("ctl", name, 5000, b'{"mode":"off"}')).exit == 2
        assert daemon.client.status().mode == "enforce"

    @pytest.mark.parametrize(
        ("agent", "name", "payload"),
        [
            ("claude", "status", b""),
            ("ctl", "approve", b""),
            ("ctl", "check", b""),
            ("ctl", "check", b"\xff"),
            ("ctl", "check", b'{"comand":"id"}'),
            ("ctl", "check", b"[" * 5000),
        ],
    )
    def test_what_it_does_not_know_is_an_error(self, daemon: Daemon, agent: str, name: str, payload: bytes) -> None:
        code, out, err = exchange(daemon.control, agent, name, payload)
        assert (code, out) == (1, b"")
        assert err
        assert b"Traceback" not in err


class TestTheClient:
    def test_no_daemon_is_said_so(self, short_home: str) -> None:
        with pytest.raises(Unreachable, match="not running"):
            Client(short_home).status()

    def test_a_left_over_socket_is_said_so(self, daemon: Daemon) -> None:
        daemon.process.kill()
        daemon.process.wait()
        with pytest.raises(Unreachable, match="left over"):
            daemon.client.status()

    @pytest.mark.parametrize("what", ["directory", "socket", "file"])
    def test_what_is_not_private_is_not_asked(self, daemon: Daemon, what: str) -> None:
        match what:
            case "directory":
                os.chmod(os.path.dirname(daemon.control), 0o755)
            case "socket":
                os.chmod(daemon.control, 0o666)
            case "file":
                os.unlink(daemon.control)
                open(daemon.control, "w").close()
        with pytest.raises(UnsafePathError):
            daemon.client.status()

    def test_a_daemon_that_hangs_is_given_up_on(self, daemon: Daemon) -> None:
        import signal

        daemon.process.send_signal(signal.SIGSTOP)
        with pytest.raises(Unreachable, match="in time"):
            Client(daemon.home, deadline_s=0.2).status()
        daemon.process.send_signal(signal.SIGCONT)

    def test_a_refusal_is_an_error_of_its_own(self, daemon: Daemon) -> None:
        code = "from reflexd.client import Client; import sys; Client(sys.argv[1]).stop()"
        said = subprocess.run(
            [sys.executable, "-c", code, daemon.home],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        assert Refused.__name__ in said.stderr


def test_a_payload_for_check_is_claude_codes_own() -> None:
    said = json.loads(hook_payload(CheckRequest("Edit", path="/x", text="new", cwd="/y")))
    assert (said["hook_event_name"], said["tool_name"], said["cwd"]) == ("PreToolUse", "Edit", "/y")
    assert (said["tool_input"]["file_path"], said["tool_input"]["new_string"]) == ("/x", "new")
