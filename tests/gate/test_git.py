"""What git is made to run: by its options, by settings that it is given, by variables, by URLs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from reflexd.core.decide import decide
from reflexd.core.policy import shipped
from reflexd.sight.look import understood
from reflexd.types import Context, Decision, Origin, Shell, ToolCall

from .judge import judge


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    command: str
    expected: Decision


DATA = Path(__file__).with_name("cases-git.jsonl").read_bytes()
CASES = [msgspec.json.decode(line, type=Case) for line in DATA.splitlines() if line.strip()]


@pytest.mark.parametrize("case", CASES, ids=[case.command for case in CASES])
def test_a_case_gets_the_decision_it_should(case: Case) -> None:
    verdict = judge(case.command)
    assert verdict.decision is case.expected, (verdict.rule, verdict.reason)


# ---- settings that lie in the repository ------------------------------------------

ALIASES = """
[alias]
	st = status
	undo = reset --hard
	nuke = "!rm -rf ~"
	remove = !rm -rf
	again = nuke
	round = round
	log = "!rm -rf ~"
	wipe = "!f() { rm -rf \\"$1\\"; }; f"
"""
PROGRAMS = """
[filter "x"]
	clean = rm -rf ~
[core]
	pager = rm -rf ~
"""
CONFIGURED = [
    ("git st", "pass"),
    ("git undo", "ask"),
    ("git nuke", "deny"),
    ("git again", "deny"),
    ("git -C src nuke", "deny"),
    ("cd src && git nuke", "deny"),
    ("sudo git nuke", "deny"),
    ("git remove ~", "deny"),
    ("git wipe ~", "deny"),
    ("git remove build", "pass"),
    ("git round", "pass"),
    ("git log", "pass"),  # an alias takes no place of git's own
    ("git -C set add .", "pass"),  # what lies in a .git is guarded: a person has put it there
    ("git -C moved add .", "deny"),
    ("git -C moved log", "deny"),
    ("cd moved && git config --list", "deny"),
    ("git -C moved rev-parse HEAD", "pass"),
    ("git -C included log", "deny"),
    ("git push origin feat", "pass"),
    ("git -C bare status", "deny"),
    ("GIT_DIR=bare git status", "deny"),
    ("export GIT_DIR=$PWD/bare; git status", "deny"),
    ("git --git-dir=bare status", "deny"),
    ("git --git-dir bare rev-list HEAD", "deny"),
    ("cd bare/refs && git status", "deny"),
    ("git -C bare remote -v", "pass"),
]


@pytest.mark.parametrize(("command", "expected"), CONFIGURED)
def test_what_a_repository_says_is_run_too(command: str, expected: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    project = home / "proj"
    bare = "[core]fsmonitor = rm -rf ~\n"
    (project / "moved").mkdir(parents=True)
    (project / "moved/.git").write_text("gitdir: ../store")
    (project / "included").mkdir()
    (project / "included/settings").write_text(PROGRAMS)
    include = "[include]path=../settings\n"
    given = {".git": ALIASES, "set/.git": PROGRAMS, "store": PROGRAMS, "bare": bare, "included/.git": include}
    for name, settings in given.items():
        directory = project / name
        (directory / "objects").mkdir(parents=True)
        (directory / "refs").mkdir()
        (directory / "HEAD").write_text("ref: refs/heads/main\n")
        (directory / "config").write_text(settings)
    (project / "src").mkdir()
    context = Context(cwd=str(project), home=str(home))
    event = ToolCall(Origin("claude", "PreToolUse", cwd=context.cwd), "Bash", Shell(command))
    verdict = decide(event, understood(Shell(command), context), context, shipped())
    assert verdict.decision == expected, (verdict.rule, verdict.reason)
