"""Branches of one pass laid end to end, without padding. Pure.

Branches of one state that begin alike share their beginning, as a tree does: every stretch of it is computed
once and continued by what follows it. A tile is what attends together: some stretches of one state, few enough
that little is masked. What all branches of a state begin with is the state's stem: it stands in the state's
first tile, and all of its later tiles see it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

Branches = Sequence[tuple[int, tuple[int, ...]]]


class Stretch(Struct, frozen=True):
    """Tokens that follow one another from `start`. `parent`: the stretch they continue, in the same tile."""

    start: int
    length: int
    position: int
    parent: int | None = None


class Tile(Struct, frozen=True):
    """`owner`: the state all its stretches continue. They lie in order from `start` to `stop`.

    All of them see `stem` too, tokens of an earlier tile (none where both are equal).
    """

    owner: int
    start: int
    stop: int
    stretches: tuple[Stretch, ...]
    stem: tuple[int, int] = (0, 0)


class Layout(Struct, frozen=True):
    """`last[i]` is where branch i ends; `positions` are relative to the end of the state."""

    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    tiles: tuple[Tile, ...]
    last: tuple[int, ...]


def lay(branches: Branches, tile: int, multiple: int = 1) -> Layout:
    """`branches` are (owner, tokens). Tiles hold `tile` tokens at most, or one family of branches alone.

    Every tile is filled up with a stretch that nobody reads to a multiple of `multiple` tokens.
    """
    layer = _Layer(branches, tile, multiple)
    owners: dict[int, list[int]] = {}
    for index in sorted(range(len(branches)), key=lambda index: branches[index]):
        owners.setdefault(branches[index][0], []).append(index)
    for owner, members in owners.items():
        layer.owned(owner, members)
    return Layout(tuple(layer.tokens), tuple(layer.positions), tuple(layer.tiles), tuple(layer.last))


class _Layer:
    def __init__(self, branches: Branches, tile: int, multiple: int) -> None:
        self.tokens: list[int] = []
        self.positions: list[int] = []
        self.tiles: list[Tile] = []
        self.last = [0] * len(branches)
        self._branches = branches
        self._tile = tile
        self._multiple = multiple
        self._here: list[Stretch] = []
        self._begun = 0

    def owned(self, owner: int, members: list[int]) -> None:
        """All branches of one state, sorted."""
        stem = self._shared(members, 0) if len(members) > 1 else 0
        first = len(self.tokens), len(self.tokens) + stem
        root = self._put(self._branches[members[0]][1][:stem], 0, None) if stem else None
        seen = (0, 0)
        for family in self._parted(members, stem):
            alone = root is not None and len(self._here) == 1  # the stem has no tile to itself
            full = len(self.tokens) - self._begun + self._size(family, stem) > self._tile
            if self._here and full and not alone:
                self._close(owner, seen)
                seen, root = first if stem else seen, None
            self._grow(family, stem, root)
        self._close(owner, seen)

    def _grow(self, members: list[int], at: int, parent: int | None) -> None:
        """Branches that agree up to `at`, and if they are several beyond it, as a tree."""
        one = self._branches[members[0]][1]
        if len(members) == 1:
            self._put(one[at:], at, parent)
            self.last[members[0]] = len(self.tokens) - 1
            return
        head = self._shared(members, at)
        below = self._put(one[at:head], at, parent)
        for family in self._parted(members, head):
            self._grow(family, head, below)

    def _parted(self, members: list[int], at: int) -> list[list[int]]:
        """Sorted branches in runs that go on alike after `at`; one that has a single token left is a run alone."""
        families: list[list[int]] = []
        for index in members:
            tokens, before = self._branches[index][1], self._branches[families[-1][-1]][1] if families else ()
            if len(tokens) > at + 1 and len(before) > at + 1 and tokens[at] == before[at]:
                families[-1].append(index)
            else:
                families.append([index])
        return families

    def _shared(self, members: list[int], at: int) -> int:
        """How far sorted branches agree, which is known up to `at`; at least the last token of each is its own."""
        first, last = self._branches[members[0]][1], self._branches[members[-1]][1]
        most = min(len(self._branches[index][1]) for index in members) - 1
        return next((place for place in range(at, most) if first[place] != last[place]), most)

    def _size(self, members: list[int], at: int) -> int:
        """Tokens of the tree of `members`, from `at` on."""
        if len(members) == 1:
            return len(self._branches[members[0]][1]) - at
        head = self._shared(members, at)
        return head - at + sum(self._size(family, head) for family in self._parted(members, head))

    def _put(self, part: Sequence[int], position: int, parent: int | None) -> int:
        self._here.append(Stretch(len(self.tokens), len(part), position, parent))
        self.tokens.extend(part)
        self.positions.extend(range(position, position + len(part)))
        return len(self._here) - 1

    def _close(self, owner: int, stem: tuple[int, int]) -> None:
        if spare := -(len(self.tokens) - self._begun) % self._multiple:
            self._put((0,) * spare, 0, None)
        self.tiles.append(Tile(owner, self._begun, len(self.tokens), tuple(self._here), stem))
        self._here, self._begun = [], len(self.tokens)


def visible(tile: Tile) -> list[tuple[int, int, int, int, bool]]:
    """What sees what inside a tile, as blocks (row start, row stop, column start, column stop, causal)."""
    blocks = []
    for stretch in tile.stretches:
        start = stretch.start - tile.start
        stop = start + stretch.length
        blocks.append((start, stop, start, stop, True))
        above = stretch.parent
        while above is not None:
            parent = tile.stretches[above]
            begin = parent.start - tile.start
            blocks.append((start, stop, begin, begin + parent.length, False))
            above = parent.parent
    return blocks
