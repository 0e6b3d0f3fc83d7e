"""Answers as the bodies of `/v1/systemone` replies."""

from __future__ import annotations

from typing import Any

import msgspec

from reflexd.types import Answer, ChoiceAnswer, Confidence, NoulAnswer, Response, ScoreAnswer, Usage

OTHER: dict[Confidence, Confidence] = {"entropy": "margin", "margin": "entropy"}


def encode(response: Response, model: str, confidence: Confidence, asked: object = None) -> bytes:
    """`model` is the name that was served. Probabilities in full; `confidence` says which of the two is called so."""
    answers = {name: answer_of(answer, confidence) for name, answer in response.answers}
    return msgspec.json.encode({"model": model, "answers": answers, "usage": usage_of(response.usage)})


def answer_of(answer: Answer, confidence: Confidence) -> dict[str, Any]:
    match answer:
        case NoulAnswer(noul):
            body: dict[str, Any] = {"type": "noul", "noul": noul}
        case ChoiceAnswer(choice, probabilities):
            body = {"type": "choice", "choice": choice, "probabilities": dict(probabilities)}
            body |= _confidences(answer, confidence)
        case ScoreAnswer(score, probabilities, legend):
            body = {
                "type": "score",
                "score": score,
                "legend": {str(i): level for i, level in enumerate(legend)},
                "probabilities": {str(i): p for i, p in enumerate(probabilities)},
            }
            body |= _confidences(answer, confidence)
    if answer.disagreement is not None:
        body["x_disagreement"] = answer.disagreement
    return body


def _confidences(answer: ChoiceAnswer | ScoreAnswer, confidence: Confidence) -> dict[str, float]:
    both: dict[Confidence, float] = {"entropy": answer.entropy, "margin": answer.margin}
    other = OTHER[confidence]
    return {"confidence": both[confidence], f"x_confidence_{other}": both[other]}


def usage_of(usage: Usage) -> dict[str, int]:
    """The names are the contract's and the seed's, unprefixed."""
    return {
        "input_tokens": usage.input_tokens,
        "output_tokens": 0,
        "state_tokens": usage.state_tokens,
        "question_tokens": usage.question_tokens,
        "state_cache_hit": usage.state_cache_hit,
        "images": usage.images,
    }
