"""The pass of attention-only models (Llama, Qwen2, Qwen3, the text half of Qwen3-VL): tokens end to end, no padding.

What holds: a state is a tuple of segments that nobody writes to; a pass makes new tensors and touches none of a
state's, so one that fails changes nothing; linear layers see every token of the pass at once, whatever branches and
states they belong to; a tile attends to its own state's segments, to what its state or its branches begin with in
the same pass, and to itself; the last layer is computed only where somebody reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from reflexd.engine.tensor.faults import guarded
from reflexd.engine.tensor.layout import Tile, lay, visible
from reflexd.engine.tensor.readings import readings
from reflexd.engine.tensor.vision import Seen, Sight
from reflexd.engine.tensor.weights import Decoder, added, norm, rotated
from reflexd.engine.values import Branch, Prefix, Reading, Row

TILE = 128
"""Tokens that attend together. Larger tiles mask more away, smaller ones copy keys more often."""


class Segment(NamedTuple):
    """Keys and values of some tokens: one (kv heads, tokens, size) tensor each a layer."""

    keys: tuple[Tensor, ...]
    values: tuple[Tensor, ...]
    length: int


def _piece(segment: Segment, start: int, stop: int) -> Segment:
    keys = tuple(tensor[:, start:stop].clone() for tensor in segment.keys)
    values = tuple(tensor[:, start:stop].clone() for tensor in segment.values)
    return Segment(keys, values, stop - start)


class FlatState(NamedTuple):
    """`shifts`: (token, how far its position is from its number), where images took fewer positions than tokens."""

    segments: tuple[Segment, ...]
    length: int
    shifts: tuple[tuple[int, int], ...] = ()

    @property
    def position(self) -> int:
        """The next token's."""
        return self.length + (self.shifts[-1][1] if self.shifts else 0)

    def shifts_until(self, length: int) -> tuple[tuple[int, int], ...]:
        return tuple(shift for shift in self.shifts if shift[0] <= length)


