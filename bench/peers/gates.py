"""Three gates behind one call: ours in this process, nah and cc-safety-net each in a process of its own.

A peer sees the same command with its own home in the place of the case's, and lives in a project that is a
git repository: both look at the disk.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from reflexd.control import CheckRequest
from reflexd.core.policy import shipped
from reflexd.ctl import local
from reflexd.types import Decision

from ..processes import agents_dir, peer_gap

NAH_VERSION = "0.11.0"
PATIENCE_S = 60.0
HERE = Path(__file__).parent


class Check(Struct, frozen=True):
    """What one gate says to one call, and how long that took in its own process."""

    decision: Decision
    seconds: float


Gate = Callable[[CheckRequest], Check]


class Slow(Exception):
    """The peer gave no answer in PATIENCE_S, or ended."""


class Peer(Struct, frozen=True):
    """One that can be asked: its worker's command line, its hook's, and the home it lives in."""

    name: str
    worker: tuple[str, ...]
    hook: tuple[str, ...]
    home: str

    def environment(self) -> dict[str, str]:
        return {"HOME": self.home, "PATH": os.environ.get("PATH", os.defpath), "LANG": "C.UTF-8"}

    def moved(self, text: str, home: str) -> str:
        """`text` of a call that was made in `home`."""
        return text.replace(home, self.home) if home else text

    def directory(self, request: CheckRequest) -> str:
        """Where the call is made, if the peer can be there; else its project."""
        moved = self.moved(request.cwd, request.home)
        return moved if os.path.isdir(moved) else os.path.join(self.home, "proj")


def ours() -> Gate:
    """The daemon's whole way from the payload to the verdict."""
    judge = local.as_labelled(shipped())

    def check(request: CheckRequest) -> Check:
        since = time.perf_counter()
        verdict = judge(request).verdict
        return Check(verdict.decision, time.perf_counter() - since)

    return check


@contextlib.contextmanager
def running(peer: Peer) -> Iterator[Gate]:
    process = subprocess.Popen(
        peer.worker,
        env=peer.environment(),
        cwd=os.path.join(peer.home, "proj"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    to, back = process.stdin, process.stdout

    def check(request: CheckRequest) -> Check:
        command = peer.moved(request.command or "", request.home)
        try:
            to.write(json.dumps({"command": command, "cwd": peer.directory(request)}) + "\n")
            to.flush()
            answered = bool(select.select([back], [], [], PATIENCE_S)[0])
            answer = json.loads(back.readline()) if answered else None
        except (OSError, ValueError) as e:
            raise Slow(f"{peer.name} ended") from e
        if answer is None:
            raise Slow(f"{peer.name} said nothing for {PATIENCE_S:.0f} s")
        return Check(Decision(answer["decision"]), answer["seconds"])

    try:
        yield check
    finally:
        process.kill()
        process.wait()


@contextlib.contextmanager
def homes() -> Iterator[str]:
    """A directory for the peers' homes; not below /tmp, which gates have rules of their own for."""
    base = tempfile.mkdtemp(prefix="reflex-bench-", dir="/var/tmp")
    try:
        yield base
    finally:
        shutil.rmtree(base, ignore_errors=True)


def nah(venv: str, base: str) -> Peer | str:
    """nah from a virtual environment, made (in `base`) where none is named; or why there is none."""
    if not venv:
        venv = os.path.join(base, "nah-venv")
        made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, check=False)
        pip = [os.path.join(venv, "bin", "python"), "-m", "pip", "install", "-q", f"nah=={NAH_VERSION}"]
        if made.returncode or subprocess.run(pip, capture_output=True, check=False).returncode:
            return f"nah {NAH_VERSION} could not be installed: give --nah VENV with one in it"
    python = os.path.join(venv, "bin", "python")
    asked = [python, "-c", "import importlib.metadata as m; print(m.version('nah'))"]
    try:
        version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return f"there is no nah in {venv}"
    if version != NAH_VERSION:
        return f"nah in {venv} is {version}, not {NAH_VERSION}"
    return Peer("nah", (python, str(HERE / "nah_worker.py")), (python, "-m", "nah.hook"), _home(base, "nah"))


def safety_net(base: str) -> Peer | str:
    installed = Path(agents_dir(), "node_modules")
    hook = str(installed / ".bin" / "cc-safety-net")
    if gap := peer_gap(hook):
        return gap
    node = shutil.which("node") or ""
    api = str(installed / "cc-safety-net" / "dist" / "api.js")
    worker = (node, str(HERE / "safety_net_worker.mjs"), api)
    return Peer("cc-safety-net", worker, (hook, "hook", "-cc"), _home(base, "cc"))


def _home(base: str, name: str) -> str:
    home = os.path.join(base, name)
    project = os.path.join(home, "proj")
    os.makedirs(project)
    subprocess.run(["git", "init", "-q", project], check=True, capture_output=True, env=os.environ | {"HOME": home})
    return home
