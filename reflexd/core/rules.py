"""What a rule is, and what it says about one call.

A rule is a table of comparisons over one effect of a call, over the call as a whole, and over the session it
is made in; all must hold. A rule can only ask or deny: there is nothing that a rule could loosen, so the order
of rules and files never matters, and one more rule never lets more through. Each rule carries calls that it
must catch and calls that it must leave alone; core.examples runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from msgspec import Struct, field

from reflexd.shell import globs
from reflexd.types import Context, Decision, Effect, EffectKind, Facts, Finding, Pin, Place

SLOTS = frozenset({"target", "detail", "opaque", "unseen", "taint"})
"""What a reason may name in braces."""
SHOWN = 120  # characters of a target in a reason

UnseenOrigin = Literal["network", "stdin", "decoded", "scratch", "changing"]


class When(Struct, frozen=True, forbid_unknown_fields=True):
    """What must hold for a rule to speak. Lists mean "any of these".

    Of one and the same effect: its kind, a place it lies in, flags, patterns (* and ?) for its
    target and detail; `except_place` takes effects out again.
    Of the whole call: `opaque`; `unseen`: true for local code that runs and was not read, or where such code
    came from. Of the session: `tainted`; `busy`: something may change files while the call runs.
    """

    effect: EffectKind | tuple[EffectKind, ...] = ()
    place: Place | tuple[Place, ...] = ()
    except_place: Place | tuple[Place, ...] = ()
    recursive: bool | None = None
    force: bool | None = None
    target: str | tuple[str, ...] = ()
    detail: str | tuple[str, ...] = ()
    opaque: bool | None = None
    unseen: bool | tuple[UnseenOrigin, ...] | None = None
    tainted: bool | None = None
    busy: bool | None = None


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """One call to try a rule on; a bare string in the file is a shell command.

    `command` is a shell command or the name of an MCP tool, `args` that tool's arguments, `secrets` the kinds of
    secret they carry. `files` are what lies on the disk; `downloaded`, `pending`, `busy` and `taint`
    what the session did.
    """

    tool: Literal["shell", "read", "write", "edit", "patch", "search", "fetch", "code", "mcp"] = "shell"
    command: str = ""
    path: str = ""
    text: str = ""
    server: str = "server"
    args: dict[str, object] = field(default_factory=dict)
    cwd: str = ""
    env: dict[str, str] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)
    downloaded: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    busy: str = ""
    taint: tuple[str, ...] = ()
    pins: tuple[Pin, ...] = ()
    secrets: tuple[str, ...] = ()


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    decision: Literal["ask", "deny"]
    reason: str
    when: When
    catches: tuple[str | Example, ...]
    leaves: tuple[str | Example, ...]

    def finding(self, facts: Facts, context: Context) -> Finding | None:
        """This rule's opinion, with the first effect that it speaks of in its reason."""
        kinds = several(self.when.effect)
        mine = [effect for effect in facts.effects if not kinds or effect.kind in kinds]
        return Compiled(self).finding(facts, context, mine)


OfEffect = tuple[str, Callable[[Effect], bool]]
OfCall = tuple[str, Callable[[Facts, Context], bool]]
"""A condition's name, and whether it holds."""


