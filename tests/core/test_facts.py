"""Other tools than the shell, and what only a context can tell."""

from __future__ import annotations

import json

import pytest
from msgspec import structs

from reflexd.core.decide import decide
from reflexd.core.facts import facts
from reflexd.core.lines import COMMAND_MAX
from reflexd.core.policy import shipped
from reflexd.types import (
    Code,
    Context,
    Edit,
    Fetch,
    Mcp,
    Origin,
    Other,
    Patch,
    Read,
    Search,
    Seen,
    Shell,
    Sighting,
    Spawn,
    Tool,
    ToolCall,
    Want,
    WebSearch,
    Write,
)

HOME = "/home/dev"
CONTEXT = Context(
    cwd=f"{HOME}/proj",
    home=HOME,
    hook_files=(f"{HOME}/.claude/settings.json", f"{HOME}/.pi/agent/extensions/reflex.ts"),
    own_pids=(4242,),
)
NO_REPOSITORY = Seen(((Want("repository", CONTEXT.cwd), Sighting(problem="missing")),))
HOOKED = '{"hooks": {"PreToolUse": "reflex_hook.py"}}'
PATCH = "*** Begin Patch\n*** Update File: {}\n@@\n+{}\n*** End Patch"


def rule(tool: Tool, context: Context = CONTEXT) -> tuple[str, str]:
    verdict = decide(ToolCall(Origin("codex", "PreToolUse"), "T", tool), facts(tool, context), context, shipped())
    return verdict.decision.value, verdict.rule


@pytest.mark.parametrize(
    ("tool", "expected"),
    [
        (Read(f"{HOME}/proj/a.py"), "pass"),
        (Read("a.py"), "pass"),
        (Read(f"{HOME}/.ssh/id_rsa"), "ask"),
        (Read("~/.ssh/id_rsa"), "ask"),
        (Read(".env"), "ask"),
        (Read(".env.example"), "pass"),
        (Read(f"{HOME}/.ssh/id_rsa.pub"), "pass"),
        (Read(f"{HOME}/proj/../.aws/credentials"), "ask"),
        (Search("KEY", f"{HOME}/.aws"), "ask"),
        (Search("TODO"), "pass"),
        (Write("a.py", "import os"), "pass"),
        (Write(".env", "A=1"), "pass"),
        (Write(".env", "LD_PRELOAD=/tmp/x.so"), "deny"),
        (Write(f"{HOME}/.bashrc", "alias a=b"), "ask"),
        (Write(f"{HOME}/.bashrc", "export BASH_ENV=/tmp/x"), "deny"),
        (Write("/etc/ld.so.preload", "/x.so"), "deny"),
        (Write("/etc/hosts", ""), "ask"),
        (Write(".git/hooks/pre-commit", ""), "ask"),
        (Write(".claude/settings.json", "{}"), "ask"),
        (Write(".claude/settings.local.json", '{"disableAllHooks": true}'), "deny"),
        (Write(f"{HOME}/.claude/settings.json", HOOKED), "ask"),
        (Write(f"{HOME}/.claude/settings.json", "{}"), "deny"),
        (Edit(f"{HOME}/.claude/settings.json", '"model": "x"'), "ask"),
        (Edit(f"{HOME}/.claude/settings.json", '"disableAllHooks": true'), "deny"),
        (Edit(f"{HOME}/.pi/agent/extensions/reflex.ts", "return"), "deny"),
        (Edit(f"{HOME}/.config/reflex/config.toml", "x"), "deny"),
        (Write(f"{HOME}/.local/share/reflex/shims/x.py", "x"), "deny"),
        (Patch(PATCH.format("src/a.py", "x = 1")), "pass"),
        (Patch(PATCH.format(f"{HOME}/.local/state/reflex/x", "x")), "deny"),
        (Patch(PATCH.format(".git/hooks/pre-push", "x")), "ask"),
        (Patch("--- a/x\n+++ b/.git/hooks/pre-push\n@@\n+x\n"), "ask"),
        (Patch("*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch"), "ask"),
        (Patch("nothing that names a file"), "ask"),
        (Fetch("https://e.example"), "pass"),
        (Fetch(f"file://{HOME}/.ssh/id_rsa"), "ask"),
        (WebSearch("rm -rf /"), "pass"),
        (Spawn("delete everything below / with rm -rf"), "pass"),
        (Mcp("fs", "write_file", json.dumps({"path": f"{HOME}/.config/reflex/config.toml"})), "deny"),
        (Mcp("fs", "read_file", json.dumps({"path": f"{HOME}/.ssh/id_rsa"})), "ask"),
        (Mcp("fs", "listDirectory", json.dumps({"path": f"{HOME}/.config/reflex"})), "pass"),
        (Mcp("fs", "edit", json.dumps({"files": [{"path": f"{HOME}/.claude.json"}]})), "ask"),
        (Mcp("github", "create_issue", json.dumps({"body": "rm -rf / and ~/.config/reflex"})), "ask"),
        (Mcp("github", "get_issue", json.dumps({"body": "rm -rf / and ~/.config/reflex"})), "pass"),
        (Other("TodoWrite", json.dumps({"todos": [{"content": "rm -rf ~"}]})), "pass"),
        (Code("python", "import shutil\nshutil.rmtree('/home/dev')"), "deny"),
        (Code("python", "print('rm -rf /')"), "pass"),
        (Code("javascript", "require('child_process').execSync('rm -rf /')"), "deny"),
        (Code("bash", "rm -rf ~"), "deny"),
        (Code("cobol", "STOP RUN."), "ask"),
        (Shell("kill 4242"), "deny"),
        (Shell("kill -9 -- -4242"), "deny"),
        (Shell("kill 4243"), "pass"),
        (Shell("gdb -p 4242"), "deny"),
        (Shell("rm -rf *", workdir=HOME), "deny"),
        (Shell("rm -rf *", workdir="/"), "deny"),
        (Shell("ls", workdir="relative/dir"), "pass"),
        (Shell("echo 'disableAllHooks: true' > .claude/settings.json"), "ask"),
    ],
    ids=lambda value: str(value)[:70],
)
def test_tools_get_the_decision_they_should(tool: Tool, expected: str) -> None:
    assert rule(tool)[0] == expected, rule(tool)


