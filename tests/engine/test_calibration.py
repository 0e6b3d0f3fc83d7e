"""Calibration files: bound to what they were fitted on."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest

from reflexd.engine import calibration
from reflexd.engine.calibration import Binding
from reflexd.engine.errors import ModelError

USED = Binding("rev", "markdown-1-x", 2, "float32")
BOUND = {"model": "rev", "prompt": "markdown-1-x", "orders": 2, "precision": "float32"}


def load(**fields: Any) -> calibration.Calibration:
    return calibration.load(json.dumps({"binding": BOUND} | fields).encode(), "c.json", USED)


def test_a_temperature_for_each_kind() -> None:
    found = load(temperature={"noul": 2.0, "choice": 0.5})
    assert [found.temperature_of(kind, (0.0, 1.0), 9) for kind in calibration.KINDS] == [2.0, 0.5, 1.0]


def test_the_head_gives_each_question_its_own() -> None:
    constant = load(head=[math.log(2), 0, 0, 0, 0, 0, 0, 0])
    assert constant.temperature_of("noul", (0.0, 1.0), 9) == pytest.approx(2)
    by_kind = load(head=[0, math.log(3), 0, 0, 0, 0, 0, 0])
    assert by_kind.temperature_of("noul", (0.0, 1.0), 9) == pytest.approx(3)
    assert by_kind.temperature_of("score", (0.0, 1.0), 9) == pytest.approx(1)
    hot = load(head=[99, 0, 0, 0, 0, 0, 0, 0])
    assert hot.temperature_of("noul", (0.0, 1.0), 9) == pytest.approx(20)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "not a calibration"),
        ('{"temperature": {"noul": NaN}}', "not a calibration"),
        ('{"temperature": {"noul": 1e999}}', "not a calibration"),
        ('{"temperature": {"noul": "warm"}}', "not a calibration"),
        ('{"temperature": {"noul": 0}, "binding": BOUND}', "not within"),
        ('{"temperature": {"noul": -1}, "binding": BOUND}', "not within"),
        ('{"temperature": {"noul": 21}, "binding": BOUND}', "not within"),
        ('{"head": [1, 2], "binding": BOUND}', "eight finite numbers"),
        ('{"temperatures": {}, "binding": BOUND}', "temperatures"),
        ('{"temperature": {"noul": 2}}', "does not say what it was fitted on"),
    ],
)
def test_a_file_that_is_wrong_says_how(text: str, says: str) -> None:
    with pytest.raises(ModelError) as refused:
        calibration.load(text.replace("BOUND", json.dumps(BOUND)).encode(), "c.json", USED)
    assert "c.json" in refused.value.message
    assert says in refused.value.message


@pytest.mark.parametrize(
    ("field", "other"), [("model", "rev2"), ("prompt", "compact-1-y"), ("orders", 1), ("precision", "bfloat16")]
)
def test_a_file_of_another_setting_is_refused_by_what_differs(field: str, other: Any) -> None:
    with pytest.raises(ModelError, match=f"fitted on {field} {other}"):
        load(binding=BOUND | {field: other})
