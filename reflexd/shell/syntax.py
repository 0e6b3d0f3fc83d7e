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


CHUNK = 512  # bytes that the parser is given at a time
READS_MAX = 128  # of a chunk; valid text takes 2 to 10, broken text of the worst kinds as many as it has chunks


def parse(source: bytes) -> Node | None:
    """The root node, which may hold errors; None where the parser begins to go over the same text again and again.

    Safe from any thread. Of broken text the grammar's scanner may read on to the end for every token, so the time
    would grow with the square of the length. How often a chunk is asked for counts that work, the same everywhere.
    """
    parser = getattr(_local, "parser", None)
    if parser is None:
        parser = _local.parser = tree_sitter.Parser(_LANGUAGE)
    letters = source.translate(_LETTERS)
    if len(letters) <= CHUNK:
        return parser.parse(letters).root_node
    view = memoryview(letters)
    left = READS_MAX * (len(letters) // CHUNK + 1)

    def read(offset: int, _: object) -> memoryview | None:
        nonlocal left
        left -= 1
        return view[offset : offset + CHUNK] if left >= 0 else None  # None: the text ends here

    root = parser.parse(read).root_node
    return root if left >= 0 else None


def text_of(source: bytes, node: Node) -> str:
    return source[node.start_byte : node.end_byte].decode("utf-8", "replace")
