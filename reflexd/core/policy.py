"""Rules as data: TOML bytes -> Policy, or a PolicyError that names the file and the line.

A rule is a table of comparisons over one effect of a call (or over the call as a whole); all must hold.
A rule can only ask or deny: there is nothing that a rule could loosen, so the order of rules and files
never matters, and one more rule never lets more through. Each rule carries calls that it must catch and
calls that it must leave alone; core.examples runs them.
"""

from __future__ import annotations

import functools
import hashlib
import re
import string
import tomllib
from fnmatch import fnmatchcase
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct, field

from reflexd.errors import PolicyError
from reflexd.types import Decision, Effect, EffectKind, Facts, Finding, Place

FORMAT = 1
RULES_MAX = 500
TARGET_SHOWN = 120  # characters of a target in a reason
_SLOTS = frozenset({"target", "detail", "opaque"})
_KEY_PATH = re.compile(r"`\$(?P<path>[^`]*)`")
_UNKNOWN_FIELD = re.compile(r"unknown field `(?P<name>[^`]*)`")


class When(Struct, frozen=True, forbid_unknown_fields=True):
    """What must hold for a rule to speak. Lists mean "any of these".

    Of one and the same effect: its kind, a place it lies in, flags, patterns (* and ?) for its
    target and detail; `except_place` takes effects out again. `opaque` is of the whole call.
    """

    effect: EffectKind | tuple[EffectKind, ...] = ()
    place: Place | tuple[Place, ...] = ()
    except_place: Place | tuple[Place, ...] = ()
    recursive: bool | None = None
    force: bool | None = None
    target: str | tuple[str, ...] = ()
    detail: str | tuple[str, ...] = ()
    opaque: bool | None = None

    def matches(self, effect: Effect) -> bool:
        return (
            (not self.effect or effect.kind in _several(self.effect))
            and (not self.place or any(place in _several(self.place) for place in effect.places))
            and not any(place in _several(self.except_place) for place in effect.places)
            and (self.recursive is None or self.recursive == effect.recursive)
            and (self.force is None or self.force == effect.force)
            and _fits(effect.target, self.target)
            and _fits(effect.detail, self.detail)
        )


class Example(Struct, frozen=True, forbid_unknown_fields=True):
    """One call to try a rule on; a bare string in the file is a shell command."""

    tool: Literal["shell", "read", "write", "edit", "patch", "fetch", "code", "mcp"] = "shell"
    command: str = ""
    path: str = ""
    text: str = ""
    cwd: str = ""
    env: dict[str, str] = field(default_factory=dict)


