"""Looking at what a call names, as often as it takes: real files, real repositories."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from reflexd.core.decide import decide
from reflexd.core.policy import shipped
from reflexd.sight.look import FILE_MAX, understood
from reflexd.types import Context, Facts, Origin, Read, Shell, Tool, ToolCall, Verdict, Write


@pytest.fixture
def home(short_home: str) -> Path:
    Path(short_home, "proj").mkdir()
    return Path(short_home)


def judged(home: Path, call: str | Tool, cwd: str = "proj") -> Verdict:
    tool = Shell(call) if isinstance(call, str) else call
    context = Context(cwd=str(home / cwd), home=str(home))
    event = ToolCall(Origin("claude", "PreToolUse", cwd=context.cwd), "Bash", tool)
    return decide(event, understood(tool, context), context, shipped())


def git(where: Path, *words: str) -> None:
    env = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    named = ("-c", "user.name=a", "-c", "user.email=a@e.example")
    subprocess.run(["git", *named, *words], cwd=where, check=True, env=env)


@pytest.fixture
def committed(home: Path) -> Path:
    project = home / "proj"
    (project / "src").mkdir()
    (project / "src" / "a.py").write_text("a = 1\n")
    git(project, "init", "-q")
    git(project, "add", ".")
    git(project, "commit", "-qm", "x")
    return project


def test_what_git_gives_back_may_go(home: Path, committed: Path) -> None:
    assert judged(home, "rm -rf src").decision == "pass"


@pytest.mark.parametrize("name", ["a.py", "new.py"])
def test_what_git_does_not_have_may_not(home: Path, committed: Path, name: str) -> None:
    (committed / "src" / name).write_text("a = 2\n")
    assert judged(home, "rm -rf src").rule == "delete-sources"


@pytest.mark.parametrize("before", ["python3 gen.py", "make", "echo x > src/b.py", "cp a src/"])
def test_what_may_change_first_is_not_known_to_come_back(home: Path, committed: Path, before: str) -> None:
    assert judged(home, f"{before}; rm -rf src").rule == "delete-sources"


def test_a_clean_file_may_be_checked_out_again(home: Path, committed: Path) -> None:
    assert judged(home, "git checkout -- src/a.py").decision == "pass"
    (committed / "src" / "a.py").write_text("a = 2\n")
    assert judged(home, "git checkout -- src/a.py").rule == "discard-file"


@pytest.mark.parametrize("tool", [Read, lambda path: Write(path, "x"), lambda path: Shell(f"cat {path}")])
def test_a_link_is_judged_as_what_it_points_to(home: Path, tool: type[Read]) -> None:
    (home / ".ssh").mkdir()
    (home / ".ssh" / "id_rsa").write_text("key")
    (home / "proj" / "notes").symlink_to("../.ssh/id_rsa")
    (home / "proj" / "chain").symlink_to("notes")
    assert judged(home, tool(str(home / "proj" / "chain"))).decision == "ask"


def test_a_workspace_behind_a_link_is_a_workspace(home: Path) -> None:
    (home / "real").mkdir()
    (home / "real" / "a").mkdir()
    (home / "link").symlink_to("real")
    assert judged(home, "rm -rf node_modules", cwd="link").decision == "pass"


@pytest.mark.parametrize(
    ("name", "content"), [("big.sh", b"#" * (FILE_MAX + 1)), ("binary.sh", b"\x00\xff"), ("missing.sh", None)]
)
def test_code_that_cannot_be_read_is_flagged_and_passes(home: Path, name: str, content: bytes | None) -> None:
    if content is not None:
        (home / "proj" / name).write_bytes(content)
    context = Context(cwd=str(home / "proj"), home=str(home))
    found = understood(Shell(f"bash {name}"), context)
    assert [each.path for each in found.unseen] == [str(home / "proj" / name)]
    assert judged(home, f"bash {name}").decision == "pass"


def test_a_pipe_in_the_place_of_a_script_does_not_block(home: Path) -> None:
    os.mkfifo(home / "proj" / "run.sh")
    assert understood(Shell("bash run.sh"), Context(cwd=str(home / "proj"), home=str(home))).unseen


def facts_of(home: Path, command: str) -> Facts:
    return understood(Shell(command), Context(cwd=str(home / "proj"), home=str(home)))


def test_looking_with_git_is_proved_by_the_settings_that_apply(home: Path, committed: Path) -> None:
    for command in ("git status", "git log --oneline", "git diff"):
        assert facts_of(home, command).read_only


@pytest.mark.parametrize(
    ("key", "value", "command"),
    [
        ("core.fsmonitor", "./x", "git status"),
        ("diff.external", "./x", "git diff"),
        ("core.pager", "./x", "git log"),
        ("diff.py.textconv", "sh x", "git show"),
        ("filter.x.clean", "./x", "git status"),
        ("gpg.program", "./x", "git log"),
    ],
)
def test_a_setting_that_names_a_program_takes_the_proof_away(
    home: Path, committed: Path, key: str, value: str, command: str
) -> None:
    git(committed, "config", key, value)
    assert not facts_of(home, command).read_only
    assert facts_of(home, "git show-ref").read_only


def test_a_setting_included_from_elsewhere_counts(home: Path, committed: Path) -> None:
    (home / "more").write_text("[core]\n\tfsmonitor = ./x\n")
    (home / ".gitconfig").write_text(f"[include]\n\tpath = {home}/more\n")
    assert not facts_of(home, "git status").read_only


def test_a_setting_that_names_no_program_of_anybodys_own_is_fine(home: Path, committed: Path) -> None:
    git(committed, "config", "core.fsmonitor", "true")
    git(committed, "config", "core.pager", "less -R")
    assert facts_of(home, "git status").read_only
    assert facts_of(home, "git log").read_only


def test_the_branch_that_is_checked_out_is_the_one_that_is_pushed(home: Path, committed: Path) -> None:
    git(committed, "checkout", "-q", "-b", "feat")
    assert judged(home, "git push -f").rule == "push-force"
    git(committed, "checkout", "-q", "-b", "main")
    assert judged(home, "git push -f").rule == "push-main"
    assert judged(home, "git push -f origin HEAD").rule == "push-main"


def test_where_no_repository_is_git_has_nothing_to_run(home: Path) -> None:
    assert facts_of(home, "git status").read_only
