"""What git is made to run: by its options, by settings that it is given, by variables, by URLs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from reflexd.types import Decision

from .judge import judge


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    expected: Decision


DATA = Path(__file__).with_name("cases-git.jsonl").read_bytes()
CASES = [msgspec.json.decode(line, type=Case) for line in DATA.splitlines() if line.strip()]


@pytest.mark.parametrize("case", CASES, ids=[case.command for case in CASES])
def test_a_case_gets_the_decision_it_should(case: Case) -> None:
    verdict = judge(case.command)
    assert verdict.decision is case.expected, (verdict.rule, verdict.reason)
