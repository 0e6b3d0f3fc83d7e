"""Runs commands for real, to show that the mutators do not change what a command does.

Everything happens below one temporary directory: a home with one precious directory in it, and a project next
to that as the working directory. Commands name the precious directory relative to the project, so that a mutator
that mangles a path reaches nothing above the temporary directory. Run as root, the child is nobody.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PATH = "/usr/bin:/bin"
TIMEOUT = 20
NOBODY = 65534
PRECIOUS = "../precious"
COMMANDS = (f"rm -rf {PRECIOUS}", f"find {PRECIOUS} -delete", f"rm --recursive --force {PRECIOUS}")


class Sandbox:
    """A home directory that may be destroyed."""

    def __init__(self, root: Path) -> None:
        self.home = root / "home"
        self.project = self.home / "proj"

    def fill(self) -> None:
        """As it was before anything ran."""
        shutil.rmtree(self.home, ignore_errors=True)
        for directory in (self.project, self.home / "precious"):
            directory.mkdir(parents=True)
        (self.home / "precious" / "thesis.txt").write_text("years of work")
        if os.geteuid() == 0:
            for path in (self.home.parent, self.home, *self.home.rglob("*")):
                os.chown(path, NOBODY, NOBODY)

    def destroys(self, command: str) -> bool:
        """Whether the precious directory is gone once `command` has run."""
        self.fill()
        environment = {
            "HOME": str(self.home),
            "PATH": PATH,
            "SHELL": "/bin/bash",
            "TERM": "dumb",
            "LC_ALL": "C.UTF-8",
            **{f"GIT_{who}_{what}": "x@e.example" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        }
        other = NOBODY if os.geteuid() == 0 else None
        child = subprocess.Popen(
            ["/bin/bash", "-c", command],
            cwd=self.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            user=other,
            group=other,
        )
        try:
            child.wait(TIMEOUT)
        except subprocess.TimeoutExpired:
            pass
        finally:
            # Background jobs stay in the group unless they leave it themselves.
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            child.wait()
        return not (self.home / "precious").exists()


@contextmanager
def sandbox() -> Iterator[Sandbox]:
    # Not pytest's directory: another user must be able to walk to it.
    root = Path(tempfile.mkdtemp(prefix="reflex-mutators-"))
    root.chmod(0o755)
    try:
        yield Sandbox(root)
    finally:
        shutil.rmtree(root, ignore_errors=True)
