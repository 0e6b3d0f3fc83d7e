"""Between reflexd and its engine: length-prefixed msgpack over a socketpair, strict on both ends.

A frame is four bytes of length, big-endian, and one tagged value. Up come Ready once, a Beat every second or
so (its silence is how a hung engine is known), and one Answered or Failed for each Ask that was not cancelled.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Literal

import msgspec
from msgspec import Struct

from reflexd.errors import FrameError
from reflexd.types import EngineInfo, EngineStats, Request, Response

FRAME_MAX = 64 << 20
BEAT_S = 1.0

Why = Literal["busy", "refused", "error"]


class Ask(Struct, frozen=True, tag="ask", forbid_unknown_fields=True):
    number: int
    request: Request


class Cancel(Struct, frozen=True, tag="cancel", forbid_unknown_fields=True):
    """The caller has gone; what still waits need not be computed."""

    number: int


class Ready(Struct, frozen=True, tag="ready", forbid_unknown_fields=True):
    info: EngineInfo


class Unable(Struct, frozen=True, tag="unable", forbid_unknown_fields=True):
    """The model cannot be served; trying again would not help until something is changed."""

    message: str
    hint: str


class Beat(Struct, frozen=True, tag="beat", forbid_unknown_fields=True):
    stats: EngineStats


class Answered(Struct, frozen=True, tag="answered", forbid_unknown_fields=True):
    number: int
    response: Response


class Failed(Struct, frozen=True, tag="failed", forbid_unknown_fields=True):
    number: int
    why: Why
    detail: str


Down = Ask | Cancel
Up = Ready | Unable | Beat | Answered | Failed

_down = msgspec.msgpack.Decoder(Down)
_up = msgspec.msgpack.Decoder(Up)


def frame(value: Down | Up) -> bytes:
    """Raises FrameError for a value that is too large to send."""
    data = msgspec.msgpack.encode(value)
    if len(data) > FRAME_MAX:
        raise FrameError(f"a frame of {len(data) >> 20} MiB is too large for the engine")
    return struct.pack(">I", len(data)) + data


async def down(reader: asyncio.StreamReader) -> Down | None:
    """The next value for the engine; None at the end. Raises FrameError."""
    data = await _next(reader)
    try:
        return None if data is None else _down.decode(data)
    except msgspec.MsgspecError as e:
        raise FrameError(f"not a frame of the engine's link: {e}") from e


async def up(reader: asyncio.StreamReader) -> Up | None:
    """The next value from the engine; None where it ended. Raises FrameError."""
    data = await _next(reader)
    try:
        return None if data is None else _up.decode(data)
    except msgspec.MsgspecError as e:
        raise FrameError(f"not a frame of the engine's link: {e}") from e


async def _next(reader: asyncio.StreamReader) -> bytes | None:
    try:
        (length,) = struct.unpack(">I", await reader.readexactly(4))
        if length > FRAME_MAX:
            raise FrameError("a frame of the engine's link is too large")
        return await reader.readexactly(length)
    except (asyncio.IncompleteReadError, ConnectionError):
        return None
