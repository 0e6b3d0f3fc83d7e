"""Figures against what people decided."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core.calibrating import JUDGED_MIN, Case, bounded, calibration, figure, quantile
from reflexd.types import ChoiceAnswer, Judged, NoulAnswer, ScoreAnswer

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


@given(st.lists(st.floats(0, 1), min_size=JUDGED_MIN, max_size=300), st.integers(0, 1000), st.floats(0, 100))
def test_a_bound_keeps_to_its_friction_and_is_the_lowest_that_does(
    figures: list[float], more: int, per_100: float
) -> None:
    calls = len(figures) + more
    found = bounded(figures, calls, per_100)
    may = int(per_100 * calls / 100)
    if found is None:
        # Then the largest figures alone, as far as hundredths tell them apart, are too many.
        assert sum(each * 100 // 1 >= max(figures) * 100 // 1 for each in figures) > may
        return
    assert found.stops == sum(each >= found.threshold for each in figures) <= may
    if found.threshold:
        assert sum(each >= found.threshold - 0.0101 for each in figures) > may


def test_a_bound_needs_calls_and_says_none_where_there_is_none() -> None:
    assert bounded([0.5] * (JUDGED_MIN - 1), 10_000) is None
    assert bounded([0.9] * JUDGED_MIN, JUDGED_MIN) is None
    assert bounded([0.9] * JUDGED_MIN, JUDGED_MIN, 100.0) is not None
    found = bounded([0.9] * 2 + [0.1] * 98, 100)
    assert found is not None
    assert (found.threshold, found.stops, found.judged, found.per_100) == (0.11, 2, 100, 2.0)


def test_an_answer_is_a_figure_where_it_is_one() -> None:
    answers = (
        ("mutates", NoulAnswer(0.25)),
        ("blast", ScoreAnswer(1.5, (0.0, 0.5, 0.5), ("a", "b", "c"), 1.0, 1.0)),
        ("environment", ChoiceAnswer("local", (("local", 1.0),), 1.0, 1.0)),
    )
    said = Judged("fixed", "1", answers)
    assert [figure(said, name) for name in ("mutates", "blast", "environment", "exfil")] == [0.25, 1.5, None, None]


def test_a_quantile_is_one_of_the_values() -> None:
    assert [quantile([3.0, 1.0, 2.0], share) for share in (0, 0.5, 0.99, 1)] == [1.0, 2.0, 3.0, 3.0]
