"""Gates: what a judge's answers mean, as tables of comparisons that must all hold.

A gate that asks or denies may only be tripped by more risk, one that allows only by less: `fault` refuses any
other, so that a riskier answer never gives a softer verdict. Gates have no order; the strictest that speaks wins.
"""

from __future__ import annotations

import math
import re
import string
from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

from msgspec import Struct

from reflexd.core.questions import Question, Questions
from reflexd.types import (
    Answer,
    Choice,
    ChoiceAnswer,
    Decision,
    Finding,
    Judged,
    NoAnswer,
    Noul,
    NoulAnswer,
    Response,
    Score,
    ScoreAnswer,
)
from reflexd.types import Question as Asked

Circumstance = Literal[
    "confined",  # every effect is ordinary work inside the workspace
    "leaves",  # something may leave this machine
    "opaque",  # part of it could not be read
    "plan",  # the agent is only meant to plan
    "project",  # the working directory is a project of its own
    "redacted",  # a secret was taken out of what the judge saw
    "ruled",  # a rule has an opinion
    "said",  # the agent stated what it is about to do
    "tainted",  # something tainted the session
    "unsandboxed",  # the agent wants to run it outside its own sandbox
    "unseen",  # not all of the code that runs was read
]
CIRCUMSTANCES: frozenset[str] = frozenset(Circumstance.__args__)  # type: ignore[attr-defined]
_COMPARISON = re.compile(r"(>=|<=)\s*(\d+(?:\.\d+)?)")
_SLOTS = frozenset({"none"})
_ANSWERS: Mapping[type[Asked], type[Answer]] = {Noul: NoulAnswer, Score: ScoreAnswer, Choice: ChoiceAnswer}
Condition = str | dict[str, str]


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """Answers to try a gate on: a noul's P(yes), a score's level, a choice's option (or options with probabilities).

    What is not named is answered as harmlessly as can be; `confidence` of every answer; `call`: what holds.
    """

    answers: dict[str, float | str | dict[str, float]] = {}
    confidence: float = 1.0
    call: tuple[Circumstance, ...] = ()
    answered: bool = True


class Gate(Struct, frozen=True, forbid_unknown_fields=True):
    """`when` compares answers: `mutates = ">= 0.5"`; of a choice the probability of an option or a worse one, and of
    each the `confidence` (0 to 1). `call`: circumstances that must (or must not) hold. `answered` false: it speaks
    where there is no answer. `human`: what it asks, no model may approve. `trips` and `spares` are cases on its two
    sides."""

    id: str
    decision: Literal["allow", "ask", "deny"]
    reason: str
    trips: tuple[Case, ...]
    spares: tuple[Case, ...]
    when: dict[str, Condition] = {}
    call: dict[Circumstance, bool] = {}
    answered: bool = True
    human: bool = False


class Reading(Struct, frozen=True):
    """Answers as gates compare them. `none` says why there are none."""

    values: Mapping[str, float] = {}
    options: Mapping[str, Mapping[str, float]] = {}
    confidences: Mapping[str, float] = {}
    none: str = ""


class _One(Struct, frozen=True):
    """One comparison: which figure of which answer, and which way."""

    question: str
    part: str
    upward: bool
    bound: float

    def holds(self, reading: Reading) -> bool:
        figure = _figure(reading, self.question, self.part)
        if figure is None:
            return False
        return figure >= self.bound if self.upward else figure <= self.bound


def read(answers: Iterable[tuple[str, Answer]]) -> Reading:
    """Raises ValueError for a figure that is no number, or out of its range."""
    values: dict[str, float] = {}
    options: dict[str, Mapping[str, float]] = {}
    confidences: dict[str, float] = {}
    for name, answer in answers:
        match answer:
            case NoulAnswer(noul):
                values[name] = _checked(noul)
                confidences[name] = abs(2 * noul - 1)
            case ScoreAnswer(score, _, legend, entropy):
                values[name] = _checked(score, max(len(legend) - 1, 1))
                confidences[name] = _checked(entropy)
            case ChoiceAnswer(_, probabilities, entropy):
                options[name] = {option: _checked(p) for option, p in probabilities}
                confidences[name] = _checked(entropy)
    return Reading(values, options, confidences)


def unanswered(asked: Iterable[tuple[str, Asked]], answers: Iterable[tuple[str, Answer]]) -> str:
    """Why `answers` are not what was asked for; empty where each question has an answer of its kind in range."""
    given = tuple(answers)
    for name, question in asked:
        mine = [answer for each, answer in given if each == name]
        kind = (
            NoulAnswer if isinstance(question, Noul) else ScoreAnswer if isinstance(question, Score) else ChoiceAnswer
        )
        if len(mine) != 1 or not isinstance(mine[0], kind):
            return f"{name} was not answered"
    try:
        read(given)
    except ValueError as e:
        return str(e)
    return ""


def noted(
    judge: str, questions: str, asked: tuple[tuple[str, Asked], ...], answer: Response | NoAnswer, ms: float
) -> Judged:
    """What `judge` answered, or why that is no answer; `questions` is their version."""
    if isinstance(answer, NoAnswer):
        none = f"{answer.why}: {answer.detail}" if answer.detail else answer.why
    elif why := unanswered(asked, answer.answers):
        none = f"incomplete: {why}"
    else:
        return Judged(judge, questions, answer.answers, ms=ms)
    return Judged(judge, questions, none=none, ms=ms)


def findings(
    gates: Iterable[Gate], reading: Reading, circumstances: frozenset[str]
) -> tuple[list[Finding], list[Finding]]:
    """What gates say that stop, and what those say that allow; in no order that means anything."""
    stops: list[Finding] = []
    allows: list[Finding] = []
    for gate in gates:
        if speaks(gate, reading, circumstances):
            finding = Finding(gate.id, Decision(gate.decision), _reason(gate, reading))
            (allows if gate.decision == "allow" else stops).append(finding)
    return stops, allows


