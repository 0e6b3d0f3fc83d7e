"""What the engine's process is started with: its command line, its environment, its log, the key of its HTTP face."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import Struct

import reflexd
from reflexd import paths
from reflexd.settings import EngineSettings

LOG_MAX = 4 << 20
PASSED = (
    "HOME",
    "PATH",
    "LANG",
    "LC_ALL",
    "TMPDIR",
    "HF_HOME",
    "HF_HUB_CACHE",
    "CUDA_VISIBLE_DEVICES",
    "LD_LIBRARY_PATH",
)


class Launch(Struct, frozen=True):
    command: tuple[str, ...]
    env: dict[str, str]
    cwd: str
    log: int


def prepare(
    base: str, settings: EngineSettings, link: int, http: Sequence[int], stand_in: float | None = None
) -> Launch:
    """`link` and `http` are descriptors to be inherited. The caller closes `log`. Blocks; raises OSError.

    `stand_in`: seconds that a pass takes of a backend without a model, for tests of all that is around one.
    """
    key = _key(paths.systemone_key(base)) if settings.port else ""
    start: dict[str, Any] = {"link": link, "settings": settings, "http": list(http), "key": key, "parent": os.getpid()}
    start["stand_in"] = stand_in
    given = msgspec.json.encode(start).decode()
    root = os.path.dirname(os.path.dirname(os.path.abspath(reflexd.__file__)))
    # Appended, as for the daemon: from a checkout that is not installed nothing else leads to it.
    code = (
        f"import sys; sys.path.append({root!r}); from reflexd.engine.process import main; sys.exit(main(sys.argv[1:]))"
    )
    env = {name: os.environ[name] for name in PASSED if name in os.environ} | {"HOME": base, "HF_HUB_OFFLINE": "1"}
    return Launch((sys.executable, "-I", "-c", code, given), env, paths.state_dir(base), _log(paths.engine_log(base)))


def _log(path: str) -> int:
    with contextlib.suppress(OSError):
        if os.path.getsize(path) > LOG_MAX:
            os.replace(path, path + ".old")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _key(path: str) -> str:
    with contextlib.suppress(FileExistsError):
        fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with open(fd, "w", encoding="ascii") as file:
            file.write(secrets.token_urlsafe(32) + "\n")
    return path
