"""Packages, runners and local code: each case's files are laid out on the disk and looked at as the daemon would."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from msgspec import Struct

from reflexd.core.decide import decide
from reflexd.core.policy import shipped
from reflexd.sight.look import understood
from reflexd.types import Context, Decision, Origin, Past, Shell, ToolCall


class Case(Struct, frozen=True, forbid_unknown_fields=True):
    """`files` lie below the project, and so do the names in `downloaded` and `pending`; `cwd` is seen from it."""

    command: str
    expected: Decision
    files: dict[str, str] = {}
    cwd: str = "."
    downloaded: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    busy: str = ""
    taint: tuple[str, ...] = ()


DATA = Path(__file__).with_name("cases-packages.jsonl").read_bytes()
CASES = [msgspec.json.decode(line, type=Case) for line in DATA.splitlines() if line.strip()]


@pytest.mark.parametrize("case", CASES, ids=[f"{n}-{case.command[:50]}" for n, case in enumerate(CASES, 1)])
def test_a_case_gets_the_decision_it_should(case: Case, tmp_path: Path) -> None:
    home = tmp_path / "home"
    project = home / "proj"
    project.mkdir(parents=True)
    for name, text in case.files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    cwd = str((project / case.cwd).resolve())
    past = Past(
        downloaded=tuple(str(project / name) for name in case.downloaded),
        pending=tuple(str(project / name) for name in case.pending),
        busy=case.busy,
    )
    context = Context(cwd=cwd, home=str(home), past=past, taint=case.taint)
    event = ToolCall(Origin("claude", "PreToolUse", cwd=cwd), "Bash", Shell(case.command))
    verdict = decide(event, understood(Shell(case.command), context), context, shipped())
    assert verdict.decision is case.expected, (verdict.rule, verdict.reason)
