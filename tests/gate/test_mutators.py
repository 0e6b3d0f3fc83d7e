"""Rewriting a command without changing what it does never lets a dangerous one through, nor stops a harmless one."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from random import Random

import pytest

from reflexd.types import Decision, Verdict
from tests.gate.judge import judge, unread
from tests.gate.mutators import CODE, EVERY, FAMILIES, PUT_OFF, mutated
from tests.gate.mutators_alike import ALIKE
from tests.gate.mutators_open import OPEN
from tests.gate.mutators_programs import ELSEWHERE


def _commands(file: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in Path(__file__).with_name(file).read_text().splitlines()]


DANGEROUS = {case["command"]: Decision(case["expected"]) for case in _commands("dangerous.jsonl")}
HARMLESS = [case["command"] for case in _commands("harmless_seeds.jsonl")]
PLAIN = {command: judge(command) for command in DANGEROUS}
CLOSED = sorted(set(EVERY) - OPEN)
SHOWN = sorted(set(CLOSED) - set(ALIKE))
CLOSED_CODE = sorted(set(CODE) - OPEN)
SEED = 20
ONES, PAIRS = 24, 12_000


def weaker(command: str, names: tuple[str, ...], verdict: Verdict) -> bool:
    """Whether the mutated command got away with less than the plain one, although all of it could be read."""
    if verdict.decision is Decision.DENY or PLAIN[command].decision is not Decision.DENY:
        return verdict.decision.strictness == 0
    elsewhere = not {*ELSEWHERE, *PUT_OFF}.isdisjoint(names)
    return verdict.decision.strictness == 0 or not (elsewhere or unread(verdict))


def test_a_mutator_is_told_by_its_name() -> None:
    counted = Counter(name for family in FAMILIES for name in family)
    assert [name for name, count in counted.items() if count > 1] == []


@pytest.mark.parametrize("command", DANGEROUS)
def test_a_dangerous_command_is_stopped_as_it_stands(command: str) -> None:
    assert PLAIN[command].decision.strictness >= DANGEROUS[command].strictness, PLAIN[command]


@pytest.mark.parametrize("command", HARMLESS)
def test_a_harmless_command_is_let_through_as_it_stands(command: str) -> None:
    assert judge(command).decision is Decision.PASS


@pytest.mark.parametrize("name", CLOSED)
def test_a_mutated_dangerous_command_is_stopped(name: str) -> None:
    for command in Random(name).sample(sorted(DANGEROUS), ONES):
        changed = mutated(command, name)
        verdict = judge(changed)
        assert not weaker(command, (name,), verdict), (changed, verdict)


@pytest.mark.parametrize("name", CLOSED)
def test_a_mutated_harmless_command_is_not_denied(name: str) -> None:
    for command in Random(name).sample(HARMLESS, ONES):
        changed = mutated(command, name)
        assert judge(changed).decision is not Decision.DENY, changed