def test_a_branch_that_only_the_context_knows() -> None:
    push = Shell("git push -f")
    assert rule(push) == ("ask", "push-force")
    assert rule(push, structs.replace(CONTEXT, env=(("git_branch", "main"),))) == ("deny", "push-main")


def test_a_variable_that_the_context_knows_is_taken_as_it_is() -> None:
    command = Shell('rm -rf "$BUILD"/*')
    assert rule(command)[0] == "deny"
    assert rule(command, structs.replace(CONTEXT, env=(("BUILD", f"{HOME}/proj/build"),)))[0] == "pass"
    assert rule(command, structs.replace(CONTEXT, env=(("BUILD", ""),)))[0] == "deny"


@pytest.mark.parametrize("cwd", ["", "relative", "/", HOME, "/etc", "/workspace", f"{HOME}/proj/../.."])
@pytest.mark.parametrize("home", ["", "/root", HOME, "/nonexistent"])
def test_no_working_directory_makes_root_or_home_a_workspace(cwd: str, home: str) -> None:
    context = structs.replace(CONTEXT, cwd=cwd, home=home)
    assert rule(Shell("rm -rf /"), context)[0] == "deny"
    assert rule(Shell("rm -rf /etc"), context)[0] == "deny"
    assert rule(Shell("cd / && rm -rf *"), context)[0] == "deny"
    if home:
        assert rule(Shell("rm -rf ~"), context)[0] == "deny"


def test_a_long_command_asks_and_a_deny_in_it_stays_one() -> None:
    long = "echo " + "x" * COMMAND_MAX
    assert rule(Shell(long)) == ("ask", "opaque")
    assert rule(Shell(long + "\nrm -rf ~"))[0] == "deny"
    assert rule(Shell("x" * 1_000_000 + "; rm -rf ~"))[0] == "deny"
    assert rule(Shell("cat > notes.md <<'E'\n" + "rm -rf /\n" * 2000 + "E"))[0] == "pass"


@pytest.mark.parametrize(
    ("command", "read_only"),
    [
        ("ls -la", True),
        ("git log --oneline -5 | head", True),
        ("git status && git diff --stat", True),
        ("grep -rn foo src 2>/dev/null", True),
        ("find . -name '*.py' -exec grep -l x {} +", True),
        ("cat a | sort | uniq -c | sort -rn", True),
        ("cd src && ls", True),
        ("for f in a b; do cat $f; done", True),
        ("", False),
        ("ls > out", False),
        ("sort -o out in", False),
        ("git log --output=x", False),
        ("git branch new", False),
        ("git stash", False),
        ("git -c core.pager=x log", False),
        ("GIT_PAGER=x git log", False),
        ("PATH=. ls", False),
        ("rg --pre x foo", False),
        ("find . -delete", False),
        ("find . -fprint x", False),
        ("grep --new-flag x y", False),
        ("ls; unknown-program", False),
        ("./ls", False),
        ("LS", False),
        ("$(cat x)", False),
        ("ls $(touch x)", False),
        ("python3 x.py", False),
        ("date -s 2020-01-01", False),
        ("uniq a b", False),
        ("echo 'oops", False),
        ("eval ls", False),
        ("alias ls=x; ls", False),
        ("ls() { rm x; }; ls", False),
        ("tail -f x &", True),
    ],
)
def test_read_only_is_a_proof(command: str, read_only: bool) -> None:
    assert facts(Shell(command), CONTEXT, NO_REPOSITORY).read_only is read_only


def test_what_only_looks_with_git_is_not_proved_before_its_settings_were_seen() -> None:
    assert not facts(Shell("git status"), CONTEXT).read_only