class Flat:
    """A Backend. `bucket` > 1 rounds shapes up to its multiples, for devices that keep a graph for every shape."""

    joins = True

    def __init__(
        self, decoder: Decoder, device: torch.device, budget: int, sight: Sight | None = None, bucket: int = 1
    ) -> None:
        self.budget = budget
        self.tile = TILE if device.type == "cpu" else budget
        self._decoder = decoder
        self._device = device
        self._sight = sight
        self._bucket = bucket

    def encode(self, parent: FlatState | None, prefix: Prefix, start: int, stop: int) -> FlatState:
        return guarded(lambda: self._encode(parent, prefix, start, stop), self._device)

    def begin(
        self, parent: FlatState | None, prefix: Prefix, start: int, stop: int, branches: Sequence[Branch]
    ) -> tuple[FlatState, list[Reading]]:
        if any(start <= picture.start < stop for picture in prefix.pictures):
            state = self.encode(parent, prefix, start, stop)
            return state, self.read([Row(state, branch) for branch in branches])
        return guarded(lambda: self._begin(parent, prefix, start, stop, branches), self._device)

    def split(self, state: FlatState, parent: int, length: int) -> tuple[FlatState, FlatState] | None:
        return guarded(lambda: self._split(state, length), self._device)

    def read(self, rows: Sequence[Row[FlatState]]) -> list[Reading]:
        return guarded(lambda: self._read(rows), self._device)

    def size(self, state: FlatState) -> int:
        return state.segments[-1].length * self._decoder.kv_bytes

    def _encode(self, parent: FlatState | None, prefix: Prefix, start: int, stop: int) -> FlatState:
        past = parent or FlatState((), 0)
        tokens = self._piece(prefix, start, stop)
        x = self._embedded(tokens)
        seen: Seen | None = None
        pictures = [picture for picture in prefix.pictures if start <= picture.start < stop]
        if pictures and self._sight is not None:
            seen = self._sight.seen(pictures, start, start + len(tokens), past.position)
            x = seen.shown(x)
            positions, shifts = seen.positions, past.shifts + seen.shifts
        else:
            positions = torch.arange(past.position, past.position + len(x), device=self._device)
            shifts = past.shifts
        _, segment = self._forward(x, positions, [self._whole(past, len(tokens))], (), seen, keep=stop - start)
        assert segment is not None
        return FlatState((*past.segments, segment), stop, shifts)

    def _begin(
        self, parent: FlatState | None, prefix: Prefix, start: int, stop: int, branches: Sequence[Branch]
    ) -> tuple[FlatState, list[Reading]]:
        past = parent or FlatState((), 0)
        tokens = self._piece(prefix, start, stop)
        after = FlatState(past.segments, stop, past.shifts)
        laid = self._laid([(after, branch.tokens) for branch in branches], len(tokens), (0, stop - start))
        positions = torch.arange(past.position, past.position + len(tokens), device=self._device)
        x, segment = self._forward(
            self._embedded((*tokens, *laid.tokens)),
            torch.cat([positions, laid.positions]),
            [self._whole(past, len(tokens)), *laid.tiles],
            laid.last,
            keep=stop - start,
        )
        assert segment is not None
        state = FlatState((*past.segments, segment), stop, past.shifts)
        return state, self._readings(x, [Row(state, branch) for branch in branches])

    def _split(self, state: FlatState, length: int) -> tuple[FlatState, FlatState]:
        *before, segment = state.segments
        cut = length - (state.length - segment.length)
        # Copies, so that the halves' memory is each their own and can be given back alone.
        head, tail = _piece(segment, 0, cut), _piece(segment, cut, segment.length)
        beginning = FlatState((*before, head), length, state.shifts_until(length))
        return beginning, FlatState((*before, head, tail), state.length, state.shifts)

    def _read(self, rows: Sequence[Row[FlatState]]) -> list[Reading]:
        laid = self._laid([(row.state, row.branch.tokens) for row in rows])
        x, _ = self._forward(self._embedded(laid.tokens), laid.positions, laid.tiles, laid.last)
        return self._readings(x, rows)

    def _piece(self, prefix: Prefix, start: int, stop: int) -> tuple[int, ...]:
        """Tokens of a state, and spare ones that nobody sees: what comes before them does not either."""
        return (*prefix.tokens[start:stop], *(0,) * (-(stop - start) % self._bucket))

    def _embedded(self, tokens: Sequence[int]) -> Tensor:
        return functional.embedding(torch.tensor(tokens, device=self._device), self._decoder.embedding)

    def _readings(self, x: Tensor, rows: Sequence[Row[FlatState]]) -> list[Reading]:
        x = norm(x, self._decoder.norm, self._decoder.epsilon)
        return readings(functional.linear(x, self._decoder.head), rows)

    def _whole(self, past: FlatState, tokens: int) -> Attending:
        """A piece of a state, which begins the pass."""
        return Attending(0, tokens, past.segments, (), self._causal(tokens, past.length), self._pad(past.length))

    def _laid(
        self, branches: Sequence[tuple[FlatState, tuple[int, ...]]], begin: int = 0, piece: tuple[int, int] = (0, 0)
    ) -> Laid:
        """Branches from place `begin` of a pass on. `piece`: where the end of their state stands in the same pass."""
        numbers: dict[int, int] = {}
        states: list[FlatState] = []
        for state, _ in branches:
            if numbers.setdefault(id(state), len(numbers)) == len(states):
                states.append(state)
        layout = lay([(numbers[id(state)], tokens) for state, tokens in branches], self.tile, self._bucket)
        positions = torch.tensor(layout.positions)
        tiles = []
        for tile in layout.tiles:
            state = states[tile.owner]
            positions[tile.start : tile.stop] += state.position
            stem = tile.stem[0] + begin, tile.stem[1] + begin
            past = state.length + stem[1] - stem[0]
            pad = self._pad(past)
            before = tuple(one for one in (piece, stem) if one[0] < one[1])
            start, stop = tile.start + begin, tile.stop + begin
            tiles.append(Attending(start, stop, state.segments, before, self._mask(tile, past, pad), pad))
        last = tuple(place + begin for place in layout.last)
        return Laid(layout.tokens, positions.to(self._device), tiles, last)

    def _forward(
        self,
        x: Tensor,
        positions: Tensor,
        tiles: Sequence[Attending],
        last: Sequence[int],
        seen: Seen | None = None,
        keep: int = 0,
    ) -> tuple[Tensor, Segment | None]:
        """What stands at `last` after all layers, and the keys and values of the first `keep` tokens.

        `x` (tokens, hidden), which is written to; `positions` (tokens) or (3, tokens).
        """
        d = self._decoder
        cos, sin = d.rotary(x[None], positions[None] if positions.ndim == 1 else positions[:, None])
        cos, sin = cos[0, :, None], sin[0, :, None]
        many = d.heads + d.kv_heads
        kept: tuple[list[Tensor], list[Tensor]] = ([], [])
        for number, layer in enumerate(d.layers):
            mixed = functional.linear(norm(x, layer.before, d.epsilon), layer.qkv, layer.qkv_bias)
            mixed = mixed.view(len(x), -1, d.head_size)
            qk, v = mixed[:, :many], mixed[:, many:].transpose(0, 1)
            if layer.q_norm is not None and layer.k_norm is not None:
                q, k = mixed[:, : d.heads], mixed[:, d.heads : many]
                qk = torch.cat((norm(q, layer.q_norm, d.epsilon), norm(k, layer.k_norm, d.epsilon)), dim=1)
            qk = rotated(qk, cos, sin)
            q, k = qk[:, : d.heads], qk[:, d.heads :].transpose(0, 1)
            if keep:  # of their own: views would keep the whole pass alive
                kept[0].append(k[:, :keep].clone(memory_format=torch.contiguous_format))
                kept[1].append(v[:, :keep].clone(memory_format=torch.contiguous_format))
            if number == len(d.layers) - 1:
                if not last:
                    break
                if self._bucket == 1:
                    places = sorted(last)
                    x, tiles = x[torch.tensor(places, device=x.device)], _narrowed(tiles, places, x.device)
                    last = [places.index(place) for place in last]
            parts = [tile.attend(number, q, k, v, d) for tile in tiles]
            together = parts[0] if len(parts) == 1 else torch.cat(parts)
            x = added(x, together, layer.out, layer.out_bias)
            gate, up = functional.linear(norm(x, layer.after, d.epsilon), layer.gate_up).chunk(2, dim=-1)
            x = added(x, functional.silu(gate).mul_(up), layer.down)
            if seen is not None:
                x = seen.deepened(x, number)
        segment = Segment(tuple(kept[0]), tuple(kept[1]), keep) if keep else None
        return x[torch.tensor(last, device=x.device)] if last else x, segment

    def _pad(self, past: int) -> int:
        return -past % self._bucket

    def _causal(self, tokens: int, past: int) -> Tensor | None:
        """None: nothing before, so plain causal attention does."""
        if not past:
            return None
        mask = self._hidden(tokens, tokens).triu(1)
        padded = functional.pad(mask, (self._pad(past), 0), value=HIDDEN)
        return functional.pad(padded, (past, 0)).to(self._device)

    def _mask(self, tile: Tile, past: int, pad: int) -> Tensor:
        tokens = tile.stop - tile.start
        mask = self._hidden(tokens, past + pad + tokens)
        mask[:, :past] = 0
        for top, bottom, left, right, causal in visible(tile):
            block = mask[top:bottom, past + pad + left : past + pad + right]
            if causal:
                block.triu_(1)
            else:
                block.zero_()
        return mask.to(self._device)

    def _hidden(self, rows: int, columns: int) -> Tensor:
        return torch.full((rows, columns), HIDDEN, dtype=self._decoder.norm.dtype)


