"""A package's scripts (package.json, composer.json) -> the shell code that running one runs.

The scripts before and after it run too, and so do those that tools of the trade start by name (npm-run-all,
run-p, concurrently, wireit excepted): all of the same file. A script sees the project's own programs first.
"""

from __future__ import annotations

import fnmatch
import json
import re
import shlex

from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped

SCRIPTS_MAX = 60  # scripts that one call may run
_LIFECYCLE = ("preinstall", "install", "postinstall", "preprepare", "prepublish", "prepare", "postprepare")
_RUN_ALL = re.compile(r"\b(?:npm-run-all2?|run-s|run-p)\b(?P<words>[^&|;\n]*)")
SCRIPT = re.compile(r"(?:npm|pnpm|yarn|bun|node|deno):[\w:*./-]+")
"""A package's script as concurrently is told of it."""
_CONCURRENTLY = re.compile(r"[\"']?\b(?:npm|pnpm|yarn|bun):(?P<name>[\w:*.-]+)")
PATTERN_MAX = 100


def scripts(text: str, key: str = "scripts") -> dict[str, str] | None:
    """The scripts by name; None for text that is no package's description."""
    try:
        read = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    found = read.get(key) if isinstance(read, dict) else None
    if not isinstance(found, dict):
        return {} if isinstance(read, dict) else None
    return {name: _code(value) for name, value in found.items()}


def _code(value: object) -> str:
    """A script as composer (a list) and deno (a table) may write it."""
    if isinstance(value, dict):
        value = value.get("command")
    if isinstance(value, list):
        return " && ".join(each for each in value if isinstance(each, str))
    return value if isinstance(value, str) else ""


def read(text: str, file: Local) -> Unwrapped:
    """`npm run NAME ARGS`: the name first. A name the file lacks runs nothing of it."""
    known = scripts(text)
    if known is None:
        return Unwrapped(opaque=("it is not a package's description",))
    name, *arguments = file.arguments or ("",)
    return _unwrapped(known, (f"pre{name}", name, f"post{name}"), {name: tuple(arguments)})


def read_matching(text: str, file: Local) -> Unwrapped:
    """Scripts by patterns of their names, as npm-run-all takes them."""
    known = scripts(text)
    if known is None:
        return Unwrapped(opaque=("it is not a package's description",))
    return _unwrapped(known, tuple(_matching(list(file.arguments), known)), {})


def read_deno(text: str, file: Local) -> Unwrapped:
    """`deno task NAME ARGS`"""
    known = scripts(text, "tasks")
    if known is None:
        return Unwrapped(opaque=("it is not a package's description",))
    name, *arguments = file.arguments or ("",)
    return _unwrapped(known, (name,), {name: tuple(arguments)})


def read_install(text: str, file: Local) -> Unwrapped:
    """What installing a package's own dependencies runs of it."""
    known = scripts(text)
    if known is None:
        return Unwrapped(opaque=("it is not a package's description",))
    return _unwrapped(known, _LIFECYCLE, {})


def read_composer(text: str, file: Local) -> Unwrapped:
    """Composer's own: `@name` is another script, `@php` and `@composer` are programs."""
    known = scripts(text)
    if known is None:
        return Unwrapped(opaque=("it is not a package's description",))
    name, *arguments = file.arguments or ("",)
    plain = {key: re.sub(r"(?:^|(?<=&& ))@(php|composer|putenv)\b", r"\1", code) for key, code in known.items()}
    return _unwrapped(plain, (name,), {name: tuple(arguments)})


def _unwrapped(known: dict[str, str], names: tuple[str, ...], arguments: dict[str, tuple[str, ...]]) -> Unwrapped:
    code: dict[str, None] = {}
    waiting = list(names)
    done: set[str] = set()
    for name in waiting:
        if name in done or name not in known:
            continue
        if len(done) >= SCRIPTS_MAX:
            return Unwrapped(code=tuple(code), opaque=("it runs too many scripts to be read",))
        done.add(name)
        text = known[name]
        waiting.extend(_named(text, known))
        words = " ".join(map(shlex.quote, arguments.get(name, ())))
        code[f"(\n{text} {words}\n)" if words else f"(\n{text}\n)"] = None
    return Unwrapped(code=tuple(code))


def _named(text: str, known: dict[str, str]) -> list[str]:
    """Other scripts that this one starts through a tool that knows them by name."""
    patterns = [match["name"] for match in _CONCURRENTLY.finditer(text)]
    for match in _RUN_ALL.finditer(text):
        patterns.extend(word for word in match["words"].replace('"', " ").replace("'", " ").split() if word[0] != "-")
    patterns.extend(word[1:] for word in text.split() if word[:1] == "@" and "/" not in word)
    return _matching(patterns, known)


def _matching(patterns: list[str], known: dict[str, str]) -> list[str]:
    return [
        name
        for pattern in patterns[:SCRIPTS_MAX]
        if len(pattern) <= PATTERN_MAX
        for name in ([pattern] if pattern in known else fnmatch.filter(known, pattern.replace("**", "*")))
    ][: SCRIPTS_MAX * 2]
