"""One operand in one role -> its effect."""

from __future__ import annotations

from reflexd.shell.calls import Call
from reflexd.shell.places import Ground
from reflexd.types import Effect, EffectKind, Place

SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty", "/dev/fd/1", "/dev/fd/2", "/dev/fd/63"})
_GUARDED: tuple[Place, ...] = ("reflex", "system", "device", "root")


def effect(
    role: str, word: str, call: Call, ground: Ground, deep: bool = False, force: bool = False, detail: str = ""
) -> Effect | None:
    """None for a role without an effect. What only adds (`touch`) counts where nothing may be added either."""
    if role in ("none", "path") or not word or word == "-":
        return None
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
    found: list[Effect] = []
    for word in call.argv[1:]:
        text = word.rpartition("=")[2] if "=" in word and "/" in word.rpartition("=")[2] else word
        text = text.removeprefix("@")
        if not _is_path(text):
            continue
        path, places = ground.locate(text, call.cwd)
        if "reflex" in places:
            found.append(Effect("write", path, places, detail=call.name))
        else:
            found.append(Effect("read", path, places, detail=call.name))
    return found


def _is_path(text: str) -> bool:
    return (
        0 < len(text) < 4096
        and ("/" in text or text[0] in "~.")
        and "://" not in text
        and not any(c in text for c in "\n;(){}\"'`")
    )
