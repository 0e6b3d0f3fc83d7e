"""One request as tokens, and its readings as answers. Pure: what the scheduler computes lies in between."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reflexd.engine import confidence, readout
from reflexd.engine.calibration import Calibration
from reflexd.engine.errors import EngineFailed, Fault, Invalid
from reflexd.engine.labels import pages
from reflexd.engine.orders import orders
from reflexd.engine.prompt import Composer, count, kind, rendered
from reflexd.engine.readout import Page
from reflexd.engine.values import Branch, Prefix, Reading
from reflexd.types import Answer, Choice, ChoiceAnswer, Noul, NoulAnswer, Question, Request, Score, ScoreAnswer


class Limits(Struct, frozen=True):
    """`context`: tokens the model takes in all; `branch`: tokens one question may be."""

    context: int
    branch: int = 4096


class Ask(Struct, frozen=True):
    """One question: its views, each a list of pages, each (index into the plan's branches, options shown)."""

    name: str
    question: Question
    views: tuple[tuple[tuple[int, tuple[int, ...]], ...], ...]


class Plan(Struct, frozen=True):
    """`branches` holds each distinct branch once; `question_tokens` counts them as often as they are used."""

    prefix: Prefix
    branches: tuple[Branch, ...]
    asks: tuple[Ask, ...]
    question_tokens: int
    disagreement: bool = False


def plan(request: Request, composer: Composer, limits: Limits, default_orders: int) -> Plan:
    """Raises Invalid, by the question's name, for what is too long; nothing is ever cut."""
    prefix = composer.prefix(request)
    wanted = request.permutations or default_orders
    numbers: dict[Branch, int] = {}
    asks, faults, used = [], [], 0
    for name, question in request.questions:
        views = []
        longest = 0
        for texts in composer.prompt.wordings:
            for order in orders(question, count(question), wanted):
                view, at = [], 0
                for page in pages(order, len(composer.labels.letters)):
                    branch = composer.branch(question, page, len(order), at, texts)
                    at += len(page)
                    used += len(branch.tokens)
                    longest = max(longest, len(branch.tokens))
                    view.append((numbers.setdefault(branch, len(numbers)), page))
                views.append(tuple(view))
        asks.append(Ask(name, question, tuple(views)))
        faults += _too_long(name, longest, len(prefix.tokens), limits)
    if faults:
        raise Invalid(tuple(faults))
    return Plan(prefix, tuple(numbers), tuple(asks), used, request.disagreement)


def _too_long(name: str, branch: int, prefix: int, limits: Limits) -> list[Fault]:
    allowed, tokens = (limits.branch, branch) if branch > limits.branch else (limits.context, prefix + branch)
    if tokens <= allowed:
        return []
    what = (
        "the question alone" if allowed == limits.branch and branch > limits.branch else "state and question together"
    )
    text = f"{what} take {tokens} tokens, over the maximum context length of {allowed} tokens for one question"
    return [Fault(("body", "questions", name), text, "too_long")]


def answers(plan: Plan, readings: Sequence[Reading], calibration: Calibration) -> tuple[tuple[str, Answer], ...]:
    """One answer a question, in the request's order. Raises EngineFailed where the model's numbers are not finite."""
    return tuple((ask.name, _answer(ask, plan, readings, calibration)) for ask in plan.asks)


def _answer(ask: Ask, plan: Plan, readings: Sequence[Reading], calibration: Calibration) -> Answer:
    of = kind(ask.question)
    seen = []
    for view in ask.views:
        shown = (Page(options, readings[index].logits, readings[index].norm) for index, options in view)
        logits = readout.pooled(tuple(shown))
        try:
            temperature = calibration.temperature_of(of, logits, len(plan.prefix.tokens))
            seen.append(readout.softmax(logits, temperature))
        except ValueError as e:
            raise EngineFailed(str(e), "try another precision") from e
    p = readout.merged(seen)
    apart = readout.disagreement(seen, p) if plan.disagreement else None
    match ask.question:
        case Noul():
            return NoulAnswer(p[0], apart)
        case Choice(options):
            keys = [key for key, _ in options]
            best = keys[max(range(len(p)), key=p.__getitem__)]
            pairs = tuple(zip(keys, p, strict=True))
            return ChoiceAnswer(best, pairs, confidence.entropy(p), confidence.choice_margin(p), apart)
        case Score(levels):
            expected = sum(i * x for i, x in enumerate(p))
            legend = tuple(rendered(level) if level is None else level for level in levels)
            return ScoreAnswer(expected, tuple(p), legend, confidence.entropy(p), confidence.score_margin(p), apart)
