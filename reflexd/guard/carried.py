"""The secrets that a call's own text would take along to wherever it goes."""

from __future__ import annotations

import re

from reflexd.guard.redact import redact
from reflexd.types import Fetch, Mcp, Other, Tool, WebSearch

WORDS_MAX = 200
_WORD = re.compile(r"[\w/+=.~-]{16,}", re.ASCII)
_MASK = re.compile(r"\[redacted:([a-z0-9-]+)\]", re.ASCII)


def carried(tool: Tool) -> tuple[str, ...]:
    """Their kinds, as redaction knows them; none for tools whose text stays on this machine."""
    match tool:
        case Mcp(_, _, text) | Other(_, text) | Fetch(text) | WebSearch(text):
            before = _MASK.findall(text)
            found = _MASK.findall(redact(text))
            if found != before:
                # `token: AKIA...` is masked for its name; what the word is by itself says more.
                found.extend(kind for word in _WORD.findall(text)[:WORDS_MAX] for kind in _MASK.findall(redact(word)))
            return tuple(dict.fromkeys(kind for kind in found if found.count(kind) > before.count(kind)))
        case _:
            return ()
