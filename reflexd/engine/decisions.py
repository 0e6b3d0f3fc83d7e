"""The bodies of `POST /v1/decisions` (OpenAI's shape), answered by the same engine.

`{model, input: text or messages, questions: [{type: predicate|choice|score, name?, instructions, choices?, levels?}]}`
becomes a state and questions; answers come back in a list, in order. A question that is wrong is refused in its
own place, and the others are answered.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from reflexd.engine import replies, schema
from reflexd.engine.errors import Fault, Invalid
from reflexd.engine.marks import Loc, Source
from reflexd.types import Confidence, Content, Image, Question, Request, Response

QUESTIONS_MAX = 2000
KINDS = {"predicate": "noul", "choice": "choice", "score": "score"}


class Refusal(Struct, frozen=True):
    message: str


class Draft(Struct, frozen=True):
    """`asked`: each question's name in the reply, and the question or why it is refused."""

    state: Content
    asked: tuple[tuple[str | None, Question | Refusal], ...]
    sources: tuple[Source, ...] = ()

    def request(self, images: tuple[Image, ...] = ()) -> Request:
        fine = ((str(number), one) for number, (_, one) in enumerate(self.asked) if not isinstance(one, Refusal))
        return Request(self.state, tuple(fine))


def parse(body: bytes) -> Draft:
    """Raises Invalid where nothing can be answered."""
    given = schema.decode(body)
    faults: list[Fault] = []
    if not isinstance(given.get("model"), str):
        faults.append(Fault(("body", "model"), "model has to be a string", "type"))
    state = _state(given.get("input"), faults)
    questions = given.get("questions")
    if not isinstance(questions, list) or not 1 <= len(questions) <= QUESTIONS_MAX:
        text = f"questions has to be an array of 1 to {QUESTIONS_MAX} questions"
        faults.append(Fault(("body", "questions"), text, "type"))
        questions = []
    if faults:
        raise Invalid(tuple(faults))
    asked = tuple(_question(one, ("body", "questions", number)) for number, one in enumerate(questions))
    if all(isinstance(one, Refusal) for _, one in asked):
        told = ((number, one) for number, (_, one) in enumerate(asked) if isinstance(one, Refusal))
        raise Invalid(tuple(Fault(("body", "questions", number), one.message, "invalid") for number, one in told))
    return Draft(state, asked)


def _state(given: Any, faults: list[Fault]) -> Content:
    """Messages are shown as they are, role and words; content parts other than text are refused."""
    if isinstance(given, str):
        return given
    shown = []
    for number, message in enumerate(given if isinstance(given, list) else ()):
        content = message.get("content") if isinstance(message, dict) else None
        parts = content if isinstance(content, list) else [content]
        texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
        words = [text for text in texts if isinstance(text, str)]
        if not words or len(words) < len(texts) or not isinstance(message.get("role"), str):
            faults.append(Fault(("body", "input", number), "a message has a role and text", "type"))
            continue
        shown.append({"role": message["role"], "content": "\n".join(words)})
    if not shown and not faults:
        faults.append(Fault(("body", "input"), "input has to be a string or an array of messages", "type"))
    return list(shown)


def _question(given: Any, loc: Loc) -> tuple[str | None, Question | Refusal]:
    if not isinstance(given, dict):
        return None, Refusal("a question has to be an object")
    name = given.get("name")
    if name is not None and not isinstance(name, str):
        return None, Refusal("name has to be a string")
    kind = given.get("type")
    if not isinstance(kind, str) or kind not in KINDS:
        return name, Refusal("type has to be predicate, choice or score")
    body: dict[str, Any] = {"type": KINDS[kind], "instructions": given.get("instructions")}
    if kind == "choice":
        choices = given.get("choices")
        if not isinstance(choices, list) or not all(_is_choice(one) for one in choices):
            return name, Refusal("choices has to be an array of {value, description?}")
        body["criteria"] = {one["value"]: one.get("description") for one in choices}
        if len(body["criteria"]) < len(choices):
            return name, Refusal("two choices have the same value")
    elif kind == "score":
        body["criteria"] = given.get("levels")
    faults: list[Fault] = []
    question = schema.question_of(body, loc, faults)
    return name, question if question is not None else Refusal("; ".join(fault.msg for fault in faults))


def _is_choice(given: Any) -> bool:
    return isinstance(given, dict) and isinstance(given.get("value"), str)


def encode(response: Response, model: str, confidence: Confidence, draft: Draft) -> bytes:
    """One entry for each question, in order: its answer, or `{"type": "refusal", "refusal": why}`."""
    found = dict(response.answers)
    answers = []
    for number, (name, one) in enumerate(draft.asked):
        entry: dict[str, Any] = {} if name is None else {"name": name}
        if isinstance(one, Refusal):
            entry |= {"type": "refusal", "refusal": one.message}
        else:
            entry |= replies.answer_of(found[str(number)], confidence)
            if entry["type"] == "noul":
                entry |= {"type": "predicate", "probability": entry.pop("noul")}
        answers.append(entry)
    return msgspec.json.encode({"model": model, "answers": answers, "usage": replies.usage_of(response.usage)})
