"""A call as the journal shows it: one text, redacted, of bounded length."""

from __future__ import annotations

from reflexd.core.casefile import line
from reflexd.guard.redact import redact_head
from reflexd.types import (
    Code,
    Edit,
    Facts,
    Fetch,
    Mcp,
    Other,
    Patch,
    Read,
    Search,
    Shell,
    Spawn,
    Tool,
    WebSearch,
    Write,
)

SHOWN_MAX = 4096
EFFECTS_MAX = 16


def shown(tool: Tool) -> str:
    # Not cut before: the half of a secret that a cut leaves has no shape to know it by.
    return redact_head(_text(tool), SHOWN_MAX)


def effects(facts: Facts | None) -> tuple[str, ...]:
    """What the call would do, a line each: `delete /home/dev (home; recursive, rm)`. The first EFFECTS_MAX."""
    found = facts.effects if facts is not None else ()
    more = (f"and {len(found) - EFFECTS_MAX} more",) if len(found) > EFFECTS_MAX else ()
    return (*map(line, found[:EFFECTS_MAX]), *more)


def _text(tool: Tool) -> str:
    match tool:
        case Shell(command, workdir):
            return f"{command} (in {workdir})" if workdir else command
        case Read(path):
            return path
        case Write(path, content):
            return f"{path} ({len(content)} characters)"
        case Edit(path, added):
            return f"{path} ({len(added)} characters)"
        case Patch(text):
            return text
        case Search(pattern, path):
            return f"{pattern} {path}".strip()
        case Fetch(url):
            return url
        case WebSearch(query):
            return query
        case Mcp(server, name, args):
            return f"{server} {name} {args}"
        case Spawn(task):
            return task
        case Code(language, source):
            return f"{language}: {source}"
        case Other(name, args):
            return f"{name} {args}"
