"""Branches laid end to end: what each token is, where it is, and what it sees."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from reflexd.engine.tensor import delta
from reflexd.engine.tensor.layout import Layout, lay, visible

heads = st.lists(st.lists(st.integers(0, 3), min_size=8, max_size=14).map(tuple), min_size=1, max_size=3)
tails = st.lists(st.integers(0, 3), min_size=1, max_size=12).map(tuple)


@st.composite
def branches(draw: st.DrawFn) -> list[tuple[int, tuple[int, ...]]]:
    begun = draw(heads)
    count = draw(st.integers(1, 12))
    return [
        (draw(st.integers(0, 2)), (draw(st.sampled_from(begun)) if draw(st.booleans()) else ()) + draw(tails))
        for _ in range(count)
    ]


def seen_from(layout: Layout, place: int) -> tuple[int, list[int]]:
    """Whose state a token continues, and the tokens it sees, in order of their positions."""
    (tile,) = [tile for tile in layout.tiles if tile.start <= place < tile.stop]
    row, found = place - tile.start, list(range(*tile.stem))
    for top, bottom, left, right, causal in visible(tile):
        if top <= row < bottom:
            found += [tile.start + column for column in range(left, right) if not causal or column - left <= row - top]
    return tile.owner, sorted(found, key=lambda one: layout.positions[one])


@given(branches(), st.integers(1, 60), st.sampled_from([1, 8]))
def test_the_end_of_each_branch_sees_its_branch_and_nothing_else(
    some: list[tuple[int, tuple[int, ...]]], tile: int, multiple: int
) -> None:
    layout = lay(some, tile, multiple)
    for (owner, tokens), last in zip(some, layout.last, strict=True):
        whose, seen = seen_from(layout, last)
        assert whose == owner
        assert tuple(layout.tokens[place] for place in seen) == tokens
        assert [layout.positions[place] for place in seen] == list(range(len(tokens)))
    assert [tile.start for tile in layout.tiles] == [0, *(tile.stop for tile in layout.tiles)][:-1]
    assert len(layout.tokens) % multiple == 0


def test_beginnings_are_computed_once_at_every_depth() -> None:
    stem, first, second = (1, 2, 3), (4, 5), (6, 7, 8)
    some = [
        (0, stem + first + (9, 1)),
        (0, stem + first + (8,)),
        (0, stem + second + (1,)),
        (0, stem + second + (2, 2)),
    ]
    for tile in (7, 100):
        layout = lay(some, tile)
        assert len(layout.tokens) == len(stem + first + second) + 2 + 1 + 1 + 2
        assert len(layout.tiles) == (2 if tile == 7 else 1)
        assert [one.stem for one in layout.tiles[1:]] == [(0, 3)] * (tile == 7)


def test_a_common_beginning_is_computed_once() -> None:
    head = tuple(range(20))
    layout = lay([(0, (*head, 1, 2)), (0, (*head, 3)), (0, (*head, 4, 5))], 128)
    assert len(layout.tokens) == 20 + 5
    apart = lay([(0, (*head, 1)), (1, (*head, 2))], 128)
    assert len(apart.tokens) == 42


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 17, 63, 64])
def test_the_inverse_by_halves_solves_as_the_reference_does(size: int) -> None:
    torch.manual_seed(size)
    a = torch.randn(2, 3, 4, size, size) * 0.3
    b = torch.randn(2, 3, 4, size, 7)
    wanted = torch.linalg.solve_triangular(a, b, upper=False, unitriangular=True)
    found = delta.solve_triangular(a, b, upper=False, unitriangular=True)
    assert torch.allclose(found, wanted, atol=1e-4 * wanted.abs().max().item())
    upper = torch.eye(size) + a[0, 0, 0].triu(1)
    other = delta.solve_triangular(upper, b[0, 0, 0], upper=True)
    assert torch.equal(other, torch.linalg.solve_triangular(upper, b[0, 0, 0], upper=True))
