"""why and log: what was decided, from the journal's own file, with the daemon running or not."""

from __future__ import annotations

import json
import os
import select
import subprocess
import sys
import time

from tests.ctl.world import PATIENCE_S, World

LOG = ".local/state/reflex/journal/journal.jsonl"


def hooked(world: World) -> None:
    world.write(".claude/settings.json", "{}")
    done = world.ctl("setup", "--yes")
    assert done.returncode == 0, done.stderr


def call(world: World, command: str, session: str = "mine") -> None:
    """A real call through the hook that is installed."""
    settings = json.loads(world.read(".claude/settings.json"))
    line = settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    payload = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": session, "cwd": world.home}
    payload["tool_input"] = {"command": command}
    subprocess.run(["/bin/sh", "-c", line], input=json.dumps(payload).encode(), capture_output=True, env=world.env())


def test_why_explains_the_last_refusal_that_somebody_met(world: World) -> None:
    hooked(world)
    done = world.ctl("why")
    assert "reflex-selfcheck" in done.stdout, "as long as there is nothing else, setup's own try"
    call(world, "rm -rf ~")
    call(world, "git status")
    assert world.ctl("doctor").returncode == 0
    done = world.ctl("why")
    assert done.returncode == 0, done.stderr
    said = f"effect      delete {world.home} (home"
    for word in ("Bash rm -rf ~", "decision    deny", "claude mine", "policy", "decided by  rule", said):
        assert word in done.stdout
    row = json.loads(world.ctl("why", "--json").stdout)
    assert (row["decision"], row["session"]) == ("deny", "mine")
    assert world.ctl("why", row["id"]).stdout == done.stdout
    world.kill_daemon()
    assert world.ctl("why").stdout == done.stdout, "a journal is read without a daemon"


def test_why_of_nothing_known(world: World) -> None:
    done = world.ctl("why")
    assert done.returncode == 1
    assert "nothing has been refused yet" in done.stderr
    hooked(world)
    done = world.ctl("why", "nosuchid")
    assert done.returncode == 1
    assert "has no entry nosuchid" in done.stderr


def test_log_shows_the_last_ones_in_order(world: World) -> None:
    hooked(world)
    for command in ("ls one", "ls two", "rm -rf ~"):
        call(world, command)
    lines = world.ctl("log", "-n", "3").stdout.splitlines()
    assert [line.split("Bash ")[1] for line in lines] == ["ls one", "ls two", "rm -rf ~"]
    rows = [json.loads(line) for line in world.ctl("log", "--json", "-n", "2").stdout.splitlines()]
    assert [row["decision"] for row in rows] == ["pass", "deny"]
    assert world.ctl("log", "-n", "x").returncode == 2


def test_a_row_cannot_take_over_the_screen(world: World) -> None:
    row = {
        "t": "now",
        "id": "1\x1b[2J",
        "agent": "claude",
        "decision": "deny",
        "call": "a\nb\x1b]0;x\x07",
        "tool": "T\r",
    }
    world.write(LOG, json.dumps(row) + "\n", 0o600)
    for command in (["log"], ["why"]):
        said = world.ctl(*command).stdout
        assert not {"\x1b", "\x07", "\r"} & set(said), command


def test_follow_shows_what_comes_in(world: World) -> None:
    hooked(world)
    argv = [sys.executable, "-m", "reflexd.ctl.main", "log", "--follow", "-n", "1", "--json"]
    with subprocess.Popen(argv, env=world.env(), cwd=world.home, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            first = json.loads(_line(process.stdout.fileno()))
            assert first["id"]
            call(world, "ls followed")
            assert json.loads(_line(process.stdout.fileno()))["call"] == "ls followed"
            os.rename(world.path(LOG), world.path(LOG + ".1"))
            call(world, "ls rotated")
            assert json.loads(_line(process.stdout.fileno()))["call"] == "ls rotated"
        finally:
            process.terminate()


def _line(fd: int) -> bytes:
    said, end = b"", time.monotonic() + PATIENCE_S
    while not said.endswith(b"\n"):
        assert select.select([fd], [], [], end - time.monotonic())[0], "nothing came"
        said += os.read(fd, 1)
    return said
