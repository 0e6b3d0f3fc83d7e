"""Which device and which precision, and what runs fast there."""

from __future__ import annotations

import time

import psutil
import torch

from reflexd.engine.errors import ModelError
from reflexd.types import Device, Precision

DTYPES: dict[Precision, torch.dtype] = {
    "float32": torch.float32,
    "bfloat16": torch.bfloat16,
    "float16": torch.float16,
}
BUDGETS: dict[Device, int] = {"cuda": 8192, "mps": 1024, "cpu": 768}
"""Tokens of a pass. Past a few hundred tokens a CPU's time grows with their number; a GPU's much later."""

BUCKETS: dict[Device, int] = {"cuda": 1, "mps": 64, "cpu": 1}
"""Metal keeps a compiled graph for every shape it has seen, for ever; so it sees few."""


def device(wanted: Device | None) -> Device:
    """The one that is wanted, or the best there is. Raises ModelError for one that this machine has not."""
    there: dict[Device, bool] = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    if wanted is not None:
        if not there[wanted]:
            raise ModelError(f"this machine has no {wanted} that torch can use", "leave the device out for the best")
        return wanted
    return next(name for name, is_there in there.items() if is_there)


def precision(on: Device, wanted: Precision | None) -> tuple[Precision, str]:
    """The precision, and why."""
    if wanted is not None:
        return wanted, "as asked for"
    if on == "cuda":
        if torch.cuda.is_bf16_supported():
            return "bfloat16", "the GPU computes it"
        return "float16", "the GPU has no bfloat16"
    if on == "mps":
        return "float16", "closer to float32 than bfloat16 on Metal, and as fast"
    fast = _seconds(torch.bfloat16) < 0.8 * _seconds(torch.float32)
    return ("bfloat16", "this processor is faster with it") if fast else ("float32", "bfloat16 is no faster here")


def threads(on: Device) -> None:
    """One thread a core: two on one core hinder each other in matrix products."""
    if on == "cpu":
        torch.set_num_threads(max(1, min(psutil.cpu_count(logical=False) or 1, len(psutil.Process().cpu_affinity()))))


def state_budget(on: Device) -> int:
    """Bytes of kept states: an eighth of what is free, at most 1 GiB beside the CPU's programs, a quarter on a GPU."""
    if on == "cuda":
        free, _ = torch.cuda.mem_get_info()
        return int(free // 4)
    return int(min(1 << 30, psutil.virtual_memory().available // 8))


def memory(on: Device) -> int:
    """Bytes that a model may take: what is free of the device's memory, most of what is free of the machine's."""
    if on == "cuda":
        free, _ = torch.cuda.mem_get_info()
        return int(free)
    return int(psutil.virtual_memory().available * 0.9)


def kernels(on: Device, hybrid: bool) -> tuple[str, bool]:
    """What the pass runs on, in one line, and whether all of it is fast."""
    if not hybrid:
        return "attention: torch's fused kernels", True
    from transformers.utils.import_utils import is_causal_conv1d_available, is_flash_linear_attention_available

    parts = {
        "delta rule": on == "cuda" and is_flash_linear_attention_available(),
        "convolution": on == "cuda" and is_causal_conv1d_available(),
    }
    said = [f"{name}: {'fused kernel' if fast else 'reference in torch'}" for name, fast in parts.items()]
    return "; ".join(["attention: torch's fused kernels", *said]), all(parts.values())


def _seconds(dtype: torch.dtype) -> float:
    """The shortest of a few matrix products of a pass's shape."""
    x, w = torch.ones(256, 1024, dtype=dtype), torch.ones(1024, 1024, dtype=dtype)
    best = float("inf")
    for _ in range(4):
        since = time.perf_counter()
        torch.nn.functional.linear(x, w)
        best = min(best, time.perf_counter() - since)
    return best
