"""Whether a new task is another one in other words, as a choice for a judge. Pure; words are config/repeats.toml.

It saves work and guards nothing: whatever is in doubt, missing or of another form means that none is the same.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reflexd.shell.tables import table
from reflexd.types import Choice, ChoiceAnswer, NoAnswer, Request, Response

TASKS_MAX = 8
TASK_SHOWN = 600
NONE = "none"
_QUESTION = "same"


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    repeats: int
    version: str
    text: str
    none: str
    least: float


def data() -> Words:
    return table("repeats.toml", Words)


def asked(task: str, others: Sequence[str]) -> Request:
    """Which of the last TASKS_MAX of `others` is `task`? All of them redacted."""
    words = data()
    options = tuple((str(number), other[:TASK_SHOWN]) for number, other in enumerate(others[-TASKS_MAX:]))
    state = f"## A new task for a subagent\n{task[:TASK_SHOWN]}"
    return Request(state, ((_QUESTION, Choice((*options, (NONE, words.none)), words.text)),))


def chosen(others: Sequence[str], answer: Response | NoAnswer) -> int | None:
    """The place in `others` of the task that is the same; None for none, or where that is not sure."""
    if isinstance(answer, NoAnswer):
        return None
    found = dict(answer.answers).get(_QUESTION)
    if not isinstance(found, ChoiceAnswer) or found.choice == NONE or not found.choice.isascii():
        return None
    shown = min(len(others), TASKS_MAX)
    sure = dict(found.probabilities).get(found.choice, 0.0) >= data().least
    if not sure or not found.choice.isdecimal() or int(found.choice) >= shown:
        return None
    return len(others) - shown + int(found.choice)
