"""What a device raises, as the two failures that the scheduler knows."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import TypeVar

import torch

from reflexd.engine.values import OutOfMemory, PassFailed

T = TypeVar("T")

SAID = ("out of memory", "can't allocate memory", "failed to allocate", "not enough memory", "cannot allocate memory")
"""How allocators of CPU and Metal say it: they raise a plain RuntimeError."""


def guarded(step: Callable[[], T], device: torch.device) -> T:
    """One pass. Raises OutOfMemory or PassFailed; what the pass made is freed by then.

    The failure is kept as words alone: a traceback holds every tensor of the pass alive, so memory is given
    back only after the handler has been left.
    """
    try:
        with torch.inference_mode():
            return step()
    except MemoryError:
        out, words = True, ""
    except Exception as e:
        out = isinstance(e, torch.OutOfMemoryError) or any(said in str(e).lower() for said in SAID)
        words = f"{type(e).__name__}: {str(e).splitlines()[0][:200] if str(e) else ''}"
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    elif device.type == "mps":
        torch.mps.empty_cache()
    if out:
        raise OutOfMemory
    raise PassFailed(words)
