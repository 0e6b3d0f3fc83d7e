"""What bench/gate.py counts and how: decisions beside each other, growth, and a history that stays where it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from bench import checks, history, sizes
from bench.figures import Gap, Line
from bench.home import ROOT
from bench.peers import gates
from bench.shapes import SHAPES, SIZES
from reflexd.control import CheckRequest
from reflexd.ctl import labelled
from reflexd.types import Decision

STAND_IN = """
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    decision = "deny" if "rm" in call["command"] else "pass"
    print(json.dumps({"decision": decision, "seconds": 1.0}), flush=True)
"""


@pytest.fixture
def peer(tmp_path: Path) -> gates.Peer:
    (tmp_path / "proj").mkdir()
    worker = tmp_path / "worker.py"
    worker.write_text(STAND_IN)
    return gates.Peer("stand-in", (sys.executable, str(worker)), ("/bin/true",), str(tmp_path))


def cases(tmp_path: Path) -> tuple[labelled.Case, ...]:
    lines = [
        {"command": "rm -rf ~", "expected": "deny"},
        {"command": "rm -rf /", "expected": "deny"},
        {"command": "ls", "expected": "allow"},
        {"command": "echo rm", "expected": "allow"},
    ]
    file = tmp_path / "cases.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    return labelled.read(str(file)).cases


def test_decisions_and_times_stand_beside_each_other(tmp_path: Path, peer: gates.Peer) -> None:
    lines = {line.name: line for line in checks.in_process(cases(tmp_path), "x", [peer], 2) if isinstance(line, Line)}
    assert lines["deny exactly denied"].detail == "reflex 2 of 2 (100.0%); stand-in 2 of 2 (100.0%)"
    assert lines["allow let through"].detail == "reflex 2 of 2 (100.0%); stand-in 1 of 2 (50.0%)"
    assert lines["stand-in"].figure == 1000.0
    assert lines["median faster than stand-in's"].figure > 1


def test_a_peer_lives_in_its_own_home(peer: gates.Peer) -> None:
    request = CheckRequest(command="ls /home/dev/x", cwd="/home/dev/proj", home="/home/dev")
    assert peer.moved("ls /home/dev/x", "/home/dev") == f"ls {peer.home}/x"
    assert peer.directory(request) == f"{peer.home}/proj"


def test_a_peer_that_ends_is_named(peer: gates.Peer) -> None:
    dead = gates.Peer("dead", ("/bin/false",), peer.hook, peer.home)
    with gates.running(dead) as ask, pytest.raises(gates.Slow, match="dead ended"):
        ask(CheckRequest(command="ls"))


def test_a_peer_that_is_not_there_is_a_gap(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFLEX_AGENTS_DIR", str(tmp_path))
    assert "npm install" in str(gates.safety_net(str(tmp_path)))
    assert gates.nah(str(tmp_path), str(tmp_path)) == f"there is no nah in {tmp_path}"


def test_growth_is_the_worst_step_beside_linear() -> None:
    assert sizes.growth({10: 1.0, 1_000: 1.0, 10_000: 10.0, 100_000: 50.0}) == 1.0
    assert sizes.growth({1_000: 1.0, 10_000: 40.0, 100_000: 40.0}) == 4.0


@pytest.mark.parametrize("name", SHAPES)
def test_a_shape_has_about_the_size_asked_for(name: str) -> None:
    for size in SIZES[1:]:
        assert size / 3 <= len(SHAPES[name](size)) <= size + 40, size


def test_the_long_command_is_ordinary_and_just_under_the_cap() -> None:
    command = checks.long_command()
    assert 31_000 < len(command) <= 32 * 1024
    lines = command.split("\n")
    assert len(set(lines)) == len(lines)


def test_a_history_is_counted_and_never_shown(tmp_path: Path) -> None:
    assert isinstance(history.measure(str(tmp_path))[0], Gap)
    (tmp_path / ".bash_history").write_text("ls\nrm -rf / # private\n#1700000000\nls\n")
    (tmp_path / ".zsh_history").write_text(": 1700000000:0;git status\n")
    fish = tmp_path / ".local/share/fish/fish_history"
    fish.parent.mkdir(parents=True)
    fish.write_text("- cmd: cat ~/.ssh/id_rsa\n  when: 1700000000\n")
    assert set(history.last(str(tmp_path))) == {"ls", "rm -rf / # private", "git status", "cat ~/.ssh/id_rsa"}
    [line] = history.measure(str(tmp_path))
    assert isinstance(line, Line)
    assert line.figure == 2
    assert "4 distinct" in line.name
    assert "private" not in str(line)


def test_wrong_usage_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "cases.jsonl"
    file.write_text("{}\n")
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "gate.py"), "--cases", str(file)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert f"{file}: line 1:" in done.stderr


def test_ours_is_the_gate_s_own_verdict() -> None:
    check = gates.ours()(CheckRequest(command="rm -rf ~", cwd="/home/dev/proj", home="/home/dev"))
    assert check.decision is Decision.DENY
    assert check.seconds > 0
