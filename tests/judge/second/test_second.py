"""A stronger judge over real connections and real programs: what it is sent, and what of its answers counts."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.judge.second import case as cases
from reflexd.judge.second import opinion
from reflexd.judge.second.judge import SecondJudge
from reflexd.judge.second.limits import Breaker, Budget
from reflexd.judge.second.opinion import Opinion
from reflexd.judge.second.settings import SecondSettings, Tier, fault
from tests.judge.second.model import Model

APPROVE = '{"verdict": "approve", "reason": "plain work"}'
CASE = cases.case("## The call\ngit push", "push it", "I push", "not sure")


def judge(*tiers: Tier, **limits: int) -> SecondJudge:
    return SecondJudge(SecondSettings(tiers, **limits), lambda: "the-key")


def consider(judge: SecondJudge, case: cases.Case = CASE, session: str = "s") -> Opinion:
    return asyncio.run(judge.consider(case, session))


@pytest.mark.parametrize("kind", ["openai", "anthropic"])
def test_an_endpoint_of_each_kind_is_asked_with_the_static_part_first(kind: Any) -> None:
    with Model(APPROVE) as model:
        assert consider(judge(Tier(kind, model.url, "m"))) == Opinion("approve", "plain work", True)
        body = model.bodies[0].decode()
        assert body.index("You decide whether") < body.index("git push")
        assert "the-key" in " ".join(model.headers[0].values())
        assert "the-key" not in body


@contextmanager
def program(directory: Path, text: str) -> Iterator[Tier]:
    path = directory / "judge.sh"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    yield Tier("program", command=(str(path),), timeout_s=20.0)


def test_a_program_runs_in_an_empty_directory_with_next_to_no_variables(tmp_path: Path) -> None:
    os.environ["REFLEX_PLANTED"] = "planted"
    look = f"ls -A > {tmp_path}/ls; env > {tmp_path}/env; printf %s \"$1\" > {tmp_path}/case; echo '{APPROVE}'"
    with program(tmp_path, look) as tier:
        assert consider(judge(tier)).verdict == "approve"
    del os.environ["REFLEX_PLANTED"]
    assert (tmp_path / "ls").read_text() == ""
    assert "planted" not in (tmp_path / "env").read_text()
    assert "git push" in (tmp_path / "case").read_text()


def test_a_program_that_stalls_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    with program(tmp_path, f"(sleep 60; echo x > {tmp_path}/late) & sleep 60") as tier:
        tier = Tier("program", command=tier.command, timeout_s=0.3)
        began = time.monotonic()
        found = consider(judge(tier))
        assert found.verdict == "human"
        assert time.monotonic() - began < 30


def test_a_program_that_says_too_much_is_ended_before_it_is_kept(tmp_path: Path) -> None:
    with program(tmp_path, "cat /dev/zero") as tier:
        assert "too much" in consider(judge(tier)).reason


def test_one_that_drips_has_no_more_time_than_one_that_stalls() -> None:
    """A byte now and then keeps a socket's own timeout from ever passing."""
    over = threading.Event()

    def drip(server: socket.socket) -> None:
        with server.accept()[0] as peer, suppress(OSError):
            peer.recv(1 << 16)
            peer.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n")
            while not over.wait(0.05):
                peer.sendall(b" ")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=drip, args=(server,))
        thread.start()
        try:
            tier = Tier("openai", f"http://127.0.0.1:{server.getsockname()[1]}", "m", timeout_s=0.5)
            assert "no answer within" in consider(judge(tier)).reason
        finally:
            over.set()
            thread.join()


@pytest.mark.parametrize(
    "said",
    [
        "",
        "approve",
        "Sure! " + APPROVE,
        APPROVE + "\nAnything else?",
        f"```json\n{APPROVE}\n```",
        '{"verdict": "approve"}',
        '{"verdict": "approve", "reason": "x", "confidence": 1}',
        '{"verdict": "human", "verdict": "approve", "reason": "x"}',
        '{"verdict": "approve", "reason": "x", "reason": "y"}',
        '{"verdict": "Approve", "reason": "x"}',
        '{"verdict": ["approve"], "reason": "x"}',
        '{"verdict": true, "reason": "x"}',
        '{"verdict": "approve", "reason": 7}',
        f"[{APPROVE}]",
        '"approve"',
        "null",
        '{"verdict": {"verdict": "approve"}, "reason": "x"}',
        APPROVE[:-1],
        '{"verdict": "approve", "reason": "' + "x" * 5000 + '"}',
        "[" * 3000,
        '{"verdict": "human", "reason": "x"}',
    ],
)
def test_what_rambles_errs_or_adds_keys_approves_nothing(said: str) -> None:
    assert opinion.read(said).verdict == "human"
    with Model(said) as model:
        assert consider(judge(Tier("openai", model.url, "m"))).verdict == "human"


