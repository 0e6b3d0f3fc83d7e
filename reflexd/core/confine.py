"""Which calls need nobody's judgement: ordinary work that stays inside the workspace.

This only saves asking a judge. It never lets anything through: rules have had their say before, and what is not
confined passes all the same where there is no judge. So it errs to the side of asking.
"""

from __future__ import annotations

import posixpath
from functools import cache

from msgspec import Struct

from reflexd.shell import programs, wraps
from reflexd.shell.known import BUILTINS
from reflexd.shell.tables import table
from reflexd.types import (
    Command,
    Context,
    Edit,
    Effect,
    Facts,
    Mcp,
    Other,
    Patch,
    Place,
    Read,
    Search,
    Shell,
    Tool,
    Write,
)

_LEAVING = frozenset({"push", "connect", "send", "change", "destroy", "install"})
_HERE: frozenset[Place] = frozenset(
    {"workspace", "workspace_root", "disposable", "scratch", "recoverable", "downloaded"}
)
_AWAY: frozenset[Place] = frozenset({"credentials", "dotenv", "elsewhere", "service", "production", "device"})
_CARRYING = frozenset({"bash", "sh", "find", "fd", "xargs", "parallel", "env"})
"""Programs that run others, which are commands of their own."""
_LOCAL = frozenset({"read", "write", "delete", "move", "attributes", "exec", "discard"})


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    reaching: str
    reaching_with: dict[str, str]


def confined(tool: Tool, facts: Facts, context: Context) -> bool:
    """Every command is known and none reaches out; all effects are on files of the workspace, caches and scratch."""
    if facts.read_only:
        return True
    if facts.opaque or context.foreign_namespace or context.taint or any(code.origin for code in facts.unseen):
        return False
    match tool:
        case Read() | Search() | Write() | Edit() | Patch():
            return all(map(_stays, facts.effects))
        case Shell():
            return bool(facts.commands) and all(map(_ordinary, facts.commands)) and all(map(_stays, facts.effects))
        case Other():
            return not facts.effects and not facts.commands
        case Mcp():
            return False
        case _:
            return False


def leaves(tool: Tool, facts: Facts) -> bool:
    """Whether something may leave this machine with the call."""
    if any(effect.kind in _LEAVING for effect in facts.effects):
        return True
    if any(map(_reaches, facts.commands)):
        return True
    return not isinstance(tool, Read | Search | Write | Edit | Patch | Shell | Other)


def _ordinary(command: Command) -> bool:
    """Proved to only look, or a known program that reaches no other machine. What a wrapper wraps is a command too."""
    if command.read_only:
        return True
    name = _name(command)
    known = name in programs.known() or name in BUILTINS or name in wraps.rows() or name in _CARRYING
    return known and not _reaches(command)


def _reaches(command: Command) -> bool:
    """Whether its program talks to other machines, whatever its words or because of one."""
    words = data().get(_name(command))
    return words is not None and (not words or not words.isdisjoint(command.argv))


@cache
def data() -> dict[str, frozenset[str]]:
    """Programs that reach out, each with the words that make it so (none: any)."""
    file = table("confined.toml", _File)
    always = dict.fromkeys(file.reaching.split(), frozenset[str]())
    return always | {name: frozenset(words.split()) for name, words in file.reaching_with.items()}


def _name(command: Command) -> str:
    return posixpath.basename(command.argv[0]) if command.argv else ""


def _stays(effect: Effect) -> bool:
    if effect.kind == "read":  # rules have seen to secrets
        return _AWAY.isdisjoint(effect.places)
    return effect.kind in _LOCAL and not _HERE.isdisjoint(effect.places)
