"""Says which files of a diff a reviewer should look at first.

git diff main... | python examples/pr_review.py --model DIR|ID|FILE.gguf
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from reflexd.engine import Engine
from reflexd.types import Noul, NoulAnswer, Request, Score, ScoreAnswer

QUESTIONS = (
    ("risk", Score(("words or layout only", "small change", "new behaviour", "may break users"), "How risky is it?")),
    ("tested", Noul("Do tests change along with the code?")),
    ("security", Noul("Does it touch secrets, permissions or what strangers can send?")),
)
LONGEST = 6000  # characters of one file's diff; the engine refuses what its model cannot take in whole


def main() -> None:
    parser = argparse.ArgumentParser(description="Order the files of a diff by what deserves a look.")
    parser.add_argument("--model", required=True)
    asked = parser.parse_args()
    files = list(by_file(sys.stdin.read()))
    if not files:
        sys.exit("there is no diff on standard input")
    found = []
    with Engine.open(asked.model) as engine:
        futures = [engine.submit(Request({"file": name, "diff": diff[:LONGEST]}, QUESTIONS)) for name, diff in files]
        for (name, _), future in zip(files, futures, strict=True):
            answers = dict(future.result().answers)
            risk, tested, security = answers["risk"], answers["tested"], answers["security"]
            assert isinstance(risk, ScoreAnswer)
            assert isinstance(tested, NoulAnswer)
            assert isinstance(security, NoulAnswer)
            found.append((risk.score + security.noul - tested.noul, name, risk.score, tested.noul, security.noul))
    print(f"{'risk':>5} {'tested':>6} {'security':>8}  file")
    for _, name, risk_score, is_tested, is_security in sorted(found, reverse=True):
        print(f"{risk_score:5.2f} {is_tested:6.2f} {is_security:8.2f}  {name}")


def by_file(diff: str) -> Iterator[tuple[str, str]]:
    for part in diff.split("diff --git ")[1:]:
        yield part.partition("\n")[0].rpartition(" b/")[2], part


if __name__ == "__main__":
    main()
