"""Whose things a call acts on: this machine's services or somebody else's, and whether real users depend on them.

The strictest reading wins: one word, option or variable that says production is enough, and a target that
nothing tells apart is unknown. Data: config/realms.toml.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from itertools import chain
from typing import Literal

import msgspec
from msgspec import Struct

from reflexd.shell import globs
from reflexd.shell.arguments import Parsed
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.options import names
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row
from reflexd.shell.tables import table
from reflexd.shell.targets import Told, cluster, told
from reflexd.shell.wraps import away
from reflexd.types import Place

FORMAT = 2
NAME_MAX = 256  # characters; a longer text is no name, and is not remembered


class Realm(Struct, frozen=True, forbid_unknown_fields=True):
    """See config/realms.toml for what each key means."""

    options: str = ""
    words: str = ""
    more: str = ""
    operands: Literal["", "name", "more"] = ""
    directory: Literal["", "open", "always"] = ""
    env: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    local: tuple[str, ...] = ()
    here: Place | Literal[""] = ""
    tiered: bool = False
    told: tuple[Told, ...] = ()
    kubeconfig: bool = False
    stages: str = ""
    stage_env: tuple[str, ...] = ()
    database: bool = False
    hosts: str = ""
    same_as: str = ""


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    realms: int
    production: tuple[str, ...]
    not_production: tuple[str, ...]
    ordinary: tuple[str, ...]
    wrappers: str
    realm: dict[str, Realm]


@functools.cache
def data() -> _Data:
    read = table("realms.toml", _Data)
    if read.realms != FORMAT:
        raise ValueError(f"realms.toml: format {read.realms}, this reads {FORMAT}")
    realms = {name: _whole(realm, read.realm) for name, realm in read.realm.items()}
    return msgspec.structs.replace(read, realm=realms)


def _whole(realm: Realm, every: dict[str, Realm]) -> Realm:
    """With what the one that it is the same as says, where it says nothing itself."""
    if not realm.same_as:
        return realm
    base = every[realm.same_as]
    own = {name: value for name in realm.__struct_fields__ if (value := getattr(realm, name))}
    return msgspec.structs.replace(base, **own)


def _labels(text: str) -> tuple[str, ...]:
    spread = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", text)
    return tuple(re.split(r"[^A-Za-z0-9]+", spread.lower()))


def production(text: str) -> bool:
    """Whether a name, host, path or URL has a label that means production."""
    return _says_production(text) if len(text) <= NAME_MAX else any(_production(text))


@functools.lru_cache(maxsize=4096)
def _says_production(text: str) -> bool:
    return any(_production(text))


def _production(text: str) -> Iterable[bool]:
    """For each label that says production whether it is meant, not the contrary of it."""
    known = data()
    labels = _labels(text)
    for at, label in enumerate(labels):
        if _any_of(known.production)(label):
            before = labels[at - 1] if at else ""
            after = labels[at + 1] if at + 1 < len(labels) else ""
            yield before not in known.not_production and after != "like"


def means_production(text: str, ground: Ground) -> bool:
    """The same, with what a person or the repository names as production."""
    return production(text) or bool(ground.production and globs.any_of(ground.production)(text))


def ordinary(text: str) -> bool:
    """Whether a name has a label that means that nobody depends on it, and none that means production."""
    return len(text) <= NAME_MAX and _says_ordinary(text)


@functools.lru_cache(maxsize=4096)
def _says_ordinary(text: str) -> bool:
    known = data()
    said = tuple(_production(text))
    return not any(said) and (bool(said) or any(map(_any_of(known.ordinary), _labels(text))))


def places(realm: str, call: Call, parsed: Parsed, ground: Ground) -> tuple[Place, ...]:
    """Where what the call acts on lies. A realm that nobody described is elsewhere."""
    known = data().realm.get(realm)
    if known is None:
        return ("elsewhere",)
    named = _named(known, call, parsed, ground)
    hosts = machines(call)
    remote = bool(hosts)
    learned, near = _learned(known, call, parsed, ground, named) if not remote else ((), False)
    named = (*named, *learned)
    if near is None:
        near = bool(named) and all(_matches(name, known.local) for name in named)
    if near and not remote and not any(means_production(text, ground) for text in learned):
        return ("service",)
    if not named and known.here and not remote:
        return (known.here,)
    said = (*named, *_values(parsed, known.words))
    raising = chain(said, hosts, _around(known, call, parsed, ground, bool(named)))
    if any(means_production(text, ground) for text in raising):
        return ("elsewhere", "production")
    if (remote and not all(map(ordinary, hosts))) or (
        known.tiered and not remote and not any(ordinary(text) for text in said if UNKNOWN not in text)
    ):
        return ("elsewhere", "unknown")
    return ("elsewhere",)


def machines(call: Call) -> tuple[str, ...]:
    """The machines that a call runs on, where that is not this one."""
    named = (wrapper.partition(" ") for wrapper in call.via)
    return tuple(shown(where) for program, _, where in named if program == "ssh" or (where and program in away()))


def _named(realm: Realm, call: Call, parsed: Parsed, ground: Ground) -> tuple[str, ...]:
    """What names the target: the nearest that does so, of options, the command's own settings, the surroundings."""
    given = _values(parsed, realm.options)
    if realm.operands == "name":
        given = (*given, *parsed.operands)
    if given:
        return given
    for variables in (call.assigned, call.exported, ground.chosen, ground.env):
        held = tuple(value for name, value in variables if value and _matches(name, realm.env))
        if held:
            return held
    return ()


