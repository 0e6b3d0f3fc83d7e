"""The verdict on one event. Pure and total: the same arguments give the same verdict, whatever they are.

Rule 1: the strictest finding wins. Findings are put in one order whatever order the rules came in.
Rule 2: a judge's answers are added to what rules found and take nothing away. Only a gate that allows lets a call
skip the agent's own prompt, and only where nothing else has an opinion and a person has switched that on.
Rule 3: what was not understood (`facts` None) asks.
"""

from __future__ import annotations

from msgspec import structs

from reflexd.core import gates
from reflexd.core.confine import confined
from reflexd.core.gates import Circumstance
from reflexd.core.policy import Policy
from reflexd.types import Allow, Context, Decision, Event, Facts, Finding, Judged, PermissionRequest, ToolCall, Verdict


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
    source = "none"
    if facts is not None:
        source = "read-only" if facts.read_only else "confined" if confined(event.tool, facts, context) else source
    return Verdict(Decision.PASS, decided_by=source, policy=policy.version)


def undecided(verdict: Verdict, allow: Allow) -> bool:
    """Whether a judge has a say in it: nothing spoke, and nothing proves it harmless. Where a judge may allow, it is
    asked about ordinary work too."""
    if verdict.decision is not Decision.PASS or verdict.findings:
        return False
    return verdict.decided_by == "none" or (verdict.decided_by == "confined" and allow != "off")


def judged(
    verdict: Verdict,
    said: Judged,
    circumstances: frozenset[Circumstance],
    context: Context,
    policy: Policy,
    allow: Allow = "off",
) -> Verdict:
    """An undecided `verdict` with a judge's answers. In shadow they are noted and change nothing."""
    reading = gates.Reading(none=said.none)
    if not said.none:
        try:
            reading = gates.read(said.answers)
        except ValueError as e:
            reading = gates.Reading(none=str(e))
    stops, allows = gates.findings(policy.gates, reading, circumstances)
    stops.sort(key=lambda f: (-f.decision.strictness, f.rule))
    found = (*stops, *(() if stops or allow == "off" else allows))
    said = structs.replace(
        said, none=reading.none, gates=tuple(f.rule for f in found), held=tuple(sorted(circumstances))
    )
    noted = structs.replace(verdict, findings=(*verdict.findings, *found), judged=said)
    if not found or context.mode == "shadow" or (not stops and allow != "on"):
        return noted
    first = found[0]
    return structs.replace(noted, decision=first.decision, reason=first.reason, decided_by="gate", rule=first.rule)


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
