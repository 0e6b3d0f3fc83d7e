"""A stronger judge behind a real daemon: parked, looked at, answered on the retry, and sent no secret."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reflexd import paths
from reflexd.daemon.journal import Row
from tests.daemon.running import Daemon, until
from tests.daemon.test_judging import settings
from tests.judge.second.model import Model

APPROVE = '{"verdict": "approve", "reason": "plain work"}'
CALL = "git push origin feature"
SECRETS = {
    "github": "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github-fine": "github_pat_11ABCDEFG0abcdefghijkl_ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz012345",
    "gitlab": "glpat-ABCDEFGHIJKLMNOPQRST",
    "aws-id": "AKIAIOSFODNN7EXAMPLQ",
    "slack": "xoxb-123456789012-123456789012-abcdefghijklmnopqrstuvwx",
    "stripe": "sk_live_0123456789abcdefghijABCD",
    "openai": "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ",
    "anthropic": "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ-AA",
    "google": "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "npm": "npm_0123456789abcdefghijABCDEFGHIJ012345",
    "pypi": "pypi-AgEIcHlwaS5vcmcCJDAxMjM0NTY3LWFiY2QtZWYwMS0yMzQ1LTY3ODlhYmNkZWYwMQ",
    "jwt": "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
    "sendgrid": "SG.abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg",
    "twilio": "SK0123456789abcdef0123456789abcdef",
    "url": "postgres://shop:Tr0ub4dor9x@db.example/shop",
    "basic": "https://dev:Tr0ub4dor9y@git.example/x",
    "password": "password=Tr0ub4dor9z",
    "bearer": "Authorization: Bearer abcdef0123456789abcdef0123456789",
    "huggingface": "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
    "private-key": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAA\n"
    "-----END OPENSSH PRIVATE KEY-----",
}


def core(secret: str) -> str:
    """The part of it that must not be seen anywhere."""
    for part in (secret.split("\n")[1] if "\n" in secret else secret,):
        for mark in ("Bearer ", "password=", "shop:", "dev:"):
            part = part.rpartition(mark)[2]
        return part.partition("@")[0]
    raise AssertionError


def configure(home: str, model: Model, profile: str = "autonomous", more: str = "") -> None:
    settings(
        home,
        f"""
