"""The directories that a call works in or on: the repositories around them have a say in it."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from reflexd.types import Command, Context, EffectKind, Facts

WORDS_MAX = 64  # of one call, tried as directories that a command goes to by itself (git -C, make -C, npm --prefix)
_CHANGING: frozenset[EffectKind] = frozenset({"write", "delete", "move", "attributes", "discard"})
_MARK = re.compile(r"[…*?\[]")


def directories(facts: Facts | None, context: Context) -> frozenset[str]:
    """Absolute paths; a file's own directory, a pattern's fixed part."""
    found = {context.cwd}
    words = 0
    for command in facts.commands if facts else ():
        found.add(command.cwd)
        if not command.read_only and words < WORDS_MAX:
            named = tuple(_named(command))
            words += len(named)
            found.update(named)
    for effect in facts.effects if facts else ():
        if effect.kind in _CHANGING:
            whole = effect.recursive or effect.kind in ("move", "discard")
            fixed = _MARK.split(effect.target, maxsplit=1)[0]
            found.add(fixed if whole and fixed == effect.target else posixpath.dirname(fixed))
    return frozenset(path.rstrip("/") or "/" for path in found if path.startswith("/") and not _MARK.search(path))


def _named(command: Command) -> Iterator[str]:
    for before, word in zip(command.argv, command.argv[1:], strict=False):
        path = word.partition("=")[2] if word.startswith("-") else word if before.startswith("-") else ""
        if "/" in path or path.startswith("."):
            yield posixpath.normpath(posixpath.join(command.cwd, path))
