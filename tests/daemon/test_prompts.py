"""What the user wants said with a prompt, through a real daemon."""

from __future__ import annotations

import json
import os

from reflexd.daemon.instructing import directory
from tests.daemon.running import Daemon


def prompt(daemon: Daemon, text: str) -> tuple[int, bytes]:
    said = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": "/tmp", "prompt": text}
    reply = daemon.call("claude", "UserPromptSubmit", json.dumps(said).encode())
    return reply.exit, reply.stdout


def write(home: str, name: str, text: str) -> None:
    os.makedirs(directory(home), mode=0o700, exist_ok=True)
    with open(os.path.join(directory(home), name), "w") as file:
        file.write(text)
    os.chmod(os.path.join(directory(home), name), 0o600)


def test_instructions_that_fit_go_to_the_model_and_a_broken_file_only_warns(daemon: Daemon) -> None:
    assert prompt(daemon, "make a release") == (0, b"")
    write(daemon.home, "a.md", '+++\nkeywords = ["release"]\n+++\ntag it')
    write(daemon.home, "b.md", "+++\nkeyword = 1\n+++\ntag it")
    code, out = prompt(daemon, "make a release")
    assert code == 0
    said = json.loads(out)["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    assert said["additionalContext"].endswith("/a.md]\ntag it")
    assert prompt(daemon, "something else") == (0, b"")
    assert any("b.md: line 2" in fault for fault in daemon.client.status().broken)
