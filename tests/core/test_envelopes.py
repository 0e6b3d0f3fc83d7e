"""Which of a person's envelopes holds for a call."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core import envelopes
from reflexd.kept import Envelope

NOW = 1000.0


def row(holder: str, text: str = "", until: float = 0) -> Envelope:
    return Envelope(holder, envelopes.terms(text or holder), 1.0, until, b"")


@pytest.mark.parametrize(
    ("holders", "session", "cwd", "held"),
    [
        (["/w"], "pi:1", "/w", "/w"),
        (["/w"], "pi:1", "/w/a/b", "/w"),
        (["/w"], "pi:1", "/work", ""),
        (["/w"], "pi:1", "/", ""),
        (["/w"], "pi:1", "", ""),
        (["/"], "pi:1", "/work", "/"),
        (["/"], "pi:1", "", ""),
        (["/w", "/w/a", "/"], "pi:1", "/w/a/b", "/w/a"),
        (["/w/a", "pi:1"], "pi:1", "/w/a", "pi:1"),
        (["pi:1"], "pi:1", "", "pi:1"),
        (["pi:1"], "pi:12", "/w", ""),
        (["pi:1"], "claude:1", "/w", ""),
        ([], "pi:1", "/w", ""),
    ],
)
def test_the_session_s_own_wins_then_the_nearest_directory_s(
    holders: list[str], session: str, cwd: str, held: str
) -> None:
    found = envelopes.nearest([row(holder) for holder in holders], session, cwd, NOW)
    assert (envelopes.text(found) if found else "") == held


def test_what_is_over_leaves_its_place_to_what_holds() -> None:
    rows = [row("pi:1", until=NOW), row("/w/a", until=NOW - 1), row("/w", until=NOW + 1)]
    assert envelopes.nearest(rows, "pi:1", "/w/a", NOW) == rows[2]
    assert envelopes.holding(rows, NOW) == (rows[2],)
    assert envelopes.nearest(rows, "pi:1", "/w/a", NOW + 1) is None


@pytest.mark.parametrize("broken", ["", "{}", "[]", '{"text": 7}', '{"text": ""}', "\ud800"])
def test_a_row_that_nobody_could_have_written_is_none(broken: str) -> None:
    assert envelopes.nearest([Envelope("/w", broken, 1.0, 0, b"")], "pi:1", "/w", NOW) is None


@given(st.text(min_size=1, alphabet=st.characters(exclude_categories=["Cs"])))
def test_words_come_back_as_they_were(text: str) -> None:
    assert envelopes.text(row("/w", text)) == text


@pytest.mark.parametrize(
    ("holder", "text", "seconds", "why"),
    [
        ("/w", "x", 0, ""),
        ("claude:1", "x", 60, ""),
        ("claude:", "x", 0, "neither"),
        ("nobody:1", "x", 0, "neither"),
        ("w", "x", 0, "neither"),
        ("/w", "x" * (envelopes.TERMS_MAX + 1), 0, "characters"),
        ("/w", "x", -1, "a year"),
        ("/w", "x", envelopes.SECONDS_MAX + 1, "a year"),
    ],
)
def test_what_cannot_be_set_says_why(holder: str, text: str, seconds: int, why: str) -> None:
    said = envelopes.fault(holder, text, seconds)
    assert why in said
    assert bool(said) == bool(why)
