"""Rewriting a command without changing what it does never lets a dangerous one through, nor stops a harmless one."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.types import Decision
from tests.gate.judge import judge
from tests.gate.mutators import EVERY, FAMILIES, mutated
from tests.gate.mutators_alike import ALIKE
from tests.gate.mutators_programs import ELSEWHERE
from tests.gate.redteam import DANGEROUS, FIRST, HARMLESS, SECOND, SEED, got_through, plain

ONES, PAIRS = 20, 10_000


def test_a_mutator_is_told_by_its_name() -> None:
    counted = Counter(name for family in FAMILIES for name in family)
    assert [name for name, count in counted.items() if count > 1] == []


def test_there_are_enough_of_each() -> None:
    assert len(DANGEROUS) >= 220
    assert len(HARMLESS) >= 150
    assert len(EVERY) >= 500


@pytest.mark.parametrize("command", DANGEROUS)
def test_a_dangerous_command_is_stopped_as_it_stands(command: str) -> None:
    assert plain(command).decision.strictness >= DANGEROUS[command].strictness, plain(command)


@pytest.mark.parametrize("command", HARMLESS)
def test_a_harmless_command_is_let_through_as_it_stands(command: str) -> None:
    assert judge(command).decision is Decision.PASS


@pytest.mark.parametrize("name", EVERY)
def test_a_mutated_dangerous_command_is_stopped(name: str) -> None:
    for command in Random(name).sample(sorted(DANGEROUS), ONES):
        changed = mutated(command, name)
        verdict = judge(changed)
        assert not got_through(command, (name,), verdict), (changed, verdict)


# What only looks alike is run by nothing; elsewhere a relative path is another one.
@pytest.mark.parametrize("name", [name for name in EVERY if name not in ALIKE and name not in ELSEWHERE])
def test_a_mutated_harmless_command_is_not_denied(name: str) -> None:
    for command in Random(name).sample(HARMLESS, ONES):
        changed = mutated(command, name)
        assert judge(changed).decision is not Decision.DENY, changed


def test_two_mutators_let_nothing_through() -> None:
    random = Random(SEED)
    commands = sorted(DANGEROUS)
    for _ in range(PAIRS):
        command, names = random.choice(commands), (random.choice(FIRST), random.choice(SECOND))
        changed = mutated(command, *names)
        verdict = judge(changed)
        assert not got_through(command, names, verdict), (names, changed, verdict)


# None twice: a name that stands for text in which it stands for other text is not read again by a shell.
chains = st.tuples(
    st.sampled_from(FIRST), st.lists(st.sampled_from(SECOND), min_size=1, max_size=3, unique=True)
).filter(lambda chain: chain[0] not in chain[1])


@settings(max_examples=400, deadline=None, derandomize=True)
@given(chains, st.sampled_from(sorted(DANGEROUS)))
def test_no_chain_of_mutations_lets_one_through(chain: tuple[str, list[str]], command: str) -> None:
    names = (chain[0], *chain[1])
    changed = mutated(command, *names)
    assert not got_through(command, names, judge(changed)), changed


@settings(max_examples=200, deadline=None, derandomize=True)
@given(chains, st.sampled_from(sorted(HARMLESS)))
def test_no_chain_of_mutations_makes_a_harmless_one_denied(chain: tuple[str, list[str]], command: str) -> None:
    names = (chain[0], *chain[1])
    if ELSEWHERE.keys().isdisjoint(names):
        changed = mutated(command, *names)
        assert judge(changed).decision is not Decision.DENY, changed
