"""What is known around a call, from events and from an agent's own file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from reflexd.daemon import conversations
from reflexd.daemon.conversations import CALLS_MAX, INTENT_MAX, PROMPT_MAX, Conversations
from reflexd.sight.records import tail
from reflexd.types import Context, Origin, Prompt, Said, SessionEnd, Shell, SubagentStart, ToolCall

CONTEXT = Context("/tmp", "/home/dev")
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def origin(path: str = "", session: str = "s", subagent: str = "") -> Origin:
    return Origin("claude", "PreToolUse", session, "/tmp", subagent, transcript=path)


def call(number: int = 0, **more: str) -> ToolCall:
    return ToolCall(origin(**more), "Bash", Shell(f"echo {number}"), "c1")


def records(path: Path, words: str) -> str:
    rows = (
        {"type": "user", "message": {"role": "user", "content": "tidy"}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "text", "text": words}]}},
        {"type": "assistant", "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "c1"}]}},
    )
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def test_a_prompt_and_the_calls_since_are_known_until_the_session_ends() -> None:
    known = Conversations()
    known.note(Prompt(origin(), "first"), "")
    known.note(call(), "echo 0")
    assert known.said(call(1), CONTEXT) == Said("first", "", ("Bash: echo 0",))
    known.note(Prompt(origin(), "second"), "")
    assert known.said(call(1), CONTEXT) == Said("second")
    for number in range(20):
        known.note(call(number), f"echo {number}")
    assert known.said(call(), CONTEXT).calls[-1] == "Bash: echo 19"
    assert len(known.said(call(), CONTEXT).calls) == CALLS_MAX
    assert known.said(call(session="other"), CONTEXT) == Said()
    assert known.said(call(subagent="x"), CONTEXT) == Said("second")
    known.note(SessionEnd(origin()), "")
    assert known.said(call(), CONTEXT) == Said()


@pytest.mark.parametrize("child", [{"subagent": "x"}, {"session": "x"}])
def test_a_subagents_task_is_not_what_the_person_asked(child: dict[str, str]) -> None:
    """To opencode and Hermes a subagent is a session of its own, to the others a part of its parent's."""
    known = Conversations()
    known.note(Prompt(origin(), "the person's"), "")
    known.note(SubagentStart(origin(subagent="x"), "task"), "")
    known.note(Prompt(origin(**child), "another agent's"), "")
    known.note(call(**child), "echo 0")
    assert known.said(call(**child), CONTEXT) == Said("the person's", "", ("Bash: echo 0",))
    assert known.said(call(), CONTEXT) == Said("the person's")


def test_words_that_came_with_the_call_count_and_are_masked() -> None:
    told = ToolCall(origin(), "Bash", Shell("ls"), "c1", f"use {SECRET} " + "x" * 20_000)
    said = Conversations().said(told, CONTEXT).intent
    assert said.startswith("use [redacted")
    assert len(said) == INTENT_MAX


def test_all_is_bounded_and_without_secrets(tmp_path: Path) -> None:
    known = Conversations()
    path = records(tmp_path / "t.jsonl", f"with {SECRET} " + "y" * 100_000)
    for number in range(1000):
        known.note(Prompt(origin(session=str(number)), f"use {SECRET} " + "x" * 100_000), "")
    said = known.said(call(session="999", path=path), CONTEXT)
    assert said.prompt.startswith("use [redacted")
    assert said.intent.startswith("with [redacted")
    assert (len(said.prompt), len(said.intent)) == (PROMPT_MAX, INTENT_MAX)
    assert known.said(call(session="0"), CONTEXT) == Said()


def test_words_of_an_agent_are_read_from_its_own_file_alone(tmp_path: Path) -> None:
    known = Conversations()
    path = records(tmp_path / "t.jsonl", "I tidy")
    assert known.said(call(path=path), CONTEXT).intent == "I tidy"
    assert known.said(call(path=path, subagent="x"), CONTEXT).intent == ""
    (tmp_path / "t" / "subagents").mkdir(parents=True)
    records(tmp_path / "t" / "subagents" / "agent-x.jsonl", "I help")
    assert known.said(call(path=path, subagent="x"), CONTEXT).intent == "I help"
    os.symlink(path, tmp_path / "link.jsonl")
    os.mkfifo(tmp_path / "fifo.jsonl")
    os.mkdir(tmp_path / "directory.jsonl")
    os.link(path, tmp_path / "other.json")
    for name in ("link.jsonl", "fifo.jsonl", "directory.jsonl", "missing.jsonl", "other.json"):
        assert tail(str(tmp_path / name)) == b"", name
    assert tail("t.jsonl") == b""


def test_of_a_long_file_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    path.write_bytes(b"a" * 1_000_000 + b"end")
    assert tail(str(path), 10) == b"aaaaaaaend"


@pytest.mark.root
def test_a_file_of_another_users_is_not_read(tmp_path: Path) -> None:
    path = records(tmp_path / "t.jsonl", "I tidy")
    os.chown(path, 65534, 65534)
    assert tail(path) == b""


def test_records_that_are_not_there_are_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr(conversations.time, "sleep", waited.append)
    assert Conversations().said(call(path=str(tmp_path / "missing.jsonl")), CONTEXT).intent == ""
    assert sum(waited) == 0
    lagging = tmp_path / "t.jsonl"
    lagging.write_text(json.dumps({"type": "user", "message": {"role": "user", "content": "tidy"}}))
    assert Conversations().said(call(path=str(lagging)), CONTEXT).intent == ""
    assert 0 < sum(waited) < 0.5
