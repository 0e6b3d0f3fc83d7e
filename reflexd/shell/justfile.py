"""A justfile's text and the recipes asked for -> the shell code that just would run."""

from __future__ import annotations

import re

from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped

RECIPES_MAX = 60
_HEADER = re.compile(r"@?(?P<name>[A-Za-z_][\w-]*)(?P<parameters>(?:'[^']*'|\"[^\"]*\"|[^:'\"])*):(?!=)(?P<needs>.*)\Z")
_SETTING = re.compile(r"(?:export\s+)?(?P<name>[A-Za-z_][\w-]*)\s*:=\s*(?P<value>.*)\Z")
_ALIAS = re.compile(r"alias\s+(?P<name>[\w-]+)\s*:=\s*(?P<for>[\w:-]+)")
_TEXT = re.compile(r"\s*(?:'([^']*)'|\"((?:[^\"\\]|\\.)*)\")\s*\Z")
_TICKS = re.compile(r"`([^`]*)`")
_HOLE = re.compile(r"\{\{(?P<name>[^{}]*)\}\}")
_UNKNOWN = "${RANDOM}"
_PARAMETER = re.compile(r"[*+$]*(?P<name>[\w-]+)(?:\s*=\s*(?P<default>'[^']*'|\"[^\"]*\"|\S+))?")


class _Recipe:
    __slots__ = ("lines", "name", "needs", "parameters")

    def __init__(self, name: str, parameters: list[tuple[str, str, bool]], needs: list[str]) -> None:
        self.name = name
        self.parameters = parameters
        self.needs = needs
        self.lines: list[str] = []


def read(text: str, file: Local) -> Unwrapped:
    """`just RECIPE ARGUMENTS...`, the first recipe where none is named. Total; linear in the text."""
    recipes: dict[str, _Recipe] = {}
    values: dict[str, str] = {}
    aliases: dict[str, str] = {}
    ticks: dict[str, None] = {}
    outside: list[str] = []
    current: _Recipe | None = None
    for line in text.replace("\r\n", "\n").split("\n"):
        if line[:1] in (" ", "\t"):
            if current is not None and line.strip():
                current.lines.append(line)
            continue
        if not line.strip() or line[:1] in ("#", "["):
            continue
        current = None
        if line.startswith(("import", "mod ", "mod?")):
            outside.append(line.strip())
        elif (alias := _ALIAS.match(line)) is not None:
            aliases[alias["name"]] = alias["for"]
        elif (setting := _SETTING.match(line)) is not None:
            ticks.update((f"({each}\n)", None) for each in _TICKS.findall(setting["value"]))
            values[setting["name"]] = _value(setting["value"])
        elif line.startswith("set "):
            values[line] = ""
        elif (header := _HEADER.match(line)) is not None:
            parameters = [
                (each["name"], _value(each["default"]) if each["default"] else "", each["default"] is not None)
                for each in _PARAMETER.finditer(header["parameters"])
            ]
            needs = re.findall(
                r"[A-Za-z_][\w-]*", re.sub(r"\([^()]*\)", _first_word, header["needs"].partition("#")[0])
            )
            current = _Recipe(header["name"], parameters, needs)
            recipes[current.name] = current
    return _run(recipes, values, aliases, ticks, outside, list(file.arguments))


def _first_word(match: re.Match[str]) -> str:
    """A dependency with arguments, by its name."""
    return match[0][1:-1].strip().partition(" ")[0]


def _run(
    recipes: dict[str, _Recipe],
    values: dict[str, str],
    aliases: dict[str, str],
    ticks: dict[str, None],
    outside: list[str],
    words: list[str],
) -> Unwrapped:
    while words and "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        values[name] = value
    waiting: list[tuple[str, list[str]]] = []
    while words:
        name = aliases.get(words[0], words[0])
        taken = len(recipes[name].parameters) if name in recipes else 0
        waiting.append((name, words[1 : 1 + taken]))
        words = words[1 + taken :]
    waiting = waiting or [(next(iter(recipes), ""), [])]
    code = dict(ticks)
    commands: dict[tuple[str, ...], None] = {}
    opaque = [f"it brings in {outside[0]}"] if outside else []
    shell = next((line for line in values if line.startswith("set shell")), "")
    done: set[str] = set()
    for name, given in waiting:
        recipe = recipes.get(name)
        if recipe is None or name in done:
            continue
        if len(done) >= RECIPES_MAX:
            opaque.append("it runs too many recipes to be read")
            break
        done.add(name)
        waiting.extend((aliases.get(need, need), []) for need in recipe.needs)
        held = dict(values)
        for at, (parameter, default, optional) in enumerate(recipe.parameters):
            held[parameter] = given[at] if at < len(given) else (default if optional else _UNKNOWN)
        _recipe(recipe, held, shell, code, commands)
    return Unwrapped(tuple(commands), tuple(code), opaque=tuple(opaque))


def _recipe(
    recipe: _Recipe,
    held: dict[str, str],
    shell: str,
    code: dict[str, None],
    commands: dict[tuple[str, ...], None],
) -> None:
    lines = [_HOLE.sub(lambda match: _filled(match["name"].strip(), held), line) for line in recipe.lines]
    first = lines[0].strip() if lines else ""
    if first.startswith("#!"):
        program = [word.rpartition("/")[2] for word in first[2:].split() if not word.startswith("-")]
        program = program[1:] if program[:1] == ["env"] else program
        body = "\n".join(_dedented(lines[1:]))
        commands[
            program[0] if program else "sh", "-e" if program[:1] in (["node"], ["ruby"], ["perl"]) else "-c", body
        ] = None
        return
    joined = re.sub(r"\\\n\s*", " ", "\n".join(line.strip() for line in lines))
    for line in joined.split("\n"):
        plain = line.lstrip("@- ")
        if plain and "bash" not in shell and "sh" not in shell and shell:
            words = re.findall(r"['\"]([^'\"]*)['\"]", shell)
            commands[(*words, plain)] = None
        elif plain:
            code[f"(\n{plain}\n)"] = None


def _dedented(lines: list[str]) -> list[str]:
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] for line in lines]


def _value(text: str) -> str:
    literal = _TEXT.match(text)
    if literal:
        return literal[1] if literal[1] is not None else literal[2]
    tick = re.fullmatch(r"\s*`([^`]*)`\s*", text)
    return f"$({tick[1]})" if tick else _UNKNOWN


def _filled(expression: str, held: dict[str, str]) -> str:
    if expression in held:
        return held[expression]
    literal = _TEXT.match(expression)
    return _value(expression) if literal else _UNKNOWN
