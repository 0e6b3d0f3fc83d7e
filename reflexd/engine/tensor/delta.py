"""Triangular systems by matrix products alone, for Metal: its own solver takes 15 ms whatever the size.

Qwen3.5's delta rule solves two unit lower triangular systems a layer. The inverse of such a matrix goes by halves,
[[A, 0], [C, D]]^-1 = [[A^-1, 0], [-D^-1 C A^-1, D^-1]], log2(n) steps of batched products. (The Neumann product is
shorter and overflows.)
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

_original = torch.linalg.solve_triangular


def inverse(a: Tensor) -> Tensor:
    """Of unit lower triangular matrices (..., n, n); what stands on and above the diagonal is not looked at."""
    n = a.shape[-1]
    size = 1
    while size < n:
        size *= 2
    padded = torch.nn.functional.pad(a.tril(-1), (0, size - n, 0, size - n))
    eye = torch.eye(size, dtype=a.dtype, device=a.device)
    lower, result, half = padded, eye.expand_as(padded).clone(), 1
    while half < size:
        blocks = size // (2 * half)
        shape = (*a.shape[:-2], blocks, 2 * half, blocks, 2 * half)
        pick = torch.arange(blocks, device=a.device)
        c = lower.view(shape)[..., pick, :, pick, :].movedim(0, -3)[..., half:, :half]
        done = result.view(shape)[..., pick, :, pick, :].movedim(0, -3)
        corner = -(done[..., half:, half:] @ c @ done[..., :half, :half])
        whole = done.clone()
        whole[..., half:, :half] = corner
        result = torch.zeros_like(padded)
        result.view(shape)[..., pick, :, pick, :] = whole.movedim(-3, 0)
        half *= 2
    return result[..., :n, :n]


def solve_triangular(
    a: Tensor, b: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False, **more: Any
) -> Tensor:
    """As torch.linalg's, which it calls for whatever is not a unit lower triangular system from the left."""
    if upper or not left or not unitriangular or more:
        solved: Tensor = _original(a, b, upper=upper, left=left, unitriangular=unitriangular, **more)
        return solved
    return inverse(a) @ b


def replace_solve() -> None:
    """For this process: transformers calls the solver by its name in torch."""
    torch.linalg.solve_triangular = solve_triangular
