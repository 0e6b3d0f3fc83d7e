"""reflex's own programs: looking is for everyone, changing anything is for a person at his own terminal."""

from __future__ import annotations

import re

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
    "eval": frozenset({"gate"}),
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


_UNHOOKED: dict[str, tuple[str, ...]] = {
    "claude": ("--bare", "--safe-mode", "--setting-sources"),
    "codex": ("--dangerously-bypass-hook-trust",),
    "opencode": ("--pure",),
    "pi": ("-ne", "--no-extensions"),
    "hermes": ("--no-plugins",),
}
_SWITCH = re.compile(r"disableAllHooks\W+true|hooks\s*=\s*(?:false|\[\])|--disable[= ]hooks")
_ELSEWHERE = frozenset(
    {"HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR", "OPENCODE_CONFIG_DIR", "HERMES_HOME"}
)


def _agent(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """Another agent, started in a way in which its hooks do not run, or with settings of its own."""
    name = next((name for name in _UNHOOKED if name == call.name), "")
    found = [
        Effect("control", f"{name} {word}", ("reflex",), detail=name)
        for word in call.argv[1:]
        if word.partition("=")[0] in _UNHOOKED.get(name, ())
    ]
    switch = _SWITCH.search(" ".join(call.argv[1:]))
    if switch:
        found.append(Effect("control", f"{name} {switch[0]}", ("reflex",), detail=name))
    for variable, value in call.assigned:
        if variable == "CLAUDE_CODE_SIMPLE":
            found.append(Effect("control", f"{variable}={value} {name}", ("reflex",), detail=name))
        elif variable in _ELSEWHERE:
            found.append(Effect("control", f"{variable}=… {name}", detail="elsewhere"))
    return found, False


def _control(call: Call) -> tuple[list[Effect], bool]:
    words = " ".join([call.name, *(word for word in call.argv[1:3] if not word.startswith("-"))])
    return [Effect("control", words, ("reflex",), detail=call.name)], False


def module(words: tuple[str, ...], call: Call, ground: Ground) -> list[Effect]:
    """`python -m reflexd...`: the same programs by another door."""
    program = _reflexctl if words[0].startswith("reflexd.ctl") else _reflexd
    name = "reflexctl" if program is _reflexctl else "reflexd"
    return program(Call((name, *words[1:]), call.cwd), ground)[0]


SPECIAL = {"reflexctl": _reflexctl, "reflexd": _reflexd, **dict.fromkeys(_UNHOOKED, _agent)}
