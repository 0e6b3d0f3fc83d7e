"""What a MongoDB shell is told: JavaScript in which the methods that change, empty and grant are looked for by name.

A search, not an interpreter: a method whose name is put together as the code runs is unclear, and counts as a change.
Data: config/databases.toml.
"""

from __future__ import annotations

import functools
import re
import shlex
from collections.abc import Iterator

from msgspec import Struct

from reflexd.shell import foreign
from reflexd.shell.fields import UNKNOWN
from reflexd.shell.options import names
from reflexd.shell.statements import Does, Statement

_COMMENT = re.compile(r"(?<![:\w])//[^\n]*|/\*.*?(?:\*/|\Z)", re.S)
_METHOD = re.compile(r"(?:\.\s*|\[\s*['\"`])(?P<name>[A-Za-z]\w*)['\"`\]\s]*\((?P<args>\s*(?:\{\s*\}|/|\))?)")
_NAMED = re.compile(r"\.\s*(?P<name>[A-Za-z]\w*)(?!['\"`:\w])")
_LOADED = re.compile(r"\bload\s*\(\s*['\"]([^'\"]+)['\"]")
_OTHER = re.compile(r"(?m)^\s*use\s+(?P<use>[\w-]+)|\bgetSiblingDB\s*\(\s*(?:['\"`](?P<name>[^'\"`]+)['\"`]\s*\))?")
_PLAIN = re.compile(r"(?<![\w.$'\"])(?P<name>[A-Za-z]\w*)\s*\(")
_COMMAND = re.compile(r"\b(?:runCommand|adminCommand)['\"`\]\s]*\(\s*(?:\{\s*)?['\"`]?(?P<name>\w*)")
_STAGE = re.compile(r"\$(?:out|merge)\b")
_COMPUTED = re.compile(r"\[\s*(?!['\"`]\w*['\"`]\s*\]|\d+\s*\])[^\[\]\n]*\]\s*\(")
_REACHES_OUT = re.compile(
    r"\b(?:child_process|require|import|runProgram|runNonMongoProgram|run|execSync|spawn\w*)\s*\("
)


class Methods(Struct, frozen=True, forbid_unknown_fields=True):
    """Names of methods and commands by what they do. `everything`: they empty a collection where nothing is chosen.

    `runs`: functions of the shell itself.
    """

    changes: str
    destroys: str
    everything: str
    access: str
    runs: str


def read(text: str, known: Methods) -> tuple[Statement, ...]:
    """One statement for each thing that is done; at least one, which reads."""
    code = _COMMENT.sub(" ", text)
    found = {Statement("reads", f"use {name}", database=name): None for name in _databases(code)}
    for match in _METHOD.finditer(code):
        does = _methods(known).get(match["name"])
        if match["name"] in names(known.everything):
            does = "destroys" if match["args"].strip() else "changes"
        if does is not None:
            found[Statement(does, match["name"])] = None
    for match in _NAMED.finditer(code):
        if _methods(known).get(match["name"]) == "destroys":
            found[Statement("destroys", match["name"])] = None
    for match in _COMMAND.finditer(code):
        does = _commands(known).get(match["name"].lower(), "changes" if not match["name"] else None)
        if does is not None:
            found[Statement(does, f"runCommand {match['name']}".rstrip())] = None
    for match in _PLAIN.finditer(code):
        if match["name"] in names(known.runs):
            found[Statement("runs", match["name"], scripts=tuple(_LOADED.findall(code)))] = None
        elif match["name"] in ("eval", "Function"):
            found[Statement("unclear", f"{match['name']} of what is put together")] = None
    if _STAGE.search(code):
        found[Statement("changes", "aggregate into a collection")] = None
    if _COMPUTED.search(code):
        found[Statement("changes", "a method whose name is computed")] = None
    if _REACHES_OUT.search(code):
        held = foreign.read(code, "js")
        shell = (*held.code, *(shlex.join(command) for command in held.commands))
        found[Statement("unclear" if held.opaque else "runs", "a program of node's", code=shell)] = None
    return tuple(found) or (Statement("reads", code.strip()[:40]),)


def _databases(code: str) -> Iterator[str]:
    for match in _OTHER.finditer(code):
        yield match["use"] or match["name"] or UNKNOWN


@functools.cache
def _methods(known: Methods) -> dict[str, Does]:
    every: tuple[tuple[Does, str], ...] = (
        ("changes", known.changes),
        ("destroys", known.destroys),
        ("access", known.access),
    )
    return {name: does for does, text in every for name in names(text)}


@functools.cache
def _commands(known: Methods) -> dict[str, Does]:
    return {name.lower(): does for name, does in _methods(known).items()}
