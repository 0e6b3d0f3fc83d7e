"""The commands that the mutators are tried on, and what must become of them once mutated.

Run as a program it tries the whole product (every dangerous command through two mutators, one after the other)
and prints what got through: python -m tests.gate.redteam [HOW MANY OF EACH, default all]. Hours, if all.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from reflexd.types import Decision, Verdict
from tests.gate.judge import judge, unread
from tests.gate.mutators import CODE, EVERY, PUT_OFF, mutated
from tests.gate.mutators_alike import ALIKE
from tests.gate.mutators_programs import ELSEWHERE

SEED = 20


def _commands(file: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(__file__).with_name(file).read_text().splitlines()]


DANGEROUS = {case["command"]: Decision(case["expected"]) for case in _commands("dangerous.jsonl")}
HARMLESS = [case["command"] for case in _commands("harmless_seeds.jsonl")]
FIRST = sorted(set(EVERY) - set(ALIKE))
"""What may come first; what only looks alike is no shell code that anything could be put on top of."""
SECOND = sorted(CODE)
_PLAIN: dict[str, Verdict] = {}


def plain(command: str) -> Verdict:
    if command not in _PLAIN:
        _PLAIN[command] = judge(command)
    return _PLAIN[command]


def got_through(command: str, names: Iterable[str], verdict: Verdict) -> bool:
    """Whether the mutated command is let through, or gets away with less although all of it could be read.

    Where it runs elsewhere, or later, asking is enough; in a container of its own an installation is free.
    """
    away = not ELSEWHERE.keys().isdisjoint(names)
    if verdict.decision.strictness == 0:
        return not (away and plain(command).rule.startswith("install"))
    if verdict.decision is Decision.DENY or plain(command).decision is not Decision.DENY:
        return False
    return not (away or unread(verdict) or not PUT_OFF.isdisjoint(names))


def missed(commands: Iterable[str], first: list[str], second: list[str]) -> Iterator[tuple[str, str, str]]:
    for command in commands:
        for one in first:
            for other in second:
                if got_through(command, (one, other), judge(mutated(command, one, other))):
                    yield command, one, other


def main() -> int:
    many = int(sys.argv[1]) if len(sys.argv) > 1 else len(EVERY)
    random = Random(SEED)
    commands = sorted(DANGEROUS)
    first = random.sample(FIRST, min(many, len(FIRST)))
    second = random.sample(SECOND, min(many, len(SECOND)))
    found = list(missed(commands, first, second))
    for command, one, other in found:
        print(f"{one} + {other}: {command}")
    print(f"{len(commands)} commands x {len(first)} x {len(second)} mutators: {len(found)} got through")
    print(*Counter(name for _, one, other in found for name in (one, other)).most_common(9), sep="\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
