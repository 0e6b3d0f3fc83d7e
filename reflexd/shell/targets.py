"""Which cluster, account or workspace a call would act on where its own words do not name one.

Told by files that the programs themselves keep (a kubeconfig, a chosen workspace), and by what an earlier call of
the same line has chosen. What such a call may have changed is not looked up any more: it is unknown.
"""

from __future__ import annotations

import copy
import functools
import posixpath
import re
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from reflexd.shell.arguments import Parsed, parse
from reflexd.shell.calls import Call
from reflexd.shell.fields import UNKNOWN, UNSET, known
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row
from reflexd.shell.tables import table
from reflexd.types import Effect, Sighting

_DIRECTORIES = ("-chdir", "--chdir", "--cwd", "--terragrunt-working-dir", "--working-dir", "-C")
"""Options that let a program work in another directory."""
_CHANGES = frozenset({"write", "move", "delete"})
_KUBECONFIG = "~/.kube/config"
_NAME_MAX = 200


class Told(Struct, frozen=True, forbid_unknown_fields=True):
    """A file that names a target: the value of `key` in it, or all of it; `then` the file that this names in turn.

    `file` lies below the home directory (~/) or the directory that the call works in. `programs`: only for these.
    """

    file: str
    key: str = ""
    then: str = ""
    programs: str = ""


def told(files: Iterable[Told], call: Call, parsed: Parsed, ground: Ground) -> tuple[str, ...]:
    """What files on the disk name, as far as they have been looked at."""
    found = []
    for file in files:
        if file.programs and call.name not in file.programs.split():
            continue
        name = _value(file.file, "" if file.then else file.key, call, parsed, ground)
        if name and file.then:
            name = _value(file.then.replace("{}", name), file.key, call, parsed, ground)
        if name:
            found.append(name)
    return tuple(found)


def _value(file: str, key: str, call: Call, parsed: Parsed, ground: Ground) -> str:
    path = _path(file, call, parsed, ground)
    sighting = ground.want("file", path) if path else None
    if sighting is None or sighting.problem:
        return ""
    text = sighting.text
    if key:
        held = re.search(rf"(?m)(?:^|[{{,\s])[\"']?{re.escape(key)}[\"']?[ \t]*[=:][ \t]*[\"']?([^\"'\s,}}#]+)", text)
        return held[1][:_NAME_MAX] if held else ""
    return text.strip().partition("\n")[0][:_NAME_MAX]


def _path(file: str, call: Call, parsed: Parsed, ground: Ground) -> str:
    """Absolute; empty where it cannot be told."""
    if file.startswith("~/"):
        return f"{ground.home}/{file[2:]}" if ground.home else ""
    inner = next((value for name, value in parsed.values if name in _DIRECTORIES), "")
    path = posixpath.normpath(posixpath.join(call.cwd, inner, file))
    return path if path.startswith("/") and known(path) else ""


# ---- clusters -----------------------------------------------------------------------------------------------


class Cluster(Struct, frozen=True):
    """`names`: of the context, its cluster, its namespace, and the server's URL. `starts`: a program that logs in.

    `told`: there is a kubeconfig, so that a context is what it says, whatever it is called.
    """

    names: tuple[str, ...] = ()
    server: str = ""
    starts: str = "?"
    told: bool = False


def cluster(call: Call, parsed: Parsed, ground: Ground) -> Cluster:
    """Where the kubeconfig leads. Nothing, and a login that may start anything, where nobody has looked."""
    sightings = [ground.want("kube", path) for path in _kubeconfigs(call, parsed, ground)]
    pairs = _pairs(sightings)
    if pairs is None:
        return Cluster()
    wanted = [value for name, value in parsed.values if name in ("--context", "--kube-context", "--kubecontext")]
    chosen = [value for name, value in (*call.assigned, *ground.chosen, *ground.env) if name == "kube_context"]
    context = next((name for name in (*wanted[-1:], *chosen, pairs.get("current-context", "")) if name), "")
    if not context or not known(context):
        return Cluster(starts="" if not pairs else "?")
    names = [context, *(pairs.get(f"{each}:{context}", "") for each in ("cluster", "namespace", "server"))]
    if pairs and not wanted and f"cluster:{context}" not in pairs:
        # Choosing a context that is not there fails, and the next call goes where the last one did.
        names.append(pairs.get("current-context", ""))
    made = any(name == "kube_context" and value == context for name, value in ground.chosen)
    server, starts = pairs.get(f"server:{context}", ""), pairs.get(f"exec:{context}", "?")
    return Cluster(tuple(filter(None, names)), server, starts, bool(pairs) and not made)


