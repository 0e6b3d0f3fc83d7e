"""Frames on hook.sock and control.sock.

Request   `RFX1 <agent> <event> <deadline-ms> <length>\\n` and `length` bytes, untouched.
Reply     `RFX1 <exit> <stdout-length> <stderr-length>\\n` and the two streams.

One request and one reply a connection. The header is at most HEADER_MAX bytes, plain
ASCII, single spaces, no second spelling of a number. On control.sock the agent is
`ctl` and the event the command's name.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reflexd.errors import FrameError
from reflexd.types import Reply

HEADER_MAX = 128
PAYLOAD_MAX = 8 * 1024 * 1024
DEADLINE_MAX_MS = 30_000

_REQUEST = re.compile(rb"RFX1 ([a-z]{1,16}) ([A-Za-z0-9_.:-]{1,64}) ([1-9][0-9]{0,4}) (0|[1-9][0-9]{0,9})\Z")
_REPLY = re.compile(rb"RFX1 (0|[1-9][0-9]{0,2}) (0|[1-9][0-9]{0,9}) (0|[1-9][0-9]{0,9})\Z")


class Header(Struct, frozen=True):
    """A request's header. `length` may exceed PAYLOAD_MAX: the server rules on that, not the parser."""

    agent: str
    event: str
    deadline_ms: int
    length: int


class ReplyHeader(Struct, frozen=True):
    exit: int
    stdout: int
    stderr: int


def encode_request(agent: str, event: str, deadline_ms: int, payload: bytes) -> bytes:
    line = f"RFX1 {agent} {event} {deadline_ms} {len(payload)}".encode("ascii")
    decode_header(line)
    return line + b"\n" + payload


def decode_header(line: bytes) -> Header:
    """`line` is without its newline. Raises FrameError."""
    found = _REQUEST.match(line) if len(line) < HEADER_MAX else None
    if not found:
        raise FrameError("request header is malformed")
    deadline = int(found[3])
    if deadline > DEADLINE_MAX_MS:
        raise FrameError("request deadline is too long")
    return Header(found[1].decode("ascii"), found[2].decode("ascii"), deadline, int(found[4]))


def encode_reply(reply: Reply) -> bytes:
    head = f"RFX1 {reply.exit} {len(reply.stdout)} {len(reply.stderr)}\n"
    return head.encode("ascii") + reply.stdout + reply.stderr


def decode_reply_header(line: bytes) -> ReplyHeader:
    """`line` is without its newline. Raises FrameError."""
    found = _REPLY.match(line) if len(line) < HEADER_MAX else None
    if not found:
        raise FrameError("reply header is malformed")
    head = ReplyHeader(int(found[1]), int(found[2]), int(found[3]))
    if head.exit > 255 or head.stdout + head.stderr > PAYLOAD_MAX:
        raise FrameError("reply header is out of bounds")
    return head
