"""Repositories' own rules on a hook's way."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.daemon.running import Daemon

HEAD = 'policy = 1\nversion = "1"\n'


def until(daemon: Daemon, command: str, cwd: Path, exits: int) -> int:
    """The exit once it is the one waited for: programs on PATH and repositories are looked at again now and then."""
    ends = time.monotonic() + 20
    while (found := daemon.bash(command, cwd=str(cwd)).exit) != exits and time.monotonic() < ends:
        time.sleep(0.05)
    return found


def repository(home: str, text: str) -> Path:
    inside = Path(home) / "proj"
    (inside / ".git").mkdir(parents=True)
    (inside / ".reflex").mkdir()
    (inside / ".reflex/policy.toml").write_text(text)
    return inside


def test_they_hold_from_the_first_call_on(daemon: Daemon, short_home: str) -> None:
    inside = repository(short_home, HEAD + 'protected = ["infra/**"]')
    reply = daemon.bash("echo x > infra/a", cwd=str(inside))
    assert (reply.exit, b"repository-protected" in reply.stderr) == (2, True)
    assert daemon.bash("echo x > src/a", cwd=str(inside)).exit == 0
    assert daemon.bash(f"echo x > {inside}/infra/a", cwd=short_home).exit == 2
    assert daemon.bash("git status", cwd=str(inside)).exit == 0


def test_a_broken_one_stops_all_but_reading_and_status_names_the_line(daemon: Daemon, short_home: str) -> None:
    inside = repository(short_home, HEAD + "colour = 3\n")
    assert until(daemon, "ls", inside, 0) == 0
    reply = daemon.bash("npm test", cwd=str(inside))
    assert reply.exit == 2
    assert b"line 3" in reply.stderr
    assert any(f"{inside}/.reflex/policy.toml: line 3" in fault for fault in daemon.client.status().broken)
    (inside / ".reflex/policy.toml").write_text(HEAD)
    assert until(daemon, "npm test", inside, 0) == 0
    assert daemon.client.status().broken == ()


def test_many_calls_in_one_directory_are_answered_alike(daemon: Daemon, short_home: str) -> None:
    inside = repository(short_home, HEAD + 'protected = ["a"]')
    for _ in range(20):
        assert daemon.bash("ls -la", cwd=str(inside)).exit == 0
        assert daemon.bash("rm a", cwd=str(inside)).exit == 2
    os.rename(inside / ".reflex", inside / "gone")
    assert until(daemon, "rm a", inside, 0) == 0
