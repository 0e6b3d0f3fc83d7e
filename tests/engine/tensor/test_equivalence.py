"""Whatever shares a pass, is kept, split or continued: each branch is read as if it were alone.

The reference is one plain forward of transformers over the whole sequence, with the processor's own image inputs.
"""

from __future__ import annotations

import functools
import io
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image

from reflexd.engine.tensor import devices, loader
from reflexd.engine.tensor.families import family
from reflexd.engine.tensor.flat import Flat
from reflexd.engine.tensor.rows import Rows
from reflexd.engine.values import Branch, Picture, Prefix, Reading, Row
from tests.engine import models

CLOSE = 1e-5
LABELS = (3, 5, 8, 13)
BACKENDS = [*models.FAMILIES, "smollm2"]


@functools.cache
def loaded(name: str, device: str = "cpu") -> loader.Loaded:
    return loader.load(str(where(name)), device, "float32", None, False)  # type: ignore[arg-type]


def where(name: str) -> Path:
    return models.smollm2() if name == "smollm2" else models.tiny(name)


@functools.cache
def plain(name: str) -> Any:
    """transformers' own model, in its most literal attention."""
    kind = family(loaded(name).info.family)
    return kind.load().from_pretrained(where(name), dtype=torch.float32, attn_implementation="eager").eval()


def alone(name: str, prefix: Prefix, branch: Branch) -> Reading:
    ids = torch.tensor([prefix.tokens + branch.tokens])
    inputs: dict[str, Any] = {}
    if prefix.pictures:
        processor = loader._processor(where(name))
        patches = processor(
            [Image.open(io.BytesIO(one.data)).convert("RGB") for one in prefix.pictures], return_tensors="pt"
        )
        kinds = torch.zeros_like(ids)
        for picture in prefix.pictures:
            kinds[0, picture.start : picture.stop] = 1
        inputs = {**patches, "mm_token_type_ids": kinds.int()}
    with torch.inference_mode():
        logits = plain(name)(input_ids=ids, **inputs).logits[0, -1].float()
    return Reading(tuple(logits[list(branch.labels)].tolist()), torch.logsumexp(logits, 0).item())


def agree(found: Sequence[Reading], wanted: Sequence[Reading]) -> None:
    """Within 1e-5; a model whose logits run to 30 has its float32 rounding there, so within 1e-6 of their size."""
    for one, other in zip(found, wanted, strict=True):
        close = max(CLOSE, 1e-6 * abs(other.norm))
        assert one.logits == pytest.approx(other.logits, abs=close, rel=0)
        assert one.norm == pytest.approx(other.norm, abs=close, rel=0)


def words(draw: random.Random, count: int) -> tuple[int, ...]:
    return tuple(draw.randrange(250) for _ in range(count))


def branches(draw: random.Random, few: bool = False) -> list[Branch]:
    """Of all lengths, some with a common beginning, as the orders of one question have."""
    head = words(draw, 12)
    lengths = (1,) if few else (1, 2, 7, 30)
    return [
        *(Branch(words(draw, length), LABELS[: 2 + length % 3]) for length in lengths),
        *(Branch(head + words(draw, length), LABELS) for length in ((3, 9) if few else (1, 5, 5, 20))),
    ]


def picture(draw: random.Random, width: int, height: int) -> bytes:
    image = Image.frombytes("RGB", (width, height), draw.randbytes(width * height * 3))
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


def with_images(name: str, draw: random.Random, sizes: Sequence[tuple[int, int]]) -> Prefix:
    """Words, an image, words, an image ..."""
    tokenizer = loaded(name).tokenizer
    tokens, pictures = list(words(draw, 9)), []
    for number, (width, height) in enumerate(sizes):
        shown = tokenizer.image(width, height)
        assert shown
        at = len(tokens)
        pictures.append(Picture(at + 1, at + len(shown) - 1, f"d{number}", picture(draw, width, height)))
        tokens += [*shown, *words(draw, 6)]
    return Prefix(tuple(tokens), tuple(pictures))


