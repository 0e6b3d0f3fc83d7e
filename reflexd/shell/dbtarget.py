"""Which database a client speaks to: a name for a reader, and whether that is on this machine or production."""

from __future__ import annotations

import re
from collections.abc import Iterable

from msgspec import Struct

from reflexd.shell.arguments import Parsed
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, UNSET, shown
from reflexd.shell.places import Ground
from reflexd.shell.realms import Realm, around, machines, means_production, ordinary, variables
from reflexd.types import Place

_URL = re.compile(
    r"(?:jdbc:)?(?P<scheme>[a-z][a-z0-9+.-]*)://(?:(?P<user>[^:@/?]*)(?::[^@/?]*)?@)?(?P<host>[^/?]*)(?P<rest>.*)", re.I
)
_PAIR = re.compile(r"\b(host|hostaddr|dbname|user|service)\s*=\s*'?([^\s']+)")
_HERE = re.compile(
    r"(?:localhost|localhost\.localdomain|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1\]?|host\.(?:docker|containers)\.internal|/.*|\.)"
    r"(?:[:,\\].*)?\Z",
    re.I,
)
_FILE = re.compile(r"(?:jdbc:)?(?:sqlite3?|file|duckdb):(?:///(?=/|[A-Za-z]:|:)|///?)?(?P<path>[^?]*)", re.I)
_SHORT = re.compile(r"[A-Za-z0-9_-]+(?::\d+)?\Z")
_CLUSTER = frozenset({"kubectl", "oc", "kubecolor", "microk8s.kubectl"})
_TESTS = re.compile(r"(?:\A|[^a-z0-9])tests?(?:ing)?(?:[^a-z0-9]|\Z)|\A(?:ci|e2e)\Z", re.I)


class Target(Struct, frozen=True):
    """`name` is for a reader, empty where none is known. `passing`: only tests use it, and it is on this machine."""

    name: str
    places: tuple[Place, ...]
    passing: bool = False

    def of(self, what: str) -> str:
        return f"{what} in {self.name}" if self.name else what


def target(
    call: Call,
    ground: Ground,
    hosts: Iterable[str] = (),
    databases: Iterable[str] = (),
    users: Iterable[str] = (),
    env: Iterable[str] = (),
    elsewhere: bool = False,
) -> Target:
    """The words that a call gives for each, and the variables in which it would look for more."""
    said_hosts, said = list(hosts), list(users)
    said_names: list[str] = []
    for word in databases:
        _read(word, said_hosts, said_names, said)
    wanted = tuple(env)
    for name, value in variables(call, ground):
        if name in wanted and value:
            if name.endswith("USER"):
                said.append(value)
            elif name.endswith(("DATABASE", "DBNAME", "SERVICE")):
                said_names.extend([] if said_names else [value])
            elif not said_hosts or "://" in value:
                _read(value, said_hosts, said_names, said) if "://" in value else said_hosts.append(value)
    return _told(call, ground, said_hosts, said_names, said, elsewhere)


def of_tool(realm: Realm, call: Call, parsed: Parsed, ground: Ground) -> Target:
    """What a tool acts on that finds its database by options, the environment and settings of the project."""
    names: list[str] = []
    hosts, said, stages = (list(_values(parsed, options)) for options in (realm.hosts, realm.words, realm.stages))
    for option, value in parsed.values:
        if option in realm.options.split():
            # A user to some tools, a directory or a file of settings to others: that names no database.
            aside = "://" not in value and (option == "-u" or (option == "-d" and ("/" in value or "." in value)))
            _read(value, hosts, said if aside else names, said)
    for word in parsed.operands:
        name, equals, value = word.partition("=")
        if equals and name in realm.stage_env:
            stages.append(value)  # rake takes settings as operands
        elif realm.operands == "name" or _URL.match(word) or _PAIR.search(word):
            _read(word, hosts, names, said)
        else:
            said.append(word)
    settings = dict(reversed(variables(call, ground)))
    if not hosts:
        for name in realm.env:
            found = settings.get(name, "")
            if "HOST" in name and "://" not in found:
                hosts.append(found)
            elif found:
                _read(found, hosts, names, said)
    stages.extend(settings[name] for name in realm.stage_env if settings.get(name))
    said.extend((*stages, *(settings[name] for name in realm.hints if settings.get(name))))
    said.extend(value for _, value in call.assigned)
    return _told(call, ground, hosts, names, said, tests=stages)


def _told(
    call: Call,
    ground: Ground,
    hosts: Iterable[str],
    names: list[str],
    said: Iterable[str],
    elsewhere: bool = False,
    tests: Iterable[str] = (),
) -> Target:
    known = [host for host in hosts if host]
    remote = machines(call)
    words = [shown(word) for word in (*known, *names, *said, *remote)]
    places: tuple[Place, ...] = ("service",)
    if elsewhere or not all(map(_here, known)) or remote or not _CLUSTER.isdisjoint(call.via):
        places = ("elsewhere",) if any(map(ordinary, words)) else ("elsewhere", "unknown")
    if any(means_production(word, ground) for word in (*words, *around(call, ground))):
        places = ("elsewhere", "production")
    host, name = shown(known[0]) if known else "", shown(names[0]) if names else ""
    label = f"{name} at {host}" if name and host else name or host
    # What chooses among the databases of a project counts where nothing names one.
    passing = all(for_tests(name) or _passes(name, call, ground) for name in names) and (
        bool(names) or any(map(for_tests, tests))
    )
    return Target(label, places, passing and places == ("service",))


def for_tests(name: str) -> bool:
    """Whether a database of that name is only there for tests."""
    return _TESTS.search(shown(name)) is not None


def _passes(name: str, call: Call, ground: Ground) -> bool:
    """A database that is a file among temporary ones, or none at all."""
    return name == ":memory:" or ("/" in name and "scratch" in ground.locate(name, call.cwd)[1])


def _values(parsed: Parsed, options: str) -> Iterable[str]:
    wanted = options.split()
    return (value for name, value in parsed.values if name in wanted)


def _read(word: str, hosts: list[str], names: list[str], others: list[str]) -> None:
    """A database's name, an URL, or libpq's pairs of name and value."""
    file = _FILE.match(word)
    if file is not None:
        names.append(file["path"] or ":memory:")
        return
    url = _URL.match(word)
    if url is not None:
        if url["host"]:
            hosts.append(url["host"])
        names.extend(part for part in re.split(r"[/?&]", url["rest"]) if part and "=" not in part)
        others.extend([url["user"]] if url["user"] else [])
        inside = re.search(r"[?&]host=([^&]+)", url["rest"])
        hosts.extend([inside[1]] if inside else [])
        return
    pairs = _PAIR.findall(word)
    for key, value in pairs:
        (hosts if key.startswith("host") else names if key in ("dbname", "service") else others).append(value)
    if not pairs:
        names.append(word)
        if word in (UNKNOWN, UNSET) or word.startswith((UNKNOWN, UNSET)):
            hosts.append(word)  # it may be an URL


def _here(host: str) -> bool:
    """A name without a dot is a neighbour in a container's network."""
    return _HERE.match(host) is not None or _SHORT.match(host) is not None
