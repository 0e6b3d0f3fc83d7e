"""A makefile's text and the targets asked for -> the shell code that make would run.

Covered: variables of every flavour and those given on the command line, conditionals (each branch in turn),
prerequisites, pattern rules, `define`, the functions that only rearrange text, recipes with their prefixes, what
`$(shell ...)` runs while the file is read. What is not understood becomes text that nobody knows, so a command
that needs it is not known either. Not covered: rules that are built into make, and files it includes, which are named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reflexd.shell.calls import Local
from reflexd.shell.carriers import Unwrapped
from reflexd.shell.known import SHELLS
from reflexd.shell.maketext import UNKNOWN_TEXT, Variables, logical_lines, plain_words

GOALS_MAX = 200  # targets and prerequisites that are followed
CODE_MAX = 400  # recipe lines
_ASSIGNED = re.compile(
    r"\s*(?P<words>(?:(?:override|export|private)\s+)*)(?P<name>[^\s:#=!?+]+)"
    r"\s*(?P<op>(?:::?:?|[?+!])?=)\s*(?P<value>.*)\Z",
    re.S,
)
_SPECIFIC = re.compile(
    r"(?P<targets>[^:=]+):\s*(?P<rest>(?:(?:override|export|private)\s+)*[\w.-]+\s*[:?+]?:?=.*)\Z", re.S
)
_CONDITION = re.compile(r"\s*(ifeq|ifneq|ifdef|ifndef)\b")
_ELSE = re.compile(r"\s*else\b")
_END = re.compile(r"\s*endif\b")
_INCLUDE = re.compile(r"\s*[-s]?include\s+(?P<files>.+)")
_DEFINE = re.compile(r"\s*(?:override\s+|export\s+)*define\s+(?P<name>\S+)")
_EXPORT = re.compile(r"\s*export(?:\s+(?P<names>\S.*))?\Z", re.S)
_INERT = re.compile(r"\s*(?:unexport|vpath|undefine)\b|\s*-?load\b")


class Rule:
    """Targets with what they need and run; `scoped` are the variables that only hold for them."""

    __slots__ = ("needs", "pattern", "recipe", "targets")

    def __init__(self, targets: list[str], needs: list[str], pattern: str = "") -> None:
        self.targets = targets
        self.needs = needs
        self.pattern = pattern
        self.recipe: list[str] = []


class Makefile:
    """A file read with every condition taken the same way. `first`: the branch before `else`."""

    def __init__(self, text: str, given: dict[str, str], first: bool) -> None:
        self.variables = Variables(given)
        self.rules: list[Rule] = []
        self.scoped: dict[str, list[tuple[str, str, str]]] = {}
        self.includes: list[str] = []
        self.oneshell = False
        self._read(text, first)

    def _read(self, text: str, first: bool) -> None:
        rules: list[Rule] = []
        taken: list[bool] = []
        define: tuple[str, list[str]] | None = None
        for line, recipe in logical_lines(text):
            if define is not None:
                if re.match(r"\s*endef\b", line):
                    self.variables.set(define[0], "=", "\n".join(define[1]))
                    define = None
                else:
                    define[1].append(line)
                continue
            if not recipe or not rules:
                if _CONDITION.match(line):
                    taken.append(first)
                    continue
                if taken and _END.match(line):
                    taken.pop()
                    continue
                if taken and _ELSE.match(line):
                    taken[-1] = not first
                    continue
            if not all(taken):
                continue
            if recipe and rules:
                for rule in rules:
                    rule.recipe.append(line)
            elif line.strip() and not line.lstrip().startswith("#"):
                started = _DEFINE.match(line)
                if started:
                    define = (started["name"], [])
                else:
                    rules = self._line(line, rules)

    def _line(self, line: str, rules: list[Rule]) -> list[Rule]:
        included = _INCLUDE.match(line)
        if included:
            self.includes.extend(plain_words(self.variables.expand(included["files"])))
            self.variables.whole = False
            return []
        specific = _SPECIFIC.match(line)
        if specific and not line.partition(":")[0].strip().startswith(("$(", "${")):
            assigned = _ASSIGNED.match(specific["rest"])
            if assigned:
                for target in plain_words(self.variables.expand(specific["targets"])):
                    self.scoped.setdefault(target, []).append((assigned["name"], assigned["op"], assigned["value"]))
                return rules
        assigned = _ASSIGNED.match(line)
        if assigned:
            words = assigned["words"].split()
            name = self.variables.expand(assigned["name"]).strip()
            self.variables.set(name, assigned["op"], assigned["value"], "override" in words)
            if "export" in words:
                self.variables.export(name)
            return []
        exported = _EXPORT.match(line)
        if exported:
            self.variables.export(*(exported["names"] or "").split())
            return []
        if _INERT.match(line):
            return []
        return self._rule(line)

    def _rule(self, line: str) -> list[Rule]:
        head, inline, recipe = line.partition(";")
        text = self.variables.expand(head)
        targets, colon, rest = text.partition(":")
        if not colon:
            return []
        rest = rest.lstrip(":&")
        pattern = ""
        if ":" in rest and "%" in rest:  # a static pattern: targets: %.o: %.c
            pattern, _, rest = rest.partition(":")
        names = plain_words(targets.rstrip("&"))
        if names[:1] == [".ONESHELL"]:
            self.oneshell = True
        rule = Rule(names, plain_words(rest.replace("|", " ")), pattern.strip())
        if inline:
            rule.recipe.append(recipe.lstrip())
        self.rules.append(rule)
        return [rule]

    @property
    def goal(self) -> str:
        """What plain `make` makes."""
        named = self.variables.value(".DEFAULT_GOAL")
        if named:
            return named
        names = (target for rule in self.rules for target in rule.targets)
        return next((name for name in names if "%" not in name and not (name.startswith(".") and "/" not in name)), "")

    def matching(self, target: str) -> list[tuple[Rule, str]]:
        """The rules for a target, each with what % stands for."""
        exact = [
            (rule, stem(rule.pattern, target) or "" if rule.pattern else "")
            for rule in self.rules
            if target in rule.targets
        ]
        if any(rule.recipe for rule, _ in exact):
            return exact
        for rule in self.rules:
            for name in rule.targets:
                if "%" in name and rule.recipe and (found := stem(name, target)) is not None:
                    return [*exact, (rule, found)]
        return exact


def stem(pattern: str, target: str) -> str | None:
    """What % of the pattern stands for in the target."""
    before, percent, after = pattern.partition("%")
    fits = percent and len(target) > len(before) + len(after)
    return (
        target[len(before) : len(target) - len(after)]
        if fits and target.startswith(before) and target.endswith(after)
        else None
    )


def read(text: str, file: Local) -> Unwrapped:
    """What `make` runs for the targets and variables in the arguments. Total; linear in the text."""
    given: dict[str, str] = {}
    goals: list[str] = []
    for word in file.arguments:
        name, equals, value = word.partition("=")
        if equals:
            given[name.rstrip(":?+")] = value
        else:
            goals.append(word)
    code: dict[str, None] = {}
    commands: dict[tuple[str, ...], None] = {}
    opaque: dict[str, None] = {}
    for first in (True, False):
        _run(Makefile(text, given, first), goals, code, commands, opaque)
    return Unwrapped(commands=tuple(commands), code=tuple(code), opaque=tuple(opaque))


def _run(
    made: Makefile,
    goals: list[str],
    code: dict[str, None],
    commands: dict[tuple[str, ...], None],
    opaque: dict[str, None],
) -> None:
    if made.includes:
        opaque[f"it includes {made.includes[0]}"] = None
    # What is run while the file is read, whatever the target.
    code.update((f"({each}\n)", None) for each in made.variables.ran)
    shell = made.variables.value("SHELL").rpartition("/")[2].split(" ")[0]
    for rule, target, found, needs in _in_order(made, goals, opaque):
        held = made.variables.scope(target, needs, found, made.scoped.get(target, ()))
        lines = [_recipe(line, held) for line in rule.recipe]
        for script in ["\n".join(lines)] if made.oneshell else lines:
            if len(code) > CODE_MAX:
                opaque["it makes too much to be read"] = None
            elif script and shell and shell not in SHELLS and UNKNOWN_TEXT not in shell:
                commands[shell, "-c", script] = None
            elif script:
                code[f"{held.exports}(\n{script}\n)"] = None
    if not made.variables.whole and not made.includes:
        opaque["it builds rules while it is read"] = None


def _in_order(made: Makefile, goals: list[str], opaque: dict[str, None]) -> Iterator[tuple[Rule, str, str, list[str]]]:
    """The rules that are used, as make comes to them: what a target needs is made before it."""
    waiting: list[tuple[str, list[tuple[Rule, str, list[str]]] | None]] = [
        (goal, None) for goal in reversed(goals or [made.goal])
    ]
    done: set[str] = set()
    while waiting:
        target, ready = waiting.pop()
        if ready is not None:
            yield from ((rule, target, found, needs) for rule, found, needs in ready)
            continue
        if target in done or not target:
            continue
        done.add(target)
        if len(done) > GOALS_MAX:
            opaque["it makes too many targets to be read"] = None
            return
        used = [
            (rule, found, [need.replace("%", found, 1) for need in rule.needs]) for rule, found in made.matching(target)
        ]
        waiting.append((target, used))
        waiting.extend((need, None) for _, _, needs in reversed(used) for need in reversed(list(dict.fromkeys(needs))))


def _recipe(line: str, variables: Variables) -> str:
    return re.sub(r"\A[\s@+-]+", "", variables.expand(line))
