"""What a person alone may approve, whatever a model thinks of it. Pure; the lists of words are config/human.toml."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache

from msgspec import Struct, field

from reflexd.core.confine import leaves
from reflexd.core.policy import Policy
from reflexd.shell import globs
from reflexd.shell.tables import table
from reflexd.types import Command, Context, Effect, Facts, Mcp, Tool, Verdict

_SECRET = frozenset({"credentials", "dotenv"})
_KEPT = frozenset({"recoverable", "disposable", "scratch"})
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


class _Class(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    commands: tuple[str, ...]
    words: tuple[str, ...]


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    human: int
    classes: tuple[_Class, ...] = field(name="class")


def why_human(tool: Tool, facts: Facts, context: Context, verdict: Verdict, policy: Policy) -> str:
    """Why only a person may approve what `verdict` asks about, in a few words; empty where a model may.

    What was not read is not known to be outside the class, so it is in it.
    """
    if verdict.decided_by != "gate" or not verdict.findings:
        return "a rule decided it"
    marked = {gate.id for gate in policy.gates if gate.human}
    if any(finding.rule in marked for finding in verdict.findings):
        return "its gate is a person's"
    if facts.opaque or facts.unseen:
        return "not all of it was read"
    if context.secrets or any(not _SECRET.isdisjoint(effect.places) for effect in facts.effects):
        return "secrets"
    if any("production" in effect.places for effect in facts.effects):
        return "production"
    if any(map(_irreversible, facts.effects)):
        return "it cannot be undone"
    if context.taint and leaves(tool, facts):
        return "something may leave a tainted session"
    return _listed(tool, facts)


def _irreversible(effect: Effect) -> bool:
    if effect.kind == "destroy" or (effect.kind == "discard" and "recoverable" not in effect.places):
        return True
    lost = effect.kind == "delete" or (effect.kind == "change" and effect.force)
    return lost and _KEPT.isdisjoint(effect.places) and (effect.recursive or "workspace" not in effect.places)


def _listed(tool: Tool, facts: Facts) -> str:
    for name, commands, words in data():
        if any(commands(_line(command)) for command in facts.commands):
            return name
        if isinstance(tool, Mcp) and not words.isdisjoint(_words(tool.tool)):
            return name
    return ""


@cache
def data() -> tuple[tuple[str, Callable[[str], bool], frozenset[str]], ...]:
    classes = table("human.toml", _File).classes
    return tuple((each.name, globs.any_of(each.commands), frozenset(each.words)) for each in classes)


def _line(command: Command) -> str:
    return " ".join((posixpath.basename(command.argv[0]), *command.argv[1:])) if command.argv else ""


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))
