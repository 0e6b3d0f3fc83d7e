"""From a call and its surroundings to a verdict: at once by what the call says, or with what it names looked at."""

from __future__ import annotations

from msgspec import Struct, structs

from reflexd.core.decide import decide
from reflexd.core.facts import facts
from reflexd.core.policy import Policy, Repository
from reflexd.core.touched import directories
from reflexd.guard.carried import carried
from reflexd.sight.look import understood
from reflexd.sight.repopolicy import Repositories
from reflexd.types import Context, Decision, Facts, Guarded, Verdict


class Ruling(Struct, frozen=True):
    """`final`: looking at the disk could change nothing. There is nothing to look at, or it is refused as it stands.

    `enough`: it may stand where looking is not possible, since all that it lacks is to be fresh.
    """

    verdict: Verdict
    facts: Facts
    context: Context
    policy: Policy
    final: bool = True
    enough: bool = True


class Ruler:
    """Any thread may use it."""

    def __init__(self) -> None:
        self._repositories = Repositories()

    @property
    def faults(self) -> tuple[str, ...]:
        return self._repositories.faults

    def at_once(self, event: Guarded, context: Context, policy: Policy) -> Ruling:
        """Without a look at the disk."""
        here = self._repositories.known((context.cwd,))
        context = _prepared(event, context, policy, here[0] if here else ())
        found = facts(event.tool, context)
        around = self._repositories.known(directories(found, context)) if here else None
        ruling = self._ruled(event, found, context, policy, around[0] if around else ())
        refused = ruling.verdict.decision is Decision.DENY
        enough = refused or (around is not None and not found.wants)
        fresh = here is not None and here[1] and around is not None and around[1]
        return structs.replace(ruling, final=refused or (enough and fresh), enough=enough)

    def looked(self, event: Guarded, context: Context, policy: Policy) -> Ruling:
        """With everything looked at. May wait for a disk."""
        here = self._repositories.around((context.cwd,))
        context = _prepared(event, context, policy, here)
        found = understood(event.tool, context)
        around = self._repositories.around(directories(found, context))
        return self._ruled(event, found, context, policy, around)

    def _ruled(
        self, event: Guarded, found: Facts, context: Context, policy: Policy, around: tuple[Repository, ...]
    ) -> Ruling:
        whole = self._repositories.tightened(policy, around)
        return Ruling(decide(event, found, context, whole), found, context, whole)


def _prepared(event: Guarded, context: Context, policy: Policy, here: tuple[Repository, ...]) -> Context:
    """With what the policy and the call's own text say about its surroundings."""
    production = (*policy.production, *(name for each in here for name in each.production))
    secrets = carried(event.tool)
    if not (policy.pins or production or secrets):
        return context
    return structs.replace(context, pins=policy.pins, production=production, secrets=secrets)
