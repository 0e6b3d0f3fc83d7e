"""A judge that always says the same: for tests, and for trying a policy without a model.

What it says is data: a noul's P(yes), a score's level, a choice's option (or options with probabilities); a question
that it does not name is answered as harmlessly as can be. `wait_s` makes it slow, `none` makes it say nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from reflexd.core import questions
from reflexd.types import (
    Answer,
    Choice,
    ChoiceAnswer,
    NoAnswer,
    Noul,
    NoulAnswer,
    Question,
    Request,
    Response,
    Score,
    ScoreAnswer,
    Usage,
)

Given = float | str | dict[str, float]


class Fixed(Struct, frozen=True, forbid_unknown_fields=True):
    answers: dict[str, Given] = {}
    confidence: float = 1.0
    wait_s: float = 0.0
    none: Literal["", "timeout", "unavailable", "busy", "refused", "error"] = ""


class FixedJudge:
    name = "fixed"

    def __init__(self, said: Fixed) -> None:
        self._said = said

    async def ask(self, request: Request, deadline_s: float) -> Response | NoAnswer:
        said = self._said
        await asyncio.sleep(min(said.wait_s, deadline_s))
        if said.wait_s > deadline_s:
            return NoAnswer("timeout", f"no answer within {deadline_s:g} s")
        if said.none:
            return NoAnswer(said.none, "the fixed judge is set to say so")
        return Response(answers(request.questions, said.answers, said.confidence), Usage(0, 0, 0), said.wait_s)

    def says(self) -> str:
        return "the judge is a fixed one: it says the same of every call"


def answers(
    asked: tuple[tuple[str, Question], ...], given: Mapping[str, Given], confidence: float = 1.0
) -> tuple[tuple[str, Answer], ...]:
    return tuple((name, _answer(name, question, given.get(name), confidence)) for name, question in asked)


def _answer(name: str, question: Question, given: Given | None, confidence: float) -> Answer:
    match question:
        case Noul():
            benign = 1.0 if name in questions.shipped() and questions.shipped()[name].risk == "low" else 0.0
            return NoulAnswer(float(given) if isinstance(given, int | float) else benign)
        case Choice(options):
            keys = [key for key, _ in options]
            shares = given if isinstance(given, dict) else {str(given or keys[0]): 1.0}
            best = max(keys, key=lambda key: shares.get(key, 0.0))
            return ChoiceAnswer(best, tuple((key, shares.get(key, 0.0)) for key in keys), confidence, confidence)
        case Score():
            level = float(given) if isinstance(given, int | float) else 0.0
            below = min(int(level), len(question.levels) - 1)
            shares_ = [0.0] * len(question.levels)
            shares_[below] = 1 - (level - below)
            if below + 1 < len(shares_):
                shares_[below + 1] = level - below
            legend = tuple(text or "" for text in question.levels)
            return ScoreAnswer(level, tuple(shares_), legend, confidence, confidence)
