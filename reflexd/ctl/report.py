"""What reflex did: counts, friction, what became of asks, how long it took, and how far a judge's figures agree with
what people decided."""

from __future__ import annotations

import argparse
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import msgspec
from msgspec import Struct

from reflexd import paths
from reflexd.core.calibrating import (
    CASES_MIN,
    FRICTION,
    JUDGED_MIN,
    REFUSED_MIN,
    Bound,
    Calibration,
    Case,
    bounded,
    calibration,
    figure,
    quantile,
)
from reflexd.ctl.rows import printable, selected, selection
from reflexd.ctl.terminal import say
from reflexd.daemon.journal import Row, read_rows
from reflexd.errors import ReflexError
from reflexd.setup.tries import is_try

EXAMPLE = "reflexctl report -n 2000"
QUIET_S = 2.0
FIGURES: Mapping[str, float] = {"mutates": 1.0, "blast": 3.0}
"""What is calibrated, and the largest figure there is."""


class Report(Struct, frozen=True):
    """What --json prints. `friction`: stops per 100 calls, as agents met them. `asks` counts those put before a
    person: `ran` were approved, `not_heard` were refused, left or forgotten. `ms`: median and p99 by source.
    `bounds`: thresholds that cost no more than a few stops per 100 calls; None for too few judged calls, or for none
    that does."""

    calls: int
    since: str
    until: str
    friction: float
    by_decision: dict[str, int]
    by_source: dict[str, int]
    by_agent: dict[str, int]
    by_rule: dict[str, int]
    asks: int
    ran: int
    judged: int
    unanswered: int
    ms: dict[str, tuple[float, float]]
    calibrations: dict[str, Calibration]
    bounds: dict[str, Bound | None]

    @property
    def not_heard(self) -> int:
        return self.asks - self.ran


def arguments(parser: argparse.ArgumentParser) -> None:
    selection(parser, 100_000)
    parser.add_argument("--json", action="store_true", help="one JSON object")


def run(args: argparse.Namespace) -> int:
    path = paths.journal_file(paths.home())
    if not os.path.exists(path):
        raise ReflexError("there is no journal yet", "reflexctl status says whether agents are hooked")
    try:
        rows = selected(_noticed(read_rows(path)), args.since, args.n)
        found = report(row for row in rows if not is_try(row.session, row.cwd))
    except OSError as e:
        raise ReflexError(f"cannot read {path}: {e.strerror}") from e
    if args.json:
        print(msgspec.json.encode(found).decode())
    else:
        _print(found)
    return 0


def _noticed(rows: Iterable[Row]) -> Iterator[Row]:
    """The same, saying now and then how far it is."""
    told = time.monotonic()
    for number, row in enumerate(rows):
        if number % 1000 == 0 and time.monotonic() - told > QUIET_S:
            told = time.monotonic()
            say(f"{number} entries read")
        yield row


def report(rows: Iterable[Row]) -> Report:
    """`rows` newest first, as the journal is read."""
    ran = set()
    verdicts = []
    for row in rows:
        if row.kind == "ran":
            ran.add(row.id)
        elif row.kind == "verdict":
            verdicts.append(row)
    asked = [row for row in verdicts if row.asked]
    stops = sum(row.refused for row in verdicts)
    times: dict[str, list[float]] = {}
    for row in verdicts:
        times.setdefault(row.decided_by, []).append(row.ms)
    return Report(
        calls=len(verdicts),
        since=verdicts[-1].t if verdicts else "",
        until=verdicts[0].t if verdicts else "",
        friction=100 * stops / len(verdicts) if verdicts else 0.0,
        by_decision=_counted(row.decision for row in verdicts),
        by_source=_counted(row.decided_by for row in verdicts),
        by_agent=_counted(row.agent for row in verdicts),
        by_rule=_counted(row.rule for row in verdicts if row.refused and row.rule),
        asks=len(asked),
        ran=sum(row.id in ran for row in asked),
        judged=sum(row.judged is not None for row in verdicts),
        unanswered=sum(bool(row.judged and row.judged.none) for row in verdicts),
        ms={source: (quantile(each, 0.5), quantile(each, 0.99)) for source, each in sorted(times.items())},
        calibrations={name: calibration(_cases(asked, ran, name), most) for name, most in FIGURES.items()},
        bounds={name: bounded(_figures(verdicts, name), len(verdicts)) for name in FIGURES},
    )


def _cases(asked: Iterable[Row], ran: set[str], name: str) -> list[Case]:
    found = ((figure(row.judged, name), row.id not in ran) for row in asked if row.judged is not None)
    return [Case(value, refused) for value, refused in found if value is not None]


def _figures(rows: Iterable[Row], name: str) -> list[float]:
    found = (figure(row.judged, name) for row in rows if row.judged is not None)
    return [value for value in found if value is not None]


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def _print(found: Report) -> None:
    if not found.calls:
        print("no call was decided yet")
        return
    print(f"{found.calls} calls from {found.since} to {found.until}; {found.friction:.1f} of 100 stopped")
    for title, counts in (
        ("decisions", found.by_decision),
        ("decided by", found.by_source),
        ("agents", found.by_agent),
        ("stopped by", found.by_rule),
    ):
        if counts:
            shown = ", ".join(f"{count} {name or 'unknown'}" for name, count in counts.items())
            print(printable(f"{title:<11} {shown}"))
    if found.asks:
        print(f"asks        {found.asks} put before a person: {found.ran} ran, {found.not_heard} did not")
    for source, (median, most) in found.ms.items():
        print(f"time        {source}: p50 {median:.2f} ms, p99 {most:.2f} ms")
    if found.judged:
        print(f"judge       {found.judged} calls, {found.unanswered} without an answer")
        for name, each in found.calibrations.items():
            _print_calibration(name, each)
            bound = found.bounds[name]
            if bound is not None:
                print(f"  {name} >= {bound.threshold:.2f} would stop {bound.stops} of {found.calls} calls,", end="")
                print(f" at most {bound.per_100:g} per 100")
            else:
                print(f"  no threshold keeps to {FRICTION:g} stops per 100 calls", end="")
                print(f", or too few were judged ({JUDGED_MIN} are needed)")


def _print_calibration(name: str, found: Calibration) -> None:
    print(f"\n{name}: {found.cases} answered asks, {found.refused} refused, calibration error {found.ece:.3f}")
    for each in found.bins:
        print(f"  from {each.low:.2f}: {each.cases:>4} asks, mean {each.mean:.2f}, refused {each.refused:.0%}")
    if found.threshold is None:
        print(f"  too few to recommend a threshold ({CASES_MIN} asks with {REFUSED_MIN} refused are needed)")
    else:
        print(f"  {name} >= {found.threshold:.2f} would have asked about all refused ones and spared {found.spared}")
