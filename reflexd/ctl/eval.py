"""Scores what reflex decides about labelled calls: what it stops of those it should, and of those it should not."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from reflexd import paths, settings
from reflexd.ctl import labelled
from reflexd.ctl.calls import Judge
from reflexd.ctl.labelled import Case, Label, LineError, Rate
from reflexd.ctl.rows import printable
from reflexd.ctl.terminal import error, say
from reflexd.types import Decision, Verdict

EXAMPLE = "reflexctl eval gate calls.jsonl"
USAGE = 2
QUIET_S = 2.0
SHOWN = 160

_GATE = f"""\
Judge every labelled call of FILE, in this process and without a daemon, as a supervised agent's
call in mode enforce. Lines of kinds that no single call decides are left out and counted.

{labelled.EXAMPLE_LINE};
`label` (free, stop, either) may stand for `expected` (deny, ask, allow), a call may also be in
`input`, and path, url, text, args, tool, cwd, home, env are as for reflexctl check --batch."""


class Disagreement(Struct, frozen=True):
    id: str
    label: Label
    decision: Decision
    rule: str
    reason: str
    call: str


class Score(Struct, frozen=True):
    """What --json prints. `table` counts decisions by label; `rule` of a disagreement names who decided."""

    file: str
    policy: str
    scored: int
    left_out: Mapping[str, int]
    table: Mapping[Label, Mapping[Decision, int]]
    rates: tuple[Rate, ...]
    disagreements: tuple[Disagreement, ...]


def arguments(parser: argparse.ArgumentParser) -> None:
    kinds = parser.add_subparsers(dest="what", metavar="WHAT", required=True, help="what is scored")
    gate = kinds.add_parser(
        "gate",
        help="decisions on tool calls",
        description=_GATE,
        epilog=f"example: {EXAMPLE}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    gate.add_argument("file", metavar="FILE", help="JSON lines ('-': standard input)")
    gate.add_argument("--json", action="store_true", help="the score as one JSON object")
    gate.add_argument("--debug", action="store_true", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    try:
        read = labelled.read(args.file)
    except LineError as e:
        error(e.message, e.hint)
        return USAGE
    from reflexd.ctl import local  # loads what reads commands, which --help does without

    policy = settings.load(paths.home()).policy
    judged = tuple(_judged(read.cases, local.as_labelled(policy)))
    score = Score(
        file=args.file,
        policy=judged[0][1].policy,
        scored=len(judged),
        left_out=read.left_out,
        table=_table(judged),
        rates=labelled.rates((case.label, verdict.decision) for case, verdict in judged),
        disagreements=tuple(
            _disagreement(case, verdict)
            for case, verdict in judged
            if not labelled.agrees(case.label, verdict.decision)
        ),
    )
    if args.json:
        print(msgspec.json.encode(score).decode())
    else:
        _print(score)
    return 0


def _judged(cases: tuple[Case, ...], judge: Judge) -> Iterator[tuple[Case, Verdict]]:
    told = time.monotonic()
    for number, case in enumerate(cases):
        if time.monotonic() - told > QUIET_S:
            told = time.monotonic()
            say(f"{number} of {len(cases)} calls judged")
        yield case, judge(case.request).verdict


def _table(judged: Iterable[tuple[Case, Verdict]]) -> dict[Label, dict[Decision, int]]:
    table: dict[Label, dict[Decision, int]] = {}
    for case, verdict in judged:
        table.setdefault(case.label, dict.fromkeys(Decision, 0))[verdict.decision] += 1
    return table


def _disagreement(case: Case, verdict: Verdict) -> Disagreement:
    request = case.request
    on = request.command or request.path or request.url or request.text or request.args or ""
    call = on if request.tool == "Bash" else f"{request.tool} {on}"
    rule = verdict.rule or verdict.decided_by
    return Disagreement(case.id, case.label, verdict.decision, rule, verdict.reason, call)


def _print(score: Score) -> None:
    left = ", ".join(f"{count} {kind}" for kind, count in score.left_out.items())
    print(f"{score.scored} calls scored by policy {score.policy}" + (f"; left out: {left}" if left else ""))
    print()
    print("label   " + "".join(f"{decision:>7}" for decision in Decision))
    for label, row in score.table.items():
        print(f"{label:<8}" + "".join(f"{count:>7}" for count in row.values()))
    print()
    for rate in score.rates:
        counted = f"{rate.count:>5} of {rate.of:<5} {rate.share:>6.1%}"
        print(f"{rate.name:<20}{counted}   {rate.sense} {rate.floor:<6.1%} {'met' if rate.met else 'MISSED'}")
    print(f"\n{len(score.disagreements)} disagreements")
    for one in score.disagreements:
        print(printable(f"{one.id}  {one.label} -> {one.decision} [{one.rule}] {one.reason}".rstrip()))
        print(printable("    " + " ".join(one.call.split())[:SHOWN]))
