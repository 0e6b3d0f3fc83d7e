"""Temperatures, and the file they come from: bound to what they were fitted on, an error anywhere else.

A temperature belongs to a model under a prompt, its orders and its precision; on any other it makes answers worse.
The head, where there is one, gives a temperature to each question: ln T = w . f, within [0.2, 20], over eight
features (1, one-hot of the kind, ln options, ln(state tokens)/10, normalised entropy, min(margin, 20)/10).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import msgspec
from msgspec import Struct

from reflexd.engine.confidence import entropy
from reflexd.engine.errors import ModelError
from reflexd.engine.readout import softmax
from reflexd.engine.styles.shown import Kind

KINDS: tuple[Kind, ...] = ("noul", "choice", "score")
LOWEST, HIGHEST = 0.05, 20.0
HEAD_LOWEST, HEAD_HIGHEST = math.log(0.2), math.log(20.0)


class Binding(Struct, frozen=True, forbid_unknown_fields=True):
    """What a calibration was fitted on."""

    model: str
    prompt: str
    orders: int
    precision: str


class Temperatures(Struct, frozen=True, forbid_unknown_fields=True):
    noul: float = 1.0
    choice: float = 1.0
    score: float = 1.0


class Calibration(Struct, frozen=True, forbid_unknown_fields=True):
    """`head`: eight weights, or None."""

    temperature: Temperatures = Temperatures()
    head: tuple[float, ...] | None = None
    binding: Binding | None = None

    def temperature_of(self, kind: Kind, logits: Sequence[float], state_tokens: int) -> float:
        if self.head is None:
            fitted: float = getattr(self.temperature, kind)
            return fitted
        weighed = math.fsum(w * f for w, f in zip(self.head, features(kind, logits, state_tokens), strict=True))
        return math.exp(min(HEAD_HIGHEST, max(HEAD_LOWEST, weighed)))


NONE = Calibration()


def features(kind: Kind, logits: Sequence[float], state_tokens: int) -> tuple[float, ...]:
    ordered = sorted(logits, reverse=True)
    margin = min(ordered[0] - ordered[1], 20.0) if len(ordered) > 1 else 20.0
    kinds = (float(kind == one) for one in KINDS)
    spread = 1.0 - entropy(softmax(logits, 1.0))
    return (1.0, *kinds, math.log(len(logits)), math.log(max(state_tokens, 1)) / 10, spread, margin / 10)


def load(data: bytes, name: str, used: Binding) -> Calibration:
    """The calibration in `data`, for what is `used`. Raises ModelError: not readable, out of range, or of another."""
    try:
        found = msgspec.json.decode(data, type=Calibration)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as e:
        raise ModelError(f"{name}: not a calibration: {e}") from e
    for kind in KINDS:
        temperature = getattr(found.temperature, kind)
        if not LOWEST <= temperature <= HIGHEST:
            raise ModelError(f"{name}: the temperature of {kind} is {temperature}, not within {LOWEST} to {HIGHEST}")
    if found.head is not None and (len(found.head) != 8 or not all(map(math.isfinite, found.head))):
        raise ModelError(f"{name}: head has to be eight finite numbers")
    if found.binding is None:
        raise ModelError(f"{name}: does not say what it was fitted on", "fit it again: reflexctl calibrate")
    for field in Binding.__struct_fields__:
        theirs, ours = getattr(found.binding, field), getattr(used, field)
        if theirs != ours:
            raise ModelError(
                f"{name}: was fitted on {field} {theirs}, and {ours} is served",
                "serve what it was fitted on, or leave the calibration out",
            )
    return found
