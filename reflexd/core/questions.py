"""The questions that a judge is asked about a call, as data: TOML bytes -> Questions, and those that fit one call.

What holds: what the agent said reaches only the text of questions that `needs` it, never the state, so that its
words cannot lower the answer to another question (each branch is read apart). A text longer than its slot is cut.
"""

from __future__ import annotations

import functools
import hashlib
import string
import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from reflexd.errors import PolicyError
from reflexd.types import Choice, Noul, Score
from reflexd.types import Question as Asked

FORMAT = 1
SLOT_MAX = 2000
Need = Literal["", "said", "envelope", "repository"]
Risk = Literal["high", "low"]
SLOTS: Mapping[Need, frozenset[str]] = {
    "": frozenset(),
    "said": frozenset({"prompt", "intent", "calls"}),
    "envelope": frozenset({"envelope"}),
    "repository": frozenset({"repository"}),
}
NEEDED: Mapping[Need, str] = {"said": "prompt", "envelope": "envelope", "repository": "repository"}


class Question(Struct, frozen=True, forbid_unknown_fields=True):
    """One question; which fields it has hangs on its kind. The `options` of a choice are in order, the worst last."""

    id: str
    kind: Literal["noul", "score", "choice"]
    risk: Risk
    text: str
    needs: Need = ""
    yes: str = ""
    no: str = ""
    levels: tuple[str, ...] = ()
    options: dict[str, str] = {}

    def asked(self, slots: Mapping[str, str]) -> Asked:
        filled = self.text.format_map({name: slots.get(name, "")[:SLOT_MAX] or "nothing" for name in SLOTS[self.needs]})
        match self.kind:
            case "noul":
                return Noul(filled, self.yes, self.no)
            case "score":
                return Score(self.levels, filled)
            case "choice":
                return Choice(tuple(self.options.items()), filled)


class Questions(Struct, frozen=True):
    """`version` is the number that the file gives itself and a digest of its bytes."""

    version: str
    all: tuple[Question, ...]

    def fitting(self, slots: Mapping[str, str]) -> tuple[tuple[str, Asked], ...]:
        """Those whose needs are met: the text that they stand or fall with is there. In the file's order."""
        return tuple(
            (each.id, each.asked(slots)) for each in self.all if not each.needs or slots.get(NEEDED[each.needs])
        )

    def __getitem__(self, name: str) -> Question:
        """Raises KeyError."""
        for each in self.all:
            if each.id == name:
                return each
        raise KeyError(name)

    def __contains__(self, name: str) -> bool:
        return any(each.id == name for each in self.all)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    questions: int
    version: str
    question: tuple[Question, ...]


def load(data: bytes, name: str) -> Questions:
    """Raises PolicyError; never any other error."""
    try:
        read = msgspec.convert(tomllib.loads(data.decode()), _File)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, msgspec.ValidationError, RecursionError) as e:
        raise PolicyError(f"{name}: {e}") from e
    if read.questions != FORMAT:
        raise PolicyError(f"{name}: format {read.questions}, this reads {FORMAT}")
    ids = [each.id for each in read.question]
    for each in read.question:
        if ids.count(each.id) > 1:
            raise PolicyError(f"{name}: question {each.id}: the id is taken")
        if fault := _fault(each):
            raise PolicyError(f"{name}: question {each.id}: {fault}")
    return Questions(f"{read.version}+{hashlib.sha256(data).hexdigest()[:8]}", read.question)


@functools.cache
def shipped() -> Questions:
    """The questions that come with reflex."""
    return load(resources.files("reflexd.config").joinpath("questions.toml").read_bytes(), "questions.toml")


def _fault(question: Question) -> str:
    has = {
        "noul": bool(question.yes and question.no),
        "score": 2 <= len(question.levels) <= 10,
        "choice": len(question.options) >= 2,
    }
    if [kind for kind, there in has.items() if there] != [question.kind]:
        return "a noul has yes and no, a score levels (2 to 10), a choice options; and none of the others"
    if question.kind != "noul" and question.risk == "low":
        return "the worst level or option stands last, so its risk is high"
    try:
        slots = {name for _, name, spec, conversion in string.Formatter().parse(question.text) if name is not None}
    except ValueError as e:
        return f"its text cannot be filled in: {e}"
    wanted = SLOTS[question.needs]
    return "" if slots == wanted else f"its text must name {', '.join(sorted(wanted)) or 'no slot'}"
