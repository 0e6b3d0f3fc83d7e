"""Judging a call without a daemon: the path of the daemon's gate from the payload to the verdict."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

from reflexd import paths, settings
from reflexd.adapters import claude
from reflexd.control import CheckRequest, CheckResult, hook_payload
from reflexd.core.decide import judged, undecided
from reflexd.core.gates import CIRCUMSTANCES, Circumstance
from reflexd.core.nearly import nearly
from reflexd.core.policy import Policy
from reflexd.ctl.calls import Judge
from reflexd.daemon.surroundings import Surroundings
from reflexd.errors import PayloadError
from reflexd.sight.ruling import Ruler, Ruling
from reflexd.types import Context, Decision, Judged, Mode, Origin, ToolCall, Verdict


def judge() -> Judge:
    """As a hook of this process would be judged. Raises PolicyError where the user's files are broken."""
    base = paths.home()
    force = settings.load(base)
    around = Surroundings(base)
    ruler = Ruler()
    mode, profile = force.settings.mode, force.settings.profile

    def checked(request: CheckRequest) -> CheckResult:
        def context(origin: Origin) -> Context:
            return around.context(origin, os.getpid(), mode, profile, request)

        ruling = _ruled(request, ruler, force.policy, context)
        if isinstance(ruling, PayloadError):
            return _unread(ruling, force.policy, mode)
        near = nearly(ruling.facts, ruling.context, ruling.policy)
        return CheckResult(ruling.verdict, ruling.facts, mode, near)

    return checked


def by_rules(event: ToolCall, ruling: Ruling) -> Verdict:
    """Nobody has a say but the rules."""
    return ruling.verdict


def as_labelled(policy: Policy, then: Callable[[ToolCall, Ruling], Verdict] = by_rules) -> Judge:
    """As labelled calls are meant: enforcing and supervised whatever the settings say. `then` has the last word.

    No variable counts but the call's own, and reflex lives in the call's home: a verdict says nothing about
    where it was found. The rules that nearly spoke are not looked for: that costs as much as judging.
    """
    around = lru_cache(Surroundings)
    ruler = Ruler()

    def checked(request: CheckRequest) -> CheckResult:
        event = _event(request)
        if isinstance(event, PayloadError):
            return _unread(event, policy, "enforce")
        context = around(request.home).context(event.origin, None, "enforce", "supervised", request)
        ruling = ruler.looked(event, context, policy)
        return CheckResult(then(event, ruling), ruling.facts, "enforce")

    return checked


def replayed(base: str, policy: Policy) -> Callable[[CheckRequest, Judged | None], Verdict]:
    """As a call of the journal would be decided by `policy` today, with a judge's answers as they were given then."""
    around, ruler = Surroundings(base), Ruler()

    def again(request: CheckRequest, said: Judged | None) -> Verdict:
        def context(origin: Origin) -> Context:
            return around.context(origin, None, "enforce", "supervised", request)

        ruling = _ruled(request, ruler, policy, context)
        if isinstance(ruling, PayloadError):
            return _unread(ruling, policy, "enforce").verdict
        if said is None or not undecided(ruling.verdict, "on"):
            return ruling.verdict
        return _read_again(ruling.verdict, said, ruling.policy)

    return again


def reread(policy: Policy, said: Judged) -> Verdict:
    """What the gates of `policy` make of a judge's answers to a call on which rules have no opinion."""
    return _read_again(Verdict(Decision.PASS, decided_by="none", policy=policy.version), said, policy)


def _read_again(verdict: Verdict, said: Judged, policy: Policy) -> Verdict:
    held: frozenset[Circumstance] = frozenset(name for name in said.held if name in CIRCUMSTANCES)  # type: ignore[misc]
    return judged(verdict, said, held, Context("", ""), policy)


def _ruled(
    request: CheckRequest, ruler: Ruler, policy: Policy, around: Callable[[Origin], Context]
) -> Ruling | PayloadError:
    event = _event(request)
    return event if isinstance(event, PayloadError) else ruler.looked(event, around(event.origin), policy)


def _event(request: CheckRequest) -> ToolCall | PayloadError:
    try:
        event = claude.parse("PreToolUse", hook_payload(request))
    except PayloadError as e:
        return e
    except ValueError as e:
        return PayloadError(str(e))
    assert isinstance(event, ToolCall)
    return event


def _unread(why: PayloadError, policy: Policy, mode: Mode) -> CheckResult:
    return CheckResult(Verdict(Decision.ASK, why.message, "payload", policy=policy.version), None, mode)
