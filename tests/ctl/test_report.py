"""`report`, `replay` and what `why` shows of a judge, over journals that the daemon's own writer wrote."""

from __future__ import annotations

import json

import pytest

from reflexd import paths
from reflexd.core import questions
from reflexd.daemon.journal import Journal, Row
from reflexd.daemon.lane import Lane
from reflexd.judge.fixed import answers
from reflexd.types import Judged
from tests.ctl.world import World

STRICT = """
policy = 1
version = "mine"
[[rule]]
id = "no-push"
decision = "ask"
reason = "pushes wait for a person"
when = { effect = "push" }
catches = ["git push origin x"]
leaves = ["git status"]
[[gate]]
id = "careful"
decision = "ask"
reason = "careful ({mutates})"
when = { mutates = ">= 0.2" }
trips = [{ answers = { mutates = 0.2 } }]
spares = [{ answers = { mutates = 0.1 } }]
"""
BASE = {"t": "2026-01-01T10:00:00+00:00", "agent": "claude", "session": "s", "cwd": "/tmp", "tool": "Bash", "ms": 1.0}


def judged(mutates: float, blast: float = 0.0, none: str = "") -> Judged:
    said = answers(questions.shipped().fitting({}), {"mutates": mutates, "blast": blast})
    return Judged("fixed", "1+x", () if none else said, none, 2.5, held=("project",))


def row(id: str, call: str, decision: str = "pass", source: str = "none", **more: object) -> Row:
    return Row(**{**BASE, "id": id, "call": call, "decision": decision, "decided_by": source, **more})  # type: ignore[arg-type]


@pytest.fixture
def journal(world: World) -> Journal:
    paths.private_dir(paths.state_dir(world.home))
    return Journal(paths.journal_file(world.home), Lane(1, 1))


def test_a_report_counts_what_was_decided_and_what_became_of_asks(world: World, journal: Journal) -> None:
    for number in range(20):
        id = f"ask{number}"
        more = {"asked": True, "rule": "judge-blast", "judged": judged(0.9 if number < 4 else 0.1, 2.5)}
        journal.append(row(id, "git push", "ask", "gate", **more))
        if number >= 4:
            journal.append(row(id, "git push", "ran", kind="ran"))
    journal.append(row("p", "ls", source="read-only"))
    journal.append(row("n", "make x", judged=judged(0, none="timeout: late")))
    said = world.ctl("report", "--json")
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert (found["calls"], found["asks"], found["ran"], found["judged"], found["unanswered"]) == (22, 20, 16, 21, 1)
    assert found["by_decision"] == {"ask": 20, "pass": 2}
    assert found["friction"] == pytest.approx(100 * 20 / 22)
    assert found["calibrations"]["mutates"]["threshold"] == 0.9
    assert found["calibrations"]["mutates"]["spared"] == 16
    text = world.ctl("report").stdout
    assert "20 put before a person: 16 ran, 4 did not" in text
    assert "mutates >= 0.90" in text


def test_a_replay_tells_what_a_changed_policy_does(world: World, journal: Journal) -> None:
    journal.append(row("a1", "git push origin feature", judged=judged(0.1)))
    journal.append(row("b2", "nobody-knows-this --now", judged=judged(0.3)))
    journal.append(row("c3", "nobody-knows-this --later", judged=judged(0.1)))
    journal.append(row("d4", "ls -la", source="read-only"))
    journal.append(row("e5", "curl -H [redacted:token] https://e.example"))
    journal.append(row("f6", "/home/x (3 characters)", tool="Write"))
    journal.append(row("g7", "git push origin main (in /srv)", judged=judged(0.1)))
    policy = world.write("mine.toml", STRICT)
    said = world.ctl("replay", "--policy", policy, "--json")
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert found["calls"] == 5
    assert found["left_out"] == {"holds a masked secret": 1, "not a shell or read call": 1}
    changed = {each["id"]: (each["before"], each["after"], each["rule"]) for each in found["changes"]}
    assert changed["a1"] == ("pass", "ask", "no-push")
    assert changed["b2"] == ("pass", "ask", "careful")
    assert "c3" not in changed
    assert "d4" not in changed
    assert found["stops_after"] > found["stops_before"]
    text = world.ctl("replay", "--policy", policy).stdout
    assert "pass -> ask" in text
    assert "[careful] nobody-knows-this --now" in text


def test_a_replay_without_changes_says_so(world: World, journal: Journal) -> None:
    journal.append(row("a1", "ls", source="read-only"))
    assert "nothing changes" in world.ctl("replay").stdout


@pytest.mark.parametrize(
    ("text", "says"), [("policy = 2\nversion = '1'\n", "format 2"), ("policy = \n", "mine.toml"), (None, "no file")]
)
def test_a_policy_that_does_not_load_is_named(world: World, journal: Journal, text: str | None, says: str) -> None:
    journal.append(row("a1", "ls"))
    policy = world.path("mine.toml") if text is None else world.write("mine.toml", text)
    said = world.ctl("replay", "--policy", policy)
    assert said.returncode == 1
    assert says in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize("command", ["report", "replay"])
def test_without_a_journal_it_says_so(world: World, command: str) -> None:
    said = world.ctl(command)
    assert said.returncode == 1
    assert "no journal yet" in said.stderr


def test_why_shows_what_a_judge_said(world: World, journal: Journal) -> None:
    journal.append(row("w1", "git push", "ask", "gate", rule="judge-blast", judged=judged(0.75, 2.5)))
    journal.append(row("w1", "git push", "ran", kind="ran"))
    text = world.ctl("why", "w1").stdout
    assert "fixed, questions 1+x, 2.5 ms" in text
    assert "mutates 0.750" in text
    assert "blast 2.50 of 3" in text
    assert "environment local 1.000" in text
    assert "decision    ask" in text
