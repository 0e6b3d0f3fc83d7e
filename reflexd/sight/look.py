"""Looking at what a call names, as often as it takes to know what the call would do.

Runs nothing, follows no FIFO or device, and never raises: what could not be seen is a sighting that says why.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase

from reflexd.core.facts import facts
from reflexd.sight import around, disk, kube, links, servers
from reflexd.sight.disk import Unread
from reflexd.sight.losses import Act, lost
from reflexd.types import Context, Facts, Seen, Sighting, Tool, Want, WantKind

FILE_MAX = 256 * 1024  # bytes of one file of code or settings
MATCHES_MAX = 500  # names in a directory that a pattern is tried on
ROUNDS = 4  # a script names a script, which names files: each is one round


def understood(tool: Tool, context: Context) -> Facts:
    """What the call would do, with what it names on the disk looked at."""
    seen = Seen()
    for _ in range(ROUNDS):
        found = facts(tool, context, seen)
        if not found.wants:
            return found
        seen = Seen((*seen.found, *((want, sighting(want, context)) for want in found.wants)))
    return facts(tool, context, seen)


def digest(path: str) -> str:
    """The digest by which a file of code is known; empty where it cannot be read."""
    return _file(path, Context("", "")).digest


def sighting(want: Want, context: Context) -> Sighting:
    look = LOOKS.get(want.kind)
    return look(want.path, context) if look else Sighting(problem="not looked at")


def _file(path: str, context: Context) -> Sighting:
    """The text of a regular file of at most FILE_MAX bytes."""
    read = disk.read(path, FILE_MAX)
    if isinstance(read, Unread):
        return Sighting(problem=read.why)
    digest = hashlib.sha256(read).hexdigest()
    try:
        text = read.decode()
    except UnicodeDecodeError:
        return Sighting(problem="not text", digest=digest)
    return Sighting(problem="not text" if "\0" in text else "", text="" if "\0" in text else text, digest=digest)


def _real(path: str, context: Context) -> Sighting:
    """Where the path leads, what lies there, and which guarded files are the same file under another name."""
    found = links.real(path)
    others = links.other_names(found.path, (*context.protected, *context.hook_files)) if found.names > 1 else ()
    return Sighting(text=found.path, pairs=(("kind", found.kind), *(("also", other) for other in others)))


def _entry(path: str, context: Context) -> Sighting:
    found = disk.look(path)
    return Sighting(problem=found.why) if isinstance(found, Unread) else Sighting()


def _losses(path: str, context: Context) -> Sighting:
    """Whether git gives back what deleting the path, or all that it stands for, would take."""
    paths = [path] if "*" not in path else _matches(path)
    if not paths or isinstance(disk.look(paths[0]), Unread):
        # What is not there now may be by the time the command runs.
        return Sighting(problem="missing")
    return _given_back(paths, "delete", context)


def _discards(path: str, context: Context) -> Sighting:
    """Whether putting the path back to what git holds would lose nothing."""
    return _given_back([path], "discard", context)


def _given_back(paths: list[str], act: Act, context: Context) -> Sighting:
    env = {**dict(context.env), "HOME": context.home}
    found = lost(paths, True, env, act)
    return Sighting(problem=found.why, recoverable=found.recoverable)


def _matches(pattern: str) -> list[str]:
    """What a pattern in the last name of a path stands for; nothing where it stands for too much."""
    directory, _, name = pattern.rpartition("/")
    if any(mark in directory for mark in "*?[…"):
        return []
    try:
        with os.scandir(directory) as entries:
            names = [entry.name for entry, _ in zip(entries, range(MATCHES_MAX + 1), strict=False)]
    except (OSError, ValueError):
        return []
    found = [f"{directory}/{each}" for each in names if fnmatchcase(each, name)]
    return found if len(names) <= MATCHES_MAX else []


LOOKS: Mapping[WantKind, Callable[[str, Context], Sighting]] = {
    "file": _file,
    "entry": _entry,
    "real": _real,
    "repository": around.repository,
    "losses": _losses,
    "discards": _discards,
    "server": servers.sighting,
    "kube": kube.sighting,
}
