"""Files of build tools that run commands as they stand there: ninja's rules, cmake's scripts."""

from __future__ import annotations

import re

from reflexd.shell.calls import Local
from reflexd.shell.carriers import ITEMS_MAX, Unwrapped

TEXT_MAX = 256 * 1024
_COMMAND = re.compile(r"^[ \t]+command[ \t]*=[ \t]*((?:\$\n|[^\n])*)", re.M | re.I)
_VARIABLE = re.compile(r"\$(?![$\n ])")
_EXECUTES = re.compile(r"\b(?:execute_process|exec_program|add_custom_command|add_custom_target)\s*\(", re.I)
_TOKEN = re.compile(r"\[(=*)\[(.*?)\]\1\]|\"((?:[^\"\\]|\\.)*)\"|#[^\n]*|(\))|([^\s()\"#]+)", re.S)
_KEYWORDS = re.compile(r"[A-Z][A-Z_]{2,}\Z")


def ninja(text: str, file: Local) -> Unwrapped:
    """The commands that hold no variable; those that do are made of what stands elsewhere in the file."""
    found = [re.sub(r"\$\n[ \t]*", "", command) for command in _COMMAND.findall(text[:TEXT_MAX])]
    plain = [command.replace("$$", "\0") for command in found]
    code = [command.replace("\0", "$") for command in plain if not _VARIABLE.search(command)]
    return Unwrapped(code=tuple(code[:ITEMS_MAX]))


def cmake(text: str, file: Local) -> Unwrapped:
    """What follows COMMAND, up to the next keyword."""
    commands: list[tuple[str, ...]] = []
    text = text[:TEXT_MAX]
    for start in _EXECUTES.finditer(text):
        words: list[str] | None = None
        for token in _TOKEN.finditer(text, start.end()):
            _, bracketed, quoted, closing, bare = token.groups()
            if closing or len(commands) > ITEMS_MAX:
                break
            if bare and _KEYWORDS.match(bare):
                commands.append(tuple(words or ()))
                words = [] if bare == "COMMAND" else None
            elif words is not None and (bracketed is not None or quoted is not None or bare):
                words.append(next(each for each in (bracketed, quoted, bare) if each is not None))
        commands.append(tuple(words or ()))
    return Unwrapped(commands=tuple(words for words in commands if words)[:ITEMS_MAX])


def m4(text: str) -> list[str]:
    """The shell code of m4's syscmd and esyscmd."""
    return re.findall(r"\be?syscmd\(\s*`?(.*?)'?\s*\)\s*(?:$|[^\w'])", text[:TEXT_MAX], re.S)
