"""One tool call -> what it would do. Total, pure and bounded: any text at all gives Facts.

Nothing is run and no file is read: what a call says is all there is. What it does not say is in
`opaque` (text that could not be read whole) and never counts as harmless.
"""

from __future__ import annotations

import functools
import posixpath
import re
import shlex
from collections.abc import Iterable

import msgspec

from reflexd.core import tools
from reflexd.shell.calls import Call, Reading
from reflexd.shell.effects import effects
from reflexd.shell.fields import shown
from reflexd.shell.interpret import read
from reflexd.shell.places import Ground
from reflexd.shell.rawscan import segments
from reflexd.types import (
    Code,
    Command,
    Context,
    Edit,
    Effect,
    Facts,
    Fetch,
    Mcp,
    Other,
    Patch,
    Read,
    Search,
    Shell,
    Spawn,
    Tool,
    WebSearch,
    Write,
)

COMMAND_MAX = 32 * 1024  # characters; a longer command is read as far as it goes, and asks
READ_MAX = 128 * 1024  # beyond this only the raw scan looks at it
_INTERPRETERS = {
    "python": "python3 -c",
    "py": "python3 -c",
    "javascript": "node -e",
    "js": "node -e",
    "typescript": "node -e",
    "ts": "node -e",
    "ruby": "ruby -e",
    "perl": "perl -e",
    "php": "php -r",
}


def facts(tool: Tool, context: Context) -> Facts:
    """Never raises: what goes wrong in here is opaque."""
    try:
        return _facts(tool, context, _ground(context))
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as e:
        return Facts(opaque=f"reading it failed ({type(e).__name__})")


@functools.lru_cache(maxsize=64)
def _ground(context: Context) -> Ground:
    return Ground(context)


def _facts(tool: Tool, context: Context, ground: Ground) -> Facts:
    match tool:
        case Shell(command, workdir):
            return _shell(command, _directory(workdir, context), context, ground)
        case Code(language, source):
            return _code(language, source, context, ground)
        case Read(path):
            return Facts(effects=(tools.on("read", path, ground),), read_only=True)
        case Search(_, path):
            return tools.search(path or context.cwd, ground)
        case Write(path, content):
            return Facts(effects=tuple(tools.written(path, content, True, ground)))
        case Edit(path, added):
            return Facts(effects=tuple(tools.written(path, added, False, ground)))
        case Patch(text):
            return tools.patch(text, ground)
        case Fetch(url):
            return tools.fetch(url, ground)
        case WebSearch():
            return Facts(read_only=True)
        case Mcp(_, name, args) | Other(name, args):
            return tools.arguments(name, args, ground)
        case Spawn():
            return Facts()


def _directory(workdir: str, context: Context) -> str:
    """Where a call that names a directory of its own runs."""
    if workdir == "~" or workdir.startswith("~/"):
        return context.home + workdir[1:]
    return posixpath.normpath(posixpath.join(context.cwd, workdir)) if workdir else context.cwd


def _shell(command: str, cwd: str, context: Context, ground: Ground) -> Facts:
    env = dict(context.env)
    if len(command) <= READ_MAX:
        reading = read(command, cwd, context.home, env)
    else:
        reading = Reading((), ("it is too long to be read",))
    found: dict[Effect, None] = {}
    looks = _calls(reading.calls, ground, found)
    _calls(reading.alike, ground, found)
    opaque = reading.opaque[0] if reading.opaque else ""
    if len(command) > COMMAND_MAX:
        opaque = f"it is longer than {COMMAND_MAX} characters"
    if reading.opaque and (reading.broken or len(command) > READ_MAX):
        # Where the parser lost its way, every piece that could stand alone is read on its own.
        for segment in segments(command):
            _calls(read(segment, cwd, context.home, env).calls, ground, found)
    return Facts(
        commands=tuple(Command(tuple(map(shown, c.argv)), c.via, shown(c.cwd)) for c in reading.calls if c.argv),
        effects=tuple(found),
        read_only=looks and bool(reading.calls) and not opaque and not reading.unseen,
        opaque=opaque,
    )


_PATCHERS = frozenset({"apply_patch", "applypatch"})
"""Codex applies a patch itself where a shell command is no more than `[cd DIR &&] apply_patch <<EOF`."""
_NAMES_REFLEX = re.compile(r"\breflexd?\b")


def _calls(calls: Iterable[Call], ground: Ground, found: dict[Effect, None]) -> bool:
    looks = True
    every: list[Effect] = []
    names_reflex = False
    for call in calls:
        made, quiet = effects(call, ground)
        every.extend(made)
        if call.name in _PATCHERS:
            every.extend(tools.patch(call.stdin or call.argv[-1], ground, call.cwd).effects)
        looks = looks and quiet
        names_reflex = names_reflex or any(_NAMES_REFLEX.search(word) for word in call.argv)
    if names_reflex:
        # A process looked up in the same line: `kill $(pgrep reflexd)`.
        every = [_at_reflex(effect) for effect in every]
    found.update(dict.fromkeys(every))
    return looks


def _at_reflex(effect: Effect) -> Effect:
    if effect.kind == "signal" and "unknown" in effect.places:
        return msgspec.structs.replace(effect, places=("reflex", *effect.places))
    return effect


def _code(language: str, source: str, context: Context, ground: Ground) -> Facts:
    known = _INTERPRETERS.get(language.lower())
    if known is None and language.lower() in ("bash", "sh", "shell", "zsh"):
        return _shell(source, context.cwd, context, ground)
    if known is None:
        return Facts(opaque=f"it is {shown(language)} code, which is not read here")
    return _shell(f"{known} {shlex.quote(source)}", context.cwd, context, ground)
