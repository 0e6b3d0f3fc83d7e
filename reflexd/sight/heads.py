"""What the commit that HEAD names holds: path by path, as far as it is asked for."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence

from reflexd.sight.disk import Budget, Unread, read
from reflexd.sight.gitobjects import Objects
from reflexd.sight.repository import Repository

_SMALL = 1 << 16
_REFS = 16 << 20
_DEEPEST = 128
_HEX = re.compile(rb"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")


def head_entries(
    repository: Repository, objects: Objects, below: Sequence[str], budget: Budget
) -> Mapping[str, bytes] | Unread:
    """The content's name of every file at or below each of the paths; empty before the first commit."""
    oid = head(repository)
    if isinstance(oid, Unread):
        return oid
    if not oid:
        return {}
    commit = objects.read(oid)
    if isinstance(commit, Unread):
        return commit
    line = commit.data.partition(b"\n")[0]
    if commit.kind != "commit" or not line.startswith(b"tree ") or not _HEX.match(line[5:]):
        return Unread(oid.hex(), "malformed")
    found: dict[str, bytes] = {}
    pending = [("", bytes.fromhex(line[5:].decode()), 0)]
    while pending:
        prefix, tree, depth = pending.pop()
        held = objects.read(tree)
        if isinstance(held, Unread):
            return held
        if depth > _DEEPEST or not budget.take(files=1):
            return Unread(tree.hex(), "too many")
        for is_tree, name, there in _entries(held.data, repository.oid_bytes):
            path = prefix + name
            if is_tree and any(_meets(path, wanted) for wanted in below):
                pending.append((path + "/", there, depth + 1))
            elif not is_tree:
                found[path] = there
    return found


def head(repository: Repository) -> bytes | Unread:
    """The commit that HEAD names; empty before the first one."""
    path = f"{repository.gitdir}/HEAD"
    for _ in range(5):
        text = read(path, _SMALL)
        if isinstance(text, Unread):
            if text.why != "missing" or path.endswith("/HEAD"):
                return text
            return _packed(repository, path.removeprefix(f"{repository.common}/"))
        text = text.strip()
        if _HEX.match(text):
            return bytes.fromhex(text.decode())
        name = os.fsdecode(text[4:].strip())
        if not text.startswith(b"ref:") or not name.startswith("refs/") or "/.." in name or "\0" in name:
            return Unread(path, "malformed")
        path = f"{repository.common}/{name}"
    return Unread(path, "malformed")


def _packed(repository: Repository, name: str) -> bytes | Unread:
    if name == "refs/heads/.invalid":
        return Unread(name, "malformed", "refs lie in tables")
    text = read(f"{repository.common}/packed-refs", _REFS)
    if isinstance(text, Unread):
        return b"" if text.why == "missing" else text
    line = re.search(rb"^([0-9a-f]+) " + re.escape(os.fsencode(name)) + rb"$", text, re.MULTILINE)
    return bytes.fromhex(line[1].decode()) if line and _HEX.match(line[1]) else b""


def _entries(tree: bytes, oid_bytes: int) -> Iterator[tuple[bool, str, bytes]]:
    """Whether each is a tree, its name, and the name of its content."""
    i = 0
    while i < len(tree):
        space, nul = tree.find(b" ", i), tree.find(b"\0", i)
        if not i < space < nul:
            return
        end = nul + 1 + oid_bytes
        yield tree[i:space] in (b"40000", b"040000"), os.fsdecode(tree[space + 1 : nul]), tree[nul + 1 : end]
        i = end


def _meets(tree: str, wanted: str) -> bool:
    """Whether something of what is wanted lies in the tree, or the tree in it."""
    return not wanted or wanted == tree or wanted.startswith(tree + "/") or tree.startswith(wanted + "/")
