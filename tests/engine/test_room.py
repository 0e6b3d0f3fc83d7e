"""A device without room for a pass: smaller passes, the same answers, and more again once it goes well."""

from __future__ import annotations

import pytest

from reflexd.engine import hashed
from reflexd.engine.errors import Overloaded
from reflexd.engine.hashed import Hashed
from reflexd.engine.values import OutOfMemory
from tests.engine.test_worker import WAIT_S, answers, engine_of, request


class Narrow(Hashed):
    """A device with room for passes of so many tokens."""

    def __init__(self, most: int) -> None:
        super().__init__(budget=10_000)
        self.most = most

    def encode(self, parent, prefix, start, stop):  # type: ignore[no-untyped-def]
        if stop - start > self.most:
            raise OutOfMemory
        return super().encode(parent, prefix, start, stop)

    def begin(self, parent, prefix, start, stop, branches):  # type: ignore[no-untyped-def]
        if stop - start + sum(len(branch.tokens) for branch in branches) > self.most:
            raise OutOfMemory
        return super().begin(parent, prefix, start, stop, branches)

    def read(self, rows):  # type: ignore[no-untyped-def]
        if len(rows) > 1 and sum(len(row.branch.tokens) for row in rows) > self.most:
            raise OutOfMemory
        return super().read(rows)


def test_a_device_short_of_room_gets_smaller_passes_and_the_same_answers() -> None:
    asked = [request("x" * 3000, 8), request("y", 3)]
    wanted = [answers(hashed.engine(2, "entropy", Hashed()).answer(one, WAIT_S)) for one in asked]
    backend = Narrow(300)
    with engine_of(backend) as engine:
        assert [answers(engine.answer(one, WAIT_S)) for one in asked] == wanted
        assert engine.stats().pass_tokens <= 300
        assert engine.stats().failed == 0
        before = engine.stats().out_of_memory
        engine.answer(request("z" * 3000, 8), WAIT_S)
        assert engine.stats().out_of_memory == before  # what was learnt holds
        backend.most = 10_000
        for number in range(1700):
            engine.answer(request(f"{number}"), WAIT_S)
        assert engine.stats().pass_tokens == 10_000  # and is forgotten once it goes well


def test_a_state_that_never_fits_leaves_the_passes_of_others_large() -> None:
    with engine_of(Narrow(0)) as engine:
        with pytest.raises(Overloaded):
            engine.answer(request("x" * 3000), WAIT_S)
        assert engine.stats().pass_tokens == 10_000
