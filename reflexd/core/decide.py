"""The verdict on one event. Pure and total: the same arguments give the same verdict, whatever they are.

Rule 1: the strictest finding wins. Findings are put in one order whatever order the rules came in.
Rule 2: nothing here loosens. A proof of being read-only only names why nothing was found.
Rule 3: what was not understood (`facts` None) asks.
"""

from __future__ import annotations

from reflexd.core.policy import Policy
from reflexd.types import Context, Decision, Event, Facts, Finding, PermissionRequest, ToolCall, Verdict


def decide(event: Event, facts: Facts | None, context: Context, policy: Policy) -> Verdict:
    """A verdict without an id. Only what comes before a tool runs can be asked about or denied."""
    if not isinstance(event, ToolCall | PermissionRequest):
        return Verdict(Decision.PASS, policy=policy.version)
    findings = _findings(facts, context, policy)
    if context.mode == "off":
        return Verdict(Decision.PASS, "reflex is switched off", "mode", findings=findings, policy=policy.version)
    if findings:
        first = findings[0]
        source = _SOURCES.get(first.rule, "rule")
        rule = first.rule if source == "rule" else ""
        return Verdict(first.decision, first.reason, source, rule, findings, policy.version)
    source = "read-only" if facts is not None and facts.read_only else "none"
    return Verdict(Decision.PASS, decided_by=source, policy=policy.version)


_PAYLOAD = Finding("payload", Decision.ASK, "this call could not be understood, so it may not run unseen")
_NAMESPACE = Finding(
    "namespace", Decision.ASK, "this call comes from another mount or process namespace, where paths may differ"
)
_POLICY = "policy"
_SOURCES = {_PAYLOAD.rule: "payload", _NAMESPACE.rule: "namespace", _POLICY: "policy"}


def _findings(facts: Facts | None, context: Context, policy: Policy) -> tuple[Finding, ...]:
    found = [] if facts is not None else [_PAYLOAD]
    if context.foreign_namespace:
        found.append(_NAMESPACE)
    if facts is not None:
        found.extend(policy.findings(facts, context))
    if policy.faults and not (facts is not None and facts.read_only):
        found.append(
            Finding(_POLICY, Decision.ASK, f"{policy.faults[0]}; until a person mends it, only reading goes on")
        )
    if len(found) > 1:
        general = policy.general | _SOURCES.keys()
        # What names an effect says more to a model than what says that something is unclear.
        found.sort(key=lambda f: (-f.decision.strictness, f.rule in general, f.rule, f.reason))
    return tuple(dict.fromkeys(found))
