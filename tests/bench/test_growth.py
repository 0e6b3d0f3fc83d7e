"""A check's work grows with the command's length and no faster, for every shape: calls are counted, not time."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FrameType

import pytest

from bench.peers import gates
from bench.shapes import SHAPES
from reflexd.control import CheckRequest

SMALL, LARGE = 800, 3_200
WORST = 2.0  # beside linear: what grows with the square would be 4


def calls(work: Callable[[], object]) -> int:
    """How many functions `work` calls, C's and Python's; the parser's requests for text are among them."""
    count = 0

    def called(_: FrameType, event: str, __: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", SHAPES)
def test_work_is_linear(name: str) -> None:
    check = gates.ours()
    texts = [SHAPES[name](size) for size in (SMALL, LARGE)]
    few, many = (
        calls(functools.partial(check, CheckRequest(command=text, cwd="/home/dev/proj", home="/home/dev")))
        for text in texts
    )
    assert many / few <= WORST * len(texts[1]) / len(texts[0]), (few, many)
