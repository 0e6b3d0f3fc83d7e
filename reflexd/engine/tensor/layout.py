"""Branches of one pass laid end to end, without padding. Pure.

Branches of one state that begin alike (the orders of one question do) share their beginning: it is computed
once, as a stretch that the rest of each continues. A tile is what attends together: some stretches of one
state, few enough that little is masked.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

LEAST_SHARED = 8
"""A beginning shorter than this is not worth a stretch of its own."""


class Stretch(Struct, frozen=True):
    """Tokens that follow one another from `start`. `parent`: the stretch they continue, in the same tile."""

    start: int
    length: int
    position: int
    parent: int | None = None


class Tile(Struct, frozen=True):
    """`owner`: the state all its stretches continue. They lie in order from `start` to `stop`."""

    owner: int
    start: int
    stop: int
    stretches: tuple[Stretch, ...]


class Layout(Struct, frozen=True):
    """`last[i]` is where branch i ends; `positions` are relative to the end of the state."""

    tokens: tuple[int, ...]
    positions: tuple[int, ...]
    tiles: tuple[Tile, ...]
    last: tuple[int, ...]


def lay(branches: Sequence[tuple[int, tuple[int, ...]]], tile: int, multiple: int = 1) -> Layout:
    """`branches` are (owner, tokens). Tiles hold `tile` tokens at most, or one family of branches alone.

    Every tile is filled up with a stretch that nobody reads to a multiple of `multiple` tokens.
    """
    tokens: list[int] = []
    positions: list[int] = []
    tiles: list[Tile] = []
    last = [0] * len(branches)
    order = sorted(range(len(branches)), key=lambda index: branches[index])
    here: list[Stretch] = []
    owner, begun = -1, 0

    def close() -> None:
        nonlocal here, begun
        if here:
            if spare := -(len(tokens) - begun) % multiple:
                put((0,) * spare, 0, None)
            tiles.append(Tile(owner, begun, len(tokens), tuple(here)))
        here, begun = [], len(tokens)

    def put(part: Sequence[int], position: int, parent: int | None) -> int:
        here.append(Stretch(len(tokens), len(part), position, parent))
        tokens.extend(part)
        positions.extend(range(position, position + len(part)))
        return len(here) - 1

    for family in _families(branches, order):
        size = _size(branches, family)
        mine = branches[family[0]][0]
        if mine != owner or (here and len(tokens) - begun + size > tile):
            close()
            owner = mine
        head = _shared(branches[family[0]][1], branches[family[-1]][1]) if len(family) > 1 else 0
        parent = put(branches[family[0]][1][:head], 0, None) if head else None
        for index in family:
            put(branches[index][1][head:], head, parent)
            last[index] = len(tokens) - 1
    close()
    return Layout(tuple(tokens), tuple(positions), tuple(tiles), tuple(last))


def _families(branches: Sequence[tuple[int, tuple[int, ...]]], order: Sequence[int]) -> list[list[int]]:
    """Sorted branches in runs that share a beginning worth computing once."""
    families: list[list[int]] = []
    for index in order:
        family = families[-1] if families else []
        if family and branches[family[0]][0] == branches[index][0]:
            head = _shared(branches[family[0]][1], branches[index][1])
            before = _shared(branches[family[0]][1], branches[family[-1]][1]) if len(family) > 1 else head
            if head >= max(LEAST_SHARED, before // 2):
                family.append(index)
                continue
        families.append([index])
    return families


def _shared(a: tuple[int, ...], b: tuple[int, ...]) -> int:
    """How far two branches agree; at least the last token of each is its own."""
    most = min(len(a), len(b)) - 1
    for place in range(most):
        if a[place] != b[place]:
            return place
    return most


def _size(branches: Sequence[tuple[int, tuple[int, ...]]], family: Sequence[int]) -> int:
    head = _shared(branches[family[0]][1], branches[family[-1]][1]) if len(family) > 1 else 0
    return head + sum(len(branches[index][1]) - head for index in family)


def visible(tile: Tile) -> list[tuple[int, int, int, int, bool]]:
    """What sees what inside a tile, as blocks (row start, row stop, column start, column stop, causal)."""
    blocks = []
    for stretch in tile.stretches:
        start = stretch.start - tile.start
        stop = start + stretch.length
        blocks.append((start, stop, start, stop, True))
        if stretch.parent is not None:
            parent = tile.stretches[stretch.parent]
            begin = parent.start - tile.start
            blocks.append((start, stop, begin, begin + parent.length, False))
    return blocks
