"""The official SDK against our face: answers, 255 options, its error classes."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import typesafe_sdk
from typesafe_sdk import Choice, ChoiceAnswer, Noul, NoulAnswer, Score, ScoreAnswer, TypeSafeClient

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
