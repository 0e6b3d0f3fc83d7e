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
from reflexd.daemon.programs import Programs
from reflexd.daemon.surroundings import Surroundings
from reflexd.errors import PayloadError
from reflexd.sight.ruling import Ruler
from reflexd.types import Context, Decision, Mode, Origin, ToolCall, Verdict


def judge() -> Judge:
    """As a hook of this process would be judged. Raises PolicyError where the user's files are broken."""
    base = paths.home()
    force = settings.load(base)
    around = Surroundings(base, Programs(wait=True))
    mode, profile = force.settings.mode, force.settings.profile

    def judged(request: CheckRequest) -> CheckResult:
        return _judged(
            request, force.policy, mode, lambda origin: around.context(origin, os.getpid(), mode, profile, request)
        )

    return judged


def as_labelled(policy: Policy) -> Judge:
    """As labelled calls are meant: enforcing and supervised whatever the settings say.

    No variable counts but the call's own, and reflex lives in the call's home: a verdict says nothing about
    where it was found.
    """
    around = lru_cache(Surroundings)

    def judged(request: CheckRequest) -> CheckResult:
        def context(origin: Origin) -> Context:
            return around(request.home).context(origin, None, "enforce", "supervised", request)

        return _judged(request, policy, "enforce", context)

    return judged


def _judged(request: CheckRequest, policy: Policy, mode: Mode, around: Callable[[Origin], Context]) -> CheckResult:
    try:
        event = claude.parse("PreToolUse", hook_payload(request))
    except (PayloadError, ValueError) as e:
        return CheckResult(Verdict(Decision.ASK, str(e), "payload", policy=policy.version), None, mode)
    assert isinstance(event, ToolCall)
    context = around(event.origin)
    ruling = Ruler().looked(event, context, policy)
    near = nearly(ruling.facts, ruling.context, ruling.policy)
    return CheckResult(ruling.verdict, ruling.facts, mode, near)
