"""check: the verdict that a hook would get, as an exit code, a line, JSON, and for whole files."""

from __future__ import annotations

import json
import os

import pytest

from tests.ctl.world import World

EXITS = [
    ("rm -rf ~", 20),
    ("git log --oneline", 0),
    ("cat ~/.ssh/id_rsa", 10),
    ("git push --force origin main", 20),
    ("dd if=/dev/zero of=/dev/sda", 20),
    ("", 0),
]


@pytest.fixture
def running(world: World) -> World:
    done = world.ctl("start")
    assert done.returncode == 0, done.stderr
    return world


@pytest.mark.parametrize("local", [True, False])
def test_the_exit_says_the_decision(running: World, local: bool) -> None:
    for command, code in EXITS:
        done = running.ctl("check", command, *(["--local"] if local else []))
        assert done.returncode == code, (command, done)
        assert done.stderr == ""


def test_both_ways_say_the_same(running: World) -> None:
    for command, _ in EXITS:
        args = ("check", command, "--json", "--cwd", running.home)
        assert json.loads(running.ctl(*args).stdout) == json.loads(running.ctl(*args, "--local").stdout)


def test_a_stop_names_its_rule_and_explains(running: World) -> None:
    plain = running.ctl("check", "rm -rf ~/photos/* ~", "--cwd", "/usr")
    assert plain.stdout.startswith("deny [")
    assert plain.stdout.count("\n") == 1
    explained = running.ctl("check", "sudo rm -rf ~", "--explain")
    said = explained.stdout.split("\n")
    assert said[0].startswith("deny [delete-machine]")
    assert said[1].startswith("runs     sudo rm -rf")
    at = next(number for number, line in enumerate(said) if line.startswith("  runs     rm -rf"))
    assert said[at + 1].startswith("    effect   delete")
    assert any(line.startswith("decided  deny [delete-machine]") for line in said)
    assert said[-2].startswith("policy   ")


def test_explaining_names_what_was_read_what_was_not_and_what_nearly_spoke(world: World) -> None:
    there = os.path.join(world.home, "proj")
    os.makedirs(there)
    with open(os.path.join(there, "build.sh"), "w") as file:
        file.write("rm -f notes\n")
    command = "bash build.sh && python3 gone.py && git push -f origin feat/x"
    said = world.ctl("check", command, "--local", "--explain", "--cwd", there).stdout
    assert f"read     {there}/build.sh (sha256 " in said
    assert f"unseen   {there}/gone.py: missing" in said
    assert "decided  ask [push-force]" in said
    assert "nearly   deny [push-main] had target been main or master, for feat/x" in said
    near = json.loads(world.ctl("check", command, "--local", "--json", "--cwd", there).stdout)["near"]
    assert ("push-main", "target") in {(each["rule"], each["condition"]) for each in near}


def test_home_and_env_stand_in_for_the_caller_s(world: World) -> None:
    elsewhere = os.path.join(world.base, "elsewhere")
    os.makedirs(elsewhere)
    assert world.ctl("check", f"rm -rf {elsewhere}", "--local", "--cwd", "/usr").returncode == 0
    assert world.ctl("check", f"rm -rf {elsewhere}", "--local", "--cwd", "/usr", "--home", elsewhere).returncode == 20
    assert world.ctl("check", "rm -rf $VICTIM", "--local", "--env", f"VICTIM={world.home}").returncode == 20


@pytest.mark.parametrize(
    ("tool", "what", "code"),
    [
        ("Read", "~/.ssh/id_rsa", 10),
        ("Read", "readme.md", 0),
        ("Write", "~/.claude/settings.json", 10),
        ("WebFetch", "https://example.org", 0),
        ("mcp__files__delete", '{"path": "/"}', 20),
        ("mcp__files__list", '{"path": "/"}', 0),
        ("mcp__terminal__run", '{"cmd": "rm -rf ~"}', 20),
        ("mcp__terminal__run", "no JSON", 10),
    ],
)
def test_other_tools(world: World, tool: str, what: str, code: int) -> None:
    done = world.ctl("check", what.replace("~", world.home), "--tool", tool, "--local")
    assert done.returncode == code, done


def test_a_call_that_is_not_understood_asks(world: World) -> None:
    assert world.ctl("check", "echo $(", "--local").returncode == 10


def test_what_an_agent_wrote_cannot_colour_the_screen(world: World) -> None:
    done = world.ctl("check", "echo '\x1b[31m' > ~/.ssh/\x1b]0;x\x07", "--local", "--explain")
    assert "\x1b" not in done.stdout
    assert "\x07" not in done.stdout


@pytest.mark.parametrize("local", [True, False])
def test_a_batch_is_answered_in_order(running: World, local: bool) -> None:
    lines = [
        {"id": 3, "command": "rm -rf ~"},
        {"id": "a", "path": f"{running.home}/.ssh/id_rsa"},
        {"id": 1, "tool": "WebFetch", "url": "https://example.org"},
        {"id": 2, "tool": "Bash", "args": {"command": "git status"}},
        {"id": 5, "command": "rm -rf ~", "home": "/nonexistent", "cwd": "/usr", "env": {"A": "b"}},
        {"id": 6, "text": "how to exit vi"},
    ]
    file = running.write("calls.jsonl", "\n".join(map(json.dumps, lines)) + "\n\n")
    done = running.ctl("check", "--batch", file, *(["--local"] if local else []))
    assert done.returncode == 0, done.stderr
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [answer["id"] for answer in answers] == [3, "a", 1, 2, 5, 6]
    assert [answer["decision"] for answer in answers] == ["deny", "ask", "pass", "pass", "deny", "pass"]
    assert set(answers[0]) == {"id", "decision", "reason", "decided_by"}
    piped = running.ctl("check", "--batch", "-", "--local", stdin=running.read("calls.jsonl"))
    assert [json.loads(line)["id"] for line in piped.stdout.splitlines()] == [3, "a", 1, 2, 5, 6]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"command": "ls"}', '{"id": 1}', '{"id": 1, "comand": "ls"}', '{"id": 1, "command": 3}', "\udcff"],
)
def test_a_broken_batch_names_the_line_and_judges_nothing(world: World, line: str) -> None:
    path = world.path("calls")
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write('{"id": 1, "command": "ls"}\n\n' + line + "\n")
    done = world.ctl("check", "--batch", path, "--local")
    assert done.returncode == 2
    assert "line 3:" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "args",
    [[], ["ls", "--batch", "x"], ["ls", "--env", "A"], ["ls", "--env", "=b"], ["ls", "extra"], ["ls", "--frob"]],
)
def test_wrong_usage_is_two(world: World, args: list[str]) -> None:
    done = world.ctl("check", *args)
    assert done.returncode == 2
    assert done.stderr.startswith("reflexctl: error: ")
    assert "reflexctl: hint: see reflexctl check --help" in done.stderr


def test_without_a_daemon_it_says_both_ways_on(world: World) -> None:
    done = world.ctl("check", "ls")
    assert done.returncode == 1
    assert "reflexctl start" in done.stderr
    assert "--local" in done.stderr
    assert world.ctl("check", "--batch", world.path("absent"), "--local").returncode == 1
