"""The user's own instructions: read from real files, chosen with a judge or without one."""

from __future__ import annotations

import asyncio
import os
import time

import pytest

from reflexd.core.instructions import Added
from reflexd.daemon.instructing import FILE_MAX, Instructing, directory
from reflexd.daemon.lane import Lane
from reflexd.judge.fixed import FixedJudge
from reflexd.judge.values import Judge
from reflexd.settings import Fixed, Settings
from reflexd.types import NoAnswer, NoulAnswer, Origin, Prompt, Request, Response, Usage


class Answers:
    """A judge that keeps what it was asked and answers each question with `yes`."""

    name = "answers"

    def __init__(self, yes: float) -> None:
        self.asked: list[Request] = []
        self._yes = yes

    async def ask(self, request: Request, deadline_s: float) -> Response | NoAnswer:
        self.asked.append(request)
        if self._yes < 0:
            raise ValueError("it broke")
        return Response(tuple((name, NoulAnswer(self._yes)) for name, _ in request.questions), Usage(0, 0, 0), 0.0)

    def says(self) -> str:
        return ""


def write(home: str, name: str, head: str, text: str = "do it so", mode: int = 0o600) -> str:
    os.makedirs(directory(home), mode=0o700, exist_ok=True)
    path = os.path.join(directory(home), name)
    with open(path, "w") as file:
        file.write(f"+++\n{head}\n+++\n{text}\n")
    os.chmod(path, mode)
    return path


def given(home: str, prompt: str, judge: Judge | None = None, left_s: float = 5) -> tuple[Added, tuple[str, ...]]:
    made = Instructing(home, lambda settings: judge, Lane(1, 8))
    event = Prompt(Origin("claude", "UserPromptSubmit", "s", home), prompt)
    added = asyncio.run(made.added(event, Settings(), time.monotonic() + left_s))
    return added, made.faults


def test_those_that_fit_are_added_in_the_order_of_their_names(short_home: str) -> None:
    write(short_home, "b.md", 'keywords = ["release"]', "tag it")
    write(short_home, "a.md", 'paths = ["*.py"]', "use ruff")
    write(short_home, "c.md", 'keywords = ["database"]')
    write(short_home, "d.txt", 'keywords = ["release"]')
    added, faults = given(short_home, "release src/x.py")
    assert (added.names, faults) == (("a.md", "b.md"), ())
    assert "from ~/.config/reflex/instructions/a.md]\nuse ruff" in added.text
    assert given(short_home, "nothing of it")[0] == Added("")


def test_without_a_directory_or_a_file_nothing_is_added(short_home: str) -> None:
    assert given(short_home, "release") == (Added(""), ())
    os.remove(write(short_home, "a.md", 'keywords = ["release"]'))
    assert given(short_home, "release") == (Added(""), ())


def test_questions_go_to_the_judge_at_once_with_the_prompt_redacted(short_home: str) -> None:
    write(short_home, "a.md", 'question = "Is it a release?"')
    write(short_home, "b.md", 'question = "Is it about SQL?"')
    write(short_home, "c.md", 'keywords = ["ship"]\nquestion = "Is something shipped?"')
    token = "ghp_" + "a1B2" * 9
    judge = Answers(0.9)
    added, _ = given(short_home, f"ship it with {token}", judge)
    assert added.names == ("a.md", "b.md", "c.md")
    (request,) = judge.asked
    assert [name for name, _ in request.questions] == ["i0", "i1"], "what fits already is not asked"
    assert "ship it with" in str(request.state)
    assert token not in str(request.state)
    assert given(short_home, "ship it", Answers(0.1))[0].names == ("c.md",)


@pytest.mark.parametrize("judge", [None, Answers(-1), FixedJudge(Fixed())])
def test_without_an_answer_a_question_chooses_nothing(short_home: str, judge: Judge | None) -> None:
    write(short_home, "a.md", 'question = "Is it a release?"')
    write(short_home, "b.md", 'keywords = ["ship"]')
    assert given(short_home, "ship it", judge)[0].names == ("b.md",)


def test_a_broken_file_is_named_and_the_others_hold(short_home: str) -> None:
    write(short_home, "a.md", "keyword = 1")
    write(short_home, "b.md", 'keywords = ["ship"]')
    write(short_home, "c.md", 'keywords = ["ship"]', "x" * FILE_MAX)
    added, faults = given(short_home, "ship it")
    assert added.names == ("b.md",)
    assert [("a.md: line 2" in faults[0]), ("larger" in faults[1])] == [True, True]


def test_what_others_can_write_is_not_used(short_home: str) -> None:
    write(short_home, "a.md", 'keywords = ["ship"]', mode=0o620)
    os.mkfifo(os.path.join(directory(short_home), "b.md"))
    added, faults = given(short_home, "ship it")
    assert added == Added("")
    assert ["others may write" in faults[0], "is not a file" in faults[1]] == [True, True]
    os.chmod(write(short_home, "a.md", 'keywords = ["ship"]'), 0o600)
    assert given(short_home, "ship it")[0].names == ("a.md",)
    os.chmod(directory(short_home), 0o770)
    added, faults = given(short_home, "ship it")
    assert added == Added("")
    assert "no instructions are used" in faults[0]


def test_with_no_time_left_nothing_is_added(short_home: str) -> None:
    write(short_home, "a.md", 'keywords = ["ship"]')
    added, faults = given(short_home, "ship it", left_s=0)
    assert added == Added("")
    assert faults
