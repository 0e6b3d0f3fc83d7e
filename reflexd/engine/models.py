"""Which models are on this machine: the user's own directory, the hub's cache. No torch, nothing loaded."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

import reflexd
from reflexd import paths


def command(module: str, *arguments: str) -> list[str]:
    """The command line of a module of ours in a process of its own. Nothing in the current directory is imported."""
    root = os.path.dirname(os.path.dirname(os.path.abspath(reflexd.__file__)))
    code = f"import sys; sys.path.append({root!r}); from {module} import main; sys.exit(main(sys.argv[1:]))"
    return [sys.executable, "-I", "-c", code, *arguments]


LIBRARIES = ("torch", "transformers", "safetensors", "starlette", "uvicorn", "python_multipart", "zstandard")
"""What the extra `engine` brings and cannot do without."""


class Model(Struct, frozen=True):
    """`name` is what `model use` and `serve` take."""

    name: str
    family: str
    bytes: int
    path: str


def models(base: str) -> list[Model]:
    """In the order of their names; what is broken is left out."""
    return sorted((*_own(Path(paths.models_dir(base))), *_cached(_hub_cache(base))), key=lambda model: model.name)


def _own(directory: Path) -> Iterator[Model]:
    if not directory.is_dir():
        return
    for path in directory.iterdir():
        if path.suffix == ".gguf" and path.is_file():
            yield Model(str(path), "gguf", path.stat().st_size, str(path))
        elif (family := _family(path)) and (size := _weight(path)):
            yield Model(str(path), family, size, str(path))


def _cached(cache: Path) -> Iterator[Model]:
    """The hub's cache: models--OWNER--NAME/snapshots/COMMIT, the current commit's name in refs/main."""
    for directory in cache.glob("models--*--*"):
        try:
            commit = (directory / "refs" / "main").read_text("ascii").strip()
        except (OSError, ValueError):
            continue
        snapshot = directory / "snapshots" / commit
        if (family := _family(snapshot)) and _weight(snapshot):
            yield Model(
                directory.name.removeprefix("models--").replace("--", "/", 1), family, _weight(snapshot), str(snapshot)
            )


def _hub_cache(base: str) -> Path:
    """As huggingface_hub finds it."""
    if named := os.environ.get("HF_HUB_CACHE"):
        return Path(named)
    home = os.environ.get("HF_HOME") or os.path.join(
        os.environ.get("XDG_CACHE_HOME") or os.path.join(base, ".cache"), "huggingface"
    )
    return Path(home) / "hub"


def _family(path: Path) -> str:
    try:
        found = json.loads((path / "config.json").read_text("utf-8"))
        return str(found["model_type"])
    except (OSError, ValueError, LookupError, TypeError):
        return ""


def _weight(path: Path) -> int:
    """Bytes of the weights; 0 where some that the index names are missing."""
    try:
        index = path / "model.safetensors.index.json"
        if index.exists():
            named = json.loads(index.read_text("utf-8"))["weight_map"].values()
            if not all((path / name).exists() for name in named):
                return 0
        return sum(file.stat().st_size for file in path.glob("*.safetensors") if file.exists())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return 0
