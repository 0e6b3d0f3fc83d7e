"""The engine over the stand-in backend: sharing passes, fairness, giving up, and every kind of failure."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager

import msgspec
import pytest

from reflexd.engine import hashed
from reflexd.engine.engine import Engine
from reflexd.engine.errors import Busy, EngineFailed, Overloaded
from reflexd.engine.hashed import Hashed
from reflexd.engine.values import OutOfMemory, PassFailed
from reflexd.types import Noul, Request, Response

WAIT_S = 20.0


def request(state: str = "s", questions: int = 1, **more: object) -> Request:
    asked = tuple((f"q{number}", Noul(f"question {number}")) for number in range(questions))
    return Request(state, asked, **more)  # type: ignore[arg-type]


class Gate:
    """Holds passes up: `trouble` of a backend, which every pass goes through. `seen`: how many came."""

    def __init__(self) -> None:
        self.open = threading.Event()
        self.seen = threading.Semaphore(0)

    def __call__(self, number: int) -> None:
        self.seen.release()
        assert self.open.wait(WAIT_S)

    def until_a_pass_runs(self) -> None:
        assert self.seen.acquire(timeout=WAIT_S)


@contextmanager
def engine_of(backend: Hashed, budget: int = 1 << 30) -> Iterator[Engine]:
    engine = hashed.engine(2, "entropy", backend)
    engine._worker._cache.budget = budget
    try:
        yield engine
        until(lambda: engine.stats().waiting == 0)
        assert [node.users for node in engine._worker._cache.nodes() if node.users] == []
    finally:
        engine.close()


def until(true: Callable[[], bool]) -> None:
    last = time.monotonic() + WAIT_S
    while not true():
        assert time.monotonic() < last
        time.sleep(0.002)


def answers(response: Response) -> object:
    return response.answers


def test_a_new_state_and_its_questions_are_one_pass_where_they_fit() -> None:
    wanted = answers(hashed.engine(2, "entropy", Hashed(recurrent=True)).answer(request("s", 4), WAIT_S))
    for backend, passes in ((Hashed(budget=10_000), 1), (Hashed(recurrent=True, budget=10_000), 2)):
        with engine_of(backend) as engine:
            assert answers(engine.answer(request("s", 4), WAIT_S)) == wanted
            assert backend.passes == passes
            assert answers(engine.answer(request("s", 4), WAIT_S)) == wanted
            assert backend.passes == passes + 1


def test_requests_that_wait_share_a_pass() -> None:
    gate = Gate()
    backend = Hashed(trouble=gate, budget=10_000)
    with engine_of(backend) as engine:
        first = engine.submit(request("first"))
        gate.until_a_pass_runs()
        others = [engine.submit(request("first", number)) for number in range(1, 8)]
        gate.open.set()
        for future in (first, *others):
            future.result(WAIT_S)
        # one to encode, one for all that came meanwhile, at most one more for who came first
        assert backend.passes <= 3
        assert engine.stats().shared_passes >= 1


@pytest.mark.parametrize("recurrent", [False, True])
def test_sharing_keeping_and_order_change_no_answer(recurrent: bool) -> None:
    asked = [request(f"common beginning {number % 5} then {number % 3}", 1 + number % 4) for number in range(60)]
    alone = [answers(hashed.engine(2, "entropy", Hashed()).answer(one, WAIT_S)) for one in asked]
    with engine_of(Hashed(recurrent, budget=40), budget=60 * Hashed.BYTES) as engine:
        futures = [engine.submit(one) for one in asked]
        assert [answers(future.result(WAIT_S)) for future in futures] == alone
        assert [answers(engine.answer(one, WAIT_S)) for one in reversed(asked)] == alone[::-1]


def test_a_small_request_waits_for_one_pass_of_a_large_one_at_most() -> None:
    gate = Gate()
    order: list[str] = []
    backend = Hashed(trouble=gate, budget=300)
    with engine_of(backend) as engine:
        engine.submit(request("warm")).add_done_callback(lambda _: order.append("warm"))
        gate.until_a_pass_runs()
        large = engine.submit(request("large", 60))
        small = engine.submit(request("small", 1))
        large.add_done_callback(lambda _: order.append("large"))
        small.add_done_callback(lambda _: order.append("small"))
        gate.open.set()
        large.result(WAIT_S)
        small.result(WAIT_S)
        assert order.index("small") < order.index("large")
        assert backend.passes > 20


def test_a_long_state_is_encoded_in_pieces_between_which_others_are_answered() -> None:
    backend = Hashed(budget=100)
    with engine_of(backend) as engine:
        engine.answer(request("short"), WAIT_S)
        before = backend.passes
        long = engine.submit(request("x" * 5000))
        short = engine.submit(request("short"))
        done_first: list[str] = []
        long.add_done_callback(lambda _: done_first.append("long"))
        short.add_done_callback(lambda _: done_first.append("short"))
        long.result(WAIT_S)
        assert backend.passes - before >= 50
        assert done_first == ["short", "long"]


def test_a_row_of_small_states_does_not_keep_a_long_one_waiting_for_ever() -> None:
    backend = Hashed(budget=200, trouble=lambda number: time.sleep(0.002))  # so that clients overlap
    with engine_of(backend) as engine:
        long = engine.submit(request("x" * 4000))
        numbers = itertools.count()

        def clients() -> None:
            while not long.done() and next(numbers) < 1400:
                engine.answer(request(f"{next(numbers)} is new"), WAIT_S)

        threads = [threading.Thread(target=clients) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert long.done()


def test_who_stops_waiting_gives_up_what_still_waits_and_nothing_else() -> None:
    gate = Gate()
    backend = Hashed(trouble=gate, budget=100)
    with engine_of(backend) as engine:
        running = engine.submit(request("a"))
        gate.until_a_pass_runs()
        queued, stays = engine.submit(request("b", 20)), engine.submit(request("c"))
        assert queued.cancel()
        with pytest.raises(TimeoutError):
            engine.answer(request("d"), 0.01)
        gate.open.set()
        running.result(WAIT_S)
        stays.result(WAIT_S)
        with pytest.raises(CancelledError):
            queued.result(0)
        until(lambda: engine.stats().cancelled == 2)
        assert engine.stats().requests == 4


def test_giving_up_during_a_pass_ends_the_wait_and_not_the_pass() -> None:
    gate = Gate()
    backend = Hashed(trouble=gate)
    with engine_of(backend) as engine:
        future = engine.submit(request("a"))
        gate.until_a_pass_runs()
        assert future.cancel()
        gate.open.set()
        assert engine.answer(request("b"), WAIT_S).answers
        assert engine.answer(request("a"), WAIT_S).usage.state_cache_hit > 0


def failing(error: type[Exception], *numbers: int) -> Callable[[int], None]:
    def trouble(number: int) -> None:
        if number in numbers:
            raise error("planted")

    return trouble


@pytest.mark.parametrize("joins", [True, False])
@pytest.mark.parametrize("error", [OutOfMemory, PassFailed, ZeroDivisionError])
def test_one_failed_pass_is_tried_again_in_parts(error: type[Exception], joins: bool) -> None:
    wanted = answers(hashed.engine(2, "entropy", Hashed()).answer(request("s", 6), WAIT_S))
    backend = Hashed(not joins, trouble=failing(error, 1 if joins else 2), budget=10_000)
    with engine_of(backend) as engine:
        assert answers(engine.answer(request("s", 6), WAIT_S)) == wanted
        assert engine.stats().failed == 0


@pytest.mark.parametrize(
    ("error", "known"), [(OutOfMemory, Overloaded), (PassFailed, EngineFailed), (ZeroDivisionError, EngineFailed)]
)
@pytest.mark.parametrize("state", ["s", "a new one"])
def test_what_cannot_be_computed_costs_its_own_job_alone(
    state: str, error: type[Exception], known: type[Exception]
) -> None:
    class Picky(Hashed):
        def read(self, rows):  # type: ignore[no-untyped-def]
            self._taste([row.branch for row in rows])
            return super().read(rows)

        def begin(self, parent, prefix, start, stop, branches):  # type: ignore[no-untyped-def]
            self._taste(branches)
            return super().begin(parent, prefix, start, stop, branches)

        def _taste(self, branches):  # type: ignore[no-untyped-def]
            if any(b"poison" in bytes(token for token in branch.tokens if token < 256) for branch in branches):
                self._pass(len(branches))
                raise error("planted")

    gate = Gate()
    backend = Picky(trouble=gate, budget=10_000)
    with engine_of(backend) as engine:
        first = engine.submit(request("s"))
        gate.until_a_pass_runs()
        bad = engine.submit(Request(state, (("q", Noul("poison")), ("r", Noul("fine")))))
        good = [engine.submit(request("s", number)) for number in range(1, 5)]
        gate.open.set()
        with pytest.raises(known):
            bad.result(WAIT_S)
        for future in (first, *good):
            assert future.result(WAIT_S).answers
        assert engine.stats().failed == 1


def test_a_state_too_large_for_the_device_is_refused_when_nothing_else_is_kept() -> None:
    class Small(Hashed):
        def encode(self, parent, prefix, start, stop):  # type: ignore[no-untyped-def]
            if b"large" in bytes(token for token in prefix.tokens if token < 256):
                raise OutOfMemory
            return super().encode(parent, prefix, start, stop)

        def begin(self, parent, prefix, start, stop, branches):  # type: ignore[no-untyped-def]
            self.encode(parent, prefix, start, stop)
            return super().begin(parent, prefix, start, stop, branches)

    with engine_of(Small()) as engine:
        engine.answer(request("small"), WAIT_S)
        with pytest.raises(Overloaded):
            engine.answer(request("large"), WAIT_S)
        assert engine.answer(request("small"), WAIT_S).answers


@pytest.mark.parametrize("method", ["size", "split"])
def test_a_bug_in_the_bookkeeping_costs_one_job(method: str) -> None:
    backend = Hashed()
    with engine_of(backend) as engine:
        engine.answer(request("common beginning, one"), WAIT_S)

        def broken(*_: object) -> None:
            raise ZeroDivisionError

        setattr(backend, method, broken)
        with pytest.raises(EngineFailed, match="bug in the engine: ZeroDivisionError"):
            engine.answer(request("common beginning, two"), WAIT_S)
        delattr(backend, method)
        assert engine.answer(request("common beginning, two"), WAIT_S).answers
        assert engine.stats().failed == 1


def test_a_bug_in_the_backend_fails_its_jobs_and_the_thread_goes_on() -> None:
    with engine_of(Hashed(trouble=failing(ZeroDivisionError, 1, 2, 3, 5, 6))) as engine:
        with pytest.raises(EngineFailed, match="bug in the engine: ZeroDivisionError"):
            engine.answer(request("a"), WAIT_S)
        with pytest.raises(EngineFailed):
            engine.answer(request("a"), WAIT_S)
        assert engine.answer(request("a"), WAIT_S).answers


def test_too_many_are_told_when_to_come_again() -> None:
    gate = Gate()
    with engine_of(Hashed(trouble=gate)) as engine:
        futures = [engine.submit(request(f"state {number}")) for number in range(256)]
        with pytest.raises(Busy) as refused:
            engine.submit(request("one more"))
        assert 50 <= refused.value.retry_after_ms <= 30_000
        assert engine.stats().refused == 1
        for future in futures[1:]:
            future.cancel()
        gate.open.set()
        futures[0].result(WAIT_S)


def test_closing_fails_what_waits_and_lets_the_pass_end() -> None:
    gate = Gate()
    engine = hashed.engine(2, "entropy", Hashed(trouble=gate))
    waiting = [engine.submit(request(f"state {number}")) for number in range(4)]
    gate.until_a_pass_runs()
    closing = threading.Thread(target=engine.close)
    closing.start()
    gate.open.set()
    closing.join(WAIT_S)
    assert not closing.is_alive()
    assert waiting[0].result(WAIT_S).answers  # its one pass came to its end
    for future in waiting[1:]:
        with pytest.raises(EngineFailed, match="closing"):
            future.result(WAIT_S)
    with pytest.raises(EngineFailed, match="closing"):
        engine.submit(request("late"))


def test_kept_states_stay_within_their_budget() -> None:
    budget = 3000 * Hashed.BYTES
    with engine_of(Hashed(), budget=budget) as engine:
        for number in range(50):
            engine.answer(request(f"{number} " + "x" * 400), WAIT_S)
            assert engine.stats().state_bytes <= budget
        assert engine.stats().states > 1


def test_usage_and_settings_of_a_request_are_honoured() -> None:
    with engine_of(Hashed()) as engine:
        cold = engine.answer(request("state", 2))
        kept = engine.answer(request("state", 2))
        once = engine.answer(request("state", 2, permutations=1))
        assert cold.usage.state_cache_hit == 0
        assert kept.usage == msgspec.structs.replace(cold.usage, state_cache_hit=cold.usage.state_tokens)
        assert once.usage.question_tokens * 2 == cold.usage.question_tokens
        told = engine.answer(request("state", 1, disagreement=True)).answers[0][1]
        assert told.disagreement is not None
        assert cold.seconds > 0


def test_many_clients_get_their_own_answers() -> None:
    asked = [request(f"state {number % 6} of some length", 1 + number % 3) for number in range(120)]
    wanted = [answers(hashed.engine(2, "entropy", Hashed()).answer(one)) for one in asked[:18]]
    with engine_of(Hashed(budget=200), budget=2000 * Hashed.BYTES) as engine:
        got: dict[int, object] = {}

        def client(first: int) -> None:
            for number in range(first, len(asked), 8):
                got[number] = answers(engine.answer(asked[number], WAIT_S))

        threads = [threading.Thread(target=client, args=(first,)) for first in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(WAIT_S)
        assert len(got) == len(asked)
        assert all(got[number] == wanted[number % 18] for number in got)


def test_a_future_is_a_plain_future() -> None:
    with engine_of(Hashed()) as engine:
        assert isinstance(engine.submit(request()), Future)
