"""Figures against what people decided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core.calibrating import Case, calibration

cases = st.lists(st.builds(Case, st.floats(0, 1), st.booleans()), max_size=60)


def test_a_judge_that_knows_has_no_error_and_a_clean_threshold() -> None:
    found = calibration([Case(0.0, False)] * 20 + [Case(1.0, True)] * 5)
    assert (found.cases, found.refused, found.ece, found.threshold, found.spared) == (25, 5, 0.0, 1.0, 20)
    assert [(each.low, each.cases, each.mean, each.refused) for each in found.bins] == [
        (0.0, 20, 0.0, 0.0),
        (0.8, 5, 1.0, 1.0),
    ]


def test_one_that_is_always_sure_and_wrong_half_the_time_errs_by_half() -> None:
    assert calibration([Case(1.0, True), Case(1.0, False)] * 10).ece == pytest.approx(0.5)


@pytest.mark.parametrize(("approved", "refused"), [(0, 0), (19, 0), (17, 2), (10, 3)])
def test_with_too_few_cases_nothing_is_recommended(approved: int, refused: int) -> None:
    assert calibration([Case(0.1, False)] * approved + [Case(0.9, True)] * refused).threshold is None


@given(cases)
def test_no_refused_case_lies_below_what_is_recommended(given_: list[Case]) -> None:
    found = calibration(given_)
    assert 0 <= found.ece <= 1
    assert sum(each.cases for each in found.bins) == len(given_)
    if found.threshold is not None:
        assert all(case.figure >= found.threshold for case in given_ if case.refused)


@given(cases)
def test_a_score_is_calibrated_on_its_own_scale(given_: list[Case]) -> None:
    scaled = calibration([Case(case.figure * 3, case.refused) for case in given_], 3.0)
    assert scaled.ece == pytest.approx(calibration(given_).ece, abs=0.5)
    assert all(0 <= each.mean <= 1 + 1e-9 for each in scaled.bins)
