"""The judges by themselves: the fixed one, and a remote one against real servers, good and bad."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from reflexd.core import gates, questions
from reflexd.engine import hashed
from reflexd.errors import ReflexError
from reflexd.judge.engine import EngineJudge
from reflexd.judge.fixed import Fixed, FixedJudge
from reflexd.judge.remote import RemoteJudge
from reflexd.judge.values import Judge
from reflexd.types import NoAnswer, Request, Response
from tests.engine.http.serving import KEY, served

ASKED = questions.shipped().fitting({"prompt": "tidy up", "intent": "", "envelope": "only docs"})
REQUEST = Request("## The call\ngit push", ASKED)


def ask(judge: Judge, deadline_s: float = 20.0) -> Response | NoAnswer:
    return asyncio.run(judge.ask(REQUEST, deadline_s))


def answered(judge: Judge) -> Response:
    said = ask(judge)
    assert isinstance(said, Response), said
    return said


def why(judge: Judge, deadline_s: float = 20.0) -> str:
    said = ask(judge, deadline_s)
    assert isinstance(said, NoAnswer), said
    return said.why


@contextmanager
def answering(reply: bytes, then_hang: bool = False) -> Iterator[str]:
    """A server that says `reply` to whatever it is asked."""
    listener = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        while True:
            try:
                sock, _ = listener.accept()
            except OSError:
                return
            with sock:
                sock.recv(1 << 16)
                sock.sendall(reply)
                if then_hang:
                    over.wait()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join()


def body(text: str, status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\ncontent-length: {len(text)}\r\nconnection: close\r\n\r\n{text}".encode()


def test_a_fixed_judge_says_what_it_was_told_and_is_harmless_otherwise() -> None:
    said = answered(
        FixedJudge(Fixed({"mutates": 0.7, "blast": 2.5, "environment": {"nonprod": 0.4, "production": 0.6}}))
    )
    assert gates.unanswered(ASKED, said.answers) == ""
    reading = gates.read(said.answers)
    assert reading.values == {
        "mutates": 0.7, "blast": 2.5, "exfil": 0.0, "reviewer": 0.0, "on_task": 1.0, "in_envelope": 1.0
    }  # fmt: skip
    assert reading.options["environment"]["production"] == 0.6


def test_a_fixed_judge_can_be_late_or_silent() -> None:
    assert why(FixedJudge(Fixed(wait_s=5)), 0.01) == "timeout"
    assert why(FixedJudge(Fixed(none="unavailable"))) == "unavailable"


def test_a_remote_judge_says_what_the_engine_itself_says(short_home: str) -> None:
    with hashed.engine() as engine:
        there = answered(RemoteJudgeOf(engine))
    with served(short_home, engine=hashed.engine()) as server:
        judge = RemoteJudge(f"http://127.0.0.1:{server.port}", KEY, "jev-latest")
        said = answered(judge)
        assert f"127.0.0.1:{server.port}" in judge.says()
        assert KEY not in judge.says()
        assert why(RemoteJudge(f"http://127.0.0.1:{server.port}", "wrong", "jev-latest")) == "refused"
    assert gates.unanswered(ASKED, said.answers) == ""
    ours, theirs = gates.read(there.answers), gates.read(said.answers)
    assert theirs.values == pytest.approx(ours.values, abs=2e-6)
    assert theirs.options["environment"] == pytest.approx(ours.options["environment"], abs=2e-6)


def RemoteJudgeOf(engine: object) -> Judge:
    async def asked(request: Request, deadline_s: float) -> Response | NoAnswer:
        return await asyncio.to_thread(engine.answer, request)  # type: ignore[attr-defined]

    return EngineJudge(asked)


GOOD = {"type": "noul", "noul": 0.5}


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        (b"", "unavailable"),
        (b"nonsense\r\n\r\n", "unavailable"),
        (body("{}"), "refused"),
        (body("{"), "refused"),
        (body('{"model": "m", "answers": {"mutates": {"type": "moon"}}, "usage": {}}'), "refused"),
        (body('{"model": "m", "answers": {"mutates": {"type": "noul", "noul": "1"}}, "usage": {}}'), "refused"),
        (body("no", "500 Internal Server Error"), "refused"),
        (body("", "302 Found"), "refused"),
        (body("[" * 100_000), "refused"),
    ],
)
def test_whatever_a_remote_server_says_is_a_value(reply: bytes, wanted: str) -> None:
    with answering(reply) as url:
        assert why(RemoteJudge(url, "", "m")) == wanted


@pytest.mark.parametrize(
    "answers", [{}, {"mutates": GOOD}, {name: GOOD for name, _ in ASKED}], ids=["none", "one", "all of one kind"]
)
def test_answers_that_are_not_what_was_asked_are_told(answers: dict[str, object]) -> None:
    with answering(body(json.dumps({"model": "m", "answers": answers, "usage": {}}))) as url:
        assert gates.unanswered(ASKED, answered(RemoteJudge(url, "", "m")).answers) != ""


def test_a_remote_server_that_hangs_costs_the_deadline() -> None:
    with answering(b"HTTP/1.1 200 OK\r\n", then_hang=True) as url:
        began = time.monotonic()
        assert why(RemoteJudge(url, "", "m"), 0.2) in ("timeout", "unavailable")
        assert time.monotonic() - began < 10


def test_nobody_there_is_unavailable() -> None:
    assert why(RemoteJudge("http://127.0.0.1:9", "", "m")) == "unavailable"


@pytest.mark.parametrize("url", ["", "ftp://x", "http://example.com", "http://127.0.0.1.example.com/"])
def test_a_url_that_would_not_do_is_refused(url: str) -> None:
    with pytest.raises(ReflexError):
        RemoteJudge(url, "k", "m")
