"""A throwaway home with a repository in it, and the marker files that calls leave beside it."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from msgspec import Struct

RUN_LIMIT_S = 170


class World(Struct, frozen=True):
    """`base` is short because sockets live below it (103 bytes at most)."""

    base: str

    @property
    def home(self) -> str:
        return os.path.join(self.base, "home")

    @property
    def repository(self) -> str:
        return os.path.join(self.home, "repo")

    @property
    def precious(self) -> str:
        """The file that is gone if the home was wiped."""
        return os.path.join(self.home, "precious")

    def mark(self, name: str) -> str:
        return os.path.join(self.repository, "marks", name)

    def marked(self, name: str) -> bool:
        return os.path.exists(self.mark(name))

    def write(self, path: str, text: str) -> str:
        """Write a file below the home, with its directories."""
        whole = os.path.join(self.home, path)
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        with open(whole, "w", encoding="utf-8") as f:
            f.write(text)
        return whole

    def environment(self, extra: Mapping[str, str]) -> dict[str, str]:
        """All that a process in this world sees: nothing of the test's own environment but PATH."""
        base = {"HOME": self.home, "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "TERM": "dumb"}
        return {**base, "TMPDIR": os.path.join(self.base, "tmp"), **extra}


class Finished(Struct, frozen=True):
    """How an agent's process ended; `code` is None where it ran past its limit and was killed."""

    code: int | None
    output: str


@contextmanager
def new_world() -> Iterator[World]:
    world = World(tempfile.mkdtemp(prefix="rfx", dir="/tmp"))
    try:
        for path in (world.home, world.mark(""), os.path.join(world.base, "tmp"), world.repository):
            os.makedirs(path, exist_ok=True)
        world.write("precious", "x\n")
        world.write("repo/readme.txt", "hello\n")
        git = {**world.environment({}), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", "init", "-q", "-b", "trunk", world.repository], env=git, check=True)
        yield world
    finally:
        shutil.rmtree(world.base, ignore_errors=True)


def run(argv: list[str], cwd: str, env: Mapping[str, str], limit_s: float = RUN_LIMIT_S) -> Finished:
    """Run a program without standard input; it and all that it started are gone afterwards."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            argv, cwd=cwd, env=dict(env), stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True
        )
        code: int | None
        try:
            code = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            code = None
        finally:
            _kill_group(process.pid)
            process.wait()
        output.seek(0)
        return Finished(code, output.read().decode("utf-8", "replace"))


def _kill_group(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, 9)
