"""The commands, code and SQL among a tool's arguments, as texts that can be read."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator

from reflexd.core.arguments import Given
from reflexd.core.verbs import data, words
from reflexd.shell.sqltext import Dialect

_PYTHON = frozenset({"python", "py", "python3", "ipython", "jupyter", "notebook", "pandas"})
_SCRIPT = frozenset({"javascript", "js", "typescript", "ts", "node", "browser", "page", "playwright", "evaluate"})
_SHELL = frozenset({"shell", "bash", "sh", "zsh", "terminal", "command"})
_BLANK = re.compile(r"[\s;(]+|(?:--|#)[^\n]*")
_WORD = re.compile(r"[A-Za-z]+")


def commands(given: Given, said: frozenset[str]) -> Iterator[str]:
    """`said`: the words of the server's and the tool's name. A list is one program's words, or several commands."""
    value = str(given.value).strip()
    whole = given.near.get(given.key)
    rest = next((given.near[key] for key in data().keys.arguments if key in given.near), None)
    if isinstance(rest, list) and all(isinstance(each, str) for each in rest):
        value = f"{value} {shlex.join(rest)}"
    elif isinstance(whole, list):
        items = [str(each) for each in whole]
        if value != items[0].strip():
            return  # it was read with the first
        value = "\n".join(items) if given.key == "commands" or " " in items[0] else shlex.join(items)
    yield value
    program = next((data().programs[word] for word in sorted(said & data().programs.keys())), "")
    if program and value.split()[:1] != [program]:
        yield f"{program} {value}"


def code(given: Given, said: frozenset[str]) -> tuple[tuple[str, ...], bool]:
    """Command lines that would run it, and whether its language is told; else it may be any of those."""
    text = str(given.value)
    hints = said | frozenset(words(str(given.near.get("language", "")))) | {given.key}
    python, script = f"python3 -c {shlex.quote(text)}", f"node -e {shlex.quote(text)}"
    if hints & _PYTHON:
        return (python,), True
    if hints & _SCRIPT:
        return (script,), True
    if hints & _SHELL:
        return (text,), True
    return (python, script, text), False


def is_sql(text: str, said: frozenset[str]) -> bool:
    """Whether a query is one for a database: by the names around it, and by the word it begins with."""
    known = data().sql
    return not said.isdisjoint(known.words) and said.isdisjoint(known.unlike) and _first_word(text) in known.heads


def dialect(said: frozenset[str]) -> Dialect:
    return next((found for word, found in data().sql.dialects.items() if word in said), "postgres")


def _first_word(text: str) -> str:
    """In lower case, after blanks and comments."""
    at = 0
    while True:
        if text.startswith("/*", at):
            end = text.find("*/", at + 2)
            at = end + 2 if end >= 0 else len(text)
        elif blank := _BLANK.match(text, at):
            at = blank.end()
        else:
            word = _WORD.match(text, at)
            return word[0].lower() if word else ""
