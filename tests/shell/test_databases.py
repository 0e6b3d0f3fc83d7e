"""What database clients are told reaches the rules, whichever way it reaches the client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflexd.types import Decision
from tests.gate.judge import judge

CASES = [json.loads(line) for line in Path(__file__).with_name("databases.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["command"][:60] for case in CASES])
def test_a_client_is_judged_by_what_it_is_told(case: dict[str, str]) -> None:
    verdict = judge(case["command"])
    assert verdict.decision is Decision(case["expected"]), (verdict.rule, verdict.reason)
