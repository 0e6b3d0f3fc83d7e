"""What deletes everything, spelt in every way that the reader follows: each line of spelled.txt is denied."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflexd.types import Decision
from tests.gate.judge import judge

LINES = Path(__file__).with_name("spelled.txt").read_text().splitlines()


@pytest.mark.parametrize("line", LINES)
def test_it_is_denied(line: str) -> None:
    assert judge(line.replace("⏎", "\n")).decision is Decision.DENY
