"""Judges the harmless commands of tests/gate/harmless and writes down every one that is stopped.

    python bench/harmless.py [--write]

Prints the page docs/results/harmless.md; `--write` puts it there. By the rules that come with reflex alone.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import msgspec
from msgspec import Struct

from reflexd.core.policy import shipped
from reflexd.ctl import labelled, local
from reflexd.types import Verdict

ROOT = Path(__file__).resolve().parents[1]
CORPUS = ROOT / "tests" / "gate" / "harmless"
PAGE = ROOT / "docs" / "results" / "harmless.md"
FLOOR = 0.04
COMMAND_SHOWN = 100


class Harmless(Struct, frozen=True, forbid_unknown_fields=True):
    """A line of the corpus: a command nobody needs to be asked about, and where it was found."""

    command: str
    source: str
    label: str


class Judged(Struct, frozen=True):
    line: Harmless
    verdict: Verdict

    @property
    def stopped(self) -> bool:
        return self.verdict.decision.strictness > 0


def files() -> tuple[Path, ...]:
    return tuple(sorted(CORPUS.glob("*.jsonl")))


def lines(file: Path) -> tuple[Harmless, ...]:
    return tuple(msgspec.json.decode(line, type=Harmless) for line in file.read_bytes().splitlines())


def judged(file: Path) -> tuple[Judged, ...]:
    judge = local.as_labelled(shipped())
    cases = labelled.read(str(file)).cases
    return tuple(Judged(line, judge(case.request).verdict) for line, case in zip(lines(file), cases, strict=True))


def page() -> str:
    """The whole page, the same for the same rules and commands."""
    by_file = {file.stem: judged(file) for file in files()}
    every = [one for found in by_file.values() for one in found]
    stops = [one for one in every if one.stopped]
    out = [
        "# Harmless commands that are stopped",
        "",
        "Written by `python bench/harmless.py --write` from `tests/gate/harmless/*.jsonl`: commands of other projects'",
        "CI files, package scripts, Makefiles and documents, everyday commands written for this list, and commands",
        "used in building this project. One person judged them harmless; those that a careful person would want to be",
        "asked about are in `tests/gate/harmless/asked`. Judged by the rules that come with reflex, in a project that",
        "is not on the disk: what only looking there could tell (what git gives back, what a script holds) counts as",
        "not known.",
        "",
        f"**{len(stops)} of {len(every)} stopped ({len(stops) / len(every):.1%}; at most {FLOOR:.0%}).**",
        "",
        "| list | commands | stopped |",
        "|---|--:|--:|",
        *(f"| {name} | {len(found)} | {sum(one.stopped for one in found)} |" for name, found in by_file.items()),
        "",
        "| rule | stopped |",
        "|---|--:|",
        *(f"| {rule} | {count} |" for rule, count in Counter(map(_rule, stops)).most_common()),
        "",
        "| command | decision | reason |",
        "|---|---|---|",
        *(_row(one) for one in sorted(stops, key=lambda one: (_rule(one), one.line.command))),
    ]
    return "\n".join(out) + "\n"


def _rule(one: Judged) -> str:
    return one.verdict.rule or one.verdict.decided_by


def _row(one: Judged) -> str:
    command = " ".join(one.line.command.split())
    shown = command if len(command) <= COMMAND_SHOWN else command[:COMMAND_SHOWN] + "…"
    return f"| {_cell(shown)} | {one.verdict.decision} {_rule(one)} | {_cell(one.verdict.reason)} |"


def _cell(text: str) -> str:
    """As Markdown shows it literally: in a code span, whatever back quotes and bars it holds."""
    fence = "``" if "`" in text else "`"
    pad = " " if "`" in text else ""
    return f"{fence}{pad}{text}{pad}{fence}".replace("|", "\\|")


def main() -> int:
    parser = argparse.ArgumentParser(description="The harmless commands that are stopped, with the reasons.")
    parser.add_argument("--write", action="store_true", help="write docs/results/harmless.md instead of printing it")
    text = page()
    if parser.parse_args().write:
        PAGE.write_text(text, "utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
