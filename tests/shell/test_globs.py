"""Patterns of rules: what they mean, and that no pattern takes long."""

from __future__ import annotations

from fnmatch import fnmatchcase

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.shell import globs

PATTERNS = st.text(alphabet="ab*?[]!-.", max_size=12)


@settings(max_examples=2000, deadline=None, derandomize=True)
@given(PATTERNS, st.text(alphabet="ab.-]", max_size=12))
def test_it_means_what_file_patterns_mean(pattern: str, text: str) -> None:
    assert globs.one(pattern)(text) == fnmatchcase(text, pattern), (pattern, text)


@given(st.lists(PATTERNS, max_size=4), st.text(alphabet="ab", max_size=6))
def test_one_of_several_is_enough(patterns: list[str], text: str) -> None:
    assert globs.any_of(tuple(patterns))(text) == any(globs.one(each)(text) for each in patterns)


@pytest.mark.parametrize("pattern", ["*a" * 200 + "b", "*" * 500, "?*" * 200 + "b", "*[ab]" * 100 + "c"])
def test_no_pattern_keeps_a_match_busy(pattern: str) -> None:
    # A backtracking matcher would not come back from these in anybody's lifetime.
    assert not globs.one(pattern)("a" * 20_000 + "z") or pattern == "*" * 500
