"""The rules that nearly spoke of a call: all of their conditions but one hold."""

from __future__ import annotations

from reflexd.core.policy import Policy
from reflexd.core.rules import Compiled
from reflexd.types import Context, Decision, Effect, Facts, Near

NEAR_MAX = 64


def nearly(facts: Facts, context: Context, policy: Policy) -> tuple[Near, ...]:
    """Of the rules that say nothing, those that one condition kept from it, the closest first."""
    found: list[tuple[int, Near]] = []
    for rule in policy.index.rules:
        missing = _missing(rule, facts, context)
        if missing is not None:
            found.append(missing)
    found.sort(key=lambda each: (-each[0], -each[1].decision.strictness, each[1].rule))
    return tuple(near for _, near in found[:NEAR_MAX])


def _missing(rule: Compiled, facts: Facts, context: Context) -> tuple[int, Near] | None:
    """How many conditions hold, and the one that does not; None where the rule speaks or more are missing."""
    of_call = [(name, holds(facts, context)) for name, holds in rule.of_call]
    closest: tuple[int, Near] | None = None
    for effect in facts.effects if not rule.general else (None,):
        conditions = [*of_call, *((name, holds(effect)) for name, holds in rule.of_effect if effect is not None)]
        failing = [name for name, holds in conditions if not holds]
        if not failing:
            return None
        held = _held(conditions)
        if len(failing) == 1 and held >= _enough(failing[0]) and (closest is None or held > closest[0]):
            closest = (held, _near(rule, failing[0], effect))
    return closest


def _held(conditions: list[tuple[str, bool]]) -> int:
    # An exception that does not apply says nothing about how close the rule came.
    return sum(holds for name, holds in conditions if name != "except_place")


def _enough(failing: str) -> int:
    """Every write is one condition away from every rule about writing somewhere: that says nothing."""
    return 2 if failing in ("place", "effect") else 1


def _near(rule: Compiled, condition: str, effect: Effect | None) -> Near:
    said = getattr(rule.rule.when, condition)
    wanted = " or ".join(said) if isinstance(said, tuple) else str(said).lower() if isinstance(said, bool) else said
    wanted = f"none of {wanted}" if condition == "except_place" else wanted
    name = "place" if condition == "except_place" else condition
    return Near(rule.rule.id, Decision(rule.rule.decision), name, wanted, effect.target if effect else "")
