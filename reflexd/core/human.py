"""What a person alone may approve, whatever a model thinks of it. Pure; the lists of words are config/human.toml."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from functools import cache

from msgspec import Struct, field

from reflexd.core.policy import Policy
from reflexd.shell import globs, realms
from reflexd.shell.tables import table
from reflexd.types import Command, Context, Effect, Facts, Fetch, Mcp, Tool, Verdict

_SECRET = frozenset({"credentials", "dotenv"})
WORDS_MAX = 16
_KEPT = frozenset({"recoverable", "disposable", "scratch"})
_WORD = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")


class _Class(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    commands: tuple[str, ...]
    words: tuple[str, ...]
    hosts: tuple[str, ...] = ()


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
    named = globs.any_of(context.production)
    words = [word for command in facts.commands for word in command.argv]
    if any("production" in effect.places for effect in facts.effects) or any(
        realms.production(word) or named(word) for word in words
    ):
        return "production"
    if any(effect.detail == "access" for effect in facts.effects):
        return "rights"
    if any(map(_irreversible, facts.effects)):
        return "it cannot be undone"
    if (
        context.taint
    ):  # whatever it does: a name that is looked up or a repository that is fetched carries text away too
        return "something may leave a tainted session"
    return _listed(tool, facts)


def _irreversible(effect: Effect) -> bool:
    if effect.kind == "destroy" or (effect.kind == "discard" and "recoverable" not in effect.places):
        return True
    lost = effect.kind == "delete" or (effect.kind == "change" and effect.force)
    return lost and _KEPT.isdisjoint(effect.places) and (effect.recursive or "workspace" not in effect.places)


def _listed(tool: Tool, facts: Facts) -> str:
    texts = [*(word for command in facts.commands for word in command.argv), *(e.target for e in facts.effects)]
    if isinstance(tool, Fetch):
        texts.append(tool.url)
    for name, commands, words, hosts in data():
        if any(commands(line) for command in facts.commands for line in _lines(command)):
            return name
        if any(hosts(text.lower()) for text in texts):
            return name
        if isinstance(tool, Mcp) and not words.isdisjoint(_words(tool.tool)):
            return name
    return ""


@cache
def data() -> tuple[tuple[str, Callable[[str], bool], frozenset[str], Callable[[str], bool]], ...]:
    classes = table("human.toml", _File).classes
    return tuple((c.name, globs.any_of(c.commands), frozenset(c.words), globs.any_of(c.hosts)) for c in classes)


def _lines(command: Command) -> Iterator[str]:
    """Its words, from each of the first on (what stands before may be a wrapper that nobody knows), and again without
    the options after it, each taken as one with a value and as one without."""
    for first, name in enumerate(command.argv[:WORDS_MAX]):
        name, rest = posixpath.basename(name), command.argv[first + 1 :]
        yield " ".join((name, *rest))
        for _ in range(WORDS_MAX):
            if not rest or not rest[0].startswith("-"):
                break
            yield " ".join((name, *rest[1:]))
            alone = "=" in rest[0] or (len(rest) > 1 and rest[1].startswith("-"))
            rest = rest[1:] if alone else rest[2:]
            yield " ".join((name, *rest))


def _words(name: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(name))
