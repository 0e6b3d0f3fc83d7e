"""Guards around the whole suite: the real home stays as it is, and nothing blocks an event loop of ours."""

from __future__ import annotations

import os
import pwd
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from blockbuster import BlockBuster, blockbuster_ctx
from hypothesis import settings

# The same examples every time and no time limit, so that a commit passes or fails for good; bench/fuzz.py looks for new
# ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.load_profile("steady")

REAL_HOME = pwd.getpwuid(os.geteuid()).pw_dir
GUARDED = (
    ".config/reflex",
    ".local/state/reflex",
    ".local/share/reflex",
    ".claude",
    ".claude.json",
    ".codex",
    ".config/opencode",
    ".pi",
    ".hermes",
)
# Blocking on purpose: a verdict waits for its row to reach the kernel, and for what /proc says of its caller.
# Both take microseconds; whatever waits for a disk is in a lane.
MAY_BLOCK = (
    ("reflexd/daemon/journal.py", {"append", "_open", "_write", "_moved", "synced"}),
    ("reflexd/daemon/peers.py", {"_namespaces", "environment"}),
    ("reflexd/daemon/surroundings.py", {"_hook_files"}),
)


TESTS = Path(__file__).parent
PURE = ("core", "shell", "guard", "gate", "engine", "examples")
"""Tests of what only computes: whoever runs them, they see the same, unless they lay out files or run programs."""
ON_THE_DISK = frozenset({"test_packages", "test_sandbox", "test_words", "test_crash", "test_fuzz"})
APART = frozenset({"process", "http"})
"""Directories of tests with sockets and processes, whatever is above them."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        below = item.path.relative_to(TESTS).parts
        computes = below[0] in PURE and item.path.stem not in ON_THE_DISK
        if computes and not APART.intersection(below):
            item.add_marker("pure")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root")


@pytest.fixture(autouse=True)
def real_home_untouched() -> Iterator[None]:
    before = _look()
    yield
    after = _look()
    assert after == before, f"the test changed the real home: {sorted(set(before.items()) ^ set(after.items()))}"


@pytest.fixture(autouse=True)
def nothing_blocks() -> Iterator[BlockBuster]:
    with blockbuster_ctx("reflexd") as guard:
        let_block(guard)
        yield guard


@pytest.fixture
def short_home(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A home of the test's own with a path short enough for sockets below it; $HOME leads there."""
    home = os.path.realpath(tempfile.mkdtemp(prefix="rx", dir="/tmp"))
    monkeypatch.setenv("HOME", home)
    yield home
    shutil.rmtree(home, ignore_errors=True)


def let_block(guard: BlockBuster) -> None:
    for function in guard.functions.values():
        for file, names in MAY_BLOCK:
            function.can_block_in(file, names)


def _look() -> dict[str, tuple[int, int]]:
    found: dict[str, tuple[int, int]] = {}
    for name in GUARDED:
        try:
            seen = os.lstat(os.path.join(REAL_HOME, name))
        except OSError:
            continue
        found[name] = (seen.st_ino, seen.st_mtime_ns)
    return found
