"""Frames between reflexd and its engine."""

from __future__ import annotations

import asyncio
import struct
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.engine import link
from reflexd.engine.link import Answered, Ask, Beat, Cancel, Failed, Ready, Unable
from reflexd.errors import FrameError
from reflexd.types import (
    Choice,
    ChoiceAnswer,
    EngineInfo,
    EngineStats,
    Image,
    Noul,
    NoulAnswer,
    Request,
    Response,
    Score,
    ScoreAnswer,
    Usage,
)

QUESTIONS = (("n", Noul("a", yes={"x": 1})), ("c", Choice((("k", None), ("l", ["m"])))), ("s", Score(("a", {"b": 2}))))
INFO = EngineInfo("m", "r", "f", "cpu", "float32", "packed", "p", 2, "margin", False, 9, "k", (("noul", 1.5),), True)
ANSWERS = (
    ("n", NoulAnswer(0.25)),
    ("c", ChoiceAnswer("k", (("k", 0.75), ("l", 0.25)), 0.1, 0.5)),
    ("s", ScoreAnswer(0.5, (0.5, 0.5), ("a", {"b": 2}), 0.0, 0.0, 0.125)),
)
DOWN = [Ask(7, Request({"a": ["<i>"]}, QUESTIONS, (("<i>", Image(b"\x00\xff", "d", 3, 4)),), 3, True)), Cancel(9)]
UP = [
    Ready(INFO),
    Unable("no", "yes"),
    Beat(EngineStats(requests=3, busy_seconds=0.5)),
    Answered(7, Response(ANSWERS, Usage(3, 4, 2, 1), 0.25)),
    Failed(9, "busy", "later"),
]


def decoded(decode: Callable[[asyncio.StreamReader], Awaitable[Any]], data: bytes, count: int = 1) -> list[Any]:
    """The next values of a stream that holds `data` and then ends."""

    async def read() -> list[Any]:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return [await decode(stream) for _ in range(count)]

    return asyncio.run(read())


def test_values_come_out_as_they_went_in() -> None:
    for value in DOWN:
        assert decoded(link.down, link.frame(value)) == [value]
    for other in UP:
        assert decoded(link.up, link.frame(other)) == [other]


def test_several_in_one_piece_and_the_end() -> None:
    assert decoded(link.down, b"".join(link.frame(value) for value in DOWN), 3) == [*DOWN, None]


@pytest.mark.parametrize("cut", [1, 3, 4, 5, -1])
def test_a_frame_cut_off_is_the_end(cut: int) -> None:
    assert decoded(link.down, link.frame(DOWN[0])[:cut]) == [None]


def test_what_is_too_large_or_the_wrong_way_is_refused() -> None:
    with pytest.raises(FrameError, match="too large"):
        decoded(link.up, struct.pack(">I", link.FRAME_MAX + 1) + b"x")
    with pytest.raises(FrameError):
        decoded(link.down, link.frame(UP[0]))
    with pytest.raises(FrameError, match="too large"):
        link.frame(Ask(1, Request("x" * (link.FRAME_MAX + 1), QUESTIONS)))


@given(st.binary(max_size=64))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(FrameError):
        decoded(link.up, struct.pack(">I", len(data)) + data)
