"""Looking at what a call names, as often as it takes to know what the call would do.

Runs nothing, follows no FIFO or device, and never raises: what could not be seen is a sighting that says why.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping

from reflexd.core.facts import facts
from reflexd.sight import disk
from reflexd.sight.disk import Unread
from reflexd.types import Context, Facts, Seen, Sighting, Tool, Want, WantKind

FILE_MAX = 256 * 1024  # bytes of one file of code or settings
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
    return Sighting(text=disk.real(path))


def _entry(path: str, context: Context) -> Sighting:
    found = disk.look(path)
    return Sighting(problem=found.why) if isinstance(found, Unread) else Sighting()


LOOKS: Mapping[WantKind, Callable[[str, Context], Sighting]] = {"file": _file, "entry": _entry, "real": _real}
