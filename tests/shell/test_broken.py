"""Broken text that a parser goes over again and again: given up early, asked about, and still looked at for harm."""

from __future__ import annotations

import pytest

from reflexd.shell import syntax
from reflexd.shell.interpret import read
from reflexd.types import Decision
from tests.gate.judge import judge, unread

BROKEN = {
    "closing parentheses": "))" * 4_000,
    "pipes": "|" * 8_000,
    "subshells": "(&" * 4_000,
    "a brace in a subshell": "<({r,,,}m x) " + "-" * 4_000,
    "sums behind a word": "echo " + "((1+2))" * 500,
}
NESTED = 60


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
def test_broken_text_is_given_up_and_asks(text: str) -> None:
    assert syntax.parse(text.encode()) is None
    assert unread(judge(text))


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("harm", ["rm -rf /", "r''m -rf ~"])
def test_harm_before_broken_text_is_denied(text: str, harm: str) -> None:
    assert judge(f"{harm}\n{text}").decision is Decision.DENY


def test_long_valid_text_is_parsed_whole() -> None:
    for text in ("git status --short\n" * 1_700, "echo '" + "a 'b' $x".replace("'", '"') * 4_000 + "'"):
        root = syntax.parse(text.encode())
        assert root is not None
        assert not root.has_error
        assert root.end_byte == len(text)


def test_what_is_valid_but_unknown_to_the_grammar_is_still_read() -> None:
    text = "ls" + " @(a|b)" * 1_500
    assert syntax.parse(text.encode()) is None
    assert read(text, "/home/dev/proj", "/home/dev", {}).opaque == ()


@pytest.mark.parametrize("harm", ["r''m -rf /", "x=rm; $x -rf /", "r\\m -rf ~", "$'\\x72m' -rf /"])
def test_sums_within_sums_hide_nothing(harm: str) -> None:
    within = "echo " + "$((1+" * NESTED + f"$({harm})" + "))" * NESTED
    behind = "echo " + "$((1+" * NESTED + "1" + "))" * NESTED + f"; {harm}"
    assert judge(within).decision is Decision.DENY
    assert judge(behind).decision is Decision.DENY


def test_a_deep_directory_is_left_again() -> None:
    down, up = f"cd {'a' * 30}; " * 100, "cd ..; " * 100
    assert judge(f"cd /; {down}{up}rm -rf *").decision is Decision.DENY


@pytest.mark.parametrize("text", ["${x:x:-" * 22 + "a $(ls" + "}" * 22, "${x:-${x:x:-" * 18 + "x-$(ls x*-; $i"])
def test_what_doubles_at_each_level_ends(text: str) -> None:
    assert unread(judge(text))
