"""One program run -> what it does: the effects of its words, redirections and environment.

What is not in the table is not guessed at: an unknown program is taken to read every path it is given,
and to change reflex's own files where it is given one of those.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec

from reflexd.shell import (
    builders,
    containers,
    databases,
    dbclients,
    files,
    foreign,
    forges,
    git,
    kube,
    managers,
    own,
    processes,
    requests,
    stores,
    transfers,
)
from reflexd.shell.arguments import parse
from reflexd.shell.calls import Call
from reflexd.shell.fields import PIPED, shown
from reflexd.shell.known import BUILTINS, DOWNLOADERS, RISKY, SHELLS
from reflexd.shell.operands import SINKS, unknown
from reflexd.shell.operations import by_row, operation
from reflexd.shell.options import names
from reflexd.shell.places import Ground
from reflexd.shell.programs import find_row, prints_secret
from reflexd.shell.realms import machines
from reflexd.shell.wrappers import unwrap
from reflexd.types import Effect

INHERITED = re.compile(r"\b(BASH_ENV|BASH_FUNC_\w*|LD_PRELOAD|LD_AUDIT|DYLD_INSERT_LIBRARIES)\b|\bld\.so\.preload\b")
"""Variables that can turn a deny into a success before a hook's own code runs."""

_AGENTS = frozenset({"claude", "codex", "opencode", "pi", "hermes"})
_BIN = re.compile(r"(?:/usr|/usr/local|/opt/homebrew|/opt/local)?/s?bin/+[^/]+\Z")
_HARMLESS = re.compile(
    r"(?:LC_\w+|LANG|LANGUAGE|TZ|TERM|COLUMNS|LINES|NO_COLOR|FORCE_COLOR|CLICOLOR\w*|CI|DEBUG|NODE_ENV|[a-z_]\w*)\Z"
)

Special = Callable[[Call, Ground], tuple[list[Effect], bool]]
SPECIAL: dict[str, Special] = {
    **git.SPECIAL,
    **files.SPECIAL,
    **containers.SPECIAL,
    **forges.SPECIAL,
    **kube.SPECIAL,
    **processes.SPECIAL,
    **own.SPECIAL,
    **managers.SPECIAL,
    **builders.SPECIAL,
    **requests.SPECIAL,
    **stores.SPECIAL,
    **transfers.SPECIAL,
}


