"""The rules that a repository brings along, on real directories."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from reflexd.core.policy import shipped
from reflexd.sight import repopolicy
from reflexd.sight.repopolicy import Repositories
from reflexd.sight.ruling import Ruler
from reflexd.types import Context, Decision, Mcp, Origin, Patch, Pin, Shell, Tool, ToolCall, Verdict, Write

HEAD = 'policy = 1\nversion = "3"\n'
RULE = """
[[rule]]
id = "no-make"
decision = "deny"
reason = "nobody rewrites here"
when = { effect = "push" }
catches = ["git push -f"]
leaves = ["git status"]
"""
PUSH = "git push --force-with-lease origin x"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    found = tmp_path.resolve() / "home"
    found.mkdir()
    return found


def repository(at: Path, text: str | None = HEAD + RULE) -> Path:
    (at / ".git").mkdir(parents=True)
    if text is not None:
        (at / ".reflex").mkdir()
        (at / ".reflex/policy.toml").write_text(text)
    return at


def judged(tool: Tool | str, cwd: Path, home: Path, ruler: Ruler | None = None, **more: object) -> Verdict:
    call = Shell(tool) if isinstance(tool, str) else tool
    context = Context(cwd=str(cwd), home=str(home), **more)  # type: ignore[arg-type]
    event = ToolCall(Origin("claude", "PreToolUse", cwd=str(cwd)), "x", call)
    return (ruler or Ruler()).looked(event, context, shipped()).verdict


def test_its_rules_hold_in_it_and_nowhere_else(home: Path) -> None:
    inside = repository(home / "proj")
    (inside / "src").mkdir()
    (home / "other").mkdir()
    verdict = judged(PUSH, inside / "src", home)
    assert (verdict.decision, verdict.rule) == (Decision.DENY, "repository:no-make")
    assert verdict.policy.endswith(Repositories().around([str(inside)])[0].version)
    assert judged(PUSH, home / "other", home).decision is Decision.ASK
    for there in (f"git -C {inside}", "git -C ../proj", f"git --git-dir={inside}/.git --work-tree={inside}"):
        assert judged(PUSH.replace("git", there, 1), home / "other", home).rule == "repository:no-make", there
    assert judged(f"cd {inside} && {PUSH}", home / "other", home).rule == "repository:no-make"


def test_every_repository_around_has_a_say(home: Path) -> None:
    outer = repository(home / "outer", HEAD + 'protected = ["a.txt"]')
    inner = repository(outer / "inner", HEAD + 'protected = ["b.txt"]')
    assert judged("echo x > ../a.txt", inner, home).decision is Decision.ASK
    assert judged("echo x > b.txt", inner, home).decision is Decision.ASK
    assert judged("echo x > c.txt", inner, home).decision is Decision.PASS


@pytest.mark.parametrize(
    "tool",
    [
        "echo x > infra/prod.tf",
        "rm -r infra",
        "sed -i s/a/b/ infra/prod.tf",
        "cp a infra/",
        Write("infra/prod.tf", "x"),
        Patch("*** Begin Patch\n*** Update File: infra/prod.tf\n@@\n-a\n+b\n*** End Patch"),
        Mcp("fs", "write_file", '{"path": "infra/prod.tf"}'),
    ],
)
def test_every_writing_tool_meets_its_protected_files(home: Path, tool: Tool | str) -> None:
    inside = repository(home / "proj", HEAD + 'protected = ["infra/**"]')
    (inside / "infra").mkdir()
    (inside / "infra/prod.tf").touch()
    verdict = judged(tool, inside, home, pins=())
    assert verdict.decision is Decision.ASK
    assert "repository-protected" in {finding.rule for finding in verdict.findings}


def test_links_lead_to_protected_files_all_the_same(home: Path) -> None:
    inside = repository(home / "proj", HEAD + 'protected = ["infra/**"]')
    (inside / "infra").mkdir()
    (home / "way").symlink_to(inside / "infra")
    (inside / "other").symlink_to("infra")
    assert judged("echo x > other/a", inside, home).rule == "repository-protected"
    patch = "*** Begin Patch\n*** Update File: other/a\n@@\n-a\n+b\n*** End Patch"
    for tool in (Write("other/a", "x"), Patch(patch), Mcp("fs", "edit_file", '{"path": "other/a"}')):
        rules = {finding.rule for finding in judged(tool, inside, home).findings}
        assert "repository-protected" in rules, tool
    assert judged("echo x > way/a", home, home).rule == "repository-protected"
    assert judged("echo x > a", home / "way", home).rule == "repository-protected"


def test_writing_from_elsewhere_meets_them_too(home: Path) -> None:
    inside = repository(home / "proj", HEAD + 'protected = ["a"]')
    assert judged(f"echo x > {inside}/a", home, home).rule == "repository-protected"


def test_what_it_calls_production_is(home: Path) -> None:
    inside = repository(home / "proj", HEAD + 'production = ["blue-*"]')
    destroying = "kubectl --context blue-eu delete namespace web"
    assert judged(destroying, inside, home).decision is Decision.DENY
    assert judged(destroying, home, home).decision is Decision.ASK
    vouched = Pin("k8s", tools=("*",))
    call = Mcp("k8s", "kubectl_apply", '{"context": "blue-eu"}')
    context = Context(cwd=str(inside), home=str(home))
    event = ToolCall(Origin("claude", "PreToolUse"), "x", call)
    from msgspec import structs

    pinned = structs.replace(shipped(), pins=(vouched,))
    assert Ruler().looked(event, context, pinned).verdict.rule == "change-production"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (HEAD + "colour = 3", "line 3: Object contains unknown field `colour`"),
        (HEAD + RULE.replace("deny", "allow"), "line 6: Invalid enum value 'allow'"),
        (HEAD + '[[mcp]]\nserver = "x"\ntools = ["*"]', "line 3: a repository vouches for no server"),
        (HEAD + 'protected = ["!a"]', "line 3: !a: a pattern only adds"),
        (HEAD + 'protected = ["../a"]', "line 3: ../a: a pattern names files below"),
        (HEAD + "protected = [" + '"a",' * 65 + "]", "more than 64 patterns"),
        (HEAD + f'protected = ["{"a" * 501}"]', "longer than 500 characters"),
        (HEAD + "".join(RULE.replace("no-make", f"no-make-{n}") for n in range(51)), "more than 50 rules"),
        ("policy = 1\nversion = 3\n", "line 2: Expected `str`"),
        ("#" * 65 * 1024, "it is larger than 64 KiB"),
    ],
)
def test_a_broken_one_leaves_only_reading(home: Path, text: str, says: str) -> None:
    inside = repository(home / "proj", text)
    ruler = Ruler()
    verdict = judged("make", inside, home, ruler)
    assert (verdict.decision, verdict.decided_by) == (Decision.ASK, "policy")
    assert f"{inside}/.reflex/policy.toml: " in verdict.reason
    assert says in verdict.reason
    assert ruler.faults == (verdict.findings[0].reason.partition(";")[0],)
    assert judged("ls", inside, home, ruler).decision is Decision.PASS
    assert judged("rm -rf ~", inside, home, ruler).decision is Decision.DENY
    (inside / ".reflex/policy.toml").write_text(HEAD)
    assert judged("make", inside, home, ruler).decision is Decision.PASS
    assert ruler.faults == ()


def test_a_fault_goes_with_its_repository(home: Path) -> None:
    inside, ruler = repository(home / "proj", "x"), Ruler()
    judged("make", inside, home, ruler)
    assert len(ruler.faults) == 1
    (inside / ".git").rmdir()
    judged("make", inside, home, ruler)
    assert ruler.faults == ()


def links_to(target: Path, at: Path) -> None:
    target.write_text(HEAD)
    at.symlink_to(target)


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda inside, home: links_to(home / "x.toml", inside / ".reflex/policy.toml"), "it is a symbolic link"),
        (lambda inside, home: os.mkfifo(inside / ".reflex/policy.toml"), "it is not a file"),
        (lambda inside, home: (inside / ".reflex/policy.toml").mkdir(), "it is not a file"),
        (
            lambda inside, home: ((inside / ".reflex").rmdir(), (inside / ".reflex").symlink_to(home)),
            ".reflex is not a directory",
        ),
        (
            lambda inside, home: ((inside / ".reflex").rmdir(), (inside / ".reflex").write_text("x")),
            ".reflex is not a directory",
        ),
    ],
    ids=["link", "fifo", "directory", "link above", "file above"],
)
def test_what_is_no_plain_file_is_refused(home: Path, make, says: str) -> None:  # type: ignore[no-untyped-def]
    inside = repository(home / "proj", None)
    (inside / ".reflex").mkdir()
    (home / "policy.toml").write_text(HEAD)
    make(inside, home)
    verdict = judged("make", inside, home)
    assert (verdict.decision, verdict.decided_by) == (Decision.ASK, "policy")
    assert says in verdict.reason


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_one_that_may_not_be_read_is_refused(home: Path) -> None:
    inside = repository(home / "proj")
    (inside / ".reflex/policy.toml").chmod(0)
    assert "cannot be read" in judged("make", inside, home).reason


@pytest.mark.root
def test_another_users_file_is_refused_and_another_users_repository_is_not_looked_at(home: Path) -> None:
    inside = repository(home / "proj")
    os.chown(inside / ".reflex/policy.toml", 4242, 4242)
    assert "it belongs to another user" in judged("make", inside, home).reason
    os.chown(inside / ".reflex", 4242, 4242)
    assert ".reflex belongs to another user" in judged("make", inside, home).reason
    os.chown(inside, 4242, 4242)
    assert judged("make", inside, home).decision is Decision.PASS


def test_what_was_found_lately_is_known_without_a_look(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = repository(home / "proj")
    repositories = Repositories()
    assert repositories.known([str(inside)]) is None
    (found,) = repositories.around([str(inside)])
    assert repositories.known([str(inside)]) == ((found,), True)
    monkeypatch.setattr(repopolicy, "FRESH_S", -1.0)
    assert repositories.known([str(inside)]) == ((found,), False)
    assert repositories.around([str(inside)]) == (found,)


@pytest.mark.parametrize("cwd", ["", "relative", "/nul\0", "/gone/away", "/" + "a/" * 100_000, "/" + "a" * 5000])
def test_a_directory_that_cannot_be_is_in_no_repository(cwd: str) -> None:
    assert Repositories().around([cwd]) == ()


def test_a_change_that_keeps_size_and_time_is_seen(home: Path) -> None:
    inside = repository(home / "proj")
    repositories = Repositories()
    (before,) = repositories.around([str(inside)])
    path = inside / ".reflex/policy.toml"
    seen = path.stat()
    time.sleep(0.02)
    path.write_text((HEAD + RULE).replace("no-make", "no-push"))
    os.utime(path, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    (after,) = repositories.around([str(inside)])
    assert before.rules[0].id == "repository:no-make"
    assert after.rules[0].id == "repository:no-push"


@pytest.mark.parametrize(
    "command",
    ["rm .reflex/policy.toml", "rm -rf .reflex", "git mv .reflex y", "git rm .reflex/policy.toml", "mv .reflex x"],
)
def test_an_agent_that_changes_it_asks(home: Path, command: str) -> None:
    inside = repository(home / "proj", HEAD)
    verdict = judged(command, inside, home)
    assert verdict.decision is Decision.ASK
    assert "repository-policy" in {finding.rule for finding in verdict.findings}
