"""What rules leave undecided, put to a judge: who that is, what he is told, and what his answers mean.

Rule 1: a judge adds what stops, or (where a person switched that on) allows; his silence is an input like another.
Rule 2: nothing waits for him longer than a call's own deadline, and looking for what he should know is bounded too:
what could not be found in time is not told.
Rule 3: an answer is used again for the very same case alone, for a short while, and never to allow.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence

import msgspec
from msgspec import Struct, structs

from reflexd import paths
from reflexd.core import alike, casefile, gates, questions
from reflexd.core.casefile import Case
from reflexd.core.decide import judged
from reflexd.core.policy import Policy
from reflexd.daemon.bounded import put
from reflexd.daemon.lane import Lane
from reflexd.errors import ReflexError
from reflexd.guard.redact import redact_head
from reflexd.judge.engine import Ask, EngineJudge
from reflexd.judge.fixed import FixedJudge
from reflexd.judge.remote import RemoteJudge
from reflexd.judge.values import Judge, answered
from reflexd.private import key_file
from reflexd.settings import EngineSettings, JudgeSettings, Settings
from reflexd.sight.case import request, told
from reflexd.types import (
    Context,
    Decision,
    Facts,
    Guarded,
    Judged,
    NoAnswer,
    Request,
    Said,
    Verdict,
)

JUDGE_S = 3.0
LOOK_S = 0.5
SAME_S = 1.5
LEFT_S = 0.25  # of a call's time, for what comes after the judge
KEPT_S = 600.0
KEPT_MAX = 512


class Undecided(Struct, frozen=True):
    """One call that no rule decided."""

    event: Guarded
    facts: Facts
    context: Context
    policy: Policy
    verdict: Verdict


class Told(Struct, frozen=True):
    """What is known of one call, and what a judge is asked about it: all of it redacted."""

    case: Case
    request: Request


class Judging:
    """Belongs to the loop's thread; what looks at the disk runs on `lane`."""

    def __init__(
        self,
        base: str,
        engine: Ask,
        lane: Lane,
        said: Callable[[Guarded, Context], Said],
        envelope: Callable[[str, str], str],
    ) -> None:
        """`engine` asks the daemon's engine. On `lane`: `said` reads the agent's own records, `envelope` gives the
        bounds that hold for a session and a directory."""
        self._base = base
        self._engine = engine
        self._lane = lane
        self._said = said
        self._envelope = envelope
        self._judge: tuple[Settings | None, Judge | None] = (None, None)
        self._kept: OrderedDict[bytes, tuple[float, Judged]] = OrderedDict()

    def judge(self, settings: Settings) -> Judge | None:
        """Who is asked under these settings, None for nobody. One that cannot be had never answers, and says why."""
        if self._judge[0] is not settings:
            self._judge = (settings, self._made(settings))
        return self._judge[1]

    async def same_task(self, task: str, others: Sequence[str], settings: Settings, ends: float) -> int | None:
        """Which of `others` (redacted) a subagent's new task is in other words, as far as the judge is sure; None for
        none."""
        judge = self.judge(settings)
        if judge is None or not others:
            return None
        asked = alike.asked(redact_head(task, alike.TASK_SHOWN), others)
        return alike.chosen(others, await answered(judge, asked, min(SAME_S, ends - time.monotonic() - LEFT_S)))

    def notes(self, settings: Settings) -> tuple[str, ...]:
        """What a person should know about the judge, a line each."""
        judge = self.judge(settings)
        said = judge.says() if judge is not None else ""
        return (said,) if said else ()

    async def rule(self, call: Undecided, settings: Settings, ends: float) -> tuple[Verdict, Told | None]:
        """The verdict with what the judge of `settings` says, and what he was told; None where there is no judge.

        `ends`: when the call's time is over, monotonic.
        """
        judge = self.judge(settings)
        if judge is None:
            return call.verdict, None
        began = time.monotonic()
        told = await self._told(call, settings, min(LOOK_S, ends - began))
        context = call.context
        ruled = bool(call.verdict.findings)
        held = casefile.circumstances(call.event.tool, call.facts, context, told.case, ruled)
        key = _key((settings.judge, settings.engine), told.request, call, held)
        said = self._again(key)
        if said is None:
            answer = await answered(judge, told.request, min(JUDGE_S, ends - time.monotonic() - LEFT_S))
            ms = round((time.monotonic() - began) * 1000, 3)
            said = gates.noted(judge.name, questions.shipped().version, told.request.questions, answer, ms)
        verdict = judged(call.verdict, said, held, context, call.policy, settings.judge.allow)
        if not said.none and all(found.decision is not Decision.ALLOW for found in verdict.findings):
            put(self._kept, key, (time.monotonic(), said), KEPT_MAX)
        return verdict, told

    def _again(self, key: bytes) -> Judged | None:
        at, said = self._kept.get(key, (0.0, None))
        return said if said is not None and time.monotonic() - at < KEPT_S else None

    async def _told(self, call: Undecided, settings: Settings, within_s: float) -> Told:
        """What is known of the call; what could not be found in time is left out, and then not all was seen."""
        try:
            async with asyncio.timeout(max(within_s, 0)):
                return await self._lane.run(self._found, call, settings)
        except (TimeoutError, ReflexError):
            case = Case("", settings.judge.context, call.event.origin.agent, whole=False, redacted=True)
            return _asked(call, case)

    def _found(self, call: Undecided, settings: Settings) -> Told:
        """Runs on the lane."""
        event, context, origin = call.event, call.context, call.event.origin
        case = told(event, context, settings.judge.context, self._said(event, context))
        bounds = self._envelope(f"{origin.agent}:{origin.session}", context.cwd)
        return _asked(call, structs.replace(case, envelope=bounds))

    def _made(self, settings: Settings) -> Judge | None:
        kind = settings.judged_by
        try:
            return JUDGES[kind](self._base, self._engine, settings) if kind != "none" else None
        except ReflexError as e:
            return _Missing(kind, e.message)


class _Missing:
    """A judge that cannot be had."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self._why = why

    async def ask(self, request: Request, deadline_s: float) -> NoAnswer:
        return NoAnswer("unavailable", self._why)

    def says(self) -> str:
        return f"there is no judge: {self._why}"


JUDGES: Mapping[str, Callable[[str, Ask, Settings], Judge]] = {
    "engine": lambda base, ask, settings: EngineJudge(ask),
    "remote": lambda base, ask, settings: RemoteJudge(
        settings.judge.url, key_file(paths.judge_key(base)), settings.judge.model
    ),
    "fixed": lambda base, ask, settings: FixedJudge(settings.judge.fixed),
}
"""Each raises ReflexError where it cannot be had."""


def _asked(call: Undecided, case: Case) -> Told:
    return Told(case, request(call.event.tool, call.facts, call.context, case))


def _key(judge: tuple[JudgeSettings, EngineSettings], asked: Request, call: Undecided, held: frozenset[str]) -> bytes:
    """What must be the same for an answer to be used again: who is asked what about which call under which rules,
    and what the code that it runs holds."""
    whole = (judge, asked, call.policy.version, sorted(held), call.facts.sources, call.context.past)
    return hashlib.sha256(msgspec.msgpack.encode(whole)).digest()
