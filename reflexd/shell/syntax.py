"""tree-sitter-bash: the tree of a piece of shell text.

What the grammar is known to get wrong is spelt differently first (shell.spelling), and here-documents are cut out
(shell.heredocs). Everything inside a word is read from its raw text (shell.expand), never from the grammar's pieces.
"""

from __future__ import annotations

import threading

import tree_sitter
import tree_sitter_bash

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
