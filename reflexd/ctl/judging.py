"""Calls put to the judge that is set, from a process that is not the daemon: what its gate does once rules have spoken.

What differs: nobody said anything before the call, and the judge has `WAIT_S` for his answer, since how well he judges
is another question than how soon. How long he took is told.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from types import TracebackType

from reflexd import paths
from reflexd.core import casefile, gates, questions
from reflexd.core.casefile import Case
from reflexd.core.decide import judged, undecided
from reflexd.core.gates import Circumstance
from reflexd.core.policy import Policy
from reflexd.ctl.decide import ready
from reflexd.guard.redact import redact
from reflexd.judge.fixed import FixedJudge
from reflexd.judge.remote import RemoteJudge
from reflexd.private import key_file
from reflexd.settings import InForce, Settings
from reflexd.sight.case import request, told
from reflexd.sight.ruling import Ruling
from reflexd.types import Context, Decision, Facts, Other, Said, Tool, ToolCall, Verdict

WAIT_S = 60.0
Judge = FixedJudge | RemoteJudge


class Judging:
    """Blocking; a context, at whose end the loop is closed that judges run on."""

    def __init__(self, base: str, force: InForce) -> None:
        """Raises ReflexError where the judge that is set cannot be had."""
        self._force = force
        self.name = force.settings.judged_by
        self._judge = JUDGES[self.name](base, force.settings)
        self._runner = asyncio.Runner()

    def __enter__(self) -> Judging:
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self._runner.close()

    def rule(self, event: ToolCall, ruling: Ruling) -> Verdict:
        """The verdict by rules, with what the judge says of it where he has a say."""
        judge = self._force.settings.judge
        if self._judge is None or not undecided(ruling.verdict, judge.allow):
            return ruling.verdict
        tool, found, context = event.tool, ruling.facts, ruling.context
        case = told(event, context, judge.context, Said())
        held = casefile.circumstances(tool, found, context, case)
        return self._asked(ruling.verdict, tool, found, context, case, held, ruling.policy)

    def words(self, state: str) -> Verdict:
        """What the judge makes of the words of a call that is no call of ours: nothing else is known of it."""
        policy = self._force.policy
        tool, context = Other("call", ""), Context("", "")
        case = Case(redact(state), self._force.settings.judge.context)
        blank = Verdict(Decision.PASS, decided_by="none", policy=policy.version)
        return self._asked(blank, tool, Facts(), context, case, frozenset(), policy)

    def _asked(
        self,
        verdict: Verdict,
        tool: Tool,
        found: Facts,
        context: Context,
        case: Case,
        held: frozenset[Circumstance],
        policy: Policy,
    ) -> Verdict:
        assert self._judge is not None
        asked = request(tool, found, context, case)
        began = time.monotonic()
        answer = self._runner.run(self._judge.ask(asked, WAIT_S))
        ms = round((time.monotonic() - began) * 1000, 3)
        said = gates.noted(self.name, questions.shipped().version, asked.questions, answer, ms)
        return judged(verdict, said, held, context, policy, self._force.settings.judge.allow)


def _engine(base: str, _: Settings) -> RemoteJudge:
    ready(base)
    return RemoteJudge("http://localhost", "", "jev-latest", socket=paths.systemone_socket(base))


def _remote(base: str, force: Settings) -> RemoteJudge:
    return RemoteJudge(force.judge.url, key_file(paths.judge_key(base)), force.judge.model)


JUDGES: Mapping[str, Callable[[str, Settings], Judge | None]] = {
    "none": lambda base, force: None,
    "engine": _engine,
    "remote": _remote,
    "fixed": lambda base, force: FixedJudge(force.judge.fixed),
}
"""Each raises ReflexError where it cannot be had."""
