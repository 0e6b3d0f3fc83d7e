"""What a model said at the end of each branch, out of the logits there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from reflexd.engine.values import Reading, Row


def readings(logits: Tensor, rows: Sequence[Row[Any]]) -> list[Reading]:
    """`logits` (rows, vocabulary), of any precision: widened first, since labels may differ by less than it holds."""
    wide = logits.float()
    norms = torch.logsumexp(wide, dim=-1).tolist()
    labels = torch.nn.utils.rnn.pad_sequence(
        [torch.tensor(row.branch.labels, device=logits.device) for row in rows], batch_first=True
    )
    found = wide.gather(1, labels).tolist()
    return [
        Reading(tuple(values[: len(row.branch.labels)]), normal)
        for row, values, normal in zip(rows, found, norms, strict=True)
    ]