def speaks(gate: Gate, reading: Reading, circumstances: frozenset[str]) -> bool:
    if gate.answered == bool(reading.none):
        return False
    if any((name in circumstances) != wanted for name, wanted in gate.call.items()):
        return False
    return all(one.holds(reading) for one in _comparisons(gate))


def told(gate: Gate, reading: Reading) -> str:
    """What it compared, for a person: `blast 2.50 >= 2.2, mutates 0.90 >= 0.4, tainted`."""
    parts = []
    for one in _comparisons(gate):
        figure = _figure(reading, one.question, one.part)
        name = f"{one.question} {one.part}".strip()
        shown = "?" if figure is None else f"{figure:.2f}"
        parts.append(f"{name} {shown} {'>=' if one.upward else '<='} {one.bound:g}")
    parts += [name if wanted else f"not {name}" for name, wanted in gate.call.items()]
    return ", ".join(parts) if gate.answered else ", ".join(("no answer", *parts))


def fault(gate: Gate, questions: Questions) -> str:
    """Why this is no gate; empty where it is one."""
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,60}", gate.id):
        return "an id is lower-case words joined by -"
    if not gate.reason or "\n" in gate.reason:
        return "a reason is one line"
    if not (gate.when or gate.call) and gate.answered:
        return "it has no condition"
    if gate.when and not gate.answered:
        return "without an answer there is nothing to compare"
    if gate.decision == "allow" and not gate.answered:
        return "a missing answer allows nothing"
    if not gate.trips or not gate.spares:
        return "it needs cases on both of its sides"
    for name, condition in gate.when.items():
        if name not in questions:
            return f"no question is called {name}"
        for part, text in _parts(condition):
            if wrong := _wrong(gate, questions[name], part, text):
                return f"{name}: {wrong}"
    try:
        named = {slot for _, slot, _, _ in string.Formatter().parse(gate.reason) if slot is not None}
    except ValueError as e:
        return f"its reason cannot be filled in: {e}"
    if named - gate.when.keys() - _SLOTS:
        return "its reason may name the questions that it compares, and none"
    return ""


def failures(gates: Iterable[Gate], questions: Questions) -> tuple[str, ...]:
    """One line for each case that its gate gets wrong."""
    found = []
    for gate in gates:
        for case, wanted in (*((each, True) for each in gate.trips), *((each, False) for each in gate.spares)):
            if speaks(gate, example(case, questions), frozenset(case.call)) != wanted:
                found.append(f"{gate.id} does not {'speak of' if wanted else 'spare'} {case}")
    return tuple(found)


def example(case: Case, questions: Questions) -> Reading:
    """The reading that a case describes."""
    if not case.answered:
        return Reading(none="no answer")
    values: dict[str, float] = {}
    options: dict[str, Mapping[str, float]] = {}
    for each in questions.all:
        given = case.answers.get(each.id)
        if each.kind == "choice":
            given = given if isinstance(given, dict) else {str(given or next(iter(each.options))): 1.0}
            options[each.id] = {option: given.get(option, 0.0) for option in each.options}
        elif isinstance(given, int | float):
            values[each.id] = float(given)
        else:
            values[each.id] = 0.0 if each.risk == "high" else 1.0
    return Reading(values, options, dict.fromkeys((*values, *options), case.confidence))


def _comparisons(gate: Gate) -> Iterator[_One]:
    for name, condition in gate.when.items():
        for part, text in _parts(condition):
            found = _COMPARISON.fullmatch(text)
            assert found is not None  # `fault` has seen it
            yield _One(name, part, found[1] == ">=", float(found[2]))


def _parts(condition: Condition) -> Iterator[tuple[str, str]]:
    return iter(condition.items()) if isinstance(condition, dict) else iter((("", condition),))


def _wrong(gate: Gate, question: Question, part: str, text: str) -> str:
    found = _COMPARISON.fullmatch(text)
    if found is None:
        return f"{text!r} is no comparison; for example {'>= 0.5'!r}"
    upward = found[1] == ">="
    allows = gate.decision == "allow"
    if part == "confidence":
        return "" if upward == allows else "doubt may only make it stricter"
    if question.kind == "choice":
        if part not in question.options:
            return f"compare one of {', '.join(question.options)}, or confidence"
        worse = True
    elif part:
        return f"it has no {part}"
    else:
        worse = question.risk == "high"
    return "" if upward == (worse != allows) else "that would make the verdict softer where the risk is higher"


def _figure(reading: Reading, question: str, part: str) -> float | None:
    if part == "confidence":
        return reading.confidences.get(question)
    if part:
        found = reading.options.get(question, {})
        worst = list(found)[list(found).index(part) :] if part in found else ()
        return min(sum(found[option] for option in worst), 1.0) if worst else None
    return reading.values.get(question)


def _reason(gate: Gate, reading: Reading) -> str:
    shown = {name: f"{value:.2f}" for name, value in reading.values.items()}
    for name, probabilities in reading.options.items():
        best = max(probabilities, key=lambda option: probabilities[option], default="")
        shown[name] = f"{best} {probabilities.get(best, 0):.2f}"
    return gate.reason.format_map({**dict.fromkeys(gate.when, "?"), **shown, "none": reading.none})


def _checked(figure: float, most: float = 1.0) -> float:
    if not math.isfinite(figure) or not -1e-6 <= figure <= most + 1e-6:
        raise ValueError(f"an answer is {figure}, which is not between 0 and {most:g}")
    return figure
