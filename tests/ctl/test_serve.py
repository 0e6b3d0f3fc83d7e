"""`reflexctl serve`: what it refuses before a model is loaded, the manifest, and a real model behind it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from reflexd.ctl import serve

KEY = "a-key-for-tests"


def reflexctl(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*args), env=environ(home), capture_output=True, text=True)


def command(*args: str) -> list[str]:
    return [sys.executable, "-m", "reflexd.ctl.main", "serve", *args]


def environ(home: Path) -> dict[str, str]:
    return os.environ | {"HOME": str(home), "HF_HUB_OFFLINE": "1", "REFLEX_API_KEY": KEY}


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ((), "there is no model to serve"),
        (("--model", "/nonexistent/model"), "there is no model at"),
        (("--model", "x", "--host", "0.0.0.0"), "reachable from other machines"),
        (("--model", "x", "--host", "::"), "reachable from other machines"),
        (("--model", "x", "--port", "65536"), "--port has to be"),
        (("--stable", "--orders", "9"), "--orders has to be"),
        (("--model", "x", "--calibration", "/nonexistent/c.json"), "--calibration: there is no"),
    ],
)
def test_refused_before_anything_is_loaded(tmp_path: Path, args: tuple[str, ...], said: str) -> None:
    done = reflexctl(tmp_path, *args)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr
    assert KEY not in done.stderr


def test_a_port_in_use_is_said_before_the_model_is_loaded(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = reflexctl(tmp_path, "--model", str(tmp_path), "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "is in use" in done.stderr
    assert "loading" not in done.stderr


def test_a_flag_wins_over_the_manifest_also_where_it_says_the_default() -> None:
    manifest: dict[str, Any] = {"model": "m", "orders": 4, "confidence": "margin"}
    flags = {"model": None, "orders": 2, "confidence": None}
    assert serve.settled(flags, manifest) == {"model": "m", "orders": 2, "confidence": "margin"}
    assert {"model", "orders", "style", "confidence"} <= set(serve.stable())


@contextmanager
def serving(home: Path, model: Path) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    args = command("--model", str(model), "--device", "cpu", "--confidence", "margin", "--port", "0")
    with subprocess.Popen(
        args, env=environ(home), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), process
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


@pytest.mark.slow
def test_the_conformance_suite_passes_on_a_real_model(tmp_path: Path) -> None:
    from tests.engine import models

    report = tmp_path / "report.json"
    with serving(tmp_path, models.smollm2()) as (url, process):
        suite = [sys.executable, "-m", "jevcompat.cli", "test", url, "--key", KEY, "--json", str(report)]
        subprocess.run(suite, capture_output=True, check=False)
    assert process.returncode == 0
    found = json.loads(report.read_text())
    failed = {one["id"] for one in found["results"] if one["status"] == "fail"}
    assert failed <= {"response.extensions"}
    assert sum(one["level"] == "MUST" and one["status"] == "pass" for one in found["results"]) >= 32
