"""The official SDK against our face: answers, 255 options, its error classes."""

from __future__ import annotations

import base64
import io
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import PIL.Image
import pytest
import typesafe_sdk
from typesafe_sdk import Choice, ChoiceAnswer, Image, Noul, NoulAnswer, Score, ScoreAnswer, TypeSafeClient

from reflexd import types
from reflexd.engine.engine import Engine
from reflexd.engine.http import bodies
from reflexd.engine.values import OutOfMemory
from reflexd.types import Request
from tests.engine import models
from tests.engine.http.serving import KEY, Served, served


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(str(tmp_path_factory.mktemp("sdk"))) as one:
        yield one


def client(server: Served, key: str = KEY) -> TypeSafeClient:
    return TypeSafeClient(api_key=key, base_url=f"http://127.0.0.1:{server.port}")


def test_every_kind_of_question_and_255_options(server: Served) -> None:
    options = {f"option {number}": None for number in range(255)}
    with client(server) as sdk:
        found = sdk.system_one(
            state="a state",
            questions={
                "noul": Noul(instructions="Is it so?"),
                "choice": Choice(instructions="Which?", criteria=options),
                "score": Score(instructions="How much?", criteria=["none", "some", "much"]),
            },
        )
        noul, choice, score = (found.answers[name] for name in ("noul", "choice", "score"))
        assert isinstance(noul, NoulAnswer)
        assert isinstance(choice, ChoiceAnswer)
        assert isinstance(score, ScoreAnswer)
        assert choice.choice in options
        assert len(choice.probabilities) == 255
        assert 0 <= noul.noul <= 1
        assert 0 <= score.score <= 2
        assert "jev-latest" in [model.name for model in sdk.models.list().models]


def test_its_error_classes(server: Served) -> None:
    with client(server, "another-key") as sdk, pytest.raises(typesafe_sdk.TypeSafeAPIError) as refused:
        sdk.system_one(state="a", questions={"q": Noul(instructions="?")})
    assert refused.value.status == 401
    assert refused.value.request_id is not None


def test_large_bodies_go_compressed(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    unpacked = bodies.unpacked
    monkeypatch.setattr(bodies, "unpacked", lambda data, how, cap: seen.append(how) or unpacked(data, how, cap))
    with client(server) as sdk:
        found = sdk.system_one(state="a state " * 1000, questions={"q": Noul(instructions="Is it so?")})
        assert isinstance(found.answers["q"], NoulAnswer)
    assert seen == ["zstd"]


def picture(colour: str) -> bytes:
    data = io.BytesIO()
    PIL.Image.new("RGB", (48, 32), colour).save(data, "PNG")
    return data.getvalue()


def test_images_are_seen_by_a_model_that_can(tmp_path: Path) -> None:
    engine = Engine.open(str(models.tiny("qwen3_vl")), device="cpu", precision="float32")
    with served(str(tmp_path), engine=engine) as server, client(server) as sdk:
        asked = {"q": Noul(instructions="Is it red?")}
        answers = []
        for colour in ("red", "blue", "red"):
            found = sdk.system_one(state={"photo": Image(picture(colour)), "note": "x"}, questions=asked)
            answer = found.answers["q"]
            assert isinstance(answer, NoulAnswer)
            answers.append(answer.noul)
        assert answers[0] == answers[2] != answers[1]
        url = "data:image/png;base64," + base64.b64encode(picture("red")).decode()
        plain = sdk.system_one(state={"photo": {"type": "image", "source": url}, "note": "x"}, questions=asked)
        answer = plain.answers["q"]
        assert isinstance(answer, NoulAnswer)
        assert answer.noul == pytest.approx(answers[0], abs=1e-6)
        with pytest.raises(typesafe_sdk.TypeSafeAPIError) as refused:
            sdk.system_one(state={"photo": {"type": "image", "source": "/etc/hostname"}}, questions=asked)
        assert refused.value.status == 422


def test_images_are_refused_by_a_model_that_cannot_see(server: Served) -> None:
    with client(server) as sdk, pytest.raises(typesafe_sdk.TypeSafeAPIError, match="sees no images") as refused:
        sdk.system_one(state={"photo": Image(picture("red"))}, questions={"q": Noul(instructions="?")})
    assert refused.value.status == 422


def test_decisions_are_served_beside(server: Served) -> None:
    asked = {"model": "m", "input": "text", "questions": [{"type": "predicate", "instructions": "?"}, {"type": "box"}]}
    reply = server.ask(json.dumps(asked).encode(), path="/v1/decisions")
    assert reply.status == 200
    assert [one["type"] for one in reply.json["answers"]] == ["predicate", "refusal"]


def test_an_engine_without_room_says_so(tmp_path: Path) -> None:
    def trouble(number: int) -> None:
        raise OutOfMemory

    with served(str(tmp_path), trouble=trouble) as server:
        assert server.ask().status == 529


def test_a_full_queue_says_when_to_come_again(tmp_path: Path) -> None:
    hold = threading.Event()
    with served(str(tmp_path), trouble=lambda number: hold.wait(30) and None) as server:  # type: ignore[func-returns-value]
        waiting = [server.engine.submit(Request(f"state {n}", (("q", types.Noul("x")),))) for n in range(256)]
        try:
            reply = server.ask()
        finally:
            for future in waiting:
                future.cancel()
            hold.set()
        assert reply.status == 429
        assert int(reply.headers["retry-after-ms"]) >= 50
        assert int(reply.headers["retry-after"]) >= 1
