"""Whose things a call acts on: this machine's services or somebody else's, and whether real users depend on them.

The strictest reading wins: one word, option or variable that says production is enough, and a target that
nothing tells apart is unknown. Data: config/realms.toml.
"""

from __future__ import annotations

import functools
import re
import tomllib
from collections.abc import Iterable
from fnmatch import fnmatchcase
from importlib import resources
from typing import Literal

import msgspec
from msgspec import Struct

from reflexd.shell import globs
from reflexd.shell.arguments import Parsed
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.places import Ground
from reflexd.types import Place

FORMAT = 2
REMOTE = frozenset({"ssh", "mosh"})
"""Wrappers under which this machine is another one."""


class Realm(Struct, frozen=True, forbid_unknown_fields=True):
    """See config/realms.toml for what each key means."""

    options: str = ""
    words: str = ""
    operands: Literal["", "name", "more"] = ""
    directory: Literal["", "open", "always"] = ""
    env: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    here: Place | Literal[""] = ""
    tiered: bool = False


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    realms: int
    production: tuple[str, ...]
    not_production: tuple[str, ...]
    ordinary: tuple[str, ...]
    realm: dict[str, Realm]


@functools.cache
def data() -> _Data:
    raw = resources.files("reflexd.config").joinpath("realms.toml").read_text()
    read = msgspec.convert(tomllib.loads(raw), _Data)
    if read.realms != FORMAT:
        raise ValueError(f"realms.toml: format {read.realms}, this reads {FORMAT}")
    return read


@functools.lru_cache(maxsize=4096)
def _labels(text: str) -> tuple[str, ...]:
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return tuple(re.split(r"[^A-Za-z0-9]+", spread.lower()))


@functools.lru_cache(maxsize=4096)
def production(text: str) -> bool:
    """Whether a name, host, path or URL has a label that means production."""
    known = data()
    labels = _labels(text)
    for at, label in enumerate(labels):
        if any(fnmatchcase(label, pattern) for pattern in known.production):
            before = labels[at - 1] if at else ""
            after = labels[at + 1] if at + 1 < len(labels) else ""
            if before not in known.not_production and after != "like":
                return True
    return False


def means_production(text: str, ground: Ground) -> bool:
    """The same, with what a person or the repository names as production."""
    return production(text) or bool(ground.production and globs.any_of(ground.production)(text))


@functools.lru_cache(maxsize=4096)
def ordinary(text: str) -> bool:
    """Whether a name has a label that means that nobody depends on it, and none that means production."""
    known = data()
    return not production(text) and any(
        fnmatchcase(label, pattern) for label in _labels(text) for pattern in known.ordinary
    )


def places(realm: str, call: Call, parsed: Parsed, ground: Ground) -> tuple[Place, ...]:
    """Where what the call acts on lies. A realm that nobody described is elsewhere."""
    known = data().realm.get(realm)
    if known is None:
        return ("elsewhere",)
    named = _named(known, call, parsed, ground)
    remote = not REMOTE.isdisjoint(call.via)
    if named and not remote and all(_matches(name, known.local) for name in named):
        return ("service",)
    if not named and known.here and not remote:
        return (known.here,)
    told = (*named, *_values(parsed, known.words))
    raising = (*told, *_around(known, call, parsed, ground, bool(named)))
    if any(means_production(text, ground) for text in raising):
        return ("elsewhere", "production")
    if remote or (known.tiered and not any(ordinary(text) for text in told if UNKNOWN not in text)):
        return ("elsewhere", "unknown")
    return ("elsewhere",)


def _named(realm: Realm, call: Call, parsed: Parsed, ground: Ground) -> tuple[str, ...]:
    """What names the target: the nearest that does so, of options, the command's own settings, the surroundings."""
    given = _values(parsed, realm.options)
    if realm.operands == "name":
        given = (*given, *parsed.operands)
    if given:
        return given
    for variables in (call.assigned, ground.env):
        held = tuple(value for name, value in variables if value and _matches(name, realm.env))
        if held:
            return held
    return ()


def _around(realm: Realm, call: Call, parsed: Parsed, ground: Ground, named: bool) -> Iterable[str]:
    """What can say production, but never that it is not."""
    if realm.operands == "more":
        yield from parsed.operands
    yield from (value for name, value in (*call.assigned, *ground.env) if _matches(name, realm.hints))
    if realm.directory == "always" or (realm.directory == "open" and not named):
        yield _below_home(call.cwd, ground.home)


def _below_home(path: str, home: str) -> str:
    """A user may be called anything: only what lies below says something."""
    return path[len(home) :] if home and path.startswith(home + "/") else path


def _values(parsed: Parsed, options: str) -> tuple[str, ...]:
    wanted = options.split()
    return tuple(value.replace(UNSET, UNKNOWN) for name, value in parsed.values if name in wanted)


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(shown(text), pattern) for pattern in patterns)
