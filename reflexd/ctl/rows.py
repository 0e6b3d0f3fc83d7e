"""How rows of the journal look on a terminal."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice, takewhile

from reflexd.daemon.journal import Row
from reflexd.types import ChoiceAnswer, Judged, NoulAnswer, ScoreAnswer

_UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def selection(parser: argparse.ArgumentParser, most: int) -> None:
    """The arguments that say which entries are looked at."""
    parser.add_argument("--since", type=moment, metavar="TIME", help="7d, 12h, 30m ago, or a date")
    parser.add_argument("-n", type=count, default=most, metavar="N", help=f"how many of the last entries ({most})")


def selected(rows: Iterable[Row], since: str | None, most: int) -> Iterator[Row]:
    """Of `rows`, newest first, the `most` last ones that are not older than `since`."""
    return islice(takewhile(lambda row: row.t >= (since or ""), rows), most)


def moment(text: str) -> str:
    """A time as the journal writes it: so long ago, or at a date (of this machine's time zone)."""
    if found := re.fullmatch(r"([0-9]{1,5})([mhd])", text, re.ASCII):
        at = datetime.now(UTC) - timedelta(**{_UNITS[found[2]]: int(found[1])})
    else:
        try:
            at = datetime.fromisoformat(text).astimezone(UTC)
        except (ValueError, OverflowError) as e:
            raise argparse.ArgumentTypeError(f"{text!r} is no time; for example 7d, 12h or 2026-01-31") from e
    return at.isoformat(timespec="milliseconds")


def count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number")
    return int(text)


def local_time(row: Row) -> str:
    try:
        return datetime.fromisoformat(row.t).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except ValueError:
        return row.t


def printable(text: str) -> str:
    """One line that cannot move the cursor or colour the screen: an agent chose these words."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def line(row: Row) -> str:
    source = row.rule or row.decided_by
    words = (local_time(row), row.id, row.agent, row.decision or row.kind, f"[{source}]" if source else "", row.tool)
    return printable(" ".join(word for word in (*words, row.call or row.reason) if word))[:400]


def said_by_judge(said: Judged) -> Iterator[tuple[str, str]]:
    """Who was asked, what he answered and how sure he was, and what held of the call: (name, text) a line."""
    yield "judge", f"{said.judge}, questions {said.questions}, {said.ms:g} ms" + (f": {said.none}" if said.none else "")
    for name, answer in said.answers:
        match answer:
            case NoulAnswer(noul):
                yield "answer", f"{name} {noul:.3f}"
            case ScoreAnswer(score, _, legend, entropy):
                yield "answer", f"{name} {score:.2f} of {len(legend) - 1} (confidence {entropy:.2f})"
            case ChoiceAnswer(choice, probabilities, entropy):
                yield "answer", f"{name} {choice} {dict(probabilities).get(choice, 0):.3f} (confidence {entropy:.2f})"
    if said.held:
        yield "held", ", ".join(said.held)
