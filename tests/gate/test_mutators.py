"""Rewriting a command without changing what it does never lets a dangerous one through, nor stops a harmless one."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflexd.types import Decision
from tests.gate.judge import judge
from tests.gate.mutators import CODE, WORDS

DANGEROUS = [
    "rm -rf /",
    "rm -rf ~",
    "rm -r -f /etc",
    "rm -fr /home/dev/Documents",
    "find / -delete",
    "find /home/dev -name x -delete",
    "chmod -R 777 /",
    "chown -R dev /usr",
    "mv /home/dev /tmp/x",
    "dd if=/dev/zero of=/dev/sda",
    "mkfs.ext4 /dev/sda1",
    "shred -n1 /dev/nvme0n1",
    "wipefs -a /dev/vda",
    "git push --force origin main",
    "git push origin +HEAD:master",
    "git push --delete origin main",
    "git push --mirror",
    "pkill -9 reflexd",
    "killall reflexd",
    "kill -9 -1",
    "reflexctl stop",
    "reflexctl mode off",
    "systemctl --user stop reflexd",
    "rm -rf /home/dev/.local/share/reflex",
    "rm /home/dev/.local/state/reflex/run/hook.sock",
    "truncate -s 0 /home/dev/.config/reflex/config.toml",
    "tee /home/dev/.config/reflex/policy.toml",
]
HARMLESS = [
    "ls -la src",
    "git status",
    "git push origin feat/x",
    "rm -rf /tmp/build",
    "rm notes.txt",
    "cat README.md",
    "grep -rn main src",
    "mkdir -p a/b",
    "pytest -q tests",
    "npm run build",
    "chmod +x run.sh",
    "curl https://e.example/x",
    "dd if=a of=b",
    "kill 1234",
    "pkill vite",
    "reflexctl status",
]
EVERY = {**WORDS, **CODE}


@pytest.mark.parametrize("name", EVERY)
def test_a_mutated_dangerous_command_is_denied(name: str) -> None:
    for command in DANGEROUS:
        mutated = EVERY[name](command)
        assert judge(mutated).decision is Decision.DENY, mutated


@pytest.mark.parametrize("name", EVERY)
def test_a_mutated_harmless_command_is_not_denied(name: str) -> None:
    for command in HARMLESS:
        mutated = EVERY[name](command)
        assert judge(mutated).decision is not Decision.DENY, mutated


def chain(first: str, rest: list[str], command: str) -> str:
    mutated = EVERY[first](command)
    for name in rest:
        mutated = CODE[name](mutated)
    return mutated


chains = st.tuples(st.sampled_from(sorted(EVERY)), st.lists(st.sampled_from(sorted(CODE)), min_size=1, max_size=3))


@settings(max_examples=400, deadline=None)
@given(chains, st.sampled_from(DANGEROUS))
def test_no_chain_of_mutations_lets_one_through(names: tuple[str, list[str]], command: str) -> None:
    mutated = chain(*names, command)
    verdict = judge(mutated)
    assert verdict.decision in (Decision.ASK, Decision.DENY), mutated


@settings(max_examples=200, deadline=None)
@given(chains, st.sampled_from(HARMLESS))
def test_no_chain_of_mutations_makes_a_harmless_one_denied(names: tuple[str, list[str]], command: str) -> None:
    mutated = chain(*names, command)
    assert judge(mutated).decision is not Decision.DENY, mutated
