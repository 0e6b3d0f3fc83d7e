"""Judging a call without a daemon: the path of the daemon's gate from the payload to the verdict."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import lru_cache

from reflexd import paths, settings
from reflexd.adapters import claude
from reflexd.control import CheckRequest, CheckResult, hook_payload
from reflexd.core.nearly import nearly
from reflexd.core.policy import Policy
from reflexd.ctl.calls import Judge
from reflexd.daemon.surroundings import Surroundings
from reflexd.errors import PayloadError
from reflexd.sight.ruling import Ruler, Ruling
from reflexd.types import Context, Decision, Mode, Origin, ToolCall, Verdict


def judge() -> Judge:
    """As a hook of this process would be judged. Raises PolicyError where the user's files are broken."""
    base = paths.home()
    force = settings.load(base)
    around = Surroundings(base)
    ruler = Ruler()
    mode, profile = force.settings.mode, force.settings.profile

    def judged(request: CheckRequest) -> CheckResult:
        def context(origin: Origin) -> Context:
            return around.context(origin, os.getpid(), mode, profile, request)

        ruling = _ruled(request, ruler, force.policy, context)
        if isinstance(ruling, PayloadError):
            return _unread(ruling, force.policy, mode)
        near = nearly(ruling.facts, ruling.context, ruling.policy)
        return CheckResult(ruling.verdict, ruling.facts, mode, near)

    return judged


def as_labelled(policy: Policy) -> Judge:
    """As labelled calls are meant: enforcing and supervised whatever the settings say.

    No variable counts but the call's own, and reflex lives in the call's home: a verdict says nothing about
    where it was found. The rules that nearly spoke are not looked for: that costs as much as judging.
    """
    around = lru_cache(Surroundings)
    ruler = Ruler()

    def judged(request: CheckRequest) -> CheckResult:
        def context(origin: Origin) -> Context:
            return around(request.home).context(origin, None, "enforce", "supervised", request)

        ruling = _ruled(request, ruler, policy, context)
        if isinstance(ruling, PayloadError):
            return _unread(ruling, policy, "enforce")
        return CheckResult(ruling.verdict, ruling.facts, "enforce")

    return judged


def _ruled(
    request: CheckRequest, ruler: Ruler, policy: Policy, around: Callable[[Origin], Context]
) -> Ruling | PayloadError:
    try:
        event = claude.parse("PreToolUse", hook_payload(request))
    except PayloadError as e:
        return e
    except ValueError as e:
        return PayloadError(str(e))
    assert isinstance(event, ToolCall)
    return ruler.looked(event, around(event.origin), policy)


def _unread(why: PayloadError, policy: Policy, mode: Mode) -> CheckResult:
    return CheckResult(Verdict(Decision.ASK, why.message, "payload", policy=policy.version), None, mode)