class Rule(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    decision: Literal["ask", "deny"]
    reason: str
    when: When
    catches: tuple[str | Example, ...]
    leaves: tuple[str | Example, ...]

    def finding(self, facts: Facts) -> Finding | None:
        """This rule's opinion, with the first effect that it speaks of in its reason."""
        if self.when.opaque is not None and self.when.opaque != bool(facts.opaque):
            return None
        if not self.when.effect and self.when == When(opaque=self.when.opaque):
            return Finding(
                self.id, Decision(self.decision), self.reason.format(opaque=_one_line(facts.opaque), **_NOTHING)
            )
        for effect in facts.effects:
            if self.when.matches(effect):
                reason = self.reason.format(
                    target=_one_line(effect.target), detail=_one_line(effect.detail), opaque=_one_line(facts.opaque)
                )
                return Finding(self.id, Decision(self.decision), reason)
        return None


_NOTHING = {"target": "", "detail": ""}


class Policy(Struct, frozen=True):
    """Rules in force. `version` is the number that the file gives itself and a digest of every byte of it."""

    version: str
    rules: tuple[Rule, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    policy: int
    version: str
    rule: tuple[Rule, ...] = ()


def load(data: bytes, name: str, base: Policy | None = None) -> Policy:
    """The rules of `data` on top of those of `base`. Raises PolicyError; never any other error."""
    try:
        text = data.decode()
        raw = tomllib.loads(text)
    except UnicodeDecodeError as e:
        line = data.count(b"\n", 0, e.start) + 1
        raise PolicyError(f"{name}: line {line}: not UTF-8") from e
    except (tomllib.TOMLDecodeError, RecursionError) as e:
        raise PolicyError(f"{name}: {e or 'nested too deeply'}") from e
    try:
        read = msgspec.convert(raw, _File)
    except msgspec.ValidationError as e:
        raise PolicyError(f"{name}: line {_line(text, str(e))}: {e}") from e
    if read.policy != FORMAT:
        raise PolicyError(f"{name}: line {_line_of_key(text, 'policy')}: format {read.policy}, this reads {FORMAT}")
    rules = (*base.rules, *read.rule) if base else read.rule
    if len(rules) > RULES_MAX:
        raise PolicyError(f"{name}: more than {RULES_MAX} rules")
    taken = {rule.id for rule in base.rules} if base else set()
    for number, rule in enumerate(read.rule):
        fault = _fault(rule, taken)
        if fault:
            raise PolicyError(f"{name}: line {_line_of_rule(text, number)}: rule {rule.id}: {fault}")
        taken.add(rule.id)
    digest = hashlib.sha256(((base.version + "\n") if base else "").encode() + data).hexdigest()[:8]
    number_shown = f"{base.version}/{read.version}" if base else read.version
    return Policy(f"{number_shown}+{digest}", rules)


@functools.cache
def shipped() -> Policy:
    """The rules that come with reflex."""
    return load(resources.files("reflexd.config").joinpath("policy.toml").read_bytes(), "policy.toml")


def _fault(rule: Rule, taken: set[str]) -> str:
    if not re.fullmatch(r"[a-z][a-z0-9-]{1,60}", rule.id):
        return "an id is lower-case words joined by -"
    if rule.id in taken:
        return "the id is taken; a rule adds, it never replaces"
    if rule.when == When():
        return "it has no condition"
    if not rule.reason or "\n" in rule.reason:
        return "a reason is one line"
    try:
        slots = {name for _, name, spec, conversion in string.Formatter().parse(rule.reason) if name is not None}
        rule.reason.format(**dict.fromkeys(_SLOTS, ""))
    except (ValueError, LookupError, AttributeError) as e:
        return f"its reason cannot be filled in: {e}"
    if slots - _SLOTS:
        return f"its reason names {', '.join(sorted(slots - _SLOTS))}; it may name {', '.join(sorted(_SLOTS))}"
    return "" if rule.catches and rule.leaves else "it needs examples of what it catches and of what it leaves alone"


def _several(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value


def _fits(text: str, patterns: str | tuple[str, ...]) -> bool:
    return not patterns or any(fnmatchcase(text, pattern) for pattern in _several(patterns))


def _one_line(text: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in text[: TARGET_SHOWN + 1])
    return shown if len(shown) <= TARGET_SHOWN else shown[:TARGET_SHOWN] + "…"


def _line(text: str, message: str) -> int:
    """The line that a validation error is about: the key it names, within the rule it names."""
    where = _KEY_PATH.search(message)
    path = where["path"] if where else ""
    numbered = re.match(r"\.rule\[(\d+)\]", path)
    unknown = _UNKNOWN_FIELD.search(message)
    keys = re.findall(r"\.([A-Za-z_]+)", path)
    key = unknown["name"] if unknown else (keys[-1] if keys else "")
    start = _line_of_rule(text, int(numbered[1])) if numbered else 1
    return _line_of_key(text, key, start) or start


def _line_of_rule(text: str, number: int) -> int:
    headers = [i for i, line in enumerate(text.split("\n"), 1) if re.match(r"\s*\[\[\s*rule\s*\]\]", line)]
    return headers[number] if number < len(headers) else 1


def _line_of_key(text: str, key: str, start: int = 1) -> int:
    wanted = re.compile(rf"(^|[\s{{,\[.\"]){re.escape(key)}\"?\s*(=|\]|\.)") if key else None
    for i, line in enumerate(text.split("\n")[start - 1 :], start):
        if i > start and re.match(r"\s*\[\[", line):
            break
        if wanted and wanted.search(line):
            return i
    return 0
