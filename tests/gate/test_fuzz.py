"""A slice of bench/fuzz.py with one seed, and proof that each kind of fault would be found."""

from __future__ import annotations

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

from bench import fuzz
from bench.home import ROOT
from reflexd.types import Context, Facts, Seen, Shell, Tool


def test_hostile_commands_are_judged_without_a_fault() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "fuzz.py"), "--seed", "20261201", "--count", "1500"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert ": 0 findings, " in done.stdout


def test_the_same_seed_gives_the_same_commands() -> None:
    first, second = (list(itertools.islice(fuzz.tools(3), 200)) for _ in range(2))
    assert first == second
    assert first != list(itertools.islice(fuzz.tools(4), 200))


def fuzzed(monkeypatch: pytest.MonkeyPatch, facts: object) -> fuzz.Report:
    monkeypatch.setattr(fuzz, "facts", facts)
    return fuzz.fuzz(1, 30, 0, lambda _: None)


def test_an_exception_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(tool: Tool, context: Context, seen: Seen) -> Facts:
        if isinstance(tool, Shell) and len(tool.command) > 20:
            raise KeyError("planted")
        return Facts()

    report = fuzzed(monkeypatch, facts)
    assert report.findings
    assert all("planted" in found.what for found in report.findings)
    assert all(len(found.tool.command) == 21 for found in report.findings if isinstance(found.tool, Shell))


def test_an_exception_that_the_reader_hides_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(fuzzed(monkeypatch, lambda *_: Facts(opaque="reading it failed (KeyError)")).findings) == 30


def test_another_answer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = itertools.count()
    report = fuzzed(monkeypatch, lambda *_: Facts(opaque=f"number {next(numbers)}"))
    assert {found.what for found in report.findings} == {"two answers to one input"}


def test_a_check_that_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def facts(tool: Tool, context: Context, seen: Seen) -> Facts:
        while True:
            pass

    monkeypatch.setattr(fuzz, "HANG_S", 0.01)
    assert "it takes more than" in fuzzed(monkeypatch, facts).findings[0].what


def test_a_process_that_dies_names_its_last_input() -> None:
    program = (
        "import os, signal; from bench import fuzz;"
        "fuzz.facts = lambda *_: os.kill(os.getpid(), signal.SIGKILL);"
        "raise SystemExit(fuzz.watched(1, 3, 0))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "FOUND the process died of signal 9" in done.stdout
    assert repr(next(fuzz.tools(1))) in done.stdout


def test_an_answer_that_hangs_on_the_hash_seed_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fuzz.compared(1, 20) == []
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "fuzz.py").write_text("print(*([hash('a')] * 20))")
    monkeypatch.setattr(fuzz, "ROOT", tmp_path)
    assert len(fuzz.compared(1, 20)) == 20
