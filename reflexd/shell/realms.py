"""Whose things a call acts on: this machine's services or somebody else's, and whether real users depend on them.

The strictest reading wins: one word, option or variable that says production is enough. Data: config/realms.toml.
"""

from __future__ import annotations

import functools
import re
import tomllib
from fnmatch import fnmatchcase
from importlib import resources

import msgspec
from msgspec import Struct

from reflexd.shell.arguments import Parsed
from reflexd.shell.calls import Call
from reflexd.shell.places import Ground
from reflexd.types import Place


class Realm(Struct, frozen=True, forbid_unknown_fields=True):
    """`here`: it is this machine's own unless something names another."""

    options: str
    env: tuple[str, ...]
    local: tuple[str, ...] = ()
    here: bool = False


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    realms: int
    production: tuple[str, ...]
    not_production: tuple[str, ...]
    realm: dict[str, Realm]


@functools.cache
def data() -> _Data:
    raw = resources.files("reflexd.config").joinpath("realms.toml").read_text()
    return msgspec.convert(tomllib.loads(raw), _Data)


@functools.lru_cache(maxsize=4096)
def production(text: str) -> bool:
    """Whether a name, host, path or URL has a label that means production."""
    known = data()
    labels = re.split(r"[^A-Za-z0-9]+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text).lower())
    for at, label in enumerate(labels):
        if any(fnmatchcase(label, pattern) for pattern in known.production):
            before = labels[at - 1] if at else ""
            after = labels[at + 1] if at + 1 < len(labels) else ""
            if before not in known.not_production and after != "like":
                return True
    return False


def places(realm: str, call: Call, parsed: Parsed, ground: Ground) -> tuple[Place, ...]:
    """Where what the call acts on lies. An unknown realm is elsewhere."""
    known = data().realm.get(realm)
    named = _targets(known, call, parsed, ground) if known else ()
    if known and any(fnmatchcase(target, pattern) for target in named for pattern in known.local):
        where: tuple[Place, ...] = ("service",)
    else:
        where = ("service",) if known and known.here and not named else ("elsewhere",)
    words = (*parsed.operands, *(value for _, value in parsed.values), *named)
    return (*where, "production") if any(map(production, words)) else where


def _targets(realm: Realm, call: Call, parsed: Parsed, ground: Ground) -> tuple[str, ...]:
    """What the call's options, its own assignments and the caller's environment name, the nearest first."""
    options = realm.options.split()
    given = [value for name, value in parsed.values if name in options]
    variables = (*call.assigned, *ground.env)
    given.extend(value for name, value in variables if value and any(fnmatchcase(name, each) for each in realm.env))
    return tuple(given)
