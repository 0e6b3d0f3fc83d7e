"""One shell command, judged as a hook would judge it, without a daemon."""

from __future__ import annotations

from reflexd.core.decide import decide
from reflexd.core.facts import facts
from reflexd.core.policy import shipped
from reflexd.types import Context, Origin, Shell, Tool, ToolCall, Verdict

HOME = "/home/dev"
CWD = "/home/dev/proj"
HOOK_FILES = (f"{HOME}/.claude/settings.json", f"{HOME}/.codex/hooks.json")


def judge(command: str | Tool, cwd: str = CWD, env: dict[str, str] | None = None, home: str = HOME) -> Verdict:
    tool = Shell(command) if isinstance(command, str) else command
    context = Context(cwd=cwd, home=home, env=tuple((env or {}).items()), hook_files=HOOK_FILES)
    event = ToolCall(Origin("claude", "PreToolUse", cwd=cwd), "Bash", tool)
    return decide(event, facts(tool, context), context, shipped())


def unread(verdict: Verdict) -> bool:
    """Whether part of the command could not be read."""
    return any(finding.rule == "opaque" for finding in verdict.findings)
