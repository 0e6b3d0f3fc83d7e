"""The bodies of `POST /v1/systemone`: JSON in, a checked Request out, and answers back as JSON.

The contract is TypeSafe's (its OpenAPI models, and the conformance suite jevcompat). Unknown fields at the
top are ignored, unknown fields of a question are refused by name, and every refusal says where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from reflexd.engine import marks
from reflexd.engine.errors import Fault, Invalid
from reflexd.engine.marks import Loc, Source
from reflexd.types import Choice, Content, Image, Noul, Question, Request, Score

OPTIONS_MAX = 255
LEVELS_MIN, LEVELS_MAX = 2, 10
PERMUTATIONS_MAX = 8
DEPTH_MAX = 64
"""Nesting of a state or a criterion: what is deeper was not written for a reader."""

FIELDS = ("type", "instructions", "criteria")


class Draft(Struct, frozen=True):
    """A body that was understood, with its images still to be had (`images.resolve`)."""

    model: str
    state: Content
    questions: tuple[tuple[str, Question], ...]
    sources: tuple[Source, ...] = ()
    permutations: int | None = None
    disagreement: bool = False

    def request(self, images: tuple[Image, ...] = ()) -> Request:
        """`images` in the order of `sources`."""
        shown = tuple((source.marker, image) for source, image in zip(self.sources, images, strict=True))
        return Request(self.state, self.questions, shown, self.permutations, self.disagreement)


def parse(body: bytes) -> Draft:
    """Raises Invalid with every fault that was found."""
    given = decode(body)
    faults: list[Fault] = []
    model = _field(given, "model", str, "a string", faults)
    if "state" not in given:
        faults.append(Fault(("body", "state"), "Field required", "missing"))
    state = given.get("state")
    if "state" in given and not isinstance(state, str | dict | list):
        faults.append(Fault(("body", "state"), "state has to be a string, an object or an array", "type"))
    questions = _questions(given, faults)
    permutations = given.get("permutations")
    if permutations is not None and (type(permutations) is not int or not 1 <= permutations <= PERMUTATIONS_MAX):
        text = f"permutations has to be a whole number from 1 to {PERMUTATIONS_MAX}"
        faults.append(Fault(("body", "permutations"), text, "range"))
    disagreement = given.get("disagreement")
    if disagreement is not None and not isinstance(disagreement, bool):
        faults.append(Fault(("body", "disagreement"), "disagreement has to be true or false", "type"))
    assets = marks.assets(given.get("assets"), faults)
    if faults:
        raise Invalid(tuple(faults))
    assert isinstance(state, str | dict | list)
    assert model is not None
    marked, sources = marks.marked(state, assets, body, questions)
    return Draft(model, marked, questions, sources, permutations, bool(disagreement))


def decode(body: bytes) -> dict[str, Any]:
    """The JSON object in `body`. Raises Invalid for anything else; of equal keys the last one counts."""
    try:
        given = msgspec.json.decode(body)
    except msgspec.DecodeError as e:
        raise Invalid((Fault(("body",), f"JSON decode error: {e}", "json_invalid"),)) from e
    except RecursionError as e:
        raise Invalid((Fault(("body",), "nested too deeply", "json_invalid"),)) from e
    except UnicodeDecodeError as e:
        raise Invalid((Fault(("body",), "not UTF-8", "json_invalid"),)) from e
    if not isinstance(given, dict):
        raise Invalid((Fault(("body",), "the body has to be a JSON object", "type"),))
    if deepest(given) > DEPTH_MAX:
        raise Invalid((Fault(("body",), f"nested more than {DEPTH_MAX} levels deep", "depth"),))
    return given


def deepest(value: Any) -> int:
    """How many objects and arrays lie inside one another at most."""
    level, depth = [value], 0
    while level := [one for one in level if isinstance(one, dict | list)]:
        depth += 1
        if depth > DEPTH_MAX:
            return depth
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
    return depth


def _field(given: Mapping[str, Any], name: str, kind: type[str], said: str, faults: list[Fault]) -> str | None:
    value = given.get(name)
    if name not in given:
        faults.append(Fault(("body", name), "Field required", "missing"))
    elif not isinstance(value, kind):
        faults.append(Fault(("body", name), f"{name} has to be {said}", "type"))
    return value if isinstance(value, kind) else None


# ---- questions ------------------------------------------------------------------------


def _questions(given: Mapping[str, Any], faults: list[Fault]) -> tuple[tuple[str, Question], ...]:
    loc: Loc = ("body", "questions")
    if "questions" not in given:
        faults.append(Fault(loc, "Field required", "missing"))
        return ()
    asked = given["questions"]
    if not isinstance(asked, dict):
        faults.append(Fault(loc, "questions has to be an object of questions by name", "type"))
        return ()
    if not asked:
        faults.append(Fault(loc, "there has to be at least one question", "too_short"))
    questions = []
    for name, body in asked.items():
        if not name.strip():
            faults.append(Fault((*loc, name), "a question's name cannot be blank", "blank"))
            continue
        question = question_of(body, (*loc, name), faults)
        if question is not None:
            questions.append((name, question))
    return tuple(questions)


def question_of(body: Any, loc: Loc, faults: list[Fault]) -> Question | None:
    """One question; None where something was added to `faults`."""
    if not isinstance(body, dict):
        faults.append(Fault(loc, "a question has to be an object", "type"))
        return None
    kind = body.get("type")
    if "type" not in body:
        faults.append(Fault((*loc, "type"), "Field required", "missing"))
        return None
    if kind == "box":
        faults.append(Fault((*loc, "type"), "box questions are not supported: no model here can point", "unsupported"))
        return None
    if not isinstance(kind, str) or kind not in KINDS:
        faults.append(Fault((*loc, "type"), "type has to be noul, choice or score", "enum"))
        return None
    before = len(faults)
    for name in body:
        if name not in FIELDS:
            faults.append(Fault((*loc, name), f"a {kind} question has no field {name!r}", "extra_forbidden"))
    instructions = body.get("instructions")
    if not _is_content(instructions, none=True):
        faults.append(Fault((*loc, "instructions"), CONTENT, "type"))
        instructions = None
    question = KINDS[kind](body, instructions, (*loc, "criteria"), faults)
    return question if len(faults) == before else None


CONTENT = "has to be a string, an object or an array"


def _is_content(value: Any, none: bool) -> bool:
    return (none and value is None) or isinstance(value, str | dict | list)


def _noul(body: Mapping[str, Any], instructions: Content | None, loc: Loc, faults: list[Fault]) -> Question | None:
    sides = body.get("criteria")
    if sides is None:
        sides = {}
    if not isinstance(sides, dict):
        faults.append(Fault(loc, "criteria of a noul has to be an object with true, false or both", "type"))
        return None
    for name, text in sides.items():
        if name not in ("true", "false"):
            faults.append(Fault((*loc, name), f"criteria of a noul has no side {name!r}", "extra_forbidden"))
        elif not _is_content(text, none=True):
            faults.append(Fault((*loc, name), CONTENT, "type"))
    if instructions is None and sides.get("true") is None and sides.get("false") is None:
        faults.append(Fault(loc[:-1], "a noul needs instructions or a described side", "missing"))
    return Noul(instructions, sides.get("true"), sides.get("false"))


def _choice(body: Mapping[str, Any], instructions: Content | None, loc: Loc, faults: list[Fault]) -> Question | None:
    options = body.get("criteria")
    if "criteria" not in body:
        faults.append(Fault(loc, "Field required", "missing"))
        return None
    if not isinstance(options, dict):
        faults.append(Fault(loc, "criteria of a choice has to be an object of options", "type"))
        return None
    if len(options) < 2:
        faults.append(Fault(loc, "a choice needs at least two options", "too_short"))
    if len(options) > OPTIONS_MAX:
        faults.append(Fault(loc, f"at most {OPTIONS_MAX} options per choice", "too_long"))
    for key, text in options.items():
        if not key.strip():
            faults.append(Fault((*loc, key), "an option's name cannot be blank", "blank"))
        elif not _is_content(text, none=True):
            faults.append(Fault((*loc, key), CONTENT, "type"))
    return Choice(tuple(options.items()), instructions)


def _score(body: Mapping[str, Any], instructions: Content | None, loc: Loc, faults: list[Fault]) -> Question | None:
    levels = body.get("criteria")
    if "criteria" not in body:
        faults.append(Fault(loc, "Field required", "missing"))
        return None
    if not isinstance(levels, list):
        faults.append(Fault(loc, "criteria of a score has to be an array of levels, low to high", "type"))
        return None
    if not LEVELS_MIN <= len(levels) <= LEVELS_MAX:
        faults.append(Fault(loc, f"a score takes {LEVELS_MIN} to {LEVELS_MAX} levels", "range"))
    for number, text in enumerate(levels):
        if not _is_content(text, none=False):
            faults.append(Fault((*loc, number), CONTENT, "type"))
    return Score(tuple(levels), instructions)


KINDS: Mapping[str, Callable[[Mapping[str, Any], Content | None, Loc, list[Fault]], Question | None]] = {
    "noul": _noul,
    "choice": _choice,
    "score": _score,
}
