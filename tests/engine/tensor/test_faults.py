"""A pass that fails anywhere leaves every kept state bit-identical, and says which kind of failure it was."""

from __future__ import annotations

import gc
import random
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import torch
from torch.nn import functional

from reflexd.engine.tensor.flat import Flat, FlatState
from reflexd.engine.tensor.rows import RowState
from reflexd.engine.values import Branch, OutOfMemory, PassFailed, Prefix, Row
from tests.engine import models
from tests.engine.tensor.test_equivalence import branches, loaded, words

LAYERS = models.SMALL["num_hidden_layers"]
ERRORS: list[tuple[Callable[[], BaseException], type[Exception]]] = [
    (lambda: RuntimeError("a kernel is broken"), PassFailed),
    (lambda: RuntimeError("[enforce fail at alloc_cpu.cpp:1] DefaultCPUAllocator: can't allocate memory"), OutOfMemory),
    (lambda: RuntimeError("MPS backend out of memory (MPS allocated: 17 GB)"), OutOfMemory),
    (lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), OutOfMemory),
    (MemoryError, OutOfMemory),
]


@contextmanager
def failing(backend: Any, layer: int, error: Callable[[], BaseException]) -> Iterator[None]:
    """The `layer`-th layer of the next pass fails in its middle, with much of the pass made already."""
    if isinstance(backend, Flat):
        original, calls = functional.silu, [0]

        def silu(x: torch.Tensor) -> torch.Tensor:
            calls[0] += 1
            if calls[0] == layer + 1:
                raise error()
            return original(x)

        functional.silu = silu  # type: ignore[assignment]
        try:
            yield
        finally:
            functional.silu = original
    else:

        def fail(*_: Any) -> None:
            raise error()

        hook = backend._text.layers[layer].mlp.register_forward_pre_hook(fail)
        try:
            yield
        finally:
            hook.remove()


def tensors(state: Any) -> list[torch.Tensor]:
    match state:
        case FlatState():
            return [tensor for segment in state.segments for part in segment[:2] for tensor in part]
        case RowState():
            own = [tensor for layer in state.recurrent.values() for tensor in layer]
            return own + [tensor for parts in state.parts.values() for part in parts for tensor in part]
    raise AssertionError(state)


def bits(state: Any) -> list[bytes]:
    return [tensor.numpy().tobytes() for tensor in tensors(state)]


@pytest.mark.parametrize("layer", range(LAYERS))
@pytest.mark.parametrize("name", models.FAMILIES)
def test_kept_states_stay_as_they_were(name: str, layer: int) -> None:
    draw = random.Random(name)
    backend: Any = loaded(name).backend
    prefix = Prefix(words(draw, 80))
    beginning = backend.encode(None, prefix, 0, 40)
    state = backend.encode(beginning, prefix, 40, 80)
    rows = [Row(one, branch) for one in (state, beginning) for branch in branches(draw)]
    wanted, before = backend.read(rows), (bits(beginning), bits(state))
    for error, known in ERRORS:
        with failing(backend, layer, error), pytest.raises(known):
            backend.read(rows)
        with failing(backend, layer, error), pytest.raises(known):
            backend.begin(beginning, prefix, 40, 80, [row.branch for row in rows])
        if layer < LAYERS - 1 or not isinstance(backend, Flat):  # nobody reads there: its last layer has no middle
            with failing(backend, layer, error), pytest.raises(known):
                backend.encode(beginning, prefix, 40, 80)
        assert (bits(beginning), bits(state)) == before
    assert backend.read(rows) == wanted
    assert bits(backend.encode(beginning, prefix, 40, 80)) == before[1]


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5_text"])
def test_what_a_failed_pass_made_is_freed(name: str) -> None:
    backend: Any = loaded(name).backend
    prefix = Prefix(words(random.Random(1), 50))
    alive: list[weakref.ref[torch.Tensor]] = []

    class Planted(RuntimeError):
        def __init__(self) -> None:
            super().__init__("out of memory")
            for thing in gc.get_objects():
                if isinstance(thing, torch.Tensor) and thing.shape[-2:] == (50, models.SMALL["hidden_size"]):
                    alive.append(weakref.ref(thing))

    with failing(backend, LAYERS - 2, Planted), pytest.raises(OutOfMemory) as failed:
        backend.encode(None, prefix, 0, 50)
    assert alive
    assert [one for one in alive if one() is not None] == []  # the failure itself is still held
    assert failed.value.__context__ is None


def test_the_words_of_a_failure_hold_nothing_of_the_request() -> None:
    backend: Any = loaded("llama").backend
    with (
        failing(backend, 0, lambda: RuntimeError("line one\nsecond line: the state's words")),
        pytest.raises(PassFailed, match="RuntimeError: line one") as failed,
    ):
        backend.encode(None, Prefix((1, 2, 3)), 0, 3)
    assert "second line" not in str(failed.value)


def test_a_model_whose_numbers_are_none_gives_no_answer() -> None:
    """NaN logits come out as they are; the readout refuses them (see test_readout)."""
    backend: Any = loaded("llama").backend
    state = backend.encode(None, Prefix((1, 2, 3)), 0, 3)
    broken = FlatState(
        tuple(
            segment._replace(values=tuple(value * float("nan") for value in segment.values))
            for segment in state.segments
        ),
        3,
    )
    (reading,) = backend.read([Row(broken, Branch((4, 5), (1, 2)))])
    assert all(logit != logit for logit in reading.logits)
