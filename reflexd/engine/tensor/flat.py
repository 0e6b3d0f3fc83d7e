"""The pass of attention-only models (Llama, Qwen2, Qwen3, the text half of Qwen3-VL): tokens end to end, no padding.

What holds: a state is a tuple of segments that nobody writes to; a pass makes new tensors and touches none, so
one that fails changes nothing; linear layers see every token of the pass at once, whatever branches and states
they belong to; a tile attends to its own state's segments and to itself.
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
from reflexd.engine.tensor.weights import Decoder, norm, rotated
from reflexd.engine.values import Prefix, Reading, Row

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

    def split(self, state: FlatState, parent: int, length: int) -> tuple[FlatState, FlatState] | None:
        return guarded(lambda: self._split(state, length), self._device)

    def read(self, rows: Sequence[Row[FlatState]]) -> list[Reading]:
        return guarded(lambda: self._read(rows), self._device)

    def size(self, state: FlatState) -> int:
        return state.segments[-1].length * self._decoder.kv_bytes

    def _encode(self, parent: FlatState | None, prefix: Prefix, start: int, stop: int) -> FlatState:
        past = parent or FlatState((), 0)
        spare = -(stop - start) % self._bucket  # tokens that nobody sees: what comes before them does not either
        ids = torch.tensor((*prefix.tokens[start:stop], *(0,) * spare), device=self._device)
        x = functional.embedding(ids, self._decoder.embedding)
        seen: Seen | None = None
        pictures = [picture for picture in prefix.pictures if start <= picture.start < stop]
        if pictures and self._sight is not None:
            seen = self._sight.seen(pictures, start, stop + spare, past.position)
            x = seen.shown(x)
            positions, shifts = seen.positions, past.shifts + seen.shifts
        else:
            positions = torch.arange(past.position, past.position + len(x), device=self._device)
            shifts = past.shifts
        whole = Attending(0, len(x), past.segments, self._causal(len(x), past.length), self._pad(past.length))
        _, segment = self._forward(x, positions, [whole], seen, keep=stop - start)
        assert segment is not None
        return FlatState((*past.segments, segment), stop, shifts)

    def _split(self, state: FlatState, length: int) -> tuple[FlatState, FlatState]:
        *before, segment = state.segments
        cut = length - (state.length - segment.length)
        # Copies, so that the halves' memory is each their own and can be given back alone.
        head, tail = _piece(segment, 0, cut), _piece(segment, cut, segment.length)
        beginning = FlatState((*before, head), length, state.shifts_until(length))
        return beginning, FlatState((*before, head, tail), state.length, state.shifts)

    def _read(self, rows: Sequence[Row[FlatState]]) -> list[Reading]:
        states: dict[int, FlatState] = {}
        numbers: dict[int, int] = {}
        for row in rows:
            number = numbers.setdefault(id(row.state), len(numbers))
            states[number] = row.state
        layout = lay([(numbers[id(row.state)], row.branch.tokens) for row in rows], self.tile, self._bucket)
        ids = torch.tensor(layout.tokens, device=self._device)
        offsets = [0] * len(layout.tokens)
        for tile in layout.tiles:
            offsets[tile.start : tile.stop] = [states[tile.owner].position] * (tile.stop - tile.start)
        positions = torch.tensor(layout.positions, device=self._device) + torch.tensor(offsets, device=self._device)
        tiles = []
        for tile in layout.tiles:
            state = states[tile.owner]
            pad = self._pad(state.length)
            tiles.append(Attending(tile.start, tile.stop, state.segments, self._mask(tile, state.length, pad), pad))
        x, _ = self._forward(functional.embedding(ids, self._decoder.embedding), positions, tiles)
        last = x[torch.tensor(layout.last, device=self._device)]
        return readings(functional.linear(self._normed(last), self._decoder.head), rows)

    def _normed(self, x: Tensor) -> Tensor:
        return norm(x, self._decoder.norm, self._decoder.epsilon)

    def _forward(
        self,
        x: Tensor,
        positions: Tensor,
        tiles: Sequence[Attending],
        seen: Seen | None = None,
        keep: int = 0,
    ) -> tuple[Tensor, Segment | None]:
        """`x` (tokens, hidden); `positions` (tokens) or (3, tokens). The keys and values of the first `keep` tokens."""
        d = self._decoder
        cos, sin = d.rotary(x[None], positions[None] if positions.ndim == 1 else positions[:, None])
        cos, sin = cos[0, :, None], sin[0, :, None]
        sizes = [d.heads * d.head_size, d.kv_heads * d.head_size, d.kv_heads * d.head_size]
        kept: tuple[list[Tensor], list[Tensor]] = ([], [])
        for number, layer in enumerate(d.layers):
            mixed = functional.linear(norm(x, layer.before, d.epsilon), layer.qkv, layer.qkv_bias)
            q, k, v = (part.view(len(x), -1, d.head_size) for part in mixed.split(sizes, dim=-1))
            if layer.q_norm is not None and layer.k_norm is not None:
                q, k = norm(q, layer.q_norm, d.epsilon), norm(k, layer.k_norm, d.epsilon)
            q, k = rotated(q, cos, sin), rotated(k, cos, sin)
            k, v = k.transpose(0, 1), v.transpose(0, 1)
            parts = [tile.attend(number, q, k, v, d) for tile in tiles]
            together = parts[0] if len(parts) == 1 else torch.cat(parts)
            x = x + functional.linear(together, layer.out, layer.out_bias)
            gate, up = functional.linear(norm(x, layer.after, d.epsilon), layer.gate_up).chunk(2, dim=-1)
            x = x + functional.linear(functional.silu(gate) * up, layer.down)
            if seen is not None:
                x = seen.deepened(x, number)
            if keep:  # of their own: views would keep the whole pass alive
                kept[0].append(k[:, :keep].clone(memory_format=torch.contiguous_format))
                kept[1].append(v[:, :keep].clone(memory_format=torch.contiguous_format))
        return x, Segment(tuple(kept[0]), tuple(kept[1]), keep) if keep else None

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
            block.copy_(torch.full_like(block, HIDDEN).triu(1) if causal else torch.zeros_like(block))
        return mask.to(self._device)

    def _hidden(self, rows: int, columns: int) -> Tensor:
        return torch.full((rows, columns), HIDDEN, dtype=self._decoder.norm.dtype)


HIDDEN = float("-inf")


class Attending(NamedTuple):
    """Tokens from `start` to `stop` of a pass, the segments they follow, and what they see (None: causal).

    `pad` keys that the mask hides stand between.
    """

    start: int
    stop: int
    past: tuple[Segment, ...]
    mask: Tensor | None
    pad: int = 0

    def attend(self, layer: int, q: Tensor, k: Tensor, v: Tensor, d: Decoder) -> Tensor:
        """(tokens of the tile, heads * size). Heads that share a key are laid out as more queries of that key."""
        tokens, group = self.stop - self.start, d.heads // d.kv_heads
        own = slice(self.start, self.stop)
        gap = [k.new_zeros(len(k), self.pad, d.head_size)] if self.pad else []
        keys = torch.cat([*(segment.keys[layer] for segment in self.past), *gap, k[:, own]], dim=1)
        values = torch.cat([*(segment.values[layer] for segment in self.past), *gap, v[:, own]], dim=1)
        mine = q[own]
        if self.mask is None:
            out = functional.scaled_dot_product_attention(
                mine.transpose(0, 1)[None],
                keys[None],
                values[None],
                is_causal=True,
                scale=d.scale,
                enable_gqa=group > 1,
            )
            return out[0].transpose(0, 1).reshape(tokens, -1)
        queries = mine.view(tokens, d.kv_heads, group, d.head_size).permute(1, 2, 0, 3)
        out = functional.scaled_dot_product_attention(
            queries.reshape(1, d.kv_heads, group * tokens, d.head_size),
            keys[None],
            values[None],
            attn_mask=self.mask.repeat(group, 1),
            scale=d.scale,
        )
        return out.view(d.kv_heads, group, tokens, d.head_size).permute(2, 0, 1, 3).reshape(tokens, -1)
