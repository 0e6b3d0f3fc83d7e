"""Calls that a stronger judge looks at: parked, looked at in the background, answered when they come again.

Rule 1: nothing waits in here. The first time a call is told to come again; so it is until the judge is done.
Rule 2: an approval is for the identical call, once, within a few minutes; the gate has found again by then that nobody
but a model has to approve it, since core.human is asked before every look in here.
Rule 3: what was not approved holds for the same command with other numbers in it too, as long as all else is the same;
an approval never does.
Rule 4: it is memory alone. A restart forgets what was approved, never more.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict

import msgspec
from msgspec import Struct, structs

from reflexd import paths
from reflexd.core.casefile import Case
from reflexd.core.human import why_human
from reflexd.core.template import template
from reflexd.daemon.bounded import put
from reflexd.daemon.judging import Told, Undecided
from reflexd.errors import ReflexError
from reflexd.guard.redact import redact
from reflexd.judge.second import case as cases
from reflexd.judge.second.judge import SecondJudge
from reflexd.judge.second.opinion import Opinion
from reflexd.judge.second.settings import SecondSettings
from reflexd.judge.second.tiers import SecondFailed
from reflexd.private import key_file
from reflexd.types import Decision, Shell, Verdict

PARKED_MAX = 128
APPROVED_S = 300.0
ANSWERED_S = 1800.0


class _Parked(Struct):
    """`opinion` None: it is being looked at. `at`: since when the opinion holds, monotonic."""

    opinion: Opinion | None = None
    at: float = 0.0


class Parking:
    """Belongs to the loop's thread."""

    def __init__(self, base: str) -> None:
        cases.version()  # read now, not while the first call waits
        self._base = base
        self._parked: OrderedDict[bytes, _Parked] = OrderedDict()
        self._refused: OrderedDict[bytes, tuple[float, Opinion]] = OrderedDict()
        self._tasks: set[asyncio.Task[None]] = set()
        self._judge: tuple[SecondSettings | None, SecondJudge | None] = (None, None)

    def rule(self, call: Undecided, asked_of: Told, settings: SecondSettings) -> Verdict:
        """`call.verdict` asks and nobody may be there: what a stronger judge makes of it, as far as it has come."""
        asked, told = call.verdict, asked_of.case
        if not settings.tiers or asked.decision is not Decision.ASK:
            return asked
        event, facts, context = call.event, call.facts, call.context
        if why := why_human(event.tool, facts, context, asked, call.policy):
            return structs.replace(asked, reason=f"{asked.reason} (only a person may approve it: {why})")
        if not told.whole or told.redacted:
            return asked
        key = _key(call, told)
        parked = self._parked.get(key)
        now = time.monotonic()
        if parked is not None and parked.opinion is not None and now - parked.at > _holds_s(parked.opinion):
            del self._parked[key]
            parked = None
        if parked is None:
            at, refused = self._refused.get(_alike(call, told), (0.0, None))
            if refused is not None and now - at < ANSWERED_S:
                return self._answered(key, refused, asked)
            self._begin(key, call, asked_of, settings)
            return structs.replace(asked, reason=f"{asked.reason}; {_LATER}")
        if parked.opinion is None:
            return structs.replace(asked, reason=f"{asked.reason}; {_LATER}")
        return self._answered(key, parked.opinion, asked)

    def _answered(self, key: bytes, opinion: Opinion, asked: Verdict) -> Verdict:
        match opinion.verdict:
            case "approve":
                del self._parked[key]  # once
                return structs.replace(asked, decision=Decision.PASS, reason=opinion.reason, decided_by="second")
            case "deny":
                said = f"a stronger judge refused it: {opinion.reason}"
                return structs.replace(asked, decision=Decision.DENY, reason=said, decided_by="second")
            case _:
                return structs.replace(asked, reason=f"{asked.reason} (a person decides: {opinion.reason})")

    def _begin(self, key: bytes, call: Undecided, told: Told, settings: SecondSettings) -> None:
        put(self._parked, key, _Parked(), PARKED_MAX)
        case, said = told.case, told.case.said
        text = cases.case(str(told.request.state), said.prompt, said.intent, redact(call.verdict.reason), case.envelope)
        origin = call.event.origin
        look = self._look(key, _alike(call, case), text, f"{origin.agent}:{origin.session}", settings)
        task = asyncio.ensure_future(look)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self, key: bytes, alike: bytes, case: cases.Case, session: str, settings: SecondSettings) -> None:
        opinion = await self._judge_of(settings).consider(case, session)
        if opinion.sure and opinion.verdict != "approve":
            put(self._refused, alike, (time.monotonic(), opinion), PARKED_MAX)
        if (parked := self._parked.get(key)) is not None:
            parked.opinion, parked.at = opinion, time.monotonic()

    def _judge_of(self, settings: SecondSettings) -> SecondJudge:
        kept, judge = self._judge
        if judge is None or kept != settings:
            judge = SecondJudge(settings, self._key_file)
            self._judge = (settings, judge)
        return judge

    def _key_file(self) -> str:
        try:
            return key_file(paths.second_key(self._base))
        except ReflexError as e:
            raise SecondFailed(e.message) from e


_LATER = "a stronger judge looks at it: go on with other work, then try the same call again"


def _holds_s(opinion: Opinion) -> float:
    return APPROVED_S if opinion.verdict == "approve" else ANSWERED_S


def _alike(call: Undecided, told: Case) -> bytes:
    """What must be the same for a refusal to fit: the command's template, where it runs and what for, the kinds of its
    effects and their places, the code that it runs, the taint, and every version that had a say."""
    tool, context, facts = call.event.tool, call.context, call.facts
    if isinstance(tool, Shell):
        tool = structs.replace(tool, command=template(tool.command))
    effects = sorted({(effect.kind, effect.places) for effect in facts.effects})
    whole = (
        (call.event.tool_name, tool, context.cwd, context.taint, effects, facts.sources),
        (told.said.prompt, told.project, told.branch, told.envelope),
        (call.policy.version, cases.version(), call.verdict.rule),
    )
    return hashlib.sha256(msgspec.msgpack.encode(whole)).digest()


def _key(call: Undecided, told: Case) -> bytes:
    """What must be the same for an opinion to fit: the raw call, where, whose and what for it is, what it does and
    runs, the taint, and every version that had a say."""
    origin, context = call.event.origin, call.context
    whole = (
        call.event.tool_name,
        call.event.tool,
        (origin.agent, origin.session, origin.subagent),
        context.cwd,
        context.taint,
        call.facts,
        (told.said.prompt, told.project, told.branch, told.envelope),
        (call.policy.version, cases.version(), call.verdict.rule),
    )
    return hashlib.sha256(msgspec.msgpack.encode(whole)).digest()