HIDDEN = float("-inf")


class Attending(NamedTuple):
    """Tokens from `start` to `stop` of a pass, the segments they follow, and what they see (None: causal).

    `before`: tokens of the same pass that they follow after the segments. `pad` keys that the mask hides stand
    between those and their own. `asking`: the tokens that attend, where they are not all; a row of `mask` for each.
    """

    start: int
    stop: int
    past: tuple[Segment, ...]
    before: tuple[tuple[int, int], ...]
    mask: Tensor | None
    pad: int = 0
    asking: Tensor | None = None

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, d: Decoder) -> Tensor:
        """(tokens that attend, heads * size)."""
        mine = q[self.start : self.stop] if self.asking is None else q[self.asking]
        keys = self._all([segment.keys[layer] for segment in self.past], k)
        values = self._all([segment.values[layer] for segment in self.past], v)
        tokens, group = len(mine), d.heads // d.kv_heads
        if self.mask is None or q.device.type == "cpu":
            out = functional.scaled_dot_product_attention(
                mine.transpose(0, 1)[None],
                keys[None],
                values[None],
                attn_mask=self.mask,
                is_causal=self.mask is None,
                scale=d.scale,
                enable_gqa=group > 1,
            )
            return out[0].transpose(0, 1).reshape(tokens, -1)
        # Kernels of other devices know no mask with shared keys: heads that share one become more queries of it.
        queries = mine.view(tokens, d.kv_heads, group, d.head_size).permute(1, 2, 0, 3)
        out = functional.scaled_dot_product_attention(
            queries.reshape(1, d.kv_heads, group * tokens, d.head_size),
            keys[None],
            values[None],
            attn_mask=self.mask.repeat(group, 1),
            scale=d.scale,
        )
        return out.view(d.kv_heads, group, tokens, d.head_size).permute(2, 0, 1, 3).reshape(tokens, -1)

    def _all(self, past: list[Tensor], new: Tensor) -> Tensor:
        before = [new[:, start:stop] for start, stop in self.before]
        gap = [new.new_zeros(len(new), self.pad, new.shape[-1])] if self.pad else []
        own = new[:, self.start : self.stop]
        return torch.cat([*past, *before, *gap, own], dim=1) if past or before or gap else own


class Laid(NamedTuple):
    """Branches in a pass: their tokens and positions, what attends, and where each of them ends."""

    tokens: tuple[int, ...]
    positions: Tensor
    tiles: list[Attending]
    last: tuple[int, ...]


def _narrowed(tiles: Sequence[Attending], places: Sequence[int], device: torch.device) -> list[Attending]:
    """The same tiles with none but the tokens at `places` attending, which are sorted."""
    narrowed = []
    for tile in tiles:
        if mine := [place for place in places if tile.start <= place < tile.stop]:
            asking = torch.tensor(mine, device=device)
            assert tile.mask is not None
            narrowed.append(tile._replace(asking=asking, mask=tile.mask[asking - tile.start]))
    return narrowed
