"""Two other engines behind their own servers, on the same weights: any2jev (with an untrained head, so for its
speed alone) and qev. Each runs from the environment that setup/peers.sh made, offline and on loopback.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

READY_S = 300.0
ANSWER_S = 120.0

Ask = Callable[[bytes], float]
"""Posts one body to /v1/systemone and gives the seconds until the whole answer was there."""


class Engine(Struct, frozen=True):
    """One that can be started: its name, and its server's command line on a port."""

    name: str
    command: tuple[str, ...]


def peers_dir() -> Path:
    if named := os.environ.get("REFLEX_PEERS_DIR"):
        return Path(named)
    return Path("/var/cache/reflex-peers") if os.geteuid() == 0 else Path.home() / ".cache" / "reflex-peers"


def any2jev(model: Path, made: Path, precision: str) -> Engine | str:
    """A checkpoint is made of `model` in `made` first; or why there is none."""
    program = peers_dir() / "any2jev" / "bin" / "any2jev"
    if not program.is_file():
        return "any2jev is not installed: run setup/peers.sh"
    older = _for_older_transformers(model, made / "older")
    out = made / "any2jev"
    command = [str(program), "convert", str(older), "--out", str(out), "--dtype", "fp32"]
    done = subprocess.run(command, env=_offline(), capture_output=True, text=True, check=False)
    if done.returncode:
        return f"any2jev could not convert the weights: {done.stderr.strip()[-200:]}"
    short = {"bfloat16": "bf16", "float32": "fp32"}[precision]
    return Engine("any2jev", (str(program), "serve", str(out), "--device", "cpu", "--dtype", short, "--port"))


def qev(model: Path, precision: str) -> Engine | str:
    program = peers_dir() / "qev" / "bin" / "qev"
    if not program.is_file():
        return "qev is not installed: run setup/peers.sh"
    options = ("--device", "cpu", "--dtype", precision, "--host", "127.0.0.1", "--port")
    return Engine("qev", (str(program), "serve", "--model", str(model), *options))


@contextlib.contextmanager
def serving(command: tuple[str, ...], name: str, path: str = "/v1/systemone", key: str = "") -> Iterator[Ask]:
    """Starts a server on a free port (added to `command`), waits until it answers, and stops it again.

    Raises RuntimeError where it ends or does not answer in READY_S.
    """
    port = _free_port()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen([*command, str(port)], env=_offline(), stdout=said, stderr=said)
        try:
            _until_ready(process, port, name)
            yield _asker(f"http://127.0.0.1:{port}{path}", key)
        finally:
            process.terminate()
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _asker(url: str, key: str) -> Ask:
    headers = {"content-type": "application/json", "authorization": f"Bearer {key or 'none'}"}

    def ask(body: bytes) -> float:
        request = urllib.request.Request(url, body, headers)
        since = time.perf_counter()
        with urllib.request.urlopen(request, timeout=ANSWER_S) as answer:
            answer.read()
        return time.perf_counter() - since

    return ask


def _until_ready(process: subprocess.Popen[bytes], port: int, name: str) -> None:
    until = time.monotonic() + READY_S
    while time.monotonic() < until:
        if process.poll() is not None:
            raise RuntimeError(f"{name} ended with {process.returncode}")
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models", timeout=2):
                return
        except urllib.error.HTTPError:
            return  # it answers, if only to say that a key is missing
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"{name} did not answer in {READY_S:.0f} s")


def _for_older_transformers(model: Path, out: Path) -> Path:
    """The same directory with a tokenizer class that transformers 4 knows."""
    shutil.copytree(model, out)
    file = out / "tokenizer_config.json"
    settings = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps(settings | {"tokenizer_class": "PreTrainedTokenizerFast"}), "utf-8")
    return out


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _offline() -> dict[str, str]:
    return {**os.environ, "HF_HUB_OFFLINE": "1", "TRANSFORMERS_OFFLINE": "1"}
