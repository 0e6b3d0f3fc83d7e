"""Control over control.sock: synchronous, one connection a call.

It looks at the server as a shim does: a private directory and socket of ours, our own uid at the
other end. That any process of the same user can pose as the daemon is not covered.
"""

from __future__ import annotations

import os
import socket
import stat
import time
from typing import TypeVar

import msgspec
from msgspec import Struct

from reflexd import paths, wire
from reflexd.control import (
    AGENT,
    REFUSED,
    CheckRequest,
    CheckResult,
    EnvelopeRequest,
    Envelopes,
    ModeRequest,
    Status,
)
from reflexd.errors import FrameError, ReflexError, Refused, Unreachable, UnsafePathError
from reflexd.peer import credentials

T = TypeVar("T")
DEADLINE_S = 5.0
START_HINT = "start it with: reflexctl start"


class Client:
    """The daemon of the user whose home is `base`. Every call raises ReflexError (see its subclasses)."""

    def __init__(self, base: str, deadline_s: float = DEADLINE_S) -> None:
        self._base = base
        self._deadline_s = deadline_s

    def status(self) -> Status:
        return self._ask("status", None, Status)

    def check(self, request: CheckRequest) -> CheckResult:
        return self._ask("check", request, CheckResult)

    def mode(self, request: ModeRequest) -> Status:
        return self._ask("mode", request, Status)

    def envelope(self, request: EnvelopeRequest) -> Envelopes:
        return self._ask("envelope", request, Envelopes)

    def envelopes(self) -> Envelopes:
        return self._ask("envelopes", None, Envelopes)

    def reload(self) -> Status:
        return self._ask("reload", None, Status)

    def stop(self) -> None:
        """Returns once the daemon has said that it stops; it lets go of its lock a moment later."""
        self._ask("stop", None, type(None))

    def _ask(self, name: str, request: Struct | None, result: type[T]) -> T:
        payload = b"" if request is None else msgspec.json.encode(request)
        answer = exchange(paths.control_socket(self._base), AGENT, name, payload, self._deadline_s)
        if answer[0] == 0:
            try:
                return msgspec.json.decode(answer[1] or b"null", type=result)
            except msgspec.MsgspecError as e:
                raise ReflexError(f"the daemon's answer is not one to {name}: {e}", "is it of another version?") from e
        message, _, hint = answer[2].decode("utf-8", "replace").strip().partition("\n")
        kind = Refused if answer[0] == REFUSED else ReflexError
        raise kind(message or f"{name} failed without a reason", hint)


def exchange(
    path: str, agent: str, event: str, payload: bytes, deadline_s: float = DEADLINE_S
) -> tuple[int, bytes, bytes]:
    """Send one frame to the socket at `path` and return its reply: exit, stdout, stderr.

    Raises Unreachable where no complete, well-formed answer comes in time, UnsafePathError where
    the socket or its directory is not ours alone.
    """
    end = time.monotonic() + deadline_s
    request = wire.encode_request(agent, event, max(int(deadline_s * 1000), 1), payload)
    try:
        paths.check_private_dir(os.path.dirname(path))
        found = os.lstat(path)
        if not stat.S_ISSOCK(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise UnsafePathError(f"{path} is not a private socket of ours")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(_left(end))
            peer.connect(path)
            if credentials(peer).uid != os.geteuid():
                raise UnsafePathError(f"another user answers on {path}")
            peer.sendall(request)
            data = bytearray()
            while True:
                peer.settimeout(_left(end))
                part = peer.recv(1 << 16)
                if not part:
                    return _decode(bytes(data))
                data += part
                if len(data) > wire.PAYLOAD_MAX + wire.HEADER_MAX:
                    raise FrameError("the daemon's answer is too long")
    except FileNotFoundError as e:
        raise Unreachable("the daemon is not running", START_HINT) from e
    except ConnectionRefusedError as e:
        raise Unreachable("the daemon is not running (its socket is left over)", START_HINT) from e
    except TimeoutError as e:
        raise Unreachable("the daemon did not answer in time", "try: reflexctl restart") from e
    except FrameError as e:
        raise Unreachable(f"the daemon's answer was garbled: {e}", "try: reflexctl restart") from e
    except OSError as e:
        raise Unreachable(f"the daemon could not be asked: {e.strerror or e}", "try: reflexctl restart") from e


def _left(end: float) -> float:
    seconds = end - time.monotonic()
    if seconds <= 0:
        raise TimeoutError
    return seconds


def _decode(data: bytes) -> tuple[int, bytes, bytes]:
    line, newline, body = data.partition(b"\n")
    if not newline:
        raise FrameError("it ended before its header")
    head = wire.decode_reply_header(line)
    if len(body) != head.stdout + head.stderr:
        raise FrameError("it is not as long as it says")
    return head.exit, body[: head.stdout], body[head.stdout :]
