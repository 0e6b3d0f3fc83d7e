"""What the scripted LLM says, and what it heard.

Which step is due is read from the conversation itself: the id of every call that we make names its
step. So a retry, a title request or a subagent between two requests puts nothing out of step.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from msgspec import Struct, field

Arguments = Mapping[str, object]
MAIN = "main"

_ID = re.compile(r"_step(\d+)n(\d+)\Z")


class Result(Struct, frozen=True):
    """What the model was told about one of its calls."""

    id: str
    text: str


class Call(Struct, frozen=True):
    """One tool call. `namespace` is what Codex puts beside a tool's name."""

    tool: str
    arguments: Arguments
    namespace: str = ""


class Step(Struct, frozen=True):
    """One turn of the model: calls, or only text. `before` runs once, just before the turn is sent:
    it sets the scene in which the calls will run."""

    calls: tuple[Call, ...] = ()
    before: Callable[[], None] | None = None
    text: str = ""


class Script(Struct, frozen=True):
    """The steps of the main conversation, and of each subagent known by a word in its task.
    Past its last step a conversation hears "done"."""

    steps: tuple[Step, ...]
    subagents: dict[str, tuple[Step, ...]] = field(default_factory=dict)

    def thread(self, task: str) -> str:
        return next((name for name in self.subagents if name in task), MAIN)

    def steps_of(self, thread: str) -> tuple[Step, ...]:
        return self.subagents.get(thread, self.steps)


class Conversation(Struct, frozen=True):
    """A request in terms that no dialect matters to. `task` is what was said before the first call,
    `ids` are the calls that the model has made, `tools` the names it may call."""

    task: str
    ids: tuple[str, ...]
    results: tuple[Result, ...]
    tools: tuple[str, ...]

    def due(self) -> int:
        taken = [place[0] for id in self.ids if (place := place_of(id))]
        return max(taken, default=-1) + 1


class Request(Struct, frozen=True):
    dialect: str
    thread: str
    step: int
    tools: tuple[str, ...]
    results: tuple[Result, ...]
    body: dict[str, object]


class Turn(Struct, frozen=True):
    """A step with its number and its calls' ids, as a dialect writes it down."""

    step: int
    text: str
    calls: tuple[tuple[str, Call], ...]


def call_id(prefix: str, step: int, number: int) -> str:
    return f"{prefix}_step{step}n{number}"


def place_of(id: str) -> tuple[int, int] | None:
    """The step and the number in it of a call that call_id named."""
    found = _ID.search(id)
    return (int(found[1]), int(found[2])) if found else None


def turn(step: Step, number: int, prefix: str) -> Turn:
    calls = tuple((call_id(prefix, number, n), call) for n, call in enumerate(step.calls))
    return Turn(number, step.text or ("" if calls else "done"), calls)


def text_of(content: object) -> str:
    """The text in any of the three dialects' content shapes."""
    match content:
        case str():
            return content
        case list():
            return "\n".join(filter(None, map(text_of, content)))
        case {"text": inner} | {"output": inner} | {"content": inner}:
            return text_of(inner)
        case _:
            return ""
