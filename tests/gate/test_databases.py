"""Tools and clients of databases, end to end: what they do, where, and what the files hold that they are given."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from reflexd.core.decide import decide
from reflexd.core.policy import shipped
from reflexd.sight.look import understood
from reflexd.types import Context, Decision, Origin, Shell, ToolCall
from tests.gate.judge import CWD, judge


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """`files` are laid out in the working directory and looked at as the daemon would."""

    command: str
    expected: Decision
    env: dict[str, str] = {}
    cwd: str = CWD
    files: dict[str, str] = {}


DATA = Path(__file__).with_name("cases-databases.jsonl").read_bytes()
CASES = [msgspec.json.decode(line, type=Case) for line in DATA.splitlines() if line.strip()]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case.command[:50]}" for n, case in enumerate(CASES, 1)])
def test_a_case_gets_the_decision_it_should(case: Case, tmp_path: Path) -> None:
    if not case.files:
        verdict = judge(case.command, case.cwd, case.env)
    else:
        project = tmp_path / "home" / "proj"
        project.mkdir(parents=True)
        for name, text in case.files.items():
            (project / name).write_text(text)
        context = Context(cwd=str(project), home=str(project.parent), env=tuple(case.env.items()))
        event = ToolCall(Origin("claude", "PreToolUse", cwd=context.cwd), "Bash", Shell(case.command))
        verdict = decide(event, understood(Shell(case.command), context), context, shipped())
    assert verdict.decision is case.expected, (verdict.rule, verdict.reason)
