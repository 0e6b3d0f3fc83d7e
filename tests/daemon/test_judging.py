"""Calls that no rule decides, put to a judge by a real daemon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from reflexd import paths, wire
from reflexd.control import CheckRequest, EngineStatus
from reflexd.daemon.journal import Row
from reflexd.types import Decision, NoulAnswer
from tests.daemon.running import Daemon, answer, bash, in_terminal, until
from tests.engine import models

UNDECIDED = "git push origin feature"


def settings(home: str, text: str) -> None:
    path = paths.settings_file(home)
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(text)
    os.chmod(path, 0o600)


def fixed(answers: str, more: str = "") -> str:
    return f'[judge]\nkind = "fixed"\n{more}\n[judge.fixed]\n{answers}\n'


Judged = Callable[..., Row]


@pytest.fixture
def judged(short_home: str) -> Judged:
    """The row of one call, judged under these settings."""

    def run(text: str, command: str = UNDECIDED, **fields: object) -> Row:
        settings(short_home, text)
        with Daemon(short_home) as daemon:
            daemon.bash(command, **fields)
            assert "bug: " not in daemon.log(), daemon.log()
            return next(row for row in daemon.rows() if row.kind == "verdict")

    return run


def test_a_risky_answer_stops_and_says_why(judged: Judged) -> None:
    row = judged(fixed("answers = { exfil = 0.9 }"))
    assert (row.decision, row.decided_by, row.rule) == ("ask", "gate", "judge-exfil")
    assert "0.90" in row.reason
    assert row.judged is not None
    assert (row.judged.judge, row.judged.gates) == ("fixed", ("judge-exfil",))
    assert dict(row.judged.answers)["exfil"] == NoulAnswer(0.9)
    assert row.judged.questions.startswith("1+")


def test_a_harmless_answer_passes_and_is_kept(judged: Judged) -> None:
    row = judged(fixed(""))
    assert (row.decision, row.decided_by) == ("pass", "none")
    assert row.judged is not None
    assert len(row.judged.answers) == 5


def test_without_a_judge_nobody_is_asked(judged: Judged) -> None:
    row = judged("")
    assert (row.decision, row.judged) == ("pass", None)


@pytest.mark.parametrize("command", ["ls -la", "touch a.txt", "rm -rf ~"])
def test_what_is_decided_is_not_put_to_a_judge(judged: Judged, command: str) -> None:
    assert judged(fixed("answers = { exfil = 1 }"), command).judged is None


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (fixed('none = "busy"'), "busy"),
        (fixed("wait_s = 30"), "timeout"),
        ('[judge]\nkind = "engine"\n', "the engine is off"),
        ('[judge]\nkind = "remote"\nurl = "http://127.0.0.1:9"\n', "unavailable"),
        ('[judge]\nkind = "remote"\nurl = "http://example.com"\n', "not encrypted"),
        (fixed("answers = { mutates = 7 }"), "incomplete"),
    ],
)
def test_no_answer_asks(judged: Judged, text: str, says: str) -> None:
    row = judged(text)
    assert (row.decision, row.decided_by, row.rule) == ("ask", "gate", "judge-no-answer")
    assert says in row.reason


def test_in_shadow_a_judge_is_only_noted(judged: Judged) -> None:
    row = judged('mode = "shadow"\n' + fixed("answers = { exfil = 1 }"))
    assert (row.decision, [why.rule for why in row.findings]) == ("pass", ["judge-exfil"])


def test_a_secret_in_a_call_does_not_reach_a_judge_or_the_journal(judged: Judged) -> None:
    row = judged(fixed("answers = { exfil = 1 }"), "git push https://me:hunter2hunter2@git.example/x HEAD:feature")
    assert row.judged is not None
    assert "hunter2" not in json.dumps([row.reason, row.call])


def test_check_asks_the_judge_too(short_home: str) -> None:
    settings(short_home, fixed("answers = { reviewer = 1 }"))
    with Daemon(short_home) as daemon:
        found = daemon.client.check(CheckRequest(command=UNDECIDED, cwd="/tmp"))
        assert (found.verdict.decision, found.verdict.rule) == (Decision.ASK, "judge-reviewer")
        assert "a fixed one" in " ".join(daemon.client.status().notes)


def test_a_changed_judge_holds_for_the_next_call(short_home: str) -> None:
    settings(short_home, fixed(""))
    with Daemon(short_home) as daemon:
        check = CheckRequest(command=UNDECIDED, cwd="/tmp")
        assert daemon.client.check(check).verdict.decision is Decision.PASS
        settings(short_home, fixed("answers = { exfil = 1 }"))
        until(lambda: daemon.client.check(check).verdict.decision is Decision.ASK, "the new judge")


def test_a_key_that_others_may_read_is_not_used(judged: Judged, short_home: str) -> None:
    key = Path(paths.judge_key(short_home))
    key.parent.mkdir(parents=True, exist_ok=True)
    key.write_text("k")
    key.chmod(0o644)
    assert "others may read it" in judged('[judge]\nkind = "remote"\nurl = "http://127.0.0.1:9"\n').reason


def _ready(daemon: Daemon) -> EngineStatus | None:
    engine = daemon.client.status().engine
    assert engine.state != "down", engine.why
    return engine if engine.state == "ready" else None


def with_model(home: str, path: Path, test: Callable[[Daemon], None], more: str = "") -> None:
    settings(home, f'[engine]\nmodel = "{path}"\n{more}\n')
    with Daemon(home) as daemon:
        # Until it is ready a call gets policy's answer at once.
        assert daemon.client.check(CheckRequest(command=UNDECIDED, cwd="/tmp")).verdict.rule == "judge-no-answer"
        until(lambda: _ready(daemon), "the engine")
        test(daemon)
        assert "bug: " not in daemon.log(), daemon.log()


def judged_by_the_engine(daemon: Daemon) -> None:
    """An answer may come too late on a busy machine; the engine has kept the state then, so the next one is faster."""

    def answered(directory: str) -> Row | None:
        daemon.bash(UNDECIDED, cwd=directory)
        row = daemon.rows()[0]
        assert row.judged is not None
        assert row.judged.none.startswith("timeout") or not row.judged.none, row.judged
        return None if row.judged.none else row

    for directory in ("/tmp", "/"):
        row = until(lambda directory=directory: answered(directory), "an answer")
        assert row.judged.judge == "engine"
        assert [name for name, _ in row.judged.answers] == ["mutates", "blast", "environment", "exfil", "reviewer"]
        again = answered(directory)
        assert again is not None
        assert again.judged == row.judged  # kept: not even the time is another


@pytest.mark.parametrize("family", ["qwen3", "qwen3_5_text"])
def test_the_whole_way_with_a_tiny_model(short_home: str, family: str) -> None:
    with_model(short_home, models.tiny(family), judged_by_the_engine)


@pytest.mark.slow
def test_the_whole_way_with_real_weights(short_home: str) -> None:
    with_model(short_home, models.smollm2(), judged_by_the_engine, "orders = 1")


def test_an_engine_killed_under_a_call_gives_policys_answer(short_home: str) -> None:
    def test(daemon: Daemon) -> None:
        pid = daemon.client.status().engine.pid
        os.kill(pid, signal.SIGSTOP)
        with daemon.connect() as sock:
            sock.sendall(wire.encode_request("claude", "PreToolUse", 5000, bash("git push origin other")))
            os.kill(pid, signal.SIGKILL)
            answer(sock)
        row = daemon.rows()[0]
        assert (row.decision, row.rule) == ("ask", "judge-no-answer")

    with_model(short_home, models.tiny("qwen3"), test)


def test_bounds_that_a_person_set_are_asked_about(short_home: str) -> None:
    settings(short_home, fixed("answers = { in_envelope = 0.1 }"))
    with Daemon(short_home) as daemon:
        check = CheckRequest(command=UNDECIDED, cwd="/tmp")
        assert daemon.client.check(check).verdict.decision is Decision.PASS
        set_here = [sys.executable, "-m", "reflexd.ctl.main", "envelope", "set", "only the docs", "--cwd", "/tmp"]
        assert in_terminal(short_home, "person", *set_here)[0] == 0
        found = daemon.client.check(check).verdict
        assert (found.decision, found.rule) == (Decision.ASK, "judge-envelope")
        assert daemon.client.check(CheckRequest(command=UNDECIDED, cwd="/")).verdict.decision is Decision.PASS


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({}, "allow"),
        ({"permission_mode": "plan"}, "pass"),
        ({"transcript_path": ""}, "pass"),
        ({"cwd": "/tmp"}, "pass"),
        ({"tool_input": {"command": UNDECIDED, "dangerouslyDisableSandbox": True}}, "pass"),
        ({"tool_input": {"command": "git push https://me:hunter2hunter2@git.example/x HEAD:y"}}, "pass"),
        ({"tool_input": {"command": f"{UNDECIDED} && ./run.sh"}}, "pass"),
    ],
)
def test_a_person_may_let_harmless_calls_skip_the_agents_own_prompt(
    short_home: str, tmp_path: Path, more: dict[str, object], wanted: str
) -> None:
    settings(short_home, fixed("", 'allow = "on"'))
    repository = tmp_path / "repository"
    subprocess.run(["git", "init", "-q", str(repository)], check=True)
    transcript = tmp_path / "t.jsonl"
    said = {"role": "assistant", "content": [{"type": "text", "text": "I push the branch"}]}
    transcript.write_text(json.dumps({"type": "assistant", "message": said}))
    with Daemon(short_home) as daemon:
        asked = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": "push it", "cwd": str(repository)}
        daemon.call("claude", "UserPromptSubmit", json.dumps(asked).encode())
        fields = {"session_id": "s", "cwd": str(repository), "transcript_path": str(transcript), **more}
        reply = daemon.bash(UNDECIDED, **fields)
        row = next(row for row in daemon.rows() if row.kind == "verdict")
        assert row.decision == wanted, row
        assert (b'"permissionDecision": "allow"' in reply.stdout) == (wanted == "allow")
