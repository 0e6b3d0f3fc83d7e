"""The pass of hybrid models (Qwen3.5): one row a branch, right-padded, each after its own copy of its state.

Recurrent layers have no mask that keeps branches apart, so branches are rows. transformers' modules do the pass.

What holds: a state's tensors are never given to a pass, only copies (recurrent layers write in place) or views
that are read (keys and values); what a pass made is taken out of its cache when it has come to its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from reflexd.engine.tensor.faults import guarded
from reflexd.engine.tensor.readings import readings
from reflexd.engine.tensor.vision import Sight
from reflexd.engine.values import Branch, Prefix, Reading, Row


class Recurrent(NamedTuple):
    """One linear layer after a state: (1, channels, kernel) and (1, heads, key size, value size)."""

    conv: Tensor
    state: Tensor


class Part(NamedTuple):
    """One full-attention layer's keys and values of some tokens: (1, kv heads, tokens, size)."""

    keys: Tensor
    values: Tensor


class RowState(NamedTuple):
    """`recurrent` by layer; `parts` by layer, one for every piece the state was encoded in."""

    recurrent: dict[int, Recurrent]
    parts: dict[int, tuple[Part, ...]]
    length: int
    position: int


class Rows:
    """A Backend over a text model of transformers and its head. `bucket`: as for the flat pass."""

    joins = False  # branches are rows, each of which begins with a copy of the whole state

    def __init__(
        self,
        text: nn.Module,
        head: nn.Module,
        device: torch.device,
        budget: int,
        sight: Sight | None = None,
        bucket: int = 1,
    ) -> None:
        self.budget = budget
        self._text: Any = text
        self._head = head
        self._device = device
        self._sight = sight
        self._bucket = bucket

    def encode(self, parent: RowState | None, prefix: Prefix, start: int, stop: int) -> RowState:
        return guarded(lambda: self._encode(parent, prefix, start, stop), self._device)

    def begin(
        self, parent: RowState | None, prefix: Prefix, start: int, stop: int, branches: Sequence[Branch]
    ) -> tuple[RowState, list[Reading]]:
        state = self.encode(parent, prefix, start, stop)
        return state, self.read([Row(state, branch) for branch in branches])

    def split(self, state: RowState, parent: int, length: int) -> tuple[RowState, RowState] | None:
        return None

    def read(self, rows: Sequence[Row[RowState]]) -> list[Reading]:
        return guarded(lambda: self._read(rows), self._device)

    def size(self, state: RowState) -> int:
        own = [tensor for layer in state.recurrent.values() for tensor in layer]
        own += [tensor for parts in state.parts.values() for tensor in parts[-1]]
        return sum(tensor.numel() * tensor.element_size() for tensor in own)

    def _encode(self, parent: RowState | None, prefix: Prefix, start: int, stop: int) -> RowState:
        past = parent or RowState({}, {}, 0, 0)
        ids = torch.tensor([prefix.tokens[start:stop]], device=self._device)
        x = self._text.embed_tokens(ids)
        pictures = [picture for picture in prefix.pictures if start <= picture.start < stop]
        index = torch.arange(start, stop, device=self._device)
        if pictures and self._sight is not None:
            seen = self._sight.seen(pictures, start, stop, past.position)
            x = seen.shown(x[0])[None]
            positions, after = seen.positions, stop + seen.shifts[-1][1]
        else:
            positions = torch.arange(past.position, past.position + stop - start, device=self._device).expand(3, -1)
            after = past.position + stop - start
        cache = self._cache([past])
        self._text(
            inputs_embeds=x,
            position_ids=torch.cat([index[None], positions])[:, None],
            attention_mask=None,
            cache=cache,
            use_cache=True,
        )
        return self._taken(past, cache, stop, after)

    def _read(self, rows: Sequence[Row[RowState]]) -> list[Reading]:
        lengths = [len(row.branch.tokens) for row in rows]
        width = -(-max(lengths) // self._bucket) * self._bucket
        states = [row.state for row in rows]
        past = max(state.length for state in states)
        past += -past % self._bucket
        ids = torch.zeros(len(rows), width, dtype=torch.long)
        mask = torch.zeros(len(rows), past + width, dtype=torch.long)
        for number, (row, length) in enumerate(zip(rows, lengths, strict=True)):
            ids[number, :length] = torch.tensor(row.branch.tokens)
            mask[number, past - row.state.length : past + length] = 1
        along = torch.arange(width)
        index = torch.tensor([state.length for state in states])[:, None] + along
        positions = torch.tensor([state.position for state in states])[:, None] + along
        hidden = self._text(
            input_ids=ids.to(self._device),
            position_ids=torch.cat([index[None], positions.expand(3, -1, -1)]).to(self._device),
            attention_mask=mask.to(self._device),
            cache=self._cache(states, past),
            use_cache=True,
        ).last_hidden_state
        last = hidden[torch.arange(len(rows)), torch.tensor(lengths) - 1]
        return readings(self._head(last), rows)

    def _cache(self, states: Sequence[RowState], past: int = 0) -> Any:
        """A cache of transformers with a row for each state, keys and values left-padded to `past` tokens."""
        from transformers import DynamicCache

        cache = DynamicCache(config=self._text.config)
        if not states[0].length:
            return cache
        same = all(state is states[0] for state in states)
        for number, layer in enumerate(cache.layers):
            if number in states[0].recurrent:
                found = [state.recurrent[number] for state in states]
                _set_recurrent(layer, torch.cat([one.conv for one in found]), torch.cat([one.state for one in found]))
            elif same:
                whole = _whole(states[0].parts[number], past)
                _set_keys(layer, *(tensor.expand(len(states), -1, -1, -1) for tensor in whole))
            else:
                each = [_whole(state.parts[number], past) for state in states]
                _set_keys(layer, torch.cat([one.keys for one in each]), torch.cat([one.values for one in each]))
        return cache

    def _taken(self, past: RowState, cache: Any, length: int, position: int) -> RowState:
        recurrent, parts = {}, {}
        for number, layer in enumerate(cache.layers):
            if hasattr(layer, "recurrent_states"):
                recurrent[number] = Recurrent(layer.conv_states[0].clone(), layer.recurrent_states[0].clone())
            else:  # the new tokens' own: a view would keep what was before them alive with it
                new = Part(layer.keys[:, :, past.length :].clone(), layer.values[:, :, past.length :].clone())
                parts[number] = (*past.parts.get(number, ()), new)
        return RowState(recurrent, parts, length, position)


def _whole(parts: Sequence[Part], past: int) -> Part:
    keys = torch.cat([part.keys for part in parts], dim=2)
    values = torch.cat([part.values for part in parts], dim=2)
    pad = max(past - keys.shape[2], 0)
    return (
        Part(functional.pad(keys, (0, 0, pad, 0)), functional.pad(values, (0, 0, pad, 0)))
        if pad
        else Part(keys, values)
    )


def _set_keys(layer: Any, keys: Tensor, values: Tensor) -> None:
    layer.keys, layer.values = keys, values
    layer.dtype, layer.device = keys.dtype, keys.device
    layer.is_initialized = True


def _set_recurrent(layer: Any, conv: Tensor, state: Tensor) -> None:
    """Sets what `update_conv_state` and `update_recurrent_state` of transformers' layer would have set."""
    layer.conv_states[0], layer.recurrent_states[0] = conv, state
    layer.dtype, layer.device = conv.dtype, conv.device
    layer.conv_kernel_size[0] = conv.shape[-1]
    layer.is_conv_states_initialized[0] = layer.is_recurrent_states_initialized[0] = True
    layer.has_previous_state[0] = True
