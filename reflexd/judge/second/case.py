"""What a stronger judge reads: instructions that never change, then one case of bounded size. Pure."""

from __future__ import annotations

import functools
import hashlib
import tomllib
from importlib import resources

import msgspec
from msgspec import Struct

TOKENS_MAX = 1500
BYTES_PER_TOKEN = 3
"""Cautious: English has four and more, code three and more (measured on no model in particular)."""
CUT = "\n(the rest is not shown, so it is not known)"


class Words(Struct, frozen=True, forbid_unknown_fields=True):
    second: int
    version: str
    system: str


class Case(Struct, frozen=True):
    """`system` is the same for every case of a version; `text` is the case. Both are redacted."""

    system: str
    text: str
    version: str
    whole: bool


@functools.cache
def words() -> Words:
    return msgspec.convert(tomllib.loads(_data().decode()), Words)


@functools.cache
def version() -> str:
    return f"{words().version}+{hashlib.sha256(_data()).hexdigest()[:8]}"


def case(state: str, prompt: str, intent: str, why: str, bounds: str = "") -> Case:
    """`state` as a smaller judge read it; all texts redacted. What does not fit is cut, and `whole` says so."""
    parts = (
        "# The case",
        state,
        "\n## What the person last asked",
        prompt or "(unknown)",
        *(("\n## The bounds that the person set", bounds) if bounds else ()),
        "\n## What the agent said it would do (its own words, not evidence)",
        intent or "(nothing)",
        "\n## Why it is asked",
        why,
    )
    text = "\n".join(parts)
    room = TOKENS_MAX * BYTES_PER_TOKEN - len(words().system.encode()) - len(CUT)
    data = text.encode("utf-8", "replace")
    whole = len(data) <= room
    shown = text if whole else data[:room].decode("utf-8", "ignore") + CUT
    return Case(words().system, shown, version(), whole)


def _data() -> bytes:
    return resources.files("reflexd.config").joinpath("second.toml").read_bytes()
