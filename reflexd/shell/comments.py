"""A shell command without its comments: nothing in them runs, and what they say is meant for a reader."""

from __future__ import annotations

from reflexd.shell.syntax import Node, parse


def without_comments(text: str) -> str:
    """`text` as it is where it is no valid shell: what cannot be read whole loses nothing."""
    if "#" not in text:
        return text
    source = text.encode("utf-8", "surrogatepass")
    root = parse(source)
    if root is None or root.has_error:
        return text
    kept, at = [], 0
    for start, end in _comments(root):
        kept.append(source[at:start])
        at = end
    whole = b"".join((*kept, source[at:])).decode("utf-8", "surrogatepass")
    return "\n".join(line.rstrip() for line in whole.split("\n") if line.strip()) if kept else whole


def _comments(root: Node) -> list[tuple[int, int]]:
    found = []
    cursor = root.walk()
    while True:
        node = cursor.node
        if node is not None and node.type == "comment":
            found.append((node.start_byte, node.end_byte))
        if cursor.goto_first_child() or cursor.goto_next_sibling():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return found
