"""Which device and precision a model would take here, and whether it fits.

A process of its own, because only torch knows the devices. Nothing is loaded: sizes come from headers.
"""

from __future__ import annotations

from pathlib import Path

from msgspec import Struct

from reflexd.engine.child import Wanted, answered
from reflexd.engine.tensor import devices, files, gguf
from reflexd.engine.tensor.families import family
from reflexd.types import Device, Precision

RUNTIME = 700 << 20
"""Of a process with torch and transformers imported, as measured on Linux; a device's own libraries come on top."""
BYTES: dict[str, int] = {"float32": 4, "bfloat16": 2, "float16": 2}
LEAST_STATES = 256 << 20
WIDE = 60
"""Bytes of a pass for each token and hidden unit, at four bytes a number: what is alive at once, and some more."""


class Chosen(Struct, frozen=True):
    """`needs` and `has` are bytes of the device's memory (the machine's, for cpu and mps)."""

    model: str
    family: str
    device: Device
    precision: Precision
    why: str
    parameters: int
    needs: int
    has: int

    @property
    def fits(self) -> bool:
        return self.needs <= self.has


def chosen(wanted: Wanted) -> Chosen:
    """Raises ReflexError for a model that is not there or not one of ours."""
    source = files.found(wanted.model)
    on = devices.device(wanted.device)
    precision, why = devices.precision(on, wanted.precision)
    if source.is_file():
        kind, parameters, hidden = gguf.described(source)
    else:
        settings = files.config(source)
        text = settings.get("text_config", settings)
        kind, hidden = settings["model_type"], int(text.get("hidden_size", 0))
        parameters = sum(_count(file) for file in files.weights(source))
        family(kind)
    passes = devices.BUDGETS[on] * hidden * WIDE * BYTES[precision] // 4
    needs = parameters * BYTES[precision] + LEAST_STATES + passes + (RUNTIME if on != "cuda" else 0)
    return Chosen(wanted.model, kind, on, precision, why, parameters, needs, devices.memory(on))


def _count(file: Path) -> int:
    """Parameters in a safetensors file."""
    total = 0
    for name, entry in files.header(file).items():
        if name != "__metadata__":
            size = 1
            for length in entry["shape"]:
                size *= length
            total += size
    return total


def main(argv: list[str]) -> int:
    return answered(argv, chosen)
