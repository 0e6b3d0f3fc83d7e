"""Trying the rules on the examples that they carry."""

from __future__ import annotations

from reflexd.core.facts import facts
from reflexd.core.policy import Example, Policy, Rule
from reflexd.types import Code, Context, Edit, Fetch, Mcp, Patch, Read, Shell, Tool, Write

HOME = "/home/dev"
CWD = "/home/dev/proj"


def failures(policy: Policy) -> tuple[str, ...]:
    """One line for each example that its rule gets wrong."""
    found = []
    for rule in policy.rules:
        for example in rule.catches:
            if not _speaks(rule, example):
                found.append(f"{rule.id} does not catch {example}")
        for example in rule.leaves:
            if _speaks(rule, example):
                found.append(f"{rule.id} does not leave {example} alone")
    return tuple(found)


def _speaks(rule: Rule, example: str | Example) -> bool:
    one = Example(command=example) if isinstance(example, str) else example
    context = Context(
        cwd=one.cwd or CWD,
        home=HOME,
        env=tuple(one.env.items()),
        hook_files=(f"{HOME}/.claude/settings.json", f"{HOME}/.codex/hooks.json"),
    )
    return rule.finding(facts(_tool(one), context)) is not None


def _tool(one: Example) -> Tool:
    match one.tool:
        case "shell":
            return Shell(one.command)
        case "read":
            return Read(one.path)
        case "write":
            return Write(one.path, one.text)
        case "edit":
            return Edit(one.path, one.text)
        case "patch":
            return Patch(one.text)
        case "fetch":
            return Fetch(one.path)
        case "code":
            return Code("python", one.text)
        case "mcp":
            return Mcp("server", one.command, one.text)
