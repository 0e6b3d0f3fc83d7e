"""`report`, `replay` and what `why` shows of a judge, over journals that the daemon's own writer wrote."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from msgspec import structs

from reflexd import paths
from reflexd.core import policy, questions
from reflexd.daemon.journal import Journal, Row, now
from reflexd.daemon.lane import Lane
from reflexd.judge.fixed import answers
from reflexd.types import Judged, NoulAnswer
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
    journal.append(row("g7", "git push origin main (in srv)", agent="opencode", tool="bash", judged=judged(0.1)))
    journal.append(row("h8", "svc call {}", tool="mcp__svc__call", judged=judged(0.5)))
    journal.append(row("i9", "git push origin x # (in /srv)", judged=judged(0.1)))
    journal.append(row("j10", "x" * 5000))
    journal.append(row("k11", "git push", "ask", "deadline"))
    file = world.write("mine.toml", STRICT)
    said = world.ctl("replay", "--policy", file, "--json")
    assert said.returncode == 0, said.stderr
    found = json.loads(said.stdout)
    assert (found["calls"], found["by_gates"]) == (7, 1)
    assert found["not_comparable"] == {
        "holds a masked secret": 1,
        "not a shell or read call": 1,
        "cut in the journal": 1,
        "decided by no rule": 1,
    }
    changed = {each["id"]: (each["before"], each["after"], each["rule"]) for each in found["changes"]}
    assert changed["a1"] == ("pass", "ask", "no-push")
    assert changed["b2"] == ("pass", "ask", "careful")
    assert "c3" not in changed
    assert "d4" not in changed
    assert changed["g7"] == ("pass", "ask", "no-push")
    assert changed["h8"] == ("pass", "ask", "careful")
    assert changed["i9"] == ("pass", "ask", "no-push")
    assert (found["stops_before"], found["stops_after"]) == (0, 5)
    assert found["friction_after"] == pytest.approx(100 * 5 / 7)
    text = world.ctl("replay", "--policy", file).stdout
    assert "on the disk as it is now and not as it was then" in text.splitlines()[0]
    assert "not comparable: 1, cut in the journal" in text
    assert "of 1 of them only a judge's answers were read anew" in text
    assert "pass -> ask: 5" in text
    assert "[careful] nobody-knows-this --now" in text


def test_what_was_done_otherwise_then_is_counted_but_not_where_nothing_was_enforced(
    world: World, journal: Journal
) -> None:
    journal.append(row("a1", "rm -rf /", "pass", mode="enforce"))
    journal.append(row("b2", "rm -rf /", "pass", mode="shadow"))
    found = json.loads(world.ctl("replay", "--json").stdout)
    assert (found["drifted"], found["stops_before"], found["changes"]) == (1, 2, [])


@pytest.mark.parametrize("command", ["report", "replay"])
def test_older_entries_are_left_out(world: World, journal: Journal, command: str) -> None:
    journal.append(row("old", "ls", t="2020-01-01T10:00:00.000+00:00"))
    journal.append(row("day", "ls", t=(datetime.now(UTC) - timedelta(hours=5)).isoformat(timespec="milliseconds")))
    journal.append(row("new", "ls", t=now()))

    def calls(*args: str) -> int:
        return json.loads(world.ctl(command, "--json", *args).stdout)["calls"]  # type: ignore[no-any-return]

    assert [calls(), calls("-n", "2"), calls("--since", "1h"), calls("--since", "1d")] == [3, 2, 1, 2]
    assert [calls("--since", each) for each in ("2019-12-31", "2021-01-01", "99999d")] == [3, 2, 3]
    for args in (("--since", "later"), ("--since", "9999d0"), ("-n", "-1"), ("-n", "x"), ("--since", "2020-13-01")):
        done = world.ctl(command, *args)
        assert done.returncode == 2, args
        assert "Traceback" not in done.stderr


def test_a_threshold_that_keeps_to_few_stops_is_told(world: World, journal: Journal) -> None:
    for number in range(100):
        journal.append(row(f"id{number}", "x", judged=judged(0.6 if number < 2 else 0.2)))
    found = json.loads(world.ctl("report", "--json").stdout)
    assert found["bounds"]["mutates"] == {"per_100": 2.0, "judged": 100, "threshold": 0.21, "stops": 2}
    assert found["bounds"]["blast"] is None
    text = world.ctl("report").stdout
    assert "mutates >= 0.21 would stop 2 of 100 calls, at most 2 per 100" in text
    assert "no threshold keeps to 2 stops per 100 calls" in text


@pytest.mark.parametrize(
    ("agent", "cwd", "call", "stops"),
    [
        ("opencode", "/tmp", "rm -rf ./x (in /etc)", 1),
        ("opencode", "/etc", "rm -rf ./x (in /tmp)", 0),
        ("hermes", "/", "rm -rf ./x (in etc)", 1),
        ("hermes", "/", "rm -rf ./x (in tmp)", 0),
        ("claude", "/etc", "rm -rf ./x # (in /tmp)", 1),
        ("claude", "/tmp", "rm -rf ./x # (in /etc)", 0),
    ],
)
def test_a_call_is_replayed_where_it_was_made(
    world: World, journal: Journal, agent: str, cwd: str, call: str, stops: int
) -> None:
    journal.append(row("a1", call, agent=agent, cwd=cwd))
    assert json.loads(world.ctl("replay", "--json").stdout)["stops_before"] == stops


def test_a_replay_without_changes_says_so(world: World, journal: Journal) -> None:
    journal.append(row("a1", "ls", source="read-only"))
    assert "nothing changes" in world.ctl("replay").stdout


@pytest.mark.parametrize(
    ("text", "says"), [("policy = 2\nversion = '1'\n", "format 2"), ("policy = \n", "mine.toml"), (None, "no file")]
)
def test_a_policy_that_does_not_load_is_named(world: World, journal: Journal, text: str | None, says: str) -> None:
    journal.append(row("a1", "ls"))
    file = world.path("mine.toml") if text is None else world.write("mine.toml", text)
    said = world.ctl("replay", "--policy", file)
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
    assert "gate        none spoke" in text


def test_why_shows_what_the_gate_compared_while_its_policy_is_in_force(world: World, journal: Journal) -> None:
    version = policy.shipped().version
    said = structs.replace(judged(0.75, 2.5), gates=("judge-blast", "theirs"))
    stop = {"rule": "judge-blast", "judged": said}
    journal.append(row("now", "git push", "ask", "gate", policy=version, **stop))
    journal.append(row("then", "git push", "ask", "gate", policy="0+1", **stop))
    silent = structs.replace(judged(0, none="timeout: late"), gates=("judge-no-answer",))
    journal.append(row("none", "x", "ask", "gate", policy=version, judged=silent))
    bad = structs.replace(said, answers=(("mutates", NoulAnswer(7.0)),), gates=("judge-blast",))
    journal.append(row("bad", "x", "ask", "gate", policy=version, judged=bad))
    assert "judge-blast asks: blast 2.50 >= 2.2, mutates 0.75 >= 0.4\n" in world.ctl("why", "now").stdout
    assert "theirs, which a repository brought along" in world.ctl("why", "now").stdout
    assert f"comparisons were of policy 0+1, now it is {version}" in world.ctl("why", "then").stdout
    assert "judge-no-answer asks: no answer" in world.ctl("why", "none").stdout
    assert world.ctl("why", "bad").returncode == 0
    world.write(".config/reflex/policy.toml", "policy = \n", 0o600)
    assert "the policy cannot be read" in world.ctl("why", "now").stdout


def test_explain_shows_what_a_judge_said(world: World) -> None:
    world.write(
        ".config/reflex/config.toml", '[judge]\nkind = "fixed"\n[judge.fixed]\nanswers = { blast = 1.5 }\n', 0o600
    )
    assert world.ctl("start").returncode == 0
    text = world.ctl("check", "git push origin feature", "--explain").stdout
    assert "judge    fixed, questions 1+" in text
    assert "answer   blast 1.50 of 3" in text
    assert "environment local 1.000" in text
