"""What a call of a tool other than the shell would do: files it writes and reads, what it fetches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import unquote

from reflexd.core import patches
from reflexd.shell.effects import INHERITED
from reflexd.shell.fields import STAR
from reflexd.shell.places import Ground
from reflexd.shell.urls import host, is_metadata
from reflexd.types import Context, Effect, EffectKind, Facts

CONTENT_MAX = 1024 * 1024  # of a file's new content, searched for what agents would inherit
_FILE_URL = re.compile(r"\s*file:(?://[^/\\]*)?([/\\].*)", re.IGNORECASE | re.DOTALL)
_HOOKS_OFF = re.compile(r"disableAllHooks\\?[\"']?\s*[:=]\s*\\?[\"']?true|\bhooks\s*=\s*false")


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


def fetch(urls: str, context: Context, ground: Ground) -> Facts:
    """One URL, or several between white space."""
    found: dict[Effect, None] = {}
    for url in urls.split():
        path = file_of(url)
        if path:
            found[on("read", path, ground)] = None
            found[Effect("connect", url, detail="local file")] = None
        elif is_metadata(host(url)):
            found[Effect("connect", url, ("credentials",), detail="metadata")] = None
        else:
            found[Effect("connect", url)] = None
    found.update(dict.fromkeys(sends(host(urls) or "the network", context)))
    return Facts(effects=tuple(found), read_only=True)


def file_of(url: str) -> str:
    """The path that a file: URL names; empty for other URLs."""
    found = _FILE_URL.match(url)
    return "/" + unquote(found[1]).lstrip("/") if found else ""


def sends(where: str, context: Context) -> Iterator[Effect]:
    """The secrets in an address or a query, on their way to `where`. Some addresses hold one by design."""
    return (Effect("send", where, ("elsewhere",), detail=f"{kind} in the address") for kind in context.secrets)


def on(kind: EffectKind, path: str, ground: Ground) -> Effect:
    target, places = ground.locate(path)
    return Effect(kind, target, places)
