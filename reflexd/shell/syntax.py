"""tree-sitter-bash, and what it is known to get wrong.

The parser splits `a=b\\<newline>c rm x` where bash joins it, so a text with a line continuation is
read a second time with the continuations taken out; what either reading finds counts. Everything
inside a word is read from its raw text (shell.expand), never from the grammar's pieces.
"""

from __future__ import annotations

import threading

import tree_sitter
import tree_sitter_bash

_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())
_local = threading.local()

Node = tree_sitter.Node


def parse(source: bytes) -> Node:
    """The root node; never fails, but may hold errors. Safe from any thread."""
    parser = getattr(_local, "parser", None)
    if parser is None:
        parser = _local.parser = tree_sitter.Parser(_LANGUAGE)
    return parser.parse(source).root_node


def text_of(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")


def joined(text: str) -> str:
    """`text` without its line continuations, as bash joins lines outside single quotes."""
    out: list[str] = []
    single = False
    i, n = 0, len(text)
    while i < n:
        c = text[i]
        if c == "\\" and not single:
            if text.startswith("\\\n", i):
                i += 2
                continue
            out.append(text[i : i + 2])
            i += 2
            continue
        if c == "'":
            single = not single
        out.append(c)
        i += 1
    return "".join(out)