profile = "{profile}"
[judge]
kind = "fixed"
[judge.fixed]
answers = {{ blast = 2.4, mutates = 0.6 }}
[second]
{more}
[[second.tiers]]
kind = "openai"
url = "{model.url}"
model = "m"
timeout_s = 5
""",
    )


def rows(daemon: Daemon) -> list[Row]:
    return [row for row in daemon.rows() if row.kind == "verdict"]


def settled(daemon: Daemon, command: str = CALL) -> Row:
    """The call, again and again, until it is not waiting any more."""

    def call() -> Row | None:
        daemon.bash(command)
        row = rows(daemon)[0]
        return None if "looks at it" in row.reason else row

    return until(call, "a stronger judge's answer")


def test_a_call_is_parked_then_passes_once(short_home: str) -> None:
    with Model(APPROVE) as model:
        configure(short_home, model)
        with Daemon(short_home) as daemon:
            reply = daemon.bash(CALL)
            assert reply.exit == 2
            assert b"try the same call again" in reply.stderr
            row = settled(daemon)
            assert (row.decision, row.decided_by) == ("pass", "second")
            assert len(model.bodies) == 1
            daemon.bash(CALL)
            assert "looks at it" in rows(daemon)[0].reason  # once
            daemon.bash(CALL, session_id="another")
            assert rows(daemon)[0].decision == "ask"
            assert "bug: " not in daemon.log(), daemon.log()
            assert model.url.removeprefix("http://") in " ".join(daemon.client.status().notes)


def test_a_refusal_gives_its_reason_and_is_not_asked_about_again(short_home: str) -> None:
    with Model('{"verdict": "deny", "reason": "that is not what was asked"}') as model:
        configure(short_home, model)
        with Daemon(short_home) as daemon:
            row = settled(daemon)
            assert (row.decision, row.decided_by) == ("deny", "second")
            assert "not what was asked" in row.reason
            for again in (CALL, "git push origin feature"):
                daemon.bash(again)
                assert rows(daemon)[0].decision == "deny"
            assert len(model.bodies) == 1


def test_a_refusal_holds_for_other_numbers_and_an_approval_does_not(short_home: str) -> None:
    for said, sent in (('{"verdict": "deny", "reason": "no"}', 1), (APPROVE, 2)):
        with Model(said) as model:
            configure(short_home, model)
            with Daemon(short_home) as daemon:
                settled(daemon, "gh pr edit 12 --title x")
                daemon.bash("gh pr edit 13 --title x")
                until(lambda model=model, sent=sent: len(model.bodies) == sent, "what is sent")
                assert rows(daemon)[0].decision == ("deny" if sent == 1 else "ask")
                daemon.bash("gh pr edit 12 --title y")
                assert rows(daemon)[0].decision == "ask"


@pytest.mark.parametrize(
    ("said", "more"),
    [("well, approve", ""), ('{"verdict": "human", "reason": "unsure"}', ""), (APPROVE, "per_day = 0")],
)
def test_whatever_is_unclear_waits_for_a_person(short_home: str, said: str, more: str) -> None:
    with Model(said) as model:
        configure(short_home, model, more=more)
        with Daemon(short_home) as daemon:
            row = settled(daemon)
            assert (row.decision, row.decided_by) == ("ask", "gate")
            assert "a person decides" in row.reason


@pytest.mark.parametrize(
    "command", ["cat ~/.ssh/id_ed25519", "kubectl --context prod delete pod x", "aws iam create-user x"]
)
def test_what_a_person_alone_approves_is_not_even_sent(short_home: str, command: str) -> None:
    with Model(APPROVE) as model:
        configure(short_home, model)
        with Daemon(short_home) as daemon:
            for _ in range(3):
                daemon.bash(command)
                assert rows(daemon)[0].decision in ("ask", "deny")
            assert model.bodies == []


def test_while_a_person_is_there_nothing_is_sent(short_home: str) -> None:
    with Model(APPROVE) as model:
        configure(short_home, model, profile="supervised")
        with Daemon(short_home) as daemon:
            daemon.bash(CALL)
            assert rows(daemon)[0].decision == "ask"
            assert model.bodies == []


def test_no_secret_of_twenty_kinds_is_sent(short_home: str, tmp_path: Path) -> None:
    """Planted in what the person asked, in what the agent says, in earlier calls and in the call itself."""
    assert len(SECRETS) == 20
    with Model(APPROVE) as model:
        configure(short_home, model)
        with Daemon(short_home) as daemon:
            for number, secret in enumerate(SECRETS.values()):
                session = f"session-{number}"
                transcript = tmp_path / f"{number}.jsonl"
                said = [
                    {"type": "user", "message": {"role": "user", "content": "go"}},
                    {
                        "type": "assistant",
                        "message": {"role": "assistant", "content": [{"type": "text", "text": f"I use {secret} now"}]},
                    },
                ]
                transcript.write_text("\n".join(map(json.dumps, said)))
                asked = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": f"use {secret} for it"}
                daemon.call("claude", "UserPromptSubmit", json.dumps(asked).encode())
                fields = {"session_id": session, "transcript_path": str(transcript)}
                daemon.bash(f"echo '{secret}'", **fields)
                daemon.bash(f"curl -s https://e.example/{number} -H '{secret}'", **fields)
                daemon.bash(f"git push origin feature-{number}", **fields)
            until(lambda: len(model.bodies) >= len(SECRETS), "all cases")
            sent = b"\n".join(model.bodies).decode()
            kept = Path(paths.journal_file(short_home)).read_text()
    assert "for it" in sent
    leaked = [kind for kind, secret in SECRETS.items() if core(secret) in sent or core(secret) in kept]
    assert leaked == []


def test_no_secret_of_a_branch_or_of_a_script_is_sent(short_home: str, tmp_path: Path) -> None:
    """The call's own words hold none, what was read for it does."""
    tmp_path /= "repo"
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "refs").mkdir()
    (tmp_path / ".git" / "config").write_text("")
    (tmp_path / ".git" / "HEAD").write_text(f"ref: refs/heads/{SECRETS['github']}\n")
    script = f"curl -X POST https://shop:Tr0ub4dor9x@e.example/x\ncurl -X POST https://e.example/{SECRETS['gitlab']}\n"
    (tmp_path / "send.sh").write_text(script)
    with Model(APPROVE) as model:
        configure(short_home, model)
        with Daemon(short_home) as daemon:
            daemon.bash("bash send.sh", cwd=str(tmp_path))
            until(lambda: model.bodies, "the case")
            sent = model.bodies[0].decode()
    assert "e.example" in sent
    assert [s for s in (SECRETS["github"], SECRETS["gitlab"], "Tr0ub4dor9x") if s in sent] == []


def test_an_approval_ends_when_the_person_asks_for_something_else(short_home: str) -> None:
    with Model(APPROVE) as model:
        configure(short_home, model)
        with Daemon(short_home) as daemon:
            for number, prompt in enumerate(("push the branch", "stop, push nothing"), 1):
                asked = {"hook_event_name": "UserPromptSubmit", "session_id": "s", "prompt": prompt}
                daemon.call("claude", "UserPromptSubmit", json.dumps(asked).encode())
                daemon.bash(CALL, session_id="s")
                assert "looks at it" in rows(daemon)[0].reason
                until(lambda number=number: len(model.bodies) == number, "the case")


@pytest.mark.parametrize(
    ("tier", "says"),
    [('kind = "openai"\nurl = "http://example.com"\nmodel = "m"', "not encrypted"), ('kind = "x"', "x")],
)
def test_a_tier_that_would_not_do_leaves_the_last_good_settings(short_home: str, tier: str, says: str) -> None:
    settings(short_home, f"[[second.tiers]]\n{tier}\n")
    with Daemon(short_home) as daemon:
        assert says in " ".join(daemon.client.status().broken)
