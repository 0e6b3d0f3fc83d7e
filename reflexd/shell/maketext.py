"""The text of makefiles: lines, words, variables and the functions that rearrange text."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable, Iterator, Sequence

from reflexd.shell.options import names

UNKNOWN_TEXT = "${RANDOM}"
"""Stands for text that cannot be told: to a shell's reader, a variable whose value nobody knows."""
DEPTH_MAX = 16
STEPS_MAX = 4000  # references expanded in one file
VALUE_MAX = 32 * 1024
EXPORTS_MAX = 16
_USUAL = {
    "RM": "rm -f",
    "CC": "cc",
    "CXX": "g++",
    "CPP": "cc -E",
    "AR": "ar",
    "MAKE": "make",
    "CURDIR": ".",
    "LD": "ld",
    "AS": "as",
}
_PLAIN = re.compile(r"[\w./~ :=+,@%-]*\Z")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")


def logical_lines(text: str) -> Iterator[tuple[str, bool]]:
    """Lines with continuations joined, and whether each is one of a recipe."""
    prefix = "\t"
    held: list[str] = []
    recipe = False
    for line in text.replace("\r\n", "\n").split("\n"):
        if not held:
            recipe = line.startswith(prefix)
            line = line[1:] if recipe else line
        elif recipe and line.startswith(prefix):
            line = line[1:]
        slashes = len(line) - len(line.rstrip("\\"))
        if slashes % 2:
            held.append(line if recipe else line[:-1].strip())
            continue
        whole = "\n".join((*held, line)) if recipe else " ".join((*held, line.lstrip() if held else line))
        held = []
        if not recipe:
            whole = _uncommented(whole)
            changed = re.match(r"\.RECIPEPREFIX\s*:?=\s*(\S)", whole)
            prefix = changed[1] if changed else prefix
        yield whole, recipe
    if held:
        yield ("\n" if recipe else " ").join(held), recipe


def _uncommented(line: str) -> str:
    at = line.find("#")
    while at > 0 and line[at - 1] == "\\":
        at = line.find("#", at + 1)
    return line if at < 0 else line[:at]


def plain_words(text: str) -> list[str]:
    return text.split()


class Variables:
    """Make's variables. Values are kept as written and expanded when they are used, but for `:=`.

    `ran` are the commands that reading the file runs. `whole`: nothing but the file itself sets any.
    """

    def __init__(self, given: dict[str, str]) -> None:
        self._given = given
        self._values: dict[str, str] = dict(given)
        self._exported: set[str] = set(given)
        self._simple: set[str] = set(given)
        self._steps = [0]
        self.ran: dict[str, None] = {}
        self.whole = True

    def set(self, name: str, op: str, value: str, override: bool = False) -> None:
        if (name in self._given and not override) or (op == "?=" and name in self._values):
            return
        if op == "?=" and _NAME.match(name) and _PLAIN.match(value):
            # The environment's, where that has one.
            self._simple.add(name)
            self._values[name] = f"${{{name}:-{value}}}"
            return
        if op == "!=":
            self.ran[self.expand(value)] = None
            value, op = UNKNOWN_TEXT, ":="
        elif op in (":=", "::=", ":::="):
            value = self.expand(value)
            self.ran.update((each, None) for each in substitutions(value))
        if op == "+=" and self._values.get(name):
            value = f"{self._values[name]} {value}"
        elif op in (":=", "::=", ":::="):
            self._simple.add(name)
        else:
            self._simple.discard(name)
        self._values[name] = value[:VALUE_MAX]

    def export(self, *names: str) -> None:
        """No names: all of them."""
        self._exported.update(names or self._values)

    def value(self, name: str) -> str:
        return self.expand(f"$({name})") if name in self._values else ""

    @property
    def exports(self) -> str:
        """Shell code that sets what the recipe's own environment has."""
        names = [name for name in sorted(self._exported) if _NAME.match(name) and name in self._values][:EXPORTS_MAX]
        return "".join(f"export {name}={_quoted(self.value(name))}\n" for name in names)

    def scope(self, target: str, needs: list[str], stem: str, specific: Sequence[tuple[str, str, str]]) -> Variables:
        """The same with what holds for one target alone."""
        inner = Variables.__new__(Variables)
        inner._given, inner._exported, inner._steps = self._given, self._exported, self._steps
        inner.ran, inner.whole = self.ran, self.whole
        inner._simple = set(self._simple)
        inner._values = {
            **self._values,
            "@": target,
            "<": needs[0] if needs else "",
            "^": " ".join(needs),
            "+": " ".join(needs),
            "?": " ".join(needs),
            "*": stem,
            "@D": posixpath.dirname(target) or ".",
            "@F": posixpath.basename(target),
        }
        for name, op, value in specific:
            inner.set(name, op, value)
        return inner

    def expand(self, text: str, depth: int = 0, scope: dict[str, str] | None = None) -> str:
        """`$$` becomes the shell's `$`, `$(shell ...)` its command substitution."""
        if "$" not in text:
            return text
        out: list[str] = []
        i = 0
        size = 0
        while i < len(text) and size < VALUE_MAX:
            at = text.find("$", i)
            if at < 0 or at + 1 >= len(text):
                out.append(text[i:])
                break
            out.append(text[i:at])
            mark = text[at + 1]
            if mark in "({":
                end = _closing(text, at + 1)
                inner = text[at + 2 : end]
                i = end + 1
                out.append(self._reference(inner, depth + 1, scope or {}))
            else:
                i = at + 2
                out.append("$" if mark == "$" else self._reference(mark, depth + 1, scope or {}))
            size += len(out[-1])
        return "".join(out)[:VALUE_MAX]

    def _reference(self, inner: str, depth: int, scope: dict[str, str]) -> str:
        self._steps[0] += 1
        if depth > DEPTH_MAX or self._steps[0] > STEPS_MAX:
            return UNKNOWN_TEXT
        name, space, rest = inner.partition(" ")
        if space and name in _TEXT:
            return _TEXT[name](
                *[self.expand(each, depth, scope).strip() for each in _arguments(rest, _COUNT.get(name, 9))]
            )
        if space and name == "shell":
            return f"$({self.expand(rest, depth, scope)})"
        if space and name == "call":
            return self._call([self.expand(each, depth, scope).strip() for each in _arguments(rest, 9)], depth)
        if space and name == "foreach":
            return self._foreach(_arguments(rest, 3), depth, scope)
        if space and name in _OTHER:
            self.whole = self.whole and name != "eval"
            return UNKNOWN_TEXT
        if "$" in inner:
            inner = self.expand(inner, depth, scope)
        inner, colon, change = inner.partition(":")
        found = self._value(inner.strip(), depth, scope)
        return _replaced(found, change) if colon and "=" in change else found

    def _value(self, name: str, depth: int, scope: dict[str, str]) -> str:
        if name in scope:
            return scope[name]
        if name in self._values:
            value = self._values[name]
            return value if name in self._simple or name in self._given else self.expand(value, depth, scope)
        if name in _USUAL:
            return _USUAL[name]
        if not self.whole:
            return UNKNOWN_TEXT
        # Not in the file: the environment's, and empty where that has none.
        return f"${{{name}}}" if _NAME.match(name) else ""

    def _call(self, words: list[str], depth: int) -> str:
        held = self._values.get(words[0]) if words else None
        if held is None:
            return UNKNOWN_TEXT
        return self.expand(held, depth, {str(number): word for number, word in enumerate(words)})

    def _foreach(self, parts: list[str], depth: int, scope: dict[str, str]) -> str:
        if len(parts) < 3:
            return ""
        name = self.expand(parts[0], depth, scope).strip()
        words = self.expand(parts[1], depth, scope).split()[:64]
        return " ".join(self.expand(parts[2], depth, {**scope, name: word}) for word in words)