def _pairs(sightings: list[Sighting | None]) -> dict[str, str] | None:
    """Of several files the first that says something holds; None where not all of them could be read."""
    pairs: dict[str, str] = {}
    for sighting in sightings:
        if sighting is None or sighting.problem not in ("", "missing"):
            return None
        for name, value in sighting.pairs:
            if not pairs.get(name):
                pairs[name] = value
    return pairs


def _kubeconfigs(call: Call, parsed: Parsed, ground: Ground) -> list[str]:
    given = [value for name, value in parsed.values if name == "--kubeconfig"][-1:]
    if not given:
        held = [
            value for name, value in (*call.assigned, *call.exported, *ground.env) if name == "KUBECONFIG" and value
        ]
        given = held[0].split(":") if held else [_KUBECONFIG]
    return [path for file in given if file and (path := _path(file, call, Parsed(frozenset(), (), (), False), ground))]


# ---- what an earlier call has chosen --------------------------------------------------------------------------

FORMAT = 1


class Choice(Struct, frozen=True, forbid_unknown_fields=True):
    """See config/choices.toml."""

    call: str
    sets: str
    options: str = ""
    as_: str = msgspec.field(default="{}", name="as")


class _Data(Struct, frozen=True, forbid_unknown_fields=True):
    choices: int
    choice: tuple[Choice, ...]
    kept: dict[str, str]


@functools.cache
def _data() -> _Data:
    read = table("choices.toml", _Data)
    if read.choices != FORMAT:
        raise ValueError(f"choices.toml: format {read.choices}, this reads {FORMAT}")
    return read


@functools.cache
def _choices() -> dict[str, tuple[Choice, ...]]:
    """By the program's name, because every call is looked up here."""
    found: dict[str, tuple[Choice, ...]] = {}
    for choice in _data().choice:
        program = choice.call.partition(" ")[0]
        found[program] = (*found.get(program, ()), choice)
    return found


def after(call: Call, made: Iterable[Effect], ground: Ground) -> Ground:
    """What later calls of the line find once this one has run."""
    mine = _choices().get(call.name, ())
    chosen = [pair for pair in (_choice(call, each) for each in mine) if pair is not None]
    chosen.extend(
        (variable, UNKNOWN)
        for effect in made
        if effect.kind in _CHANGES
        for ending, variable in _data().kept.items()
        if effect.target.endswith(ending)
    )
    if not chosen:
        return ground
    later = copy.copy(ground)
    later.chosen = (*chosen, *ground.chosen)
    return later


def _choice(call: Call, choice: Choice) -> tuple[str, str] | None:
    """The variable that this call sets for those after it, None where it chooses nothing."""
    row = find_row(call.name)
    words = tuple(choice.call.split()[1:])
    operands = parse(call.argv[1:], row).operands if row is not None else ()
    if row is None or operands[: len(words)] != words:
        return None
    value = _option(call.argv, choice.options.split()) or "".join(operands[len(words) : len(words) + 1])
    return choice.sets, choice.as_.replace("{}", value.replace(UNSET, UNKNOWN) or UNKNOWN)


def _option(argv: tuple[str, ...], options: list[str]) -> str:
    for at, word in enumerate(argv):
        name, equals, value = word.partition("=")
        if name in options:
            return value if equals else "".join(argv[at + 1 : at + 2])
    return ""
