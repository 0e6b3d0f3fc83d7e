"""Probabilities: what holds for any logits."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.engine import confidence, readout
from reflexd.engine.readout import Page

logits = st.lists(st.floats(-80, 80), min_size=2, max_size=12)
distributions = logits.map(lambda found: readout.softmax(found, 1.0))
threes = st.lists(st.floats(-80, 80), min_size=3, max_size=3).map(lambda found: readout.softmax(found, 1.0))


@given(logits, st.floats(0.05, 20))
def test_a_softmax_sums_to_one_and_keeps_the_order(found: list[float], temperature: float) -> None:
    p = readout.softmax(found, temperature)
    assert math.isclose(math.fsum(p), 1.0, abs_tol=1e-12)
    assert sorted(range(len(p)), key=p.__getitem__) == sorted(range(len(p)), key=lambda i: (p[i], i))
    assert p[max(range(len(found)), key=found.__getitem__)] == max(p)


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_model_that_overflowed_has_said_nothing(bad: float) -> None:
    with pytest.raises(ValueError, match="not finite"):
        readout.softmax([0.0, bad], 1.0)


def test_pages_are_pooled_by_what_their_vocabulary_sums_to() -> None:
    """The same evidence on two pages, one of which a prompt has made likelier as a whole."""
    view = (Page((2, 0), (1.0, 3.0), 10.0), Page((1, 3), (6.0, 4.0), 13.0))
    assert readout.pooled(view) == [-7.0, -7.0, -9.0, -9.0]
    assert readout.pooled((Page((1, 0), (5.0, 4.0), 99.0),)) == [4.0, 5.0]


@given(st.lists(threes, min_size=1, max_size=4))
def test_a_mean_is_a_distribution_and_disagreement_a_distance(found: list[list[float]]) -> None:
    mean = readout.merged(found)
    assert math.isclose(math.fsum(mean), 1.0, abs_tol=1e-9)
    assert 0 <= readout.disagreement(found, mean) <= 1
    assert readout.disagreement([mean, mean], mean) == pytest.approx(0, abs=1e-12)


def test_opposite_views_disagree() -> None:
    assert readout.disagreement([[1.0, 0.0], [0.0, 1.0]], [0.5, 0.5]) == pytest.approx(0.5)


@given(distributions)
def test_confidences_are_between_none_and_all(p: list[float]) -> None:
    for how in (confidence.entropy, confidence.choice_margin, confidence.score_margin):
        assert 0 <= how(p) <= 1


def test_confidences_of_the_contract() -> None:
    """The reference formulas on numbers worked out by hand."""
    assert confidence.choice_margin([0.8, 0.1, 0.1]) == pytest.approx(0.7)
    assert confidence.choice_margin([0.25] * 4) == pytest.approx(0)
    assert confidence.score_margin([0.0, 1.0, 0.0]) == pytest.approx(1)
    assert confidence.score_margin([0.1, 0.8, 0.1]) == pytest.approx(1 - 0.2 / (2 / 3))
    assert confidence.score_margin([0.5, 0.0, 0.5]) == pytest.approx(0)
    assert confidence.entropy([0.5, 0.5]) == pytest.approx(0)
    assert confidence.entropy([1.0, 0.0]) == pytest.approx(1)
    assert confidence.entropy([1.0]) == 1
