"""Scripts that a Python project describes in pyproject.toml (poe, pdm, hatch, rye) -> the shell code they run."""

from __future__ import annotations

import shlex
import tomllib
from collections.abc import Iterator

from reflexd.shell import foreign
from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped

SCRIPTS_MAX = 60
_TABLES = {
    "poe": ("tool", "poe", "tasks"),
    "pdm": ("tool", "pdm", "scripts"),
    "rye": ("tool", "rye", "scripts"),
}


def read(text: str, file: Local) -> Unwrapped:
    """The tool's name first, then the script's. A name that the file lacks is a program's, which is judged as such."""
    try:
        described = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError):
        return Unwrapped(opaque=("it is not a project's description",))
    tool, name = file.arguments[:2]
    known = _scripts(described, tool)
    code: dict[str, None] = {}
    waiting = [f"pre_{name}", name.rpartition(":")[2] if tool == "hatch" else name, f"post_{name}"]
    done: set[str] = set()
    words = " ".join(map(shlex.quote, file.arguments[2:]))
    for each in waiting:
        if each in done or each not in known or len(done) >= SCRIPTS_MAX:
            continue
        done.add(each)
        for line in _lines(known[each]):
            code[f"(\n{line} {words}\n)"] = None
            waiting.append(line.partition(" ")[0])
    return Unwrapped(code=tuple(code))


def read_module(text: str, file: Local) -> Unwrapped:
    """A module that is run by its name."""
    found = foreign.read(text, "python", whole=True)
    return Unwrapped(commands=found.commands, code=found.code, opaque=found.opaque)


def _scripts(described: dict[str, object], tool: str) -> dict[str, object]:
    if tool != "hatch":
        return _table(described, *_TABLES[tool]) if tool in _TABLES else {}
    found: dict[str, object] = {}
    for name in _table(described, "tool", "hatch", "envs"):
        found.update(_table(described, "tool", "hatch", "envs", name, "scripts"))
    return found


def _table(described: object, *keys: str) -> dict[str, object]:
    for key in keys:
        described = described.get(key) if isinstance(described, dict) else None
    return described if isinstance(described, dict) else {}


def _lines(value: object) -> Iterator[str]:
    """A script as a string, a list of them, or a table with one of the keys that hold code or other scripts' names."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        yield from (each for each in value if isinstance(each, str))
    elif isinstance(value, dict):
        for key in ("cmd", "shell", "sequence", "composite", "chain", "deps", "parallel"):
            held = value.get(key)
            yield from _lines(" ".join(map(str, held)) if key == "cmd" and isinstance(held, list) else held)
