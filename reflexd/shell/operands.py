"""One operand in one role -> its effect."""

from __future__ import annotations

import re

from reflexd.shell.calls import Call
from reflexd.shell.packages import package, source
from reflexd.shell.places import Ground
from reflexd.types import Effect, EffectKind, Place

SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2", "/dev/fd/63"})
_GUARDED: tuple[Place, ...] = ("reflex", "system", "device", "root")


_INNER = re.compile(r"[=:,@]((?:/|~/)[^:,]+)")


def effect(
    role: str, word: str, call: Call, ground: Ground, deep: bool = False, force: bool = False, detail: str = ""
) -> Effect | None:
    """None for a role without an effect. What only adds (`touch`) counts where nothing may be added either."""
    if role in ("none", "path") or not word or word == "-":
        return None
    if role in ("package", "source"):
        return (package if role == "package" else source)(word, call, ground, detail)
    kind: EffectKind = "write" if role == "touch" else role  # type: ignore[assignment]
    path, places = ground.locate(word, call.cwd, deep=deep or kind in ("move", "read"))
    if path in SINKS:
        return None
    if role == "touch":
        places = tuple(place for place in places if place in _GUARDED)
        if not places:
            return None
    return Effect(kind, path, places, recursive=deep, force=force, detail=detail)


def unknown(call: Call, ground: Ground) -> list[Effect]:
    """A program nobody described, by the paths among its words (also behind --option= and @).

    It is taken to read them, and to change reflex's own files where it is given one of those.
    """
    found: dict[Effect, None] = {}
    for word in call.argv[1:]:
        texts = [word.removeprefix("@"), *(match[1] for match in _INNER.finditer(word))]
        for text in texts:
            if not _is_path(text):
                continue
            path, places = ground.locate(text, call.cwd)
            kind: EffectKind = "write" if "reflex" in places else "read"
            found[Effect(kind, path, places, detail=call.name)] = None
    return list(found)


def _is_path(text: str) -> bool:
    return (
        0 < len(text) < 4096
        and ("/" in text or text[0] in "~.")
        and "://" not in text
        and not any(c in text for c in "\n;(){}\"'`")
    )