@pytest.mark.parametrize("name", BACKENDS)
def test_a_pass_over_several_states_reads_each_branch_as_if_alone(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    prefixes = [Prefix(words(draw, length)) for length in (40, 7, 111)]
    states = [backend.encode(None, prefix, 0, len(prefix.tokens)) for prefix in prefixes]
    few = name == "smollm2"
    pairs = [(number, branch) for number in range(3) for branch in branches(draw, few)]
    draw.shuffle(pairs)
    found = backend.read([Row(states[number], branch) for number, branch in pairs])
    agree(found, [alone(name, prefixes[number], branch) for number, branch in pairs])


@pytest.mark.parametrize("name", BACKENDS)
def test_a_state_in_pieces_is_the_state(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    prefix = Prefix(words(draw, 150))
    state, done = None, 0
    for stop in (1, 2, 65, 130, 150):
        state, done = backend.encode(state, prefix, done, stop), stop
    some = branches(draw, name == "smollm2")
    agree(backend.read([Row(state, one) for one in some]), [alone(name, prefix, one) for one in some])


@pytest.mark.parametrize("name", BACKENDS)
def test_states_that_begin_alike_share_the_beginning_and_nothing_else(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    common = words(draw, 60)
    one, other = Prefix(common + words(draw, 30)), Prefix(common + words(draw, 45))
    first = backend.encode(None, one, 0, 90)
    halves = backend.split(first, 0, 60)
    if halves is None:
        beginning = backend.encode(None, one, 0, 60)
        again = backend.encode(beginning, one, 60, 90)
    else:
        beginning, again = halves
        assert backend.size(beginning) + backend.size(again) == backend.size(first)
    second = backend.encode(beginning, other, 60, 105)
    some = branches(draw, name == "smollm2")
    states = [(one, first), (one, again), (other, second), (Prefix(common), beginning)]
    found = backend.read([Row(state, branch) for _, state in states for branch in some])
    agree(found, [alone(name, prefix, branch) for prefix, _ in states for branch in some])


@pytest.mark.parametrize("name", BACKENDS)
def test_a_state_that_begins_with_its_branches_is_the_state_and_reads_them(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    prefix, stem = Prefix(words(draw, 90)), words(draw, 3)
    some = branches(draw, name == "smollm2")
    some += [Branch(stem + branch.tokens, branch.labels) for branch in some]
    for common in (some, some[len(some) // 2 :]):  # the latter have a stem
        wanted = [alone(name, prefix, branch) for branch in common]
        for parent, start in ((None, 0), (backend.encode(None, prefix, 0, 37), 37)):
            state, found = backend.begin(parent, prefix, start, 90, common)
            agree(found, wanted)
            agree(backend.read([Row(state, branch) for branch in common]), wanted)


@pytest.mark.parametrize("name", models.VISION)
def test_images_are_seen_as_the_model_itself_sees_them(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    prefixes = [
        with_images(name, draw, [(48, 32)]),
        with_images(name, draw, [(20, 70), (64, 64)]),
        Prefix(words(draw, 30)),
    ]
    states = [backend.encode(None, prefix, 0, len(prefix.tokens)) for prefix in prefixes]
    some = branches(draw)
    found = backend.read([Row(state, branch) for state in states for branch in some])
    agree(found, [alone(name, prefix, branch) for prefix in prefixes for branch in some])


@pytest.mark.parametrize("name", models.VISION)
def test_an_image_in_a_later_piece_and_a_state_split_after_one(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    prefix = with_images(name, draw, [(48, 32), (32, 48)])
    first, second = prefix.pictures
    state, done = None, 0
    for stop in (first.stop + 3, second.start - 1, len(prefix.tokens)):
        state, done = backend.encode(state, prefix, done, stop), stop
    some = branches(draw)
    wanted = [alone(name, prefix, branch) for branch in some]
    agree(backend.read([Row(state, branch) for branch in some]), wanted)
    whole = backend.encode(None, prefix, 0, len(prefix.tokens))
    if halves := backend.split(whole, 0, first.stop + 2):
        beginning, again = halves
        agree(backend.read([Row(again, branch) for branch in some]), wanted)
        rest = backend.encode(beginning, prefix, first.stop + 2, len(prefix.tokens))
        agree(backend.read([Row(rest, branch) for branch in some]), wanted)


@pytest.mark.parametrize("name", models.VISION)
def test_the_same_words_with_another_image_are_another_state(name: str) -> None:
    draw = random.Random(name)
    backend = loaded(name).backend
    one = with_images(name, draw, [(48, 32)])
    (seen,) = one.pictures
    other = Prefix(one.tokens, (Picture(seen.start, seen.stop, "other", picture(draw, 48, 32)),))
    states = [backend.encode(None, prefix, 0, len(prefix.tokens)) for prefix in (one, other)]
    branch = branches(draw)[-1]
    found = backend.read([Row(state, branch) for state in states])
    agree(found, [alone(name, prefix, branch) for prefix in (one, other)])
    assert found[0].logits != pytest.approx(found[1].logits, abs=1e-3)


@pytest.mark.parametrize("name", models.FAMILIES)
def test_shapes_rounded_up_change_nothing(name: str) -> None:
    """As Metal needs them, on this device."""
    draw = random.Random(name)
    exact = loaded(name).backend
    if isinstance(exact, Flat):
        rounded: Any = Flat(exact._decoder, exact._device, exact.budget, exact._sight, bucket=32)
    else:
        assert isinstance(exact, Rows)
        rounded = Rows(exact._text, exact._head, exact._device, exact.budget, exact._sight, bucket=32)
    prefixes = [Prefix(words(draw, 45)), Prefix(words(draw, 9))]
    if name in models.VISION:
        prefixes.append(with_images(name, draw, [(48, 32)]))
    some = branches(draw)
    rows = []
    for prefix in prefixes:
        middle = 5
        state = rounded.encode(rounded.encode(None, prefix, 0, middle), prefix, middle, len(prefix.tokens))
        rows += [Row(state, branch) for branch in some]
        state, found = rounded.begin(None, prefix, 0, len(prefix.tokens), some)
        agree(found, [alone(name, prefix, branch) for branch in some])
        rows += [Row(state, branch) for branch in some]
    agree(rounded.read(rows), [alone(name, prefix, branch) for prefix in prefixes for _ in "ab" for branch in some])


@pytest.mark.parametrize("device", ["cuda", "mps"])
@pytest.mark.parametrize("name", models.FAMILIES)
def test_other_devices_agree_with_the_reference(name: str, device: str) -> None:
    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not there[device]:
        pytest.skip(f"NOT RUN: the engine on {device}: this machine has none")
    draw = random.Random(name)
    backend = loaded(name, device).backend
    prefix = Prefix(words(draw, 80))
    state = backend.encode(None, prefix, 0, 80)
    some = branches(draw)
    found = backend.read([Row(state, branch) for branch in some])
    for one, branch in zip(found, some, strict=True):
        assert one.logits == pytest.approx(alone(name, prefix, branch).logits, abs=1e-3)


def test_a_precision_is_chosen_with_a_reason() -> None:
    precision, why = devices.precision("cpu", None)
    assert precision in ("float32", "bfloat16")
    assert why
    assert devices.precision("cpu", "float16") == ("float16", "as asked for")
