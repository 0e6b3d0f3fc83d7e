"""Simple commands found without a grammar, for text that the parser stumbles over.

Quotes and substitutions are kept whole, everything else that could end a command does.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reflexd.shell.scan import ansi_c_end, closed_end, quoted_end

COMMANDS_MAX = 200
_RESERVED = frozenset(
    {"{", "}", "!", "if", "then", "else", "elif", "fi", "do", "done", "while", "until", "time", "esac"}
)
_REDIRECT = re.compile(r"(?:\d*|&)(?:>>|>\||>&|<>|<<<|<<-?|<&|>|<)")


class Loose(Struct, frozen=True):
    """Raw words and raw redirections of one command."""

    words: tuple[str, ...]
    redirects: tuple[tuple[str, str], ...]


def simple_commands(text: str) -> Iterator[Loose]:
    """At most COMMANDS_MAX commands. Linear, apart from what is nested in quotes."""
    words: list[str] = []
    redirects: list[tuple[str, str]] = []
    pending = ""
    count = 0
    for token in [*tokens(text), "\n"]:
        if token in ("\n", ";", "&", "|", "(", ")"):
            if words or redirects:
                yield Loose(tuple(words), tuple(redirects))
                count += 1
                if count >= COMMANDS_MAX:
                    return
            words, redirects, pending = [], [], ""
        elif _REDIRECT.fullmatch(token):
            pending = token
        elif pending:
            redirects.append((pending, token))
            pending = ""
        elif words or token not in _RESERVED:
            words.append(token)


def tokens(text: str) -> Iterator[str]:
    """Words, operators and line ends; comments left out."""
    i, n, start = 0, len(text), 0
    while i < n:
        c = text[i]
        if c == "\\":
            i += 2
        elif c in "'\"`":
            i = quoted_end(text, i)
        elif c == "$" and text[i + 1 : i + 2] == "'":
            i = ansi_c_end(text, i + 1)
        elif (c == "$" and text[i + 1 : i + 2] in ("(", "{")) or (c in "<>" and text[i + 1 : i + 2] == "("):
            i = closed_end(text, i + 1)
        elif c in " \t":
            if start < i:
                yield text[start:i]
            i += 1
            start = i
        elif c in "\n;&|()" and not (c == "&" and text[i + 1 : i + 2] == ">"):
            if start < i:
                yield text[start:i]
            yield c
            i += 1
            start = i
        elif c in "<>&":
            before = text[start:i]
            if before and not before.isdigit():
                yield before
                start = i
            found = _REDIRECT.match(text, start)
            if not found or found.end() <= i:
                i += 1
                continue
            yield found[0]
            i = start = found.end()
        elif c == "#" and start == i:
            end = text.find("\n", i)
            i = start = n if end < 0 else end
        else:
            i += 1
    if start < min(i, n):
        yield text[start:n]
