"""The same shell code in a spelling that the grammar reads right.

It splits `a=b\\<newline>c rm x` where bash joins it, takes the next line for the command of `a=b >file`, and knows no
`{fd}>file`, `! {` or `<>`.
"""

from __future__ import annotations

import re

from reflexd.shell.scan import ansi_c_end, closed_end, quoted_end

_JOINING = re.compile(r"[\\'\"#]")


def joined(text: str) -> str:
    """`text` without its line continuations, as bash joins lines outside single quotes and comments."""
    if "\\\n" not in text:
        return text
    out: list[str] = []
    i, n, start = 0, len(text), 0
    double = False
    while stop := _JOINING.search(text, i):
        i = stop.start()
        c = text[i]
        if c == "\\":
            if text.startswith("\\\n", i):
                out.append(text[start:i])
                start = i + 2
            i += 2
        elif c == "'" and not double:
            end = ansi_c_end(text, i) if text[i - 1 : i] == "$" else quoted_end(text, i)
            i = end
        elif c == '"':
            double = not double
            i += 1
        elif c == "#" and not double and (i == 0 or text[i - 1] in " \t\n;&|()"):
            end = text.find("\n", i)
            i = n if end < 0 else end
        else:
            i += 1
    out.append(text[start:])
    return "".join(out)


_STARTS = re.compile(r"(?:^|[\n;&|({`!]|\b(?:then|do|else|elif|if|while|until|time))[ \t]*\Z")
_GROUP_WORD = re.compile(r"(?<![\w$'\"\\.-])(?:!|time(?:[ \t]+-p)?|coproc(?:[ \t]+\w+)?)[ \t]+(?=[{(]\s)")


def plain_groups(text: str) -> str:
    """`! {`, `time {` and `coproc X {` without the word that makes the grammar take { for a program.

    None of the three changes what the group does.
    """
    return _GROUP_WORD.sub("", text) if "{" in text or "(" in text else text


_FOR_ARGUMENTS = re.compile(r"\bfor[ \t]+(\w+)[ \t]*\n?[ \t]*do\b")
_LONE_TILDE = re.compile(r"(?<=[ \t])~(?=[ \t]*\])")
_CUT = re.compile(r"\$\{\w+:\$\w+(?::[^{}]*)?\}")
_BASE = re.compile(r"(?<=[\s(+*%-])\d{1,2}#(?=\$)")
_REPAIRING = re.compile(r"[\\'\"`<$!@?*+{]")
_EXTGLOB = re.compile(r"[!@?*+]\([^()\s'\"`$\\]*\)")


def repaired(text: str) -> str:
    """Valid shell that the grammar does not know, in words that it does: `<>`, extended globs, `$((a); (b))`,
    `for x do`, `[ a = ~ ]`, `${x:$i:1}`, `{rm,x}`, `$((10#$x))`.

    Only for text that did not parse. An extended glob becomes *, which matches no less.
    """
    text = _FOR_ARGUMENTS.sub(
        r"for \1 in \"$@\"; do", _LONE_TILDE.sub("$HOME", _CUT.sub("${RANDOM}", _BASE.sub("", text)))
    )
    out: list[str] = []
    i, n = 0, len(text)
    while i < n:
        stop = _REPAIRING.search(text, i)
        out.append(text[i : stop.start() if stop else n])
        if not stop:
            break
        i = stop.start()
        c = text[i]
        end = i + 1
        piece = c
        if c == "\\":
            end = i + 2
            piece = text[i:end]
        elif c in "'\"`":
            end = ansi_c_end(text, i) if c == "'" and text[i - 1 : i] == "$" else quoted_end(text, i)
            piece = text[i:end]
        elif text.startswith("<>", i):
            end, piece = i + 2, ">"
        elif text.startswith("$((", i):
            end, piece = i + 3, "$( ("
        elif c == "{" and text[i + 1 : i + 2] not in " \t\n" and _STARTS.search(text[max(0, i - 40) : i]):
            piece = '""{'  # a brace expansion, not a group
        elif c in "!@?*+" and (found := _EXTGLOB.match(text, i)) and not _STARTS.search(text[max(0, i - 40) : i]):
            end, piece = found.end(), "*"
        out.append(piece)
        i = end
    return "".join(out)


_APART = re.compile(r"^[^=\n]*=[^\n<>]*[<>]|\}[<>]", re.M)
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(?:\[[^\]\s]*\])?\+?=")
_REDIRECTION = re.compile(r"\d*(?:<>|<&|>&|>>|>\||<|>)(?!\()|&>>?")
_DESCRIPTOR = re.compile(r"\{[A-Za-z_]\w*\}(?=[<>])")
_RESERVED = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "{", "time"})


def apart(text: str) -> str:
    """`a=b >file` with a ; between the two where no command follows, and `{fd}>file` without the variable."""
    if ("<" not in text and ">" not in text) or not _APART.search(text):
        return text
    out: list[str] = []
    copied = i = 0
    starts, assigns, split_at = True, False, -1
    n = len(text)
    while i < n:
        c = text[i]
        if c in " \t":
            i += 1
        elif found := _DESCRIPTOR.match(text, i):
            out.append(text[copied:i])
            copied = i = found.end()
        elif found := _REDIRECTION.match(text, i):
            split_at = i if assigns and split_at < 0 else split_at
            i = found.end()
            while text[i : i + 1] in (" ", "\t"):
                i += 1
            i = max(_word_end(text, i), i)
        elif c == "#" and (i == 0 or text[i - 1] in " \t\n;&|()"):
            end = text.find("\n", i)
            i = n if end < 0 else end
        elif c in "\n;&|()":
            if split_at >= 0:
                out.append(f"{text[copied:split_at]}; ")
                copied = split_at
            starts, assigns, split_at = True, False, -1
            i = closed_end(text, i) if text.startswith("((", i) else i + 1
        else:
            end = max(_word_end(text, i), i + 1)
            if starts and _ASSIGNMENT.match(text, i):
                assigns = True
            elif not starts or text[i:end] not in _RESERVED:
                starts, assigns, split_at = False, False, -1
            i = end
    if split_at >= 0:
        out.append(f"{text[copied:split_at]}; ")
        copied = split_at
    out.append(text[copied:])
    return "".join(out)


_WORD = re.compile(r"[^\\'\"`$()\s;&|<>]+")


def _word_end(text: str, i: int) -> int:
    start, n = i, len(text)
    while i < n:
        c = text[i]
        if found := _WORD.match(text, i):
            i = found.end()
        elif c == "\\":
            i += 2
        elif c in "'\"`":
            i = ansi_c_end(text, i) if c == "'" and text[i - 1 : i] == "$" else quoted_end(text, i)
        elif (c == "$" and text[i + 1 : i + 2] in ("(", "{")) or (c in "<>" and text[i + 1 : i + 2] == "("):
            i = closed_end(text, i + 1)
        elif c == "(" and i > start and text[i - 1] == "=":
            i = closed_end(text, i)
        elif c == "$":
            i += 1
        else:
            break
    return min(i, n)
