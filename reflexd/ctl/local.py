"""Judging a call without a daemon: the path of the daemon's gate from the payload to the verdict."""

from __future__ import annotations

import os
from functools import lru_cache

from reflexd import paths, settings
from reflexd.adapters import claude
from reflexd.control import CheckRequest, CheckResult, hook_payload
from reflexd.core.decide import decide
from reflexd.ctl.calls import Judge
from reflexd.daemon.surroundings import Surroundings
from reflexd.errors import PayloadError
from reflexd.sight.look import understood
from reflexd.types import Decision, ToolCall, Verdict


def judge(*, as_labelled: bool = False) -> Judge:
    """Raises PolicyError where the user's files are broken.

    `as_labelled`: as labelled calls are meant. Enforcing and supervised whatever the settings say, with
    no variable but the call's own, and with reflex installed in the call's home: a score says nothing
    about where it was taken.
    """
    base = paths.home()
    force = settings.load(base)
    around = lru_cache(Surroundings)
    mode = "enforce" if as_labelled else force.settings.mode
    profile = "supervised" if as_labelled else force.settings.profile
    caller = None if as_labelled else os.getpid()

    def judged(request: CheckRequest) -> CheckResult:
        try:
            event = claude.parse("PreToolUse", hook_payload(request))
        except (PayloadError, ValueError) as e:
            return CheckResult(Verdict(Decision.ASK, str(e), "payload", policy=force.policy.version), None, mode)
        assert isinstance(event, ToolCall)
        context = around(request.home if as_labelled else base).context(event.origin, caller, mode, profile, request)
        found = understood(event.tool, context)
        return CheckResult(decide(event, found, context, force.policy), found, mode)

    return judged
