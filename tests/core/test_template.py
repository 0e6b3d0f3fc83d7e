"""What counts as the same command with other numbers in it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core.template import template


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("kill 4711", "kill 8"),
        ("gh pr merge 12 --squash", "gh pr merge 9 --squash"),
        ("git push origin 3f78685:x", "git push origin a94a8fe:x"),
        (
            "curl https://e.example/123e4567-e89b-12d3-a456-426614174000",
            "curl https://e.example/00000000-e89b-12d3-a456-426614174999",
        ),
        ("log --since 2026-01-02T03:04:05Z", "log --since 2025-11-12"),
    ],
)
def test_ids_numbers_hashes_and_times_are_put_aside(one: str, other: str) -> None:
    assert template(one) == template(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("git push origin a", "git push origin b"),
        ("git push", "git push --force"),
        ("curl https://a1.example", "curl https://a2.example"),
        ("pip install x==1.2", "pip install x==1.3"),
        ("rm feed.txt", "rm dead.txt"),
    ],
)
def test_names_versions_and_words_are_not(one: str, other: str) -> None:
    assert template(one) != template(other)


@given(st.text(max_size=300))
def test_any_text_has_a_template_and_that_is_its_own(text: str) -> None:
    assert template(template(text)) == template(text)
