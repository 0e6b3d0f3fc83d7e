"""A model's files: found, and looked at before anything is loaded from them.

Only safetensors are read: a pickle can run code. Nothing is downloaded here; `reflexctl model pull` does that.
"""

from __future__ import annotations

import hashlib
import json
import struct
from pathlib import Path
from typing import Any

from reflexd.engine.errors import ModelError

HEADER_MAX = 100 << 20
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


def found(model: str) -> Path:
    """The directory (or GGUF file) of `model`: a path, or a hub id that is in the cache. Raises ModelError."""
    path = Path(model).expanduser()
    if path.is_dir() or path.is_file():
        return path.resolve()
    if model.endswith(".gguf") or model.startswith(("/", ".", "~")) or model.count("/") != 1:
        raise ModelError(f"there is no model at {model}", "give a directory, a .gguf file, or a hub id that was pulled")
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(model, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError) as e:
        raise ModelError(f"{model} is not on this machine", f"reflexctl model pull {model}") from e


def config(directory: Path) -> dict[str, Any]:
    """config.json. Raises ModelError."""
    file = directory / "config.json"
    try:
        settings = json.loads(file.read_text("utf-8"))
    except FileNotFoundError:
        raise ModelError(f"{file} is not there", "this directory holds no model") from None
    except (OSError, ValueError) as e:
        raise ModelError(f"{file} cannot be read: {e}") from e
    if not isinstance(settings, dict) or not isinstance(settings.get("model_type"), str):
        raise ModelError(f"{file} does not say what model this is (model_type)")
    if settings.get("auto_map"):
        raise ModelError(f"{directory} brings code of its own", "models with remote code are not loaded")
    return settings


def weights(directory: Path) -> list[Path]:
    """The safetensors files, each with a header that fits its length. Raises ModelError."""
    files = sorted(directory.glob("*.safetensors"))
    if not files:
        pickles = [file.name for file in directory.iterdir() if file.suffix in PICKLES]
        if pickles:
            raise ModelError(
                f"{directory} has weights as {pickles[0]} only, which can run code when it is read",
                "use a model with safetensors",
            )
        raise ModelError(f"{directory} has no weights (*.safetensors)")
    index = directory / "model.safetensors.index.json"
    if index.exists():
        try:
            named = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        except (OSError, ValueError, KeyError, AttributeError) as e:
            raise ModelError(f"{index} cannot be read: {e}") from e
        if missing := sorted(named - {file.name for file in files}):
            raise ModelError(f"{directory} misses {', '.join(missing)}", "pull the model again")
    for file in files:
        header(file)
    return files


def header(file: Path) -> dict[str, Any]:
    """The header of a safetensors file (8 bytes of length, JSON, then the tensors). Raises ModelError."""
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            head = opened.read(8)
            length = struct.unpack("<Q", head)[0] if len(head) == 8 else HEADER_MAX
            if length >= min(size, HEADER_MAX):
                raise ModelError(f"{file} is cut short or no safetensors file", "pull the model again")
            names = json.loads(opened.read(length))
        ends = [entry["data_offsets"][1] for name, entry in names.items() if name != "__metadata__"]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as e:
        raise ModelError(f"{file} is no safetensors file: {e}", "pull the model again") from e
    if 8 + length + max(ends, default=0) != size:
        raise ModelError(f"{file} is not as long as its header says", "pull the model again")
    return names  # type: ignore[no-any-return]


def revision(directory: Path, files: list[Path]) -> str:
    """What the weights are: the commit of a hub snapshot, else a digest of the headers and the files' sizes.

    The headers alone would take a fine-tune for its base, so each tensor file's first and last MiB count too.
    """
    if directory.parent.name == "snapshots":
        return directory.name
    digest = hashlib.sha256((directory / "config.json").read_bytes())
    for file in files:
        size = file.stat().st_size
        with file.open("rb") as opened:
            digest.update(f"{file.name}:{size}:".encode() + opened.read(1 << 20))
            opened.seek(max(0, size - (1 << 20)))
            digest.update(opened.read())
    return digest.hexdigest()[:16]
