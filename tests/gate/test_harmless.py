"""Ordinary commands are let through: at most 4 of 100 of the corpus are stopped, and each of them is written down."""

from __future__ import annotations

import json

import pytest

from bench import harmless
from reflexd.ctl import labelled


def test_the_corpus_is_large_and_names_its_sources() -> None:
    lines = [line for file in harmless.files() for line in harmless.lines(file)]
    assert len({line.command for line in lines}) == len(lines) >= 1000
    assert all(line.source and line.label == "free" for line in lines)


def test_what_a_person_wants_to_be_asked_about_is_in_a_list_of_its_own() -> None:
    asked = (harmless.CORPUS / "asked" / "asked.jsonl").read_text("utf-8").splitlines()
    apart = {line["command"] for line in map(json.loads, asked) if line["label"] in ("stop", "either") and line["why"]}
    assert len(apart) == len(asked)
    assert apart.isdisjoint(line.command for file in harmless.files() for line in harmless.lines(file))


@pytest.mark.parametrize("file", harmless.files(), ids=lambda file: file.stem)
def test_every_line_is_a_labelled_call(file: str) -> None:
    assert {case.label for case in labelled.read(str(file)).cases} == {"free"}


def test_few_are_stopped_and_the_page_names_every_one() -> None:
    every = [one for file in harmless.files() for one in harmless.judged(file)]
    assert sum(one.stopped for one in every) <= harmless.FLOOR * len(every)
    assert harmless.PAGE.read_text("utf-8") == harmless.page(), "run python bench/harmless.py --write"
