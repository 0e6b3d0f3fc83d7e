"""Instructions: heads, what fits a prompt, and the text that is added."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflexd.core import instructions
from reflexd.core.instructions import ADDED_MAX, Head, Instruction
from reflexd.errors import PolicyError
from reflexd.types import NoAnswer, Noul, NoulAnswer, Response, Usage

SOURCE = "~/.config/reflex/instructions"


def parse(text: str | bytes) -> Instruction:
    return instructions.parse("/h/x.md", text if isinstance(text, bytes) else text.encode(), SOURCE)


def made(name: str = "x.md", text: str = "do it so", **head: object) -> Instruction:
    return Instruction(name, SOURCE, Head(**head), text)  # type: ignore[arg-type]


def test_a_file_is_a_head_and_its_text() -> None:
    found = parse('+++\npaths = ["*.py"]\nkeywords = ["release"]\n+++\n\n# Python\n+++\nuse ruff\n')
    assert found == made(text="# Python\n+++\nuse ruff", paths=("*.py",), keywords=("release",))
    assert parse('\ufeff+++\r\nquestion = "Is it a release?"\r\n+++\r\nx') == made(
        text="x", question="Is it a release?"
    )


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("", 1, "does not begin"),
        ("# Python", 1, "does not begin"),
        ('+++\nkeywords = ["a"]\nuse ruff', 1, "no second line"),
        ("+++\n+++\nx", 1, "none of paths"),
        ("+++\nkeywords = []\n+++\nx", 1, "none of paths"),
        ('+++\n\nkeyword = ["a"]\n+++\nx', 3, "unknown field"),
        ('+++\nkeywords = ["a"]\npaths = "a"\n+++\nx', 3, "array"),
        ('+++\nkeywords = ["a"]\npaths = [\n+++\nx', 3, "line 3"),
        ('+++\nquestion = "a"\nkeywords = [" "]\n+++\nx', 3, "keywords are"),
        ('+++\nkeywords = ["a"]\nquestion = "a\\nb"\n+++\nx', 3, "one line"),
        ('+++\nkeywords = ["a"]\n+++\n \n', 3, "nothing follows"),
        ('+++\nkeywords = ["a"]\n+++\n' + "x" * ADDED_MAX, 3, "bytes would be added"),
        (b'+++\nkeywords = ["a"]\n+++\n\xff', 4, "not UTF-8"),
    ],
)
def test_a_fault_is_named_with_file_and_line(text: str | bytes, line: int, why: str) -> None:
    with pytest.raises(PolicyError, match=why) as e:
        parse(text)
    assert e.value.message.startswith("/h/x.md: ")
    assert f"line {line}" in e.value.message


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200).map(lambda t: f"+++\n{t}\n+++\nx".encode())))
def test_any_bytes_are_an_instruction_or_a_fault(data: bytes) -> None:
    with contextlib.suppress(PolicyError):
        parse(data)


@pytest.mark.parametrize(
    ("keyword", "prompt", "fits"),
    [
        ("release", "make a Release, please", True),
        ("release", "it was released", False),
        ("rele.se", "release", False),
        ("dry run", "do a dry\n  run first", True),
        ("C++", "write it in c++", True),
        ("größe", "GRÖSSE zählt", True),
        ("straße", "STRASSE", True),
    ],
)
def test_keywords_are_whole_words_in_any_case(keyword: str, prompt: str, fits: bool) -> None:
    assert instructions.fits(made(keywords=(keyword,)), prompt, "/w", "/h") is fits


@pytest.mark.parametrize(
    ("glob", "prompt", "fits"),
    [
        ("*.py", "look at src/deep/a.py.", True),
        ("*.py", "look at `a.py`", True),
        ("*.py", "look at python", False),
        ("src/*.py", "look at @src/a.py", True),
        ("src/*.py", "look at src/deep/a.py", False),
        ("src/**/*.py", "look at ./src//deep/a.py", True),
        ("src/**/*.py", "look at src/a.py", True),
        ("src/**", "(see src/x/../deep)", True),
        ("src/**", "see ../src/deep", False),
        ("/etc/**", "what is in /etc/hosts?", True),
        ("/etc/**", "see https://x.example/etc/hosts", False),
        ("~/notes/**", "put it into ~/notes/today.md", True),
        ("/w/**", "anything at all", True),
        ("/v/**", "anything at all", False),
    ],
)
def test_paths_are_those_that_the_prompt_names_and_its_directory(glob: str, prompt: str, fits: bool) -> None:
    assert instructions.fits(made(paths=(glob,)), prompt, "/w", "/h") is fits


def test_many_stars_and_many_words_end_soon() -> None:
    hard = made(paths=("/".join(["**"] * 60) + "/x",), keywords=("a " * 60,))
    assert not instructions.fits(hard, "/".join("a" * 100) + " " + " ".join(["a/b"] * 5000), "/w", "/h")


def test_all_questions_are_one_request_and_a_yes_chooses() -> None:
    asked = [
        made("a.md", question="Is it a release?"),
        made("b.md", question="Is it about SQL?"),
        made("c.md", question="?"),
    ]
    request = instructions.request(asked, "ship it", "/w")
    assert "ship it" in str(request.state)
    assert [(name, q.instructions) for name, q in request.questions if isinstance(q, Noul)] == [
        ("i0", "Is it a release?"),
        ("i1", "Is it about SQL?"),
        ("i2", "?"),
    ]
    answers = (("i0", NoulAnswer(0.5)), ("i1", NoulAnswer(0.49)), ("i7", NoulAnswer(1.0)))
    response = Response(answers, Usage(0, 0, 0), 0.1)
    assert instructions.chosen(asked, response) == (asked[0],)
    assert instructions.chosen(asked, NoAnswer("timeout", "")) == ()


def test_what_is_added_is_whole_labelled_and_bounded() -> None:
    half = "ü" * (ADDED_MAX // 4)
    found = instructions.added([made("a.md", half), made("b.md", half), made("c.md", "short")])
    assert (found.names, found.left_out) == (("a.md", "c.md"), ("b.md",))
    assert f"from {SOURCE}/a.md]\n{half}\n" in found.text
    assert found.text.endswith("(reflex left out, for want of room: b.md)")
    assert len(found.text.encode()) < ADDED_MAX + 600
    assert instructions.added([]).text == ""
