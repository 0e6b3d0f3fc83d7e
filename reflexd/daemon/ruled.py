"""One event on its way through the gate: as it came, what was found of it, and how that is kept and told."""

from __future__ import annotations

from msgspec import Struct

from reflexd.adapters.all import Adapter
from reflexd.control import CheckResult
from reflexd.core.nearly import nearly
from reflexd.core.policy import Policy
from reflexd.daemon.journal import Row, Why, now
from reflexd.daemon.shown import effects
from reflexd.types import Context, Event, Facts, Guarded, Mode, Near, Verdict


class Hook(Struct, frozen=True):
    """One event as it came. Times are monotonic."""

    adapter: Adapter
    event: str
    payload: bytes
    pid: int
    began: float
    ends: float


class Ruled(Struct, frozen=True):
    """What was found; `event`, `facts` and `context` are None where it did not come that far. `call` is redacted.
    `final`: looking at the disk could change nothing; `enough`: it may stand where that is not possible."""

    verdict: Verdict
    mode: Mode
    event: Event | None = None
    facts: Facts | None = None
    call: str = ""
    context: Context | None = None
    final: bool = True
    enough: bool = True
    policy: Policy | None = None

    def near(self) -> tuple[Near, ...]:
        """The rules that nearly spoke."""
        if self.facts is None or self.context is None or self.policy is None:
            return ()
        return nearly(self.facts, self.context, self.policy)


def result(ruled: Ruled) -> CheckResult:
    return CheckResult(ruled.verdict, ruled.facts, ruled.mode, ruled.near())


def row(agent: str, event_name: str, ruled: Ruled, can_ask: bool = False, ms: float = 0) -> Row:
    verdict, event = ruled.verdict, ruled.event
    origin = event.origin if event else None
    return Row(
        t=now(),
        id=verdict.id,
        agent=agent,
        event=event_name,
        session=origin.session if origin else "",
        subagent=origin.subagent if origin else "",
        cwd=origin.cwd if origin else "",
        tool=event.tool_name if isinstance(event, Guarded) else "",
        call=ruled.call,
        decision=verdict.decision.value,
        reason=verdict.reason,
        decided_by=verdict.decided_by,
        rule=verdict.rule,
        policy=verdict.policy,
        mode=ruled.mode,
        asked=can_ask,
        ms=round(ms, 3),
        findings=tuple(Why(f.rule, f.decision.value, f.reason) for f in verdict.findings),
        effects=effects(ruled.facts) if verdict.decision.strictness else (),
        judged=verdict.judged,
    )
