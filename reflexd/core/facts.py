"""One tool call -> what it would do. Total, pure and bounded: any text at all gives Facts.

Nothing is run and no file is read in here: what a call says, and what somebody saw on the disk for it, is all
there is. What that leaves open is in `opaque` (text that could not be read whole), which never counts as
harmless, in `unseen` (local code) and in `wants` (what to look at before asking again).
"""

from __future__ import annotations

import functools
import posixpath
import shlex

from reflexd.core import mcp, tools
from reflexd.core.lines import line
from reflexd.core.settle import settled
from reflexd.shell.fields import shown
from reflexd.shell.places import Ground
from reflexd.types import (
    Code,
    Context,
    Edit,
    Facts,
    Fetch,
    Mcp,
    Other,
    Patch,
    Read,
    Search,
    Seen,
    Shell,
    Spawn,
    Tool,
    WebSearch,
    Write,
)

SMALL = 4096  # characters of a command; longer ones are remembered too, but only the last few
_OF_THE_TEXT = frozenset({"file", "entry", "repository", "kube", "server"})  # sights that a command is read by
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


def facts(tool: Tool, context: Context, seen: Seen = Seen()) -> Facts:
    """Never raises: what goes wrong in here is opaque."""
    try:
        ground = _ground(context)
        read = seen if not seen.found else Seen(tuple(pair for pair in seen.found if pair[0].kind in _OF_THE_TEXT))
        return settled(_read(tool, context, read), context, ground, seen)
    except (RecursionError, ValueError, LookupError, TypeError, AttributeError, OverflowError) as e:
        return Facts(opaque=f"reading it failed ({type(e).__name__})")


@functools.lru_cache(maxsize=64)
def _ground(context: Context) -> Ground:
    return Ground(context)


@functools.lru_cache(maxsize=512)
def _remembered(tool: Tool, context: Context, seen: Seen) -> Facts:
    return _facts(tool, context, _ground(context).looking(seen))


@functools.lru_cache(maxsize=8)
def _last(tool: Tool, context: Context, seen: Seen) -> Facts:
    return _facts(tool, context, _ground(context).looking(seen))


def _read(tool: Tool, context: Context, seen: Seen) -> Facts:
    """Agents repeat themselves, and each round of looking asks again: what a call says is remembered."""
    if isinstance(tool, Write | Edit | Patch | Code):
        return _facts(tool, context, _ground(context).looking(seen))
    if isinstance(tool, Shell) and len(tool.command) > SMALL:
        return _last(tool, context, seen)
    return _remembered(tool, context, seen)


def _facts(tool: Tool, context: Context, ground: Ground) -> Facts:
    match tool:
        case Shell(command, workdir):
            return line(command, _directory(workdir, context), context, ground)
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
            return tools.fetch(url, context, ground)
        case WebSearch():
            return Facts(effects=tuple(tools.sends("a search engine", context)), read_only=True)
        case Mcp(server, name, args):
            return mcp.call(server, name, args, context, ground)
        case Other(name, args):
            return mcp.call("", name, args, context, ground)
        case Spawn():
            return Facts()


def _directory(workdir: str, context: Context) -> str:
    """Where a call that names a directory of its own runs."""
    if workdir == "~" or workdir.startswith("~/"):
        return context.home + workdir[1:]
    return posixpath.normpath(posixpath.join(context.cwd, workdir)) if workdir else context.cwd


def _code(language: str, source: str, context: Context, ground: Ground) -> Facts:
    known = _INTERPRETERS.get(language.lower())
    if known is None and language.lower() in ("bash", "sh", "shell", "zsh"):
        return line(source, context.cwd, context, ground)
    if known is None:
        return Facts(opaque=f"it is {shown(language)} code, which is not read here")
    return line(f"{known} {shlex.quote(source)}", context.cwd, context, ground)
