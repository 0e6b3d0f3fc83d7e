"""The secrets that a call's own text would take along to wherever it goes."""

from __future__ import annotations

import re

from reflexd.guard.redact import redact
from reflexd.types import Fetch, Mcp, Other, Tool, WebSearch

_MASK = re.compile(r"\[redacted:([a-z0-9-]+)\]", re.ASCII)


def carried(tool: Tool) -> tuple[str, ...]:
    """Their kinds, as redaction knows them; none for tools whose text stays on this machine."""
    match tool:
        case Mcp(_, _, text) | Other(_, text) | Fetch(text) | WebSearch(text):
            before = _MASK.findall(text)
            found = _MASK.findall(redact(text))
            return tuple(dict.fromkeys(kind for kind in found if found.count(kind) > before.count(kind)))
        case _:
            return ()
