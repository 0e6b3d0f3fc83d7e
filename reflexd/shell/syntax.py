"""tree-sitter-bash, and what it is known to get wrong.

The parser splits `a=b\\<newline>c rm x` where bash joins it, so continuations are taken out first, and so are
here-documents (shell.heredocs). Everything inside a word is read from its raw text (shell.expand), never from
the grammar's pieces.
"""

from __future__ import annotations

import re
import threading

import tree_sitter
import tree_sitter_bash

from reflexd.shell.scan import ansi_c_end, quoted_end

_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
_local = threading.local()
# The grammar's scanner asks isdigit() of whole code points, which reads outside of a table and may crash the
# process (`{` before a character beyond the BMP is enough). It gets letters instead, byte for byte: the nodes'
# places are the same, and their text is read from the source.
_LETTERS = bytes(range(128)) + b"x" * 128

Node = tree_sitter.Node


def parse(source: bytes) -> Node:
    """The root node; never fails, but may hold errors. Safe from any thread."""
    parser = getattr(_local, "parser", None)
    if parser is None:
        parser = _local.parser = tree_sitter.Parser(_LANGUAGE)
    return parser.parse(source.translate(_LETTERS)).root_node


def text_of(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


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
_REPAIRING = re.compile(r"[\\'\"`<$!@?*+{]")
_EXTGLOB = re.compile(r"[!@?*+]\([^()\s'\"`$\\]*\)")


def repaired(text: str) -> str:
    """Valid shell that the grammar does not know, in words that it does: `<>`, extended globs, `$((a); (b))`,
    `for x do`, `[ a = ~ ]`, `${x:$i:1}`, `{rm,x}`.

    Only for text that did not parse. An extended glob becomes *, which matches no less.
    """
    text = _FOR_ARGUMENTS.sub(r"for \1 in \"$@\"; do", _LONE_TILDE.sub("$HOME", _CUT.sub("${RANDOM}", text)))
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
