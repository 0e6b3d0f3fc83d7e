"""Programs that run other programs: what they would run, taken out of their words.

A program that is not known at all has its tail searched for one that is: a wrapper nobody listed
must not hide `rm -rf /`.
"""

from __future__ import annotations

from collections.abc import Callable

from reflexd.shell import (
    builders,
    carriers,
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
from reflexd.shell.programs import known as known_programs

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
    if special is not None or not args or name in known_programs():
        return None
    return _tail(args)


def _tail(args: tuple[str, ...]) -> Unwrapped | None:
    for i, word in enumerate(args):
        if word.rpartition("/")[2] in RISKY and i + 1 < len(args):
            return commands(args[i:])
        if word in _CODE_OPTIONS and i + 1 < len(args):
            return Unwrapped(code=(args[i + 1],))
    return None


SPECIAL: dict[str, Callable[[Call], Unwrapped | None]] = {
    **carriers.SPECIAL,
    **hosts.SPECIAL,
    **hooked.SPECIAL,
    **screens.SPECIAL,
    **builders.UNWRAPS,
    **runners.UNWRAPS,
    **shells.SPECIAL,
}
