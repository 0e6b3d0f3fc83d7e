"""A question of reflexctl's that is answered in a process of its own: JSON in argv, JSON out, errors in two lines."""

from __future__ import annotations

import sys
from collections.abc import Callable

import msgspec
from msgspec import Struct

from reflexd.errors import ReflexError
from reflexd.types import Device, Precision


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
    """A model, and what it should run on; None: as this machine has it."""

    model: str
    device: Device | None = None
    precision: Precision | None = None


def answered(argv: list[str], work: Callable[[Wanted], Struct]) -> int:
    """The exit status: 0, or 1 with the error and its hint on stderr, a line each."""
    try:
        found = work(msgspec.json.decode(argv[0].encode(), type=Wanted))
    except ReflexError as e:
        print(f"{e.message}\n{e.hint}", file=sys.stderr)
        return 1
    print(msgspec.json.encode(found).decode())
    return 0
