"""System One: a state, typed questions about it, and probabilities over the caller's own answers.

These are values, not the wire: `engine.schema` reads and writes the bodies of `/v1/systemone`,
`engine.decisions` those of `/v1/decisions`, and the daemon speaks of them to its engine in msgpack.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

__all__ = [
    "Answer",
    "Choice",
    "ChoiceAnswer",
    "Confidence",
    "Content",
    "Device",
    "EngineInfo",
    "EngineStats",
    "Image",
    "NoAnswer",
    "Noul",
    "NoulAnswer",
    "Precision",
    "Question",
    "Request",
    "Response",
    "Score",
    "ScoreAnswer",
    "Strategy",
    "Usage",
]

Content = str | dict[str, Any] | list[Any]
"""The caller's own JSON: a string stands for itself, anything else is shown to the model as JSON."""

Confidence = Literal["entropy", "margin"]
Device = Literal["cuda", "mps", "cpu"]
Precision = Literal["float32", "bfloat16", "float16"]
Strategy = Literal["packed", "batched"]


class Noul(Struct, frozen=True, tag="noul"):
    """Is it so? `yes` and `no` say what each side means; either may be None."""

    instructions: Content | None = None
    yes: Content | None = None
    no: Content | None = None


class Choice(Struct, frozen=True, tag="choice"):
    """Which one? Two options or more, in the caller's order: (key, what it means or None)."""

    options: tuple[tuple[str, Content | None], ...]
    instructions: Content | None = None


class Score(Struct, frozen=True, tag="score"):
    """How much? Two to ten levels, low to high."""

    levels: tuple[Content | None, ...]
    instructions: Content | None = None


Question = Noul | Choice | Score


class Image(Struct, frozen=True):
    """An image's encoded bytes (PNG, JPEG, WebP), fetched and capped already, and its size in pixels.

    The digest (of the bytes) names it in every key.
    """

    data: bytes
    digest: str
    width: int
    height: int


class Request(Struct, frozen=True):
    """One request, checked.

    An image stands in the state as a marker, a string or part of one; `images` holds (marker, image) and no
    marker occurs in text that the caller wrote. `permutations` None: as the engine is set.
    """

    state: Content
    questions: tuple[tuple[str, Question], ...]
    images: tuple[tuple[str, Image], ...] = ()
    permutations: int | None = None
    disagreement: bool = False


class NoulAnswer(Struct, frozen=True, tag="noul"):
    """P(yes). Like every probability here in full precision."""

    noul: float
    disagreement: float | None = None


class ChoiceAnswer(Struct, frozen=True, tag="choice"):
    """`probabilities` in the caller's order, summing to 1 within 1e-9; `choice` is its largest, the first of equals.

    Both confidences are in 0..1; which one a reply calls `confidence` is the engine's setting.
    """

    choice: str
    probabilities: tuple[tuple[str, float], ...]
    entropy: float
    margin: float
    disagreement: float | None = None


class ScoreAnswer(Struct, frozen=True, tag="score"):
    """`score` is the expected level, counted from 0; `legend` the levels' texts as the caller gave them."""

    score: float
    probabilities: tuple[float, ...]
    legend: tuple[Content, ...]
    entropy: float
    margin: float
    disagreement: float | None = None


Answer = NoulAnswer | ChoiceAnswer | ScoreAnswer


class Usage(Struct, frozen=True):
    """Tokens. `question_tokens` counts every branch of every order; a state from the cache still counts.

    `state_cache_hit` is how many of the state's tokens were kept already: 0 is a cold request.
    """

    state_tokens: int
    question_tokens: int
    state_cache_hit: int
    images: int = 0

    @property
    def input_tokens(self) -> int:
        return self.state_tokens + self.question_tokens


class Response(Struct, frozen=True):
    """Answers in the order of the request's questions. `seconds` is from submission to the answer."""

    answers: tuple[tuple[str, Answer], ...]
    usage: Usage
    seconds: float


class NoAnswer(Struct, frozen=True):
    """There is none, and why, in a word that policy can rule on; `detail` is for a person."""

    why: Literal["timeout", "unavailable", "busy", "refused", "error"]
    detail: str = ""


class EngineInfo(Struct, frozen=True):
    """What is served: said once when ready, and what a calibration is bound to."""

    model: str
    revision: str
    family: str
    device: Device
    precision: Precision
    strategy: Strategy
    prompt: str
    orders: int
    confidence: Confidence
    vision: bool
    context: int
    kernels: str
    temperatures: tuple[tuple[str, float], ...] = ()
    calibrated: bool = False


class EngineStats(Struct, frozen=True):
    """Counters since start and figures of now; bytes and seconds."""

    requests: int = 0
    refused: int = 0
    failed: int = 0
    cancelled: int = 0
    waiting: int = 0
    passes: int = 0
    branches: int = 0
    tokens: int = 0
    shared_passes: int = 0
    out_of_memory: int = 0
    states: int = 0
    state_bytes: int = 0
    state_budget: int = 0
    pass_tokens: int = 0
    resident_bytes: int = 0
    device_bytes: int = 0
    busy_seconds: float = 0.0
