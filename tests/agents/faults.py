"""The ways in which the daemon can fail an agent while our file in the agent is whole.

Each is arranged just before the model makes a call that would leave a marker, and undone before its
next turn. Behind every path that is wrong stands a server that would say "go on": only a check can
refuse there.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import ExitStack

from msgspec import Struct

from tests.agents import foreign, standin
from tests.agents.gate import Arrange, Gate

START_HINT = "reflexctl start"
NOBODY = 65534


class Fault(Struct, frozen=True):
    """`says`: what the model must be told. `unseen_by`: agents whose runtime gives no way to notice,
    and why; they are shown in the table as they are."""

    name: str
    row: str
    arrange: Arrange
    says: str = START_HINT
    unseen_by: frozenset[str] = frozenset()


def _stand_in(serve: standin.Serve, mode: int = 0o600) -> Arrange:
    return lambda gate, undo: gate.stand_in(undo, serve, mode)


def _regular_file(gate: Gate, undo: ExitStack) -> None:
    gate.move_aside(undo)
    with open(gate.socket, "wb") as f:
        f.write(standin.GO_ON)
    os.chmod(gate.socket, 0o600)
    undo.callback(os.unlink, gate.socket)


def _directory(gate: Gate, undo: ExitStack) -> None:
    gate.move_aside(undo)
    os.mkdir(gate.socket, 0o700)
    undo.callback(os.rmdir, gate.socket)


def _symlink(gate: Gate, undo: ExitStack) -> None:
    gate.move_aside(undo)
    os.symlink(gate.aside, gate.socket)
    undo.callback(os.unlink, gate.socket)


def _linked_directory(gate: Gate, undo: ExitStack) -> None:
    elsewhere = gate.run_dir + ".moved"
    os.rename(gate.run_dir, elsewhere)
    undo.callback(os.rename, elsewhere, gate.run_dir)
    os.symlink(elsewhere, gate.run_dir)
    undo.callback(os.unlink, gate.run_dir)


def _mangled(gate: Gate, undo: ExitStack) -> None:
    gate.stand_in(undo, standin.mangles(gate.aside))


def _foreign_peer(gate: Gate, undo: ExitStack) -> None:
    gate.move_aside(undo)
    argv = [sys.executable, "-I", "-S", foreign.__file__, gate.socket, str(NOBODY)]
    server = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert server.stdout
    assert server.stdout.readline() == b"listening\n"
    undo.callback(os.unlink, gate.socket)
    undo.callback(server.wait)
    undo.callback(server.kill)
    undo.callback(server.stdout.close)


FAULTS = (
    Fault("absent", "daemon absent", lambda gate, undo: gate.restart_after(undo, signal.SIGTERM)),
    Fault("refused", "connection refused (killed, its socket left)",
          lambda gate, undo: gate.restart_after(undo, signal.SIGKILL)),
    Fault("hung", "daemon hung past the deadline (SIGSTOP)", lambda gate, undo: gate.freeze(undo)),
    Fault("killed", "daemon killed during the call (SIGKILL)", lambda gate, undo: gate.kill_at_next_call(undo)),
    Fault("hangs-up", "takes the call and hangs up", _stand_in(standin.hangs_up)),
    Fault("half", "dies half way through its answer", _stand_in(standin.dies_half_way)),
    Fault("drips", "an answer that never ends (a byte at a time)", _stand_in(standin.drips)),
    Fault("garbled", "garbled answer", _stand_in(standin.answers(b"HTTP/1.1 200 OK\r\n\r\n"))),
    Fault("trailing", "answer with bytes after its end", _stand_in(standin.answers(standin.GO_ON + b"x"))),
    Fault("unknown", "answer with an unknown exit code", _stand_in(standin.answers(b"RFX1 40 0 0\n"))),
    Fault("oversized", "oversized answer",
          _stand_in(standin.answers(b"RFX1 0 %d 0\n" % standin.TOO_MUCH + b"x" * standin.TOO_MUCH))),
    Fault("file", "a regular file in the socket's place", _regular_file),
    Fault("directory", "a directory in the socket's place", _directory),
    Fault("symlink", "a symbolic link in the socket's place", _symlink),
    Fault("linked-dir", "a symbolic link in the socket directory's place", _linked_directory),
    Fault("socket-mode", "socket open to others (0666)", _stand_in(standin.answers(standin.GO_ON), 0o666)),
    Fault("dir-mode", "socket's directory open to others (0755)",
          lambda gate, undo: gate.chmod(undo, gate.run_dir, 0o755)),
    Fault("mangled", "payload not understood by the daemon", _mangled, says="not understood"),
)  # fmt: skip

FOREIGN_FAULTS = (
    Fault("foreign-socket", "socket of another user", lambda gate, undo: gate.chown(undo, gate.socket, NOBODY)),
    Fault("foreign-dir", "socket's directory of another user",
          lambda gate, undo: gate.chown(undo, gate.run_dir, NOBODY)),
    Fault("foreign-peer", "a server of another user behind our own socket", _foreign_peer,
          unseen_by=frozenset({"opencode", "pi"})),
)  # fmt: skip
"""These need root to arrange."""
