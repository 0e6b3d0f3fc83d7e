"""What a call would do and why it was decided so, as a tree for a reader's terminal."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from reflexd.control import CheckResult
from reflexd.ctl.rows import printable, said_by_judge
from reflexd.types import Effect, Facts, Near

NEAR_SHOWN = 8


def tree(result: CheckResult) -> Iterator[str]:
    """Lines in order, each printable."""
    verdict, facts = result.verdict, result.facts
    if facts is None:
        yield "the call was not understood"
    else:
        yield from map(printable, _facts(facts))
    for number, found in enumerate(verdict.findings):
        yield printable(f"{'also   ' if number else 'decided'}  {found.decision} [{found.rule}] {found.reason}")
    for name, text in said_by_judge(verdict.judged) if verdict.judged is not None else ():
        yield printable(f"{name:<8} {text}")
    for near in result.near[:NEAR_SHOWN]:
        yield printable(f"nearly   {near.decision} [{near.rule}] {_near(near)}")
    if len(result.near) > NEAR_SHOWN:
        yield f"nearly   and {len(result.near) - NEAR_SHOWN} more"
    yield f"policy   {verdict.policy}, mode {result.mode}"


def _facts(facts: Facts) -> Iterator[str]:
    above: tuple[str, ...] = ()
    named, cwd = "", ""
    for number, command in enumerate(facts.commands, 1):
        via, indent = command.via, "  " * len(command.via)
        if via and via != above and via[-1] != named:
            yield f"{indent[2:]}under    {' > '.join(via)}"  # a wrapper that is no command of its own
        where = f" (in {command.cwd})" if command.cwd != cwd else ""
        above, named, cwd = via, command.argv[0].rpartition("/")[2], command.cwd
        yield f"{indent}runs     {shlex.join(command.argv)}{where}" + (", only reads" if command.read_only else "")
        yield from (_effect(effect, indent + "  ") for effect in facts.effects if effect.by == number)
    yield from (_effect(effect, "") for effect in facts.effects if not 1 <= effect.by <= len(facts.commands))
    for source in facts.sources:
        yield f"read     {source.path} (sha256 {source.digest[:16]})"
    for unseen in facts.unseen:
        yield f"unseen   {unseen.path or 'code'}: {unseen.why}" + (f" (from {unseen.origin})" if unseen.origin else "")
    for want in facts.wants:
        yield f"not seen {want.kind} {want.path}"
    if facts.opaque:
        yield f"opaque   {facts.opaque}"
    if facts.read_only:
        yield "proof    it only reads"


def _effect(effect: Effect, indent: str) -> str:
    how = [word for word, holds in (("recursive", effect.recursive), ("forced", effect.force)) if holds]
    more = ", ".join((*effect.places, *how, *([effect.detail] if effect.detail else [])))
    return f"{indent}effect   {effect.kind} {effect.target}" + (f" ({more})" if more else "")


def _near(near: Near) -> str:
    of = f", for {near.target}" if near.target else ""
    return f"had {near.condition} been {near.wanted}{of}"
