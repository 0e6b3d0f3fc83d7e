"""The one thing of reflex that downloads a model.

What is fetched is shown with its size first; a broken connection is taken up where it ended when it is run
again; only what is whole and looks like a model is reported.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import sys
from pathlib import Path

import msgspec
from msgspec import Struct

from reflexd.engine.tensor import files
from reflexd.engine.tensor.families import family
from reflexd.errors import ReflexError

PATTERNS = ("*.safetensors", "*.json", "*.jinja", "*.txt", "tokenizer.model", "LICENSE*")
"""Never a pickle, never code."""
SPARE = 512 << 20
AGAIN = "run it again: it goes on where it ended"


class Wanted(Struct, frozen=True, forbid_unknown_fields=True):
    model: str
    revision: str | None = None


class Pulled(Struct, frozen=True):
    model: str
    revision: str
    path: str
    bytes: int


def pull(wanted: Wanted) -> Pulled:
    """Raises ReflexError. Progress goes to stderr."""
    from huggingface_hub import HfApi, constants, snapshot_download
    from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, HFValidationError, RepositoryNotFoundError

    try:
        found = HfApi().model_info(wanted.model, revision=wanted.revision, files_metadata=True)
        wanted_files = [
            file for file in found.siblings or () if any(fnmatch.fnmatch(file.rfilename, one) for one in PATTERNS)
        ]
        if not any(file.rfilename.endswith(".safetensors") for file in wanted_files):
            raise ReflexError(f"{wanted.model} has no safetensors", "weights in other formats are not loaded")
        total = sum(file.size or 0 for file in wanted_files)
        for file in wanted_files:
            print(f"reflexctl: {_size(file.size or 0):>10}  {file.rfilename}", file=sys.stderr)
        print(f"reflexctl: {_size(total):>10}  in all, revision {found.sha}", file=sys.stderr)
        free = shutil.disk_usage(_existing(Path(constants.HF_HUB_CACHE))).free
        if total + SPARE > free:
            raise ReflexError(f"{_size(total)} are to be fetched, and the disk has {_size(free)} left")
        path = Path(snapshot_download(wanted.model, revision=wanted.revision, allow_patterns=list(PATTERNS)))
    except GatedRepoError as e:
        raise ReflexError(
            f"{wanted.model} is given out on request only", "accept its terms, then log in: hf auth login"
        ) from e
    except (RepositoryNotFoundError, HFValidationError) as e:
        raise ReflexError(f"there is no model {wanted.model} on the hub", "ids look like OWNER/NAME") from e
    except HfHubHTTPError as e:
        raise ReflexError(f"the hub refused: {str(e).splitlines()[0]}") from e
    except OSError as e:
        raise ReflexError(f"{wanted.model} could not be fetched: {e.strerror or e}", AGAIN) from e
    except ReflexError:
        raise
    except Exception as e:  # of whichever HTTP library the hub's client uses
        raise ReflexError(f"the hub cannot be reached: {str(e).splitlines()[0] or type(e).__name__}", AGAIN) from e
    family(files.config(path)["model_type"])
    files.weights(path)
    return Pulled(wanted.model, found.sha or "", str(path), total)


def _existing(path: Path) -> Path:
    return path if path.exists() else _existing(path.parent)


def _size(count: int) -> str:
    value = float(count)
    for unit in ("B", "KiB", "MiB"):
        if value < 1024:
            return f"{value:.0f} {unit}"
        value /= 1024
    return f"{value:.1f} GiB"


def main(argv: list[str]) -> int:
    os.environ.pop("HF_HUB_OFFLINE", None)
    try:
        done = pull(msgspec.json.decode(argv[0].encode(), type=Wanted))
    except ReflexError as e:
        print(f"reflexctl: error: {e.message}", file=sys.stderr)
        if e.hint:
            print(f"reflexctl: hint: {e.hint}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("reflexctl: interrupted; run it again to go on", file=sys.stderr)
        return 130
    print(msgspec.json.encode(done).decode())
    return 0
