"""GGUF files: dequantised once by transformers, kept as safetensors, and loaded from there ever after."""

from __future__ import annotations

import hashlib
import logging
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

from reflexd.engine.errors import ModelError

log = logging.getLogger("reflexd.engine")

FORMAT = 1
"""Counts up when what a conversion writes changes."""


def cache() -> Path:
    return Path(os.environ.get("REFLEX_CACHE") or Path.home() / ".cache" / "reflex") / "converted"


def converted(file: Path, kept: Path | None = None) -> Path:
    """The directory with the safetensors of a GGUF file, made in `kept` (the cache) if it is not there yet.

    Making it takes a minute for every billion weights or so. What is half written is never taken for a model.
    Raises ModelError.
    """
    kept = kept or cache()
    out = kept / f"{file.stem}-{_digest(file)}-{FORMAT}"
    if (out / "config.json").exists():
        return out
    log.info("converting %s to safetensors, once", file.name)
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(prefix="making-", dir=kept))
    try:
        _convert(file, making)
        os.replace(making, out)
    except OSError as e:
        if (out / "config.json").exists():  # another process was first
            return out
        raise ModelError(f"{file.name} could not be converted into {kept}: {e.strerror or e}") from e
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return out


def described(file: Path) -> tuple[str, int, int]:
    """Architecture, parameters and hidden size, from the metadata alone. Raises ModelError."""
    from gguf import GGUFReader

    try:
        reader: Any = GGUFReader(file)
        kind = reader.fields["general.architecture"].contents()
        hidden = int(reader.fields[f"{kind}.embedding_length"].contents())
        return kind, sum(int(tensor.n_elements) for tensor in reader.tensors), hidden
    except Exception as e:  # what the reader of a broken file raises is anybody's guess
        raise ModelError(f"{file} is no GGUF file: {e}") from e


def _digest(file: Path) -> str:
    """Of name, size and both ends: the whole of a large file would take longer than loading it."""
    size = file.stat().st_size
    with file.open("rb") as opened:
        digest = hashlib.sha256(f"{size}:".encode() + opened.read(4 << 20))
        opened.seek(max(0, size - (4 << 20)))
        digest.update(opened.read())
    return digest.hexdigest()[:16]


def _convert(file: Path, out: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging as noise

    noise.disable_progress_bar()
    where: dict[str, Any] = {"gguf_file": file.name, "local_files_only": True}
    try:
        tokenizer = AutoTokenizer.from_pretrained(file.parent, **where)
        model = AutoModelForCausalLM.from_pretrained(file.parent, dtype=torch.float32, **where)
    except OSError:
        raise
    except Exception as e:  # what the reader of a broken file raises is anybody's guess
        raise ModelError(f"{file} cannot be read as GGUF: {type(e).__name__}: {e}") from e
    settings = {key: value for key, value in model.config.to_dict().items() if key != "quantization_config"}
    # A model that was loaded from GGUF counts as quantised and refuses to be saved; its plain twin does not.
    plain = type(model)(type(model.config)(**settings))
    plain.load_state_dict(model.state_dict())
    plain.save_pretrained(out)
    tokenizer.save_pretrained(out)
