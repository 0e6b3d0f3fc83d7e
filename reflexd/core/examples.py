"""Trying the rules on the examples that they carry."""

from __future__ import annotations

import hashlib
import json
import posixpath

from reflexd.core.facts import facts
from reflexd.core.policy import Policy
from reflexd.core.rules import Example, Rule
from reflexd.types import (
    Code,
    Context,
    Edit,
    Facts,
    Fetch,
    Mcp,
    Past,
    Patch,
    Read,
    Search,
    Seen,
    Shell,
    Sighting,
    Tool,
    Want,
    Write,
)

HOME = "/home/dev"
CWD = "/home/dev/proj"
ROUNDS = 4


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
        past=Past(downloaded=one.downloaded, pending=one.pending, busy=one.busy),
        taint=one.taint,
        pins=one.pins,
        secrets=one.secrets,
    )
    return rule.finding(_understood(_tool(one), context, one.files), context) is not None


def _understood(tool: Tool, context: Context, files: dict[str, str]) -> Facts:
    """With the files looked at that the example has; nothing else is there."""
    there = {posixpath.normpath(posixpath.join(context.cwd, name)): text for name, text in files.items()}
    seen = Seen()
    for _ in range(ROUNDS if there else 0):
        found = facts(tool, context, seen)
        if not found.wants:
            return found
        seen = Seen((*seen.found, *((want, _sighting(want, there)) for want in found.wants)))
    return facts(tool, context, seen)


def _sighting(want: Want, there: dict[str, str]) -> Sighting:
    if want.kind == "real":
        return Sighting(text=want.path)
    if want.kind != "file" or want.path not in there:
        return Sighting(problem="missing")
    text = there[want.path]
    return Sighting(text=text, digest=hashlib.sha256(text.encode()).hexdigest())


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
        case "search":
            return Search(one.text, one.path)
        case "fetch":
            return Fetch(one.path)
        case "code":
            return Code("python", one.text)
        case "mcp":
            return Mcp(one.server, one.command, json.dumps(one.args))
