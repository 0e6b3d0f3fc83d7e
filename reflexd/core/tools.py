"""What a call of a tool other than the shell would do: files it writes and reads, what it fetches."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from reflexd.core import patches
from reflexd.shell.effects import INHERITED
from reflexd.shell.fields import STAR
from reflexd.shell.places import Ground
from reflexd.types import Effect, EffectKind, Facts

CONTENT_MAX = 1024 * 1024  # of a file's new content, searched for what agents would inherit
ARGS_DEPTH, ARGS_VALUES = 6, 400
_HOOKS_OFF = re.compile(r"disableAllHooks\\?[\"']?\s*[:=]\s*\\?[\"']?true|\bhooks\s*=\s*false")
_LOOKING = re.compile(r"(?:^|_)(?:get|list|read|search|find|show|describe|view|stat|info|tree|exists|head|cat)(?:_|$)")


def written(path: str, content: str, whole: bool, ground: Ground) -> Iterator[Effect]:
    """What comes of writing `content` to a file; `whole`: nothing else stays in it."""
    made = on("write", path, ground)
    yield made
    places = made.places
    settings = "hook_file" in places or "agent_settings" in places
    if settings and _HOOKS_OFF.search(content[:CONTENT_MAX]):
        yield Effect("control", f"hooks switched off in {made.target}", ("reflex",), detail="write")
    if "hook_file" in places and whole and "reflex" not in content:
        yield Effect("control", f"{made.target} without reflex's hook", ("reflex",), detail="write")
    name = made.target.rpartition("/")[2]
    if settings or "startup" in places or name == ".env" or name.startswith((".env.", ".envrc")):
        inherited = INHERITED.search(content[:CONTENT_MAX])
        if inherited:
            yield Effect("environment", inherited[0], detail=made.target)
    if made.target == "/etc/ld.so.preload":
        yield Effect("environment", "ld.so.preload", detail=made.target)


def search(where: str, ground: Ground) -> Facts:
    """A search shows lines of the files below: those of a directory of keys are read, not named."""
    return Facts(effects=(on("read", where, ground), on("read", f"{where}/{STAR}", ground)), read_only=True)


def patch(text: str, ground: Ground, cwd: str = "") -> Facts:
    changes = patches.read(text)
    found: dict[Effect, None] = {}
    for change in changes:
        path = f"{cwd}/{change.path}" if cwd and not change.path.startswith(("/", "~")) else change.path
        if change.deleted:
            found[on("delete", path, ground)] = None
        else:
            found.update(dict.fromkeys(written(path, change.added, False, ground)))
    opaque = "" if changes else "the patch names no file"
    return Facts(effects=tuple(found), opaque=opaque)


def fetch(urls: str, ground: Ground) -> Facts:
    """One URL, or several between white space."""
    found: dict[Effect, None] = {}
    for url in urls.split():
        scheme, colon, rest = url.partition(":")
        local = colon and scheme.lower() == "file"
        found[on("read", "/" + rest.lstrip("/"), ground) if local else Effect("connect", url)] = None
    return Facts(effects=tuple(found), read_only=True)


def arguments(name: str, args: str, ground: Ground) -> Facts:
    """A tool nobody described, by the paths among its arguments: a name that looks reads them, any other writes."""
    kind: EffectKind = "read" if _LOOKING.search(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()) else "write"
    found: dict[Effect, None] = {}
    for text in _texts(args):
        if 1 < len(text) < 4096 and text[0] in "/~" and "\n" not in text:
            found[on(kind, text, ground)] = None
        elif text.startswith("file://"):
            found[on(kind, text[7:], ground)] = None
    return Facts(effects=tuple(found))


def _texts(args: str) -> Iterator[str]:
    try:
        pending = [(json.loads(args), 0)]
    except (ValueError, RecursionError):
        return
    left = ARGS_VALUES
    while pending and left:
        value, depth = pending.pop()
        left -= 1
        if isinstance(value, str):
            yield value
        elif isinstance(value, dict) and depth < ARGS_DEPTH:
            pending.extend((each, depth + 1) for each in value.values())
        elif isinstance(value, list) and depth < ARGS_DEPTH:
            pending.extend((each, depth + 1) for each in value)


def on(kind: EffectKind, path: str, ground: Ground) -> Effect:
    target, places = ground.locate(path)
    return Effect(kind, target, places)
