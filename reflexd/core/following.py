"""Local code that a command line runs: which files to look at, and what is known once they were seen."""

from __future__ import annotations

from msgspec import Struct

from reflexd.shell.calls import Reading
from reflexd.types import Context, Seen, Source, Unseen, Want


class Followed(Struct, frozen=True):
    """`given`: the text of files by path, to be read as if typed."""

    given: tuple[tuple[str, str], ...] = ()
    wants: tuple[Want, ...] = ()
    sources: tuple[Source, ...] = ()
    unseen: tuple[Unseen, ...] = ()


def follow(reading: Reading, context: Context, seen: Seen) -> Followed:
    """What is known of the code that `reading` names."""
    given: dict[str, str] = {}
    wants: dict[Want, None] = {}
    sources: dict[Source, None] = {}
    unseen: dict[Unseen, None] = {}
    for local in (*reading.unseen, *reading.followed):
        found = seen.of("file", local.path) if local.path else None
        if local.path and found is None:
            wants[Want("file", local.path)] = None
        if found is None or found.problem:
            unseen[Unseen(local.path or local.spelled, found.problem if found else "not read")] = None
            continue
        given[local.path] = found.text
        sources[Source(local.path, found.digest)] = None
        if local.why:
            unseen[Unseen(local.path, local.why)] = None
    return Followed(tuple(given.items()), tuple(wants), tuple(sources), tuple(unseen))
