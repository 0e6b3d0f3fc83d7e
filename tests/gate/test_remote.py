"""Services, clouds, other machines and this machine's own: cases-remote.jsonl, judged end to end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from reflexd.types import Decision
from tests.gate.judge import CWD, judge

CASES = [json.loads(line) for line in Path(__file__).with_name("cases-remote.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["command"][:60] for case in CASES])
def test_a_case_gets_the_decision_it_should(case: dict[str, Any]) -> None:
    verdict = judge(case["command"], case.get("cwd", CWD), case.get("env"))
    assert verdict.decision is Decision(case["expected"]), (verdict.rule, verdict.reason)
