"""Kept states: a tree of prefixes under a budget of bytes. Handles are opaque; nothing here knows a tensor.

What holds: a node's state is the one after all tokens from the root to the node; what two prefixes share is
held once; tokens are compared, never only hashes, and images by their digests; the bytes of all nodes are
within the budget but for those that are in use; a node goes only when no longer state continues it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Generic, TypeVar

from msgspec import Struct

from reflexd.engine.values import Backend, Prefix

State = TypeVar("State")

Key = int | str
"""One place of a prefix: its token, or for an image's placeholder what image it is part of, and which part."""


def keys(prefix: Prefix) -> tuple[Key, ...]:
    found: list[Key] = list(prefix.tokens)
    for picture in prefix.pictures:
        for place in range(picture.start, picture.stop):
            found[place] = f"{picture.digest}:{place - picture.start}"
    return tuple(found)


def shared(a: Sequence[Key], b: Sequence[Key]) -> int:
    """How many places two sequences begin with in common."""
    most = min(len(a), len(b))
    if a[:most] == b[:most]:
        return most
    low, high = 0, most  # equal up to low, not up to high; slices compare at C's speed
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if a[low:middle] == b[low:middle] else (low, middle)
    return low


class Node(Generic[State]):
    """`edge`: the places from the parent to here. `users`: jobs that hold it. `kept`: it is part of the tree."""

    __slots__ = ("bytes", "children", "edge", "end", "kept", "parent", "state", "used", "users")

    def __init__(self, parent: Node[State] | None, edge: tuple[Key, ...], state: State | None, size: int) -> None:
        self.parent = parent
        self.edge = edge
        self.end: int = len(edge) + (parent.end if parent else 0)
        self.state = state
        self.bytes = size
        self.children: dict[Key, Node[State]] = {}
        self.kept = False
        self.users = 0
        self.used = 0


class Match(Struct, Generic[State], frozen=True):
    """The longest kept beginning: all of `node`, and `length` tokens in all where its child `along` agrees further."""

    node: Node[State]
    length: int
    along: Node[State] | None = None


class Cache(Generic[State]):
    """Not thread-safe: it belongs to the thread that owns the device."""

    def __init__(self, backend: Backend[State], budget: int) -> None:
        self.budget = budget
        self.bytes = 0
        self.count = 0
        self._backend = backend
        self._root: Node[State] = Node(None, (), None, 0)
        self._root.kept = True
        self._clock = 0

    def match(self, wanted: Sequence[Key]) -> Match[State]:
        """Does not change what is kept."""
        node = self._root
        while node.end < len(wanted):
            child = node.children.get(wanted[node.end])
            if child is None:
                return Match(node, node.end)
            common = shared(child.edge, tuple(wanted[node.end : node.end + len(child.edge)]))
            if common < len(child.edge):
                return Match(node, node.end + common, child)
            node = child
        return Match(node, node.end)

    def branched(self, match: Match[State]) -> Node[State] | None:
        """A node where `match` ends, split off the child it ends in; None where only a pass can make one."""
        child = match.along
        if child is None:
            return match.node
        assert child.state is not None
        halves = self._backend.split(child.state, match.node.end, match.length)
        if halves is None:
            return None
        head, tail = halves
        middle = self._between(match, head)
        self._resized(child, tail)
        return middle

    def add(self, parent: Node[State], edge: tuple[Key, ...], state: State) -> Node[State]:
        """Keeps `state`, the one after `parent` and `edge`. A child that goes the same way hangs on the new node.

        Where another state parted from this one in the middle of an edge meanwhile, the node is not kept: it is
        its holder's alone.
        """
        old = parent.children.get(edge[0])
        if old is not None and old.edge == edge:
            return self._touched(old)
        if old is not None and old.edge[: len(edge)] == edge:
            return self._between(Match(parent, parent.end + len(edge), old), state)
        node = Node(parent, edge, state, self._backend.size(state))
        return self._placed(node) if old is None and parent.kept else node

    def hold(self, node: Node[State]) -> None:
        self._touched(node).users += 1

    def release(self, node: Node[State]) -> None:
        self._touched(node).users -= 1

    def shrink(self, budget: int | None = None) -> None:
        """Evicts the longest unused until the budget (or the one given) is kept, as far as what is in use allows."""
        limit = self.budget if budget is None else budget
        while self.bytes > limit:
            free = [node for node in self.nodes() if not node.children and not node.users]
            if not free:
                return
            self._remove(min(free, key=lambda node: node.used))

    def nodes(self) -> Iterator[Node[State]]:
        """Every kept state."""
        waiting = list(self._root.children.values())
        while waiting:
            node = waiting.pop()
            yield node
            waiting += node.children.values()

    def _between(self, match: Match[State], state: State) -> Node[State]:
        """A new node on the way from `match.node` to `match.along`."""
        child = match.along
        assert child is not None
        cut = match.length - match.node.end
        middle = Node(match.node, child.edge[:cut], state, self._backend.size(state))
        child.parent, child.edge = middle, child.edge[cut:]
        middle.children[child.edge[0]] = child
        return self._placed(middle)

    def _placed(self, node: Node[State]) -> Node[State]:
        assert node.parent is not None
        node.parent.children[node.edge[0]] = node
        node.kept = True
        self.bytes += node.bytes
        self.count += 1
        return self._touched(node)

    def _resized(self, node: Node[State], state: State) -> None:
        self.bytes -= node.bytes
        node.state, node.bytes = state, self._backend.size(state)
        self.bytes += node.bytes

    def _remove(self, node: Node[State]) -> None:
        assert node.parent is not None
        del node.parent.children[node.edge[0]]
        self.bytes -= node.bytes
        self.count -= 1
        node.state, node.kept = None, False

    def _touched(self, node: Node[State]) -> Node[State]:
        self._clock += 1
        node.used = self._clock
        return node
