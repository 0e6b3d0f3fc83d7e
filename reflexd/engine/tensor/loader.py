"""From files to a backend that is warm: what the engine is made of. Opens no network connection."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import Any

import torch
from msgspec import Struct

from reflexd.engine.errors import ModelError
from reflexd.engine.tensor import devices, files, gguf
from reflexd.engine.tensor.families import Family, family
from reflexd.engine.tensor.flat import Flat
from reflexd.engine.tensor.rows import Rows
from reflexd.engine.tensor.tokenizer import ModelTokenizer
from reflexd.engine.tensor.vision import Sight
from reflexd.engine.tensor.weights import gathered
from reflexd.engine.values import Backend, Branch, OutOfMemory, PassFailed, Prefix, Row
from reflexd.types import Device, EngineInfo, Precision

log = logging.getLogger("reflexd.engine")

WARM_STATE, WARM_BRANCHES, WARM_TOKENS = 64, 4, 32


class Loaded(Struct, frozen=True):
    """`info` lacks what the prompt and the settings add."""

    backend: Backend[Any]
    tokenizer: ModelTokenizer
    info: EngineInfo
    state_budget: int


def load(
    model: str, wanted: Device | None, precision: Precision | None, adapter: str | None, require_fast: bool
) -> Loaded:
    """Raises ModelError. Logs one line: what was loaded, onto what, and which kernels run."""
    os.environ["HF_HUB_OFFLINE"] = "1"  # whatever a library might look for, it looks here
    source = files.found(model)
    directory = gguf.converted(source) if source.is_file() else source
    settings = files.config(directory)
    kind = family(settings["model_type"])
    weights = files.weights(directory)
    on = devices.device(wanted)
    device = torch.device(on)
    dtype, why = devices.precision(on, precision)
    fast, is_fast = devices.kernels(on, kind.kind == "rows")
    if require_fast and not is_fast:
        raise ModelError(f"not all fast kernels are there ({fast})", "install flash-linear-attention and causal-conv1d")
    devices.threads(on)
    network = _network(kind, directory, dtype, adapter).to(device)
    processor = _processor(directory) if kind.vision else None
    backend = _backend(kind, network, device, processor)
    tokenizer = ModelTokenizer(directory, _grid(processor, network) if processor else None)
    text = network.config.get_text_config()
    if tokenizer.vocabulary > text.vocab_size:
        raise ModelError(f"{directory}: the tokenizer has more tokens than the model", "they do not belong together")
    _warm(backend, min(text.vocab_size, 1000))
    info = EngineInfo(
        model=source.stem if source.is_file() else _name(model, directory),
        revision=files.revision(directory, weights) + (f"+{Path(adapter).name}" if adapter else ""),
        family=settings["model_type"],
        device=on,
        precision=dtype,
        strategy="packed" if kind.kind == "flat" else "batched",
        prompt="",
        orders=0,
        confidence="entropy",
        vision=processor is not None,
        context=int(text.max_position_embeddings),
        kernels=fast,
    )
    log.info("%s on %s in %s (%s); %s", info.model, on, dtype, why, fast)
    return Loaded(backend, tokenizer, info, devices.state_budget(on))


def _name(model: str, directory: Path) -> str:
    return model if directory.parent.name == "snapshots" else directory.name


def _network(kind: Family, directory: Path, precision: Precision, adapter: str | None) -> Any:
    from transformers.utils import logging as noise

    noise.disable_progress_bar()
    noise.set_verbosity_error()
    dtype = devices.DTYPES[precision]
    try:
        network = kind.load().from_pretrained(
            directory, dtype=dtype, attn_implementation="sdpa", local_files_only=True, use_safetensors=True
        )
    except Exception as e:  # anything may be wrong with a stranger's files
        raise ModelError(f"{directory} cannot be loaded: {type(e).__name__}: {str(e).splitlines()[0][:300]}") from e
    if adapter is not None:
        network = _merged(network, Path(adapter))
    return network.eval().requires_grad_(False)


def _merged(network: Any, adapter: Path) -> Any:
    if not (adapter / "adapter_model.safetensors").is_file():
        raise ModelError(f"{adapter} has no adapter_model.safetensors", "give the directory of a PEFT adapter")
    from peft import PeftModel

    try:
        return PeftModel.from_pretrained(network, str(adapter), local_files_only=True).merge_and_unload(safe_merge=True)
    except Exception as e:  # as above
        raise ModelError(
            f"the adapter {adapter} does not fit: {type(e).__name__}: {str(e).splitlines()[0][:300]}"
        ) from e


def _backend(kind: Family, network: Any, device: torch.device, processor: Any) -> Backend[Any]:
    on: Device = device.type  # type: ignore[assignment]
    text = network.model.language_model if kind.vision else network.model
    sight = Sight(network.model, processor, device) if processor else None
    budget, bucket = devices.BUDGETS[on], devices.BUCKETS[on]
    if kind.kind == "flat":
        return Flat(gathered(text, network.lm_head), device, budget, sight, bucket)
    if on == "mps":
        from reflexd.engine.tensor import delta

        delta.replace_solve()
    return Rows(text, network.lm_head, device, budget, sight, bucket)


def _processor(directory: Path) -> Any:
    """The image processor that needs no torchvision. Raises ModelError where the model says nothing of images."""
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

    try:
        return Qwen2VLImageProcessorPil.from_pretrained(directory, local_files_only=True)
    except Exception as e:  # as above
        raise ModelError(f"{directory}: no image processor: {type(e).__name__}: {e}") from e


def _grid(processor: Any, network: Any) -> Any:
    from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

    merge, patch = processor.merge_size, processor.patch_size
    size = processor.size

    def grid(width: int, height: int) -> tuple[int, int]:
        """As `smart_resize` of transformers rounds it. Raises ValueError for extreme shapes."""
        rows, columns = smart_resize(
            height,
            width,
            factor=patch * merge,
            min_pixels=size["shortest_edge"],
            max_pixels=size["longest_edge"],
        )
        return rows // (patch * merge), columns // (patch * merge)

    return grid


def _warm(backend: Backend[Any], vocabulary: int) -> None:
    """A pass of each kind, so that nobody's request pays for what the first one sets up."""
    prefix = Prefix(tuple(place % vocabulary for place in range(WARM_STATE)))
    try:
        state = backend.encode(None, prefix, 0, WARM_STATE)
        branch = [
            Branch(tuple((place + row) % vocabulary for place in range(WARM_TOKENS)), (1, 2))
            for row in range(WARM_BRANCHES)
        ]
        backend.read([Row(state, one) for one in branch])
    except OutOfMemory:
        raise ModelError("the device has no room left for a pass beside the weights") from None
    except PassFailed as e:
        raise ModelError(f"the model cannot be run: {e}") from e
