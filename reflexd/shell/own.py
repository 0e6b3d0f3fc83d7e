"""reflex's own programs: looking is for everyone, changing anything is for a person at his own terminal."""

from __future__ import annotations

from reflexd.shell.calls import Call
from reflexd.shell.places import Ground
from reflexd.types import Effect

_LOOKS: dict[str, frozenset[str] | None] = {
    "status": None,
    "why": None,
    "check": None,
    "log": None,
    "doctor": None,
    "scan": None,
    "report": None,
    "help": None,
    "version": None,
    "journal": frozenset({"verify", "export"}),
    "queue": frozenset({"list", "show"}),
    "trust": frozenset({"list", "verify"}),
    "checkpoints": frozenset({"list", "show"}),
    "envelope": frozenset({"show"}),
    "model": frozenset({"list"}),
}
"""The commands that change nothing; a set holds the subcommands of which that is true."""


def _reflexctl(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    words = [word for word in call.argv[1:] if not word.startswith("-")]
    if not words:
        return ([], True) if {"--help", "-h", "--version"} & set(call.argv) or len(call.argv) == 1 else _control(call)
    command = words[0]
    if command in _LOOKS:
        allowed = _LOOKS[command]
        if allowed is None or len(words) == 1 or words[1] in allowed:
            return [], True
    return _control(call)


def _reflexd(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    if {"--help", "-h", "--version"} & set(call.argv[1:]):
        return [], True
    return _control(call)


def _control(call: Call) -> tuple[list[Effect], bool]:
    words = " ".join([call.name, *(word for word in call.argv[1:3] if not word.startswith("-"))])
    return [Effect("control", words, ("reflex",), detail=call.name)], False


def module(words: tuple[str, ...], call: Call, ground: Ground) -> list[Effect]:
    """`python -m reflexd...`: the same programs by another door."""
    program = _reflexctl if words[0].startswith("reflexd.ctl") else _reflexd
    name = "reflexctl" if program is _reflexctl else "reflexd"
    return program(Call((name, *words[1:]), call.cwd), ground)[0]


SPECIAL = {"reflexctl": _reflexctl, "reflexd": _reflexd}
