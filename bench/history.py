"""The user's own shell history as a measure of friction. Commands are judged in memory; only counts come out."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path

from reflexd.control import CheckRequest
from reflexd.core.policy import shipped
from reflexd.ctl import local

from .figures import Gap, Line, Measured

PART = "the shell's own history, by the rules that come with reflex (no command is shown or kept)"
FILES = (".bash_history", ".zsh_history", ".local/share/fish/fish_history")
LAST = 1000
_ZSH = re.compile(r": \d+:\d+;")
_FISH = re.compile(r"- cmd: ")


def measure(home: str) -> list[Measured]:
    commands = last(home)
    if not commands:
        return [Gap(PART, f"none of {', '.join(FILES)} holds a command")]
    judge = local.as_labelled(shipped())
    project = os.path.join(home, "project")
    rules: Counter[str] = Counter()
    for command in commands:
        verdict = judge(CheckRequest(command=command, cwd=project, home=home)).verdict
        if verdict.decision.strictness:
            rules[verdict.rule or verdict.decided_by] += 1
    by_rule = ", ".join(f"{rule} {count}" for rule, count in rules.most_common())
    return [Line(PART, f"stopped of the last {len(commands)} distinct", rules.total(), "stops", detail=by_rule)]


def last(home: str) -> list[str]:
    """The last distinct commands, of all the shells that keep a file."""
    found: list[str] = []
    for name in FILES:
        try:
            lines = Path(home, name).read_text("utf-8", "replace").splitlines()
        except OSError:
            continue
        commands = [_command(name, line) for line in lines]
        found += [command for command in commands if command and not command.startswith("#")]
    return list(dict.fromkeys(reversed(found)))[:LAST]


def _command(name: str, line: str) -> str:
    if name.endswith("fish_history"):
        return _FISH.sub("", line) if _FISH.match(line) else ""
    return _ZSH.sub("", line, count=1).strip()