def effects(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """What the call does, and whether it is proved to change nothing."""
    found, looks = _redirected(call, ground)
    if not call.argv or call.defined:
        return found, looks and not call.assigned
    name = program(call)
    special = databases.effects if dbclients.speaking(call) else SPECIAL.get(name)
    more, quiet = special(call, ground) if special else _by_row(call, name, ground)
    found.extend(more)
    if prints_secret(name, call.argv[1:]):
        found.append(Effect("read", " ".join(map(shown, call.argv[:4])), ("credentials",), detail=name))
    if "/" in call.argv[0]:
        found.extend(_started(call, name, ground))
        quiet = quiet and _BIN.match(call.argv[0]) is not None
    elif not ground.shadowed.isdisjoint((call.argv[0], "*")) and name not in BUILTINS:
        quiet = False  # what would be found first is a file that others than root can change
    found.extend(_inherited(call, name, found))
    if "decoded" in call.via and name in RISKY:
        found.append(Effect("exec", " ".join(map(shown, call.argv)), recursive=_grave(found), detail="decoded"))
    if name in _TRANSPARENT and unwrap(call) is not None:
        quiet = name not in SHELLS or call.argv[1:2] == ("-c",)
    if call.fed == "download" or name in DOWNLOADERS:
        found = [_downloaded(made) for made in found]
    if "container" in call.via:
        found = [_contained(made) for made in found]
    if machines(call) or not _CLUSTER.isdisjoint(call.via):
        found = [_away(made) for made in found]
    plain = all(_HARMLESS.match(variable) for variable, _ in call.assigned)
    return found, looks and quiet and plain and call.argv[0].isascii() and name == call.name


_TRANSPARENT = names("xargs env time command builtin nice ionice timeout stdbuf") | SHELLS
"""Wrappers that do nothing themselves: what they run is judged on its own."""

_MACHINE = frozenset({"root", "system", "shared", "home", "home_entry", "home_inner", "device", "unknown"})


def _downloaded(made: Effect) -> Effect:
    fresh = made.kind == "write" and made.target.startswith("/")
    return msgspec.structs.replace(made, places=(*made.places, "downloaded")) if fresh else made


def _grave(found: list[Effect]) -> bool:
    """Whether anything of it reaches more than one thing that matters."""
    return any(made.recursive and {"scratch", "disposable"}.isdisjoint(made.places) for made in found)


def _contained(made: Effect) -> Effect:
    """The same in a container that sees nothing of this machine."""
    return msgspec.structs.replace(made, places=tuple(p for p in made.places if p not in _MACHINE) or ("outside",))


_CLUSTER = frozenset({"kubectl", "oc", "kubecolor"})


def _away(made: Effect) -> Effect:
    """The same on another machine: what lies there nobody knows, and no version control of ours brings it back."""
    gone = made.kind in ("delete", "move") and made.recursive and {"scratch", "disposable"}.isdisjoint(made.places)
    return msgspec.structs.replace(made, places=(*made.places, "unknown")) if gone else made


def program(call: Call) -> str:
    """The name the table knows the program by: where files ignore case, RM is rm; pip3.11 is pip."""
    name = call.name
    folded = name.casefold().removesuffix(".exe")
    for known in (name, folded, folded.rstrip("0123456789.")):
        if known in SPECIAL or find_row(known) is not None:
            return known
    return name


def _redirected(call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    found: list[Effect] = []
    looks = True
    for redirect in call.redirects:
        target = redirect.target
        if not target or target.startswith(PIPED) or (redirect.op.endswith("&") and re.fullmatch(r"\d+-?|-", target)):
            continue
        if target.startswith(("/dev/tcp/", "/dev/udp/")):
            found.append(Effect("connect", shown(target), detail="shell" if _is_shell(call) else ""))
            looks = False
            continue
        path, places = ground.locate(target, call.cwd)
        if redirect.writes:
            if path not in SINKS:
                found.append(Effect("write", path, places, detail=">"))
                looks = False
        else:
            found.append(Effect("read", path, places))
    return found, looks


_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "exec", "csh", "tcsh", "fish"})


def _is_shell(call: Call) -> bool:
    return not call.argv or call.name in _SHELLS


def _by_row(call: Call, name: str, ground: Ground) -> tuple[list[Effect], bool]:
    row = find_row(name)
    if row is None:
        module = call.argv[call.argv.index("-m") + 1 :] if "-m" in call.argv else ()
        if module and module[0].startswith("reflexd") and foreign.language(name) == "python":
            return own.module(module, call, ground), False
        return unknown(call, ground), False
    if row.subcommands:
        found = operation(call, name, ground)
        if found is not None:
            return found
    return by_row(call, name, row, parse(call.argv[1:], row), ground)


def _started(call: Call, name: str, ground: Ground) -> list[Effect]:
    """A program started by its path: one of reflex's own is not for an agent to start."""
    path, places = ground.locate(call.argv[0], call.cwd)
    if "reflex" in places and name not in own.SPECIAL:
        return [Effect("exec", path, places, detail=name)]
    return []


def _inherited(call: Call, name: str, found: list[Effect]) -> list[Effect]:
    """Variables that an agent would inherit: written into what it is started from, or set for one started here."""
    if name in _AGENTS:
        return [
            Effect("environment", variable, detail=name)
            for variable, _ in call.assigned
            if INHERITED.fullmatch(variable)
        ]
    for made in found:
        if made.kind in ("write", "move") and (
            not {"startup", "agent_settings"}.isdisjoint(made.places) or "/.env" in made.target
        ):
            text = " ".join((*call.argv, call.stdin or ""))
            mentioned = INHERITED.search(text)
            if mentioned:
                return [Effect("environment", mentioned[0], detail=made.target)]
        if made.kind in ("write", "move") and made.target == "/etc/ld.so.preload":
            return [Effect("environment", "LD_PRELOAD", detail=made.target)]
    return []
