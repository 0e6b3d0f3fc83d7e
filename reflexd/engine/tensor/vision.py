"""What images are to an image-text model: patches, the features in the place of their tokens, and positions.

Positions follow M-RoPE of Qwen3-VL and Qwen3.5 (transformers' `get_rope_index`): text counts on by one in all
three directions; an image has one time, rows and columns, and takes as many positions as its longer side.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from reflexd.engine.values import Picture


class Seen(NamedTuple):
    """Images in a stretch of tokens. `where`: their places in it; `deep`: features that layers add there.

    `shifts`: for each image, the token that follows it and how far positions are from tokens from there on.
    """

    positions: Tensor
    shifts: tuple[tuple[int, int], ...]
    where: Tensor
    features: Tensor
    deep: tuple[Tensor, ...]

    def shown(self, x: Tensor) -> Tensor:
        return x.index_copy(0, self.where, self.features.to(x.dtype))

    def deepened(self, x: Tensor, layer: int) -> Tensor:
        return x.index_add(0, self.where, self.deep[layer].to(x.dtype)) if layer < len(self.deep) else x


class Sight:
    """The vision half of a model, with the processor that cuts images into patches."""

    def __init__(self, model: Any, processor: Any, device: torch.device) -> None:
        self._model = model
        self._processor = processor
        self._device = device
        self._merge: int = model.config.vision_config.spatial_merge_size

    def seen(self, pictures: Sequence[Picture], start: int, stop: int, position: int) -> Seen:
        """`pictures` that lie in the tokens from `start` to `stop`, the first of which is at `position`."""
        patches = self._processor([_opened(picture.data) for picture in pictures], return_tensors="pt")
        grids = patches["image_grid_thw"]
        output = self._model.get_image_features(patches["pixel_values"].to(self._device), grids.to(self._device))
        deep = getattr(output, "deepstack_features", None) or ()
        places, columns, shifts, at = [], [], [], start
        for picture, (_, rows, wide) in zip(pictures, grids.tolist(), strict=True):
            rows, wide = rows // self._merge, wide // self._merge
            if picture.stop - picture.start != rows * wide:
                raise ValueError("an image has another number of tokens than was planned")
            columns.append(_text(picture.start - at, position))
            position += picture.start - at
            columns.append(_grid(rows, wide, position))
            position += max(rows, wide)
            shifts.append((picture.stop, position - picture.stop))
            places.append(torch.arange(picture.start - start, picture.stop - start))
            at = picture.stop
        columns.append(_text(stop - at, position))
        return Seen(
            positions=torch.cat(columns, dim=1).to(self._device),
            shifts=tuple(shifts),
            where=torch.cat(places).to(self._device),
            features=torch.cat(list(output.pooler_output)),
            deep=tuple(torch.cat(list(one)) for one in deep),
        )


def _opened(data: bytes) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(data)).convert("RGB")


def _text(tokens: int, position: int) -> Tensor:
    return torch.arange(position, position + tokens).expand(3, -1)


def _grid(rows: int, wide: int, position: int) -> Tensor:
    down = torch.arange(rows).repeat_interleave(wide)
    across = torch.arange(wide).repeat(rows)
    return torch.stack([torch.zeros_like(down), down, across]) + position
