"""What a call leaves for the calls after it: files from the network, jobs that go on, variables. Pure."""

from __future__ import annotations

from msgspec import Struct

from reflexd.shell.options import names
from reflexd.types import Facts, Shell, Source, Tool

WRITES_MAX = 64
EXPORTS = frozenset({"export", "declare", "typeset"})


class Traces(Struct, frozen=True):
    """Of one call. `writes`: the files that it may change, None where that cannot be told."""

    downloaded: tuple[str, ...] = ()
    writes: tuple[str, ...] | None = ()
    background: bool = False
    exported: tuple[tuple[str, str], ...] = ()
    sources: tuple[Source, ...] = ()


def traces(tool: Tool, facts: Facts) -> Traces:
    """What the call would leave, if it runs."""
    named = [e for e in facts.effects if e.kind in ("write", "move", "delete", "attributes")]
    fetched = [e for e in named if e.kind == "write" and "downloaded" in e.places]
    if any("downloaded" in e.places for e in facts.effects if e.kind in ("read", "move")):
        # A copy of what was downloaded, or something unpacked from it.
        fetched = [e for e in named if e.kind == "write"]
    clear = not facts.opaque and not facts.unseen and all(_told(e.target) for e in named) and len(named) <= WRITES_MAX
    known = clear and all(c.read_only or _named(c.argv[0]) for c in facts.commands)
    return Traces(
        downloaded=tuple(e.target for e in fetched),
        writes=tuple(e.target for e in named) if known else None,
        background=isinstance(tool, Shell) and tool.background,
        exported=tuple(pair for command in facts.commands if (pair := _export(command.argv)) is not None),
        sources=facts.sources,
    )


_SIMPLE = names(
    "cd pushd popd echo printf mkdir touch cp mv ln rm rmdir tee chmod chown curl wget export true sleep test ["
)
"""Programs that change nothing but the files they are given."""


def _named(word: str) -> bool:
    return word.rpartition("/")[2] in _SIMPLE


def _told(path: str) -> bool:
    return path.startswith("/") and not any(mark in path for mark in "…*?[")


def _export(argv: tuple[str, ...]) -> tuple[str, str] | None:
    if argv[:1] and argv[0] in EXPORTS:
        name, equals, value = argv[-1].partition("=")
        if equals and name.isidentifier():
            return name, value
    return None
