"""A small typed client of System One's HTTP face: over the daemon's socket, or to any server of the contract.

    from reflexd.systemone import SystemOne
    from reflexd.types import Noul
    SystemOne.local().ask("The build is red.", {"red": Noul("Is the build broken?")}).answers["red"].noul

Standard library and msgspec alone. Blocking; thread-safe, a connection a call.
"""

from __future__ import annotations

import http.client
import socket
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from reflexd import paths
from reflexd.errors import ReflexError, Unreachable
from reflexd.types import Choice, Content, Noul, Question, Score

TIMEOUT_S = 60.0
REPLY_MAX = 64 << 20


class NoulReply(Struct, frozen=True, tag="noul", tag_field="type"):
    noul: float


class ChoiceReply(Struct, frozen=True, tag="choice", tag_field="type"):
    choice: str
    probabilities: dict[str, float]
    confidence: float


class ScoreReply(Struct, frozen=True, tag="score", tag_field="type"):
    score: float
    probabilities: dict[str, float]
    legend: dict[str, Any]
    confidence: float


class Reply(Struct, frozen=True):
    """Fields that a server adds beyond the contract are left out."""

    model: str
    answers: dict[str, NoulReply | ChoiceReply | ScoreReply]
    usage: dict[str, Any]


class SystemOne:
    """`url` without `/v1`, or the path of a Unix `socket`."""

    def __init__(self, url: str = "", key: str = "", *, socket: str = "", timeout_s: float = TIMEOUT_S) -> None:
        """Raises ReflexError for a URL that is none."""
        parts = urlsplit(url)
        if not socket and (parts.scheme not in ("http", "https") or not parts.hostname):
            raise ReflexError(f"{url!r} is no URL of a server", "for example http://127.0.0.1:8377")
        self._parts = parts
        self._key = key
        self._socket = socket
        self._timeout = timeout_s

    @classmethod
    def local(cls, base: str = "", timeout_s: float = TIMEOUT_S) -> SystemOne:
        """The engine of this user's daemon."""
        return cls(socket=paths.systemone_socket(base or paths.home()), timeout_s=timeout_s)

    def ask(
        self,
        state: Content,
        questions: Mapping[str, Question],
        model: str = "jev-latest",
        permutations: int | None = None,
    ) -> Reply:
        """Raises Unreachable where nobody answers in time, ReflexError with the server's words where it refuses."""
        body: dict[str, Any] = {"model": model, "state": state}
        body["questions"] = {name: _wire(question) for name, question in questions.items()}
        if permutations is not None:
            body["permutations"] = permutations
        try:
            return msgspec.json.decode(self.send(msgspec.json.encode(body)), type=Reply)
        except msgspec.MsgspecError as e:
            raise ReflexError(f"the server's answer is not of the contract: {e}") from e

    def send(self, body: bytes) -> bytes:
        """A request's JSON, and the reply's as it came. Raises as `ask`."""
        connection = self._connection()
        headers = {"content-type": "application/json"}
        if self._key:
            headers["authorization"] = f"Bearer {self._key}"
        try:
            connection.request("POST", f"{self._parts.path.rstrip('/')}/v1/systemone", body, headers)
            response = connection.getresponse()
            data = response.read(REPLY_MAX + 1)
        except TimeoutError as e:
            raise Unreachable(f"no answer within {self._timeout:g} s") from e
        except (OSError, http.client.HTTPException) as e:
            hint = "reflexctl status says how the engine is" if self._socket else ""
            raise Unreachable(f"System One does not answer: {e}", hint) from e
        finally:
            connection.close()
        if len(data) > REPLY_MAX:
            raise ReflexError(f"the reply is larger than {REPLY_MAX >> 20} MiB")
        if response.status != 200:
            raise ReflexError(f"System One refused ({response.status}): {_said(data)}")
        return data

    def _connection(self) -> http.client.HTTPConnection:
        if self._socket:
            return _Unix(self._socket, self._timeout)
        https = self._parts.scheme == "https"
        kind = http.client.HTTPSConnection if https else http.client.HTTPConnection
        return kind(self._parts.hostname or "", self._parts.port, timeout=self._timeout)


class _Unix(http.client.HTTPConnection):
    def __init__(self, path: str, timeout_s: float) -> None:
        super().__init__("localhost", timeout=timeout_s)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def _wire(question: Question) -> dict[str, Any]:
    body: dict[str, Any] = {"type": question.__struct_config__.tag}
    if question.instructions is not None:
        body["instructions"] = question.instructions
    match question:
        case Noul(_, yes, no):
            sides = {"true": yes, "false": no}
            if any(side is not None for side in sides.values()):
                body["criteria"] = {name: side for name, side in sides.items() if side is not None}
        case Choice(options):
            body["criteria"] = dict(options)
        case Score(levels):
            body["criteria"] = list(levels)
    return body


def _said(data: bytes) -> str:
    """The server's reason, in one line."""
    try:
        detail = msgspec.json.decode(data)["detail"]
        if isinstance(detail, list):
            return "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in detail)
        return str(detail["message"])
    except (msgspec.MsgspecError, LookupError, TypeError):
        return data[:200].decode("utf-8", "replace")
