"""Real repositories, made by the real git in a home of the test's own."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

GIT = shutil.which("git") or "/usr/bin/git"


class World:
    """A home, a clone `work` in it, and git as a user with that home would run it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.work = root / "home" / "work"
        self.work.mkdir(parents=True)
        self.env = {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_AUTHOR_NAME": "a",
            "GIT_AUTHOR_EMAIL": "a@example.com",
            "GIT_COMMITTER_NAME": "a",
            "GIT_COMMITTER_EMAIL": "a@example.com",
        }

    def run(
        self, *words: str | bytes, cwd: Path | None = None, stdin: bytes = b"", **env: str
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [GIT, *words], cwd=cwd or self.work, env=self.env | env, input=stdin, capture_output=True, timeout=30
        )

    def git(self, *words: str, cwd: Path | None = None, **env: str) -> str:
        done = self.run(*words, cwd=cwd, **env)
        assert done.returncode == 0, done.stderr.decode()
        return os.fsdecode(done.stdout)

    def clone(self, **files: str) -> Path:
        """`work` as a repository with these files committed; a name's `__` is a slash, its `_dot_` a dot."""
        self.git("init", "-q", "-b", "main")
        for name, text in files.items():
            self.write(name.replace("__", "/").replace("_dot_", "."), text)
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        return self.work

    def write(self, name: str, text: str | bytes = "") -> Path:
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path


@pytest.fixture
def world() -> Iterator[World]:
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="sight")))
    yield World(root)
    for path, names, _ in os.walk(root):  # what a test has closed could not be taken away
        for name in names:
            if not os.path.islink(os.path.join(path, name)):
                os.chmod(os.path.join(path, name), 0o700)
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def lasting_world() -> Iterator[World]:
    """One for many examples of a property."""
    root = Path(os.path.realpath(tempfile.mkdtemp(prefix="sight")))
    yield World(root)
    shutil.rmtree(root, ignore_errors=True)
