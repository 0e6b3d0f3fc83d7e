"""The directories that a call works in or on: the repositories around them have a say in it."""

from __future__ import annotations

import posixpath
import re

from reflexd.types import Context, EffectKind, Facts

_CHANGING: frozenset[EffectKind] = frozenset({"write", "delete", "move", "attributes", "discard"})
_MARK = re.compile(r"[…*?\[]")


def directories(facts: Facts | None, context: Context) -> frozenset[str]:
    """Absolute paths; a file's own directory, a pattern's fixed part."""
    found = {context.cwd}
    for command in facts.commands if facts else ():
        found.add(command.cwd)
    for effect in facts.effects if facts else ():
        if effect.kind in _CHANGING:
            whole = effect.recursive or effect.kind in ("move", "discard")
            fixed = _MARK.split(effect.target, maxsplit=1)[0]
            found.add(fixed if whole and fixed == effect.target else posixpath.dirname(fixed))
    return frozenset(path.rstrip("/") or "/" for path in found if path.startswith("/") and not _MARK.search(path))
