"""Finding the end of what was opened, in raw shell text: quotes, parentheses, braces."""

from __future__ import annotations

import re

_IN_BRACKETS = re.compile(r"[\\'\"`#(){}]|\$(?=')|\b(?:case|esac)\b")
_IN_QUOTES = re.compile(r"[\\\"$'()}]|\b(?:case|esac)\b")
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
    cases: list[int] = []  # how many brackets were open at each `case` that is still to end
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
        elif c in "ce":
            _cased(text, found, cases, len(closers))
            i = found.end()
        elif c == "(" and cases and cases[-1] == len(closers) and _PATTERN_STARTS.search(text, max(0, i - 80), i):
            i += 1
        elif c in "({" and (c == "(" or text[i - 1] == "$"):
            closers.append(pairs[c])
            i += 1
        elif c == ")" and cases and cases[-1] == len(closers):
            i += 1  # the end of a pattern
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
    cases: list[int] = []
    while found := _IN_QUOTES.search(text, i):
        i = found.start()
        c = text[i]
        if c == "\\":
            i += 2
            continue
        top = stack[-1]
        inside = bool(cases) and cases[-1] == len(stack)
        if c in "ce":
            if top == ")":
                _cased(text, found, cases, len(stack))
            i = found.end()
            continue
        if inside and (c == ")" or (c == "(" and _PATTERN_STARTS.search(text, max(0, i - 80), i))):
            pass  # around a pattern
        elif c == top:
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


_COMMAND_STARTS = re.compile(r"(?:[(;&|\n{!]|\b(?:then|do|else|elif|if|while|until))[ \t]*\Z")
_PATTERN_STARTS = re.compile(r"(?:\bin|;;&?|;&)\s*\Z")


def _cased(text: str, word: re.Match[str], cases: list[int], depth: int) -> None:
    """Note that a `case` begins or ends here: the ) of its patterns close nothing."""
    if word[0] == "esac":
        if cases and cases[-1] == depth:
            cases.pop()
    elif _COMMAND_STARTS.search(text, max(0, word.start() - 40), word.start()):
        cases.append(depth)


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