def _learned(
    realm: Realm, call: Call, parsed: Parsed, ground: Ground, named: tuple[str, ...]
) -> tuple[tuple[str, ...], bool | None]:
    """What files on the disk add to what is named, and whether that is on this machine, None where they do not say."""
    if realm.kubeconfig:
        found = cluster(call, parsed, ground)
        files = {value for name, value in variables(call, ground) if name == "KUBECONFIG"}
        contexts = set(named) - files
        if contexts and not (found.names and found.names[0] in contexts):
            return (), None  # another context than the one that was looked up
        return found.names, _matches(found.server, realm.local) if found.server or found.told else None
    return ((), None) if named else (told(realm.told, call, parsed, ground), None)


def _around(realm: Realm, call: Call, parsed: Parsed, ground: Ground, named: bool) -> Iterable[str]:
    """What can say production, but never that it is not."""
    yield from _values(parsed, realm.more)
    if realm.operands == "more":
        yield from parsed.operands
    yield from (value for name, value in variables(call, ground) if _matches(name, realm.hints))
    yield from around(call, ground)
    if realm.directory == "always" or (realm.directory == "open" and not named):
        yield _below_home(call.cwd, ground.home)
        yield _branch(realm, call, ground)


def variables(call: Call, ground: Ground) -> tuple[tuple[str, str], ...]:
    """What the call finds in its environment, the nearest setting first."""
    return (*call.assigned, *call.exported, *ground.chosen, *ground.env)


def said(call: Call, unwrapped: Unwrapped) -> tuple[str, ...]:
    """The words of a wrapper that say where what it runs happens: a host, a container, a namespace, a file."""
    if call.name not in _wrappers():
        return ()
    inner = {word for command in unwrapped.commands for word in command}
    own = (word for word in call.argv[1:] if word not in inner and not word.endswith((".yml", ".yaml")))
    return tuple(word for word in own if not any(word in code for code in unwrapped.code))


@functools.cache
def _wrappers() -> frozenset[str]:
    return names(data().wrappers)


def around(call: Call, ground: Ground) -> Iterable[str]:
    """What the wrappers of a call say about where it runs: their own words, and the settings that they look at."""
    yield from call.around
    for name in call.via:
        row = find_row(name)
        realm = data().realm.get(row.realm) if row is not None else None
        if realm is not None:
            settings = (*realm.env, *realm.hints)
            yield from (value for each, value in variables(call, ground) if value and _matches(each, settings))


def _branch(realm: Realm, call: Call, ground: Ground) -> str:
    """The branch that is checked out where the call works; what the caller says about it goes first."""
    if "git_branch" not in realm.hints or not call.cwd.startswith("/") or UNKNOWN in call.cwd:
        return ""
    if any(name == "git_branch" for name, _ in ground.env):
        return ""
    around = ground.want("repository", call.cwd)
    return dict(around.pairs).get("branch", "") if around is not None else ""


def _below_home(path: str, home: str) -> str:
    """A user may be called anything: only what lies below says something."""
    return path[len(home) :] if home and path.startswith(home + "/") else path


def _values(parsed: Parsed, options: str) -> tuple[str, ...]:
    wanted = options.split()
    return tuple(value.replace(UNSET, UNKNOWN) for name, value in parsed.values if name in wanted)


def _matches(text: str, patterns: tuple[str, ...]) -> bool:
    return _any_of(patterns)(shown(text))


_any_of = functools.lru_cache(maxsize=256)(globs.any_of)