class Compiled:
    """A rule made ready to be tried on many calls."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.kinds: frozenset[str] = frozenset(several(rule.when.effect))
        self.of_effect = tuple(_of_effect(rule.when))
        self.of_call = tuple(_of_call(rule.when))
        self.general = not self.of_effect
        # Whoever asks about one kind is given effects of that kind alone.
        self._checks = tuple(check for name, check in self.of_effect if name != "effect" or len(self.kinds) > 1)
        self._decision = Decision(rule.decision)

    def finding(self, facts: Facts, context: Context, effects: Sequence[Effect]) -> Finding | None:
        """`effects`: those of the call that the rule may speak of, in their order."""
        for _, holds in self.of_call:
            if not holds(facts, context):
                return None
        if self.general:
            return self._found(facts, context, None)
        checks = self._checks
        for effect in effects:
            for check in checks:
                if not check(effect):
                    break
            else:
                return self._found(facts, context, effect)
        return None

    def _found(self, facts: Facts, context: Context, effect: Effect | None) -> Finding:
        wanted = self.rule.when.unseen
        code = next((u for u in facts.unseen if not isinstance(wanted, tuple) or u.origin in wanted), None)
        reason = self.rule.reason.format(
            target=one_line(effect.target) if effect else "",
            detail=one_line(effect.detail) if effect else "",
            opaque=one_line(facts.opaque),
            unseen=one_line(code.path or code.why) if code else "",
            taint=one_line(", ".join(context.taint)),
        )
        return Finding(self.rule.id, self._decision, reason)


def several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def one_line(text: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in text[: SHOWN + 1])
    return shown if len(shown) <= SHOWN else shown[:SHOWN] + "…"


def _unseen(wanted: bool | tuple[UnseenOrigin, ...], facts: Facts) -> bool:
    if isinstance(wanted, bool):
        return wanted == bool(facts.unseen)
    return any(code.origin in wanted for code in facts.unseen)


def _of_call(when: When) -> Iterator[OfCall]:
    """The conditions over the call and its session."""
    unseen = when.unseen
    if when.opaque is not None:
        yield "opaque", lambda facts, context: bool(facts.opaque) == when.opaque
    if unseen is not None:
        yield "unseen", lambda facts, context: _unseen(unseen, facts)
    if when.tainted is not None:
        yield "tainted", lambda facts, context: bool(context.taint) == when.tainted
    if when.busy is not None:
        yield "busy", lambda facts, context: bool(context.past.busy or context.past.pending) == when.busy


def _of_effect(when: When) -> Iterator[OfEffect]:
    """The conditions over one effect, those that rule out most first."""
    if when.effect:
        kinds = frozenset(several(when.effect))
        yield "effect", lambda effect: effect.kind in kinds
    if when.place:
        places = frozenset(several(when.place))
        yield "place", lambda effect: not places.isdisjoint(effect.places)
    if when.except_place:
        spared = frozenset(several(when.except_place))
        yield "except_place", lambda effect: spared.isdisjoint(effect.places)
    if when.recursive is not None:
        yield "recursive", lambda effect: effect.recursive == when.recursive
    if when.force is not None:
        yield "force", lambda effect: effect.force == when.force
    if when.target:
        target = globs.any_of(several(when.target))
        yield "target", lambda effect: target(effect.target)
    if when.detail:
        detail = globs.any_of(several(when.detail))
        yield "detail", lambda effect: detail(effect.detail)


class Index:
    """Rules by the kinds of effect that they speak of, so that a call meets only those that might."""

    def __init__(self, rules: tuple[Rule, ...]) -> None:
        self.rules = tuple(map(Compiled, rules))
        self.general = tuple(rule for rule in self.rules if rule.general)
        self._of_kinds: dict[frozenset[str], tuple[Compiled, ...]] = {}

    def findings(self, facts: Facts, context: Context) -> Iterator[Finding]:
        for rule in self.general:
            if (found := rule.finding(facts, context, ())) is not None:
                yield found
        by_kind: dict[str, list[Effect]] = {}
        for effect in facts.effects:
            by_kind.setdefault(effect.kind, []).append(effect)
        for rule in self._speaking_of(frozenset(by_kind)):
            mine = by_kind[next(iter(rule.kinds))] if len(rule.kinds) == 1 else facts.effects
            if (found := rule.finding(facts, context, mine)) is not None:
                yield found

    def _speaking_of(self, kinds: frozenset[str]) -> tuple[Compiled, ...]:
        known = self._of_kinds.get(kinds)
        if known is None:
            known = tuple(r for r in self.rules if not r.general and (not r.kinds or not r.kinds.isdisjoint(kinds)))
            self._of_kinds[kinds] = known
        return known
