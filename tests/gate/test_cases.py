"""The cases of cases.jsonl: one command a line, and what must become of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflexd.types import Decision
from tests.gate.judge import CWD, judge

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["command"][:60] for case in CASES])
def test_a_case_gets_the_decision_it_should(case: dict[str, str]) -> None:
    verdict = judge(case["command"], case.get("cwd", CWD))
    assert verdict.decision is Decision(case["expected"]), (verdict.rule, verdict.reason)