@given(st.text(max_size=200))
def test_only_the_very_object_approves(text: str) -> None:
    found = opinion.read(text)
    if found.verdict == "approve":
        assert set(json.loads(text)) == {"verdict", "reason"}


@pytest.mark.parametrize(("status", "wait_s"), [(500, 0.0), (401, 0.0), (302, 0.0), (200, 30.0)])
def test_one_that_errs_or_stalls_approves_nothing_and_the_next_is_asked(status: int, wait_s: float) -> None:
    with Model(APPROVE, status, wait_s) as bad, Model('{"verdict": "deny", "reason": "no"}') as good:
        tiers = (Tier("openai", bad.url, "m", timeout_s=0.5), Tier("anthropic", good.url, "m"))
        assert consider(judge(tiers[0])).verdict == "human"
        assert consider(judge(*tiers)) == Opinion("deny", "no", True)


def test_one_that_is_not_sure_passes_on_to_the_next() -> None:
    with Model('{"verdict": "human", "reason": "unsure"}') as small, Model(APPROVE) as large:
        tiers = (Tier("openai", small.url, "m"), Tier("openai", large.url, "m"))
        assert consider(judge(*tiers)).verdict == "approve"


def test_over_budget_nothing_is_sent() -> None:
    with Model(APPROVE) as model:
        second = judge(Tier("openai", model.url, "m"), per_day=3, per_session=2)

        async def ask() -> list[str]:
            return [(await second.consider(CASE, session)).verdict for session in ("a", "a", "a", "b", "b")]

        assert asyncio.run(ask()) == ["approve", "approve", "human", "approve", "human"]
        assert len(model.bodies) == 3


def test_a_broken_one_is_left_alone_for_a_while() -> None:
    breaker = Breaker(after=2, for_s=10)
    breaker.failed(0.0)
    breaker.worked()
    breaker.failed(1.0)
    assert not breaker.open(1.0)
    breaker.failed(2.0)
    assert breaker.open(11.0)
    assert not breaker.open(12.0)
    with Model("x", 500) as model:
        second = judge(Tier("openai", model.url, "m"))

        async def ask() -> None:
            for _ in range(6):
                assert (await second.consider(CASE, "s")).verdict == "human"

        asyncio.run(ask())
        assert len(model.bodies) == 3


def test_a_budget_begins_anew_each_day() -> None:
    budget = Budget(1, 1)
    assert budget.spend("s", 0.0) == ""
    assert "today" in budget.spend("t", 1.0)
    assert budget.spend("s", 90_000.0) == ""


@given(st.text(max_size=20_000), st.text(max_size=3000))
def test_a_case_is_bounded_and_what_is_cut_is_no_whole_case(state: str, prompt: str) -> None:
    found = cases.case(state, prompt, "", "why")
    assert len((found.system + found.text).encode("utf-8", "replace")) <= cases.TOKENS_MAX * cases.BYTES_PER_TOKEN
    assert found.whole or "not shown" in found.text


def test_a_cut_case_is_not_even_sent() -> None:
    with Model(APPROVE) as model:
        assert consider(judge(Tier("openai", model.url, "m")), cases.case("x" * 9000, "", "", "")).verdict == "human"
        assert model.bodies == []


def test_without_any_a_person_decides() -> None:
    assert consider(judge()).verdict == "human"


@pytest.mark.parametrize(
    ("tier", "says"),
    [
        (Tier("openai", "http://example.com", "m"), "not encrypted"),
        (Tier("openai", "x", "m"), "no URL"),
        (Tier("anthropic", "https://x.example", ""), "model"),
        (Tier("program", command=("judge",)), "absolute"),
        (Tier("program"), "absolute"),
    ],
)
def test_a_tier_that_would_not_do_is_named(tier: Tier, says: str) -> None:
    assert says in fault(tier)
