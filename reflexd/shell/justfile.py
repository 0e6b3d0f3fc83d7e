"""A justfile's text and the recipes asked for -> the shell code that just would run.

Covered: parameters and defaults, dependencies, variables, aliases, backquotes, recipes for another program.
What an expression comes to is only known for literals and names; files that it imports are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.known import SHELLS

RECIPES_MAX = 60
_HEADER = re.compile(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>(?:'[^']*'|\"[^\"]*\"|[^:'\"])*):(?!=)(?P<needs>.*)\Z")
_SETTING = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][\w-]*)\s*:=\s*(?P<value>.*)\Z")
_SHELL = re.compile(r"set\s+shell\s*:=(?P<words>.*)\Z")
_ALIAS = re.compile(r"alias\s+(?P<name>[\w-]+)\s*:=\s*(?P<for>[\w:-]+)")
_TEXT = re.compile(r"\s*(?:'([^']*)'|\"((?:[^\"\\]|\\.)*)\")\s*\Z")
_WORD = re.compile(r"'([^']*)'|\"([^\"]*)\"")
_TICKS = re.compile(r"`([^`]*)`")
_HOLE = re.compile(r"\{\{(?P<name>[^{}]*)\}\}")
_PARAMETER = re.compile(r"[*+$]*(?P<name>[\w-]+)(?:\s*=\s*(?P<default>'[^']*'|\"[^\"]*\"|\S+))?")
_UNKNOWN = "${RANDOM}"


class Parameter(Struct, frozen=True):
    name: str
    default: str | None


class Recipe(Struct, frozen=True):
    name: str
    parameters: tuple[Parameter, ...]
    needs: tuple[str, ...]
    lines: list[str]


class Justfile:
    """A file taken apart. `ticks`: commands that reading it runs; `outside`: what it brings in from other files."""

    def __init__(self, text: str) -> None:
        self.recipes: dict[str, Recipe] = {}
        self.values: dict[str, str] = {}
        self.aliases: dict[str, str] = {}
        self.ticks: dict[str, None] = {}
        self.outside: list[str] = []
        self.shell: tuple[str, ...] = ()
        current: Recipe | None = None
        for line in text.replace("\r\n", "\n").split("\n"):
            if line[:1] in (" ", "\t"):
                if current is not None and line.strip():
                    current.lines.append(line)
            elif line.strip() and line[0] not in "#[":
                current = self._line(line)

    def _line(self, line: str) -> Recipe | None:
        if line.startswith(("import", "mod ", "mod?")):
            self.outside.append(line.strip())
        elif (shell := _SHELL.match(line)) is not None:
            self.shell = tuple(one or two for one, two in _WORD.findall(shell["words"]))
        elif (alias := _ALIAS.match(line)) is not None:
            self.aliases[alias["name"]] = alias["for"]
        elif (setting := _SETTING.match(line)) is not None:
            self.ticks.update((f"({each}\n)", None) for each in _TICKS.findall(setting["value"]))
            self.values[setting["name"]] = _value(setting["value"])
        elif (header := _HEADER.match(line)) is not None:
            parameters = tuple(
                Parameter(each["name"], _value(each["default"]) if each["default"] else None)
                for each in _PARAMETER.finditer(header["parameters"])
            )
            needs = re.sub(r"\([^()]*\)", _first_word, header["needs"].partition("#")[0])
            recipe = Recipe(header["name"], parameters, tuple(re.findall(r"[A-Za-z_][\w-]*", needs)), [])
            self.recipes[recipe.name] = recipe
            return recipe
        return None

    def asked(self, words: list[str]) -> Iterator[tuple[Recipe, list[str]]]:
        """The recipes that run, in their order, each with its arguments."""
        waiting: list[tuple[str, list[str], bool]] = []
        while words:
            name = self.aliases.get(words[0], words[0])
            taken = len(self.recipes[name].parameters) if name in self.recipes else 0
            waiting.append((name, words[1 : 1 + taken], False))
            words = words[1 + taken :]
        waiting = waiting[::-1] or [(next(iter(self.recipes), ""), [], False)]
        done: set[str] = set()
        while waiting and len(done) <= RECIPES_MAX:
            name, given, ready = waiting.pop()
            recipe = self.recipes.get(name)
            if recipe is None or (name in done and not ready):
                continue
            if ready:
                yield recipe, given
                continue
            done.add(name)
            waiting.append((name, given, True))
            waiting.extend((self.aliases.get(need, need), [], False) for need in reversed(recipe.needs))


def read(text: str, file: Local) -> Unwrapped:
    """`just [NAME=VALUE...] RECIPE ARGUMENTS...`, the first recipe where none is named. Total; linear in the text."""
    made = Justfile(text)
    words = list(file.arguments)
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        made.values[name] = value
    code = dict(made.ticks)
    commands: dict[tuple[str, ...], None] = {}
    for recipe, given in made.asked(words):
        held = dict(made.values)
        for at, parameter in enumerate(recipe.parameters):
            default = _UNKNOWN if parameter.default is None else parameter.default
            held[parameter.name] = given[at] if at < len(given) else default
        lines = [_HOLE.sub(lambda match: _filled(match["name"].strip(), held), line) for line in recipe.lines]  # noqa: B023
        if lines and lines[0].lstrip().startswith("#!"):
            commands[_for_another(lines)] = None
            continue
        for line in _joined(lines):
            if made.shell and made.shell[0].rpartition("/")[2] not in SHELLS:
                commands[(*made.shell, line)] = None
            else:
                code[f"(\n{line}\n)"] = None
    opaque = (f"it brings in {made.outside[0]}",) if made.outside else ()
    return Unwrapped(tuple(commands), tuple(code), opaque=opaque)


def _first_word(match: re.Match[str]) -> str:
    """A dependency with arguments, by its name."""
    return match[0][1:-1].strip().partition(" ")[0]


def _for_another(lines: list[str]) -> tuple[str, ...]:
    """A recipe that begins with #!, as the program it names would be given it as an option's value."""
    words = [word.rpartition("/")[2] for word in lines[0].lstrip()[2:].split() if not word.startswith("-")]
    program = next((word for word in words if word != "env"), "sh")
    indent = min((len(line) - len(line.lstrip()) for line in lines[1:] if line.strip()), default=0)
    return (
        program,
        "-e" if program in ("node", "ruby", "perl") else "-c",
        "\n".join(line[indent:] for line in lines[1:]),
    )


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines with continuations joined, without the marks that only just reads."""
    held: list[str] = []
    for line in lines:
        text = line.strip()
        held.append(text.removesuffix("\\").rstrip())
        if text.endswith("\\"):
            continue
        if plain := " ".join(held).lstrip("@- "):
            yield plain
        held = []


def _value(text: str) -> str:
    literal = _TEXT.match(text)
    if literal:
        return literal[1] if literal[1] is not None else literal[2]
    tick = _TICKS.fullmatch(text.strip())
    return f"$({tick[1]})" if tick else _UNKNOWN


def _filled(expression: str, held: dict[str, str]) -> str:
    return held[expression] if expression in held else _value(expression)
