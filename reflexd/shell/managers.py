"""Package managers: what a call brings in, publishes or takes back, by the rows of config/programs/packages.toml."""

from __future__ import annotations

import functools
from collections.abc import Callable

from reflexd.shell.arguments import Parsed, parse
from reflexd.shell.calls import Call
from reflexd.shell.operands import unknown
from reflexd.shell.operations import by_row, operation
from reflexd.shell.options import names
from reflexd.shell.packages import package
from reflexd.shell.places import Ground
from reflexd.shell.programs import Row, find_operation, find_row
from reflexd.shell.runners import fetched
from reflexd.types import Effect

SHIFT_MAX = 3  # words that may stand before a subcommand, as values of options that no row names
ABBREVIATED_MIN = 3  # letters of a subcommand cut short
_MANAGERS = names(
    "npm npx pnpm pnpx yarn bun bunx deno pip pipx uv uvx poetry pdm pipenv hatch flit rye conda mamba micromamba pixi"
    " cargo go gem bundle composer dotnet brew"
)
_ABBREVIATING = names("npm")
_SETTING = (("npm", "config", "set"), ("npm", "set"), ("npm", "c", "set"), ("pnpm", "config", "set"))
_KEYS = names("script-shell shell git editor viewer node-options registry globalconfig userconfig init-module prefix")
"""Settings that name a program, or where every later package comes from."""


def manage(name: str, call: Call, ground: Ground) -> tuple[list[Effect], bool]:
    """What the call does, and whether it is proved to change nothing."""
    found = unknown(call, ground)  # what its words name is read, as with a program that nobody described
    brought = fetched(call, name, ground)
    if brought is not None:
        return [*found, *brought], False
    found.extend(_settings(call, name, ground))
    made = operation(call, name, ground) or _elsewhere(call, name, ground)
    if made is None:
        return found, False
    effects, quiet = made
    if name == "go":
        effects = [effect for effect in effects if effect.kind != "install" or _fetches(effect)]
    return [*found, *effects], quiet and all(effect.kind == "read" for effect in found)


def _elsewhere(call: Call, name: str, ground: Ground) -> tuple[list[Effect], bool] | None:
    """Subcommands that stand behind the value of an option nobody listed, or are cut short."""
    base = find_row(name)
    if base is None:
        return None
    operands = parse(call.argv[1:], base).operands
    if name == "dotnet" and operands[:1] == ("add",) and operands[2:3] == ("package",):
        made = [package(word, call, ground, "dotnet add package") for word in operands[3:4]]
        return [effect for effect in made if effect], False
    for at in range(min(SHIFT_MAX, len(operands)) + 1):
        words = operands[at:]
        found = find_operation(name, words) or _cut_short(name, words)
        if found is not None:
            title, row = found
            parsed = parse(call.argv[1:], row)
            inner = Parsed(parsed.flags, parsed.values, parsed.operands[at + title.count(" ") :], parsed.strange)
            return by_row(call, title, row, inner, ground)[0], False
    return None


def _cut_short(name: str, words: tuple[str, ...]) -> tuple[str, Row] | None:
    if name not in _ABBREVIATING or not words or len(words[0]) < ABBREVIATED_MIN:
        return None
    return next(
        (
            found
            for whole in ("publish", "unpublish", "deprecate", "create", "install")
            if whole.startswith(words[0]) and (found := find_operation(name, (whole,)))
        ),
        None,
    )


def _fetches(effect: Effect) -> bool:
    """go: what has no version is of this module or of those it requires, except for `go get`."""
    path, version, _ = effect.target.partition("@")
    return "." in path.partition("/")[0] if effect.detail == "go get" else bool(version)


def _settings(call: Call, name: str, ground: Ground) -> list[Effect]:
    words = tuple(word for word in call.argv[1:] if not word.startswith("-"))
    for program, *verb in _SETTING:
        key = words[len(verb) : len(verb) + 1]
        if program == name and words[: len(verb)] == tuple(verb) and key and key[0].partition("=")[0] in _KEYS:
            path, places = ground.locate("~/.npmrc")
            return [Effect("write", path, places, detail=" ".join(("npm config", *key)))]
    return []


SPECIAL: dict[str, Callable[[Call, Ground], tuple[list[Effect], bool]]] = {
    name: functools.partial(manage, name) for name in _MANAGERS
}
