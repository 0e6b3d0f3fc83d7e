"""Finding the end of what was opened, in raw shell text: quotes, parentheses, braces."""

from __future__ import annotations

import re

_IN_BRACKETS = re.compile(r"[\\'\"`#(){}]|\$(?=')")
_IN_QUOTES = re.compile(r"[\\\"$'()}]")
_IN_ESCAPED = {"'": re.compile(r"[\\']"), "`": re.compile(r"[\\`]")}
"""What a scan stops at: everything else is passed over at the speed of the regular expression."""


def quoted_end(text: str, at: int) -> int:
    """The index after the quote that opens at `at` (' or " or `), or len(text) where it never closes."""
    if text[at] == '"':
        return _double_end(text, at)
    if text[at] == "`":
        return _escaped_end(text, at, "`")
    end = text.find("'", at + 1)
    return len(text) if end < 0 else end + 1


def closed_end(text: str, at: int) -> int:
    """The index after the ) or } that closes the bracket at `at`, or len(text) where it never closes."""
    pairs = {"(": ")", "{": "}"}
    closers, i, n = [pairs[text[at]]], at + 1, len(text)
    while found := _IN_BRACKETS.search(text, i):
        i = found.start()
        c = text[i]
        if c == "\\":
            i += 2
        elif c == "$":
            i = _escaped_end(text, i + 1, "'")
        elif c in "'\"`":
            i = quoted_end(text, i)
        elif c == "#" and closers[-1] == ")" and text[i - 1] in " \t\n(;":
            newline = text.find("\n", i)
            i = n if newline < 0 else newline
        elif c in "({" and (c == "(" or text[i - 1] == "$"):
            closers.append(pairs[c])
            i += 1
        elif c == closers[-1]:
            closers.pop()
            i += 1
            if not closers:
                return i
        else:
            i += 1
    return n


def _double_end(text: str, at: int) -> int:
    """Nesting is counted, not walked: a hostile command may nest deeper than Python recurses."""
    i, n, stack = at + 1, len(text), ['"']
    while found := _IN_QUOTES.search(text, i):
        i = found.start()
        c = text[i]
        if c == "\\":
            i += 2
            continue
        top = stack[-1]
        if c == top:
            stack.pop()
            if not stack:
                return i + 1
        elif c == '"':
            stack.append('"')
        elif c == "$" and text[i + 1 : i + 2] in ("(", "{"):
            stack.append(")" if text[i + 1] == "(" else "}")
            i += 1
        elif c == "'" and top == ")":
            i = quoted_end(text, i)
            continue
        elif c == "(" and top == ")":
            stack.append(")")
        i += 1
    return n


def ansi_c_end(text: str, at: int) -> int:
    """The index after the ' that closes the $' whose quote is at `at`."""
    return _escaped_end(text, at, "'")


def _escaped_end(text: str, at: int, quote: str) -> int:
    i = at + 1
    while found := _IN_ESCAPED[quote].search(text, i):
        i = found.end()
        if found[0] == quote:
            return i
        i += 1
    return len(text)