def _closing(text: str, at: int) -> int:
    """Where the bracket at `at` is closed; the text's end where it is not."""
    opening = text[at]
    closing = ")" if opening == "(" else "}"
    depth = 0
    for found in re.finditer(re.escape(opening) + "|" + re.escape(closing), text[at : at + VALUE_MAX]):
        depth += 1 if found[0] == opening else -1
        if not depth:
            return at + found.start()
    return len(text)


def _arguments(text: str, most: int) -> list[str]:
    """Split at commas outside brackets."""
    parts: list[str] = []
    depth = start = 0
    for found in re.finditer(r"[(){},]", text):
        if found[0] in "({":
            depth += 1
        elif found[0] in ")}":
            depth -= 1
        elif not depth and len(parts) < most - 1:
            parts.append(text[start : found.start()])
            start = found.end()
    return [*parts, text[start:]]


def substitutions(text: str) -> Iterator[str]:
    """The `$(...)` that expanding left for a shell."""
    at = text.find("$(")
    while at >= 0:
        end = _closing(text, at + 1)
        yield text[at + 2 : end]
        at = text.find("$(", end)


def _replaced(text: str, change: str) -> str:
    """$(NAME:.c=.o)"""
    before, _, after = change.partition("=")
    if "%" in before or not before:
        return UNKNOWN_TEXT
    return " ".join(word[: -len(before)] + after if word.endswith(before) else word for word in text.split())


def _quoted(value: str) -> str:
    return f'"{value}"' if "$" in value and '"' not in value and "`" not in value else shlex.quote(value)


def _unknown(*_: str) -> str:
    return UNKNOWN_TEXT


def _same(text: str = "") -> str:
    return text


_TEXT: dict[str, Callable[..., str]] = {
    "strip": lambda text="": " ".join(text.split()),
    "sort": lambda text="": " ".join(sorted(set(text.split()))),
    "wildcard": _same,
    "abspath": _same,
    "realpath": _same,
    "value": _unknown,
    "addprefix": lambda before="", text="": " ".join(before + word for word in text.split()),
    "addsuffix": lambda after="", text="": " ".join(word + after for word in text.split()),
    "subst": lambda old="", new="", text="": text.replace(old, new)[:VALUE_MAX] if old else text + new,
    "dir": lambda text="": " ".join((posixpath.dirname(word) or ".") + "/" for word in text.split()),
    "notdir": lambda text="": " ".join(map(posixpath.basename, text.split())),
    "basename": lambda text="": " ".join(posixpath.splitext(word)[0] for word in text.split()),
    "firstword": lambda text="": next(iter(text.split()), ""),
    "lastword": lambda text="": next(reversed(text.split()), ""),
    "info": lambda *_: "",
    "warning": lambda *_: "",
    "error": lambda *_: "",
}
_COUNT = {
    **dict.fromkeys(names("strip sort wildcard abspath realpath dir notdir basename firstword lastword"), 1),
    **dict.fromkeys(names("addprefix addsuffix"), 2),
    "subst": 3,
}
_OTHER = names(
    "patsubst filter filter-out findstring word wordlist words if or and eval origin flavor file let intcmp join suffix"
    " guile"
)
