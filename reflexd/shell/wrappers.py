"""Programs that run other programs: what they would run, taken out of their words.

A program that is not known at all has its tail searched for one that is: a wrapper nobody listed
must not hide `rm -rf /`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import islice

from reflexd.shell import (
    builders,
    carriers,
    consoles,
    databases,
    dbclients,
    foreign,
    hooked,
    hosts,
    interpreters,
    runners,
    screens,
    shells,
    wraps,
)
from reflexd.shell.calls import Call
from reflexd.shell.carriers import Unwrapped, commands
from reflexd.shell.known import RISKY
from reflexd.shell.options import command_at, names
from reflexd.shell.programs import known as known_programs
from reflexd.shell.programs import with_subcommands
from reflexd.types import AGENTS

TAILS_MAX = 3
_LOADER = re.compile(r"ld(?:-linux|-musl|64)?[\w.-]*\.so\b|ld\.so\Z")
_LOADER_VALUED = names("--library-path --preload --argv0 --audit --inhibit-rpath")
_ALSO_VERBS = names(
    "init install link test run env sync make update join split sort check which type cut diff find head info kill last"
    " list login open paste patch print read script set shuf sleep stat strip tail tar top touch watch write"
)
"""Programs whose names are as well what others call their subcommands."""
_CODE_OPTIONS = frozenset({"-c", "--command", "--cmd", "--exec", "-x", "--run", "--shell-command"})


def unwrap(call: Call) -> Unwrapped | None:
    """What `call` runs in turn, None where it runs nothing else."""
    name, args = call.name, call.argv[1:]
    if dbclients.speaking(call) is not None:
        return databases.unwrap(call)
    special = SPECIAL.get(name)
    if special is not None and (unwrapped := special(call)) is not None:
        return unwrapped
    row = wraps.find(call)
    if row is not None:
        return wraps.unwrap(*row, call)
    if foreign.language(name):
        return interpreters.unwrap(call)
    if _LOADER.match(name):
        return commands(args[command_at(args, _LOADER_VALUED) :])
    if special is not None or not args or name in known_programs():
        return None
    return _tail(call)


def _tail(call: Call) -> Unwrapped | None:
    """The commands among the words of a program that nobody described: from a name that matters, or one of a tool."""
    args = call.argv[1:]
    tools = _tools(args, call.cwd)
    first = command_at(args, frozenset())
    for at in {first, args.index("--") + 1 if "--" in args else first}:
        if at < len(args) and args[at].rpartition("/")[2] in known_programs() - _ALSO_VERBS:
            tools.insert(0, at)
    for i, word in enumerate(args):
        if word.rpartition("/")[2] in RISKY and i + 1 < len(args):
            tools.append(i)
            break
        if word in _CODE_OPTIONS and i + 1 < len(args):
            return Unwrapped(commands=tuple(args[at:] for at in tools[:TAILS_MAX]), code=(args[i + 1],))
    return Unwrapped(commands=tuple(args[at:] for at in tools[-TAILS_MAX:])) if tools else None


def _tools(args: tuple[str, ...], cwd: str) -> list[int]:
    """Where among the words a tool's name stands: the first TAILS_MAX and the last, which are all that count."""
    last = len(args) - 1
    first = list(islice((i for i in range(last) if _is_tool(args[i], args, i, cwd)), TAILS_MAX))
    if len(first) < TAILS_MAX:
        return first
    back = list(islice((i for i in range(last - 1, first[-1], -1) if _is_tool(args[i], args, i, cwd)), TAILS_MAX))
    return [*first, *reversed(back)]


def _is_tool(word: str, args: tuple[str, ...], at: int, cwd: str) -> bool:
    name = word.rpartition("/")[2]
    if name in AGENTS or name in with_subcommands():
        return True
    # Only a client's name is worth a copy of all the words behind it.
    return dbclients.is_client(name) and dbclients.speaking(Call((name, *args[at + 1 :]), cwd)) is not None


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    **carriers.SPECIAL,
    **hosts.SPECIAL,
    **hooked.SPECIAL,
    **screens.SPECIAL,
    **builders.UNWRAPS,
    **consoles.SPECIAL,
    **runners.UNWRAPS,
    **shells.SPECIAL,
}
