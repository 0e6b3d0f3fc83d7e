"""`reflexctl model` and `decide`, and the daemon with a real (tiny, random) model behind it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reflexd import paths
from reflexd.client import Client
from reflexd.control import CheckRequest, EngineStatus
from tests.ctl.hub import SHA, Hub
from tests.ctl.world import ROOT, World
from tests.engine import models

WAIT_S = 90.0
REQUEST = json.dumps(
    {
        "model": "jev-latest",
        "state": "The build is red.",
        "questions": {
            "red": {"type": "noul", "instructions": "Is the build broken?"},
            "next": {"type": "choice", "criteria": {"wait": None, "restart": "start it again"}},
            "late": {"type": "score", "criteria": ["early", "late"]},
        },
    }
)


def engine(world: World) -> EngineStatus:
    return Client(world.home).status().engine


def until(true: Callable[[], Any]) -> Any:
    last = time.monotonic() + WAIT_S
    while not (found := true()):
        assert time.monotonic() < last
        time.sleep(0.05)
    return found


def same(one: Any, other: Any) -> bool:
    """Answers that differ by rounding alone."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return one == (pytest.approx(other, abs=1e-5) if isinstance(other, float) else other)


@pytest.fixture
def model(world: World) -> str:
    """In the user's own directory of models."""
    path = os.path.join(paths.models_dir(world.home), "tiny")
    shutil.copytree(models.tiny("qwen3"), path)
    return path


def test_without_a_model_each_command_says_what_is_missing(world: World) -> None:
    assert "there are none" in world.ctl("model", "list").stderr
    done = world.ctl("decide", "-", stdin=REQUEST)
    assert done.returncode == 1
    assert "the daemon is not running" in done.stderr
    world.ctl("start")
    done = world.ctl("decide", "-", stdin=REQUEST)
    assert "there is no model in use" in done.stderr
    assert "reflexctl model use" in done.stderr
    assert "no model" in world.ctl("status").stdout
    assert world.ctl("decide", "/nowhere.json").returncode == 1
    assert world.ctl("model", "use").returncode == 1


def test_a_model_is_used_killed_and_left(world: World, model: str) -> None:
    world.write(".config/reflex/config.toml", '# mine\nmode = "shadow"  # for now\n', 0o600)
    os.chmod(world.path(".config/reflex"), 0o700)
    world.ctl("start")
    done = world.ctl("model", "use", model, "--device", "cpu")
    assert done.returncode == 0, done.stderr
    assert "needs about" in done.stderr
    assert f"{model} is ready on cpu" in done.stdout
    kept = world.read(".config/reflex/config.toml")
    assert kept.startswith('# mine\nmode = "shadow"  # for now\n')
    assert Client(world.home).status().mode == "shadow"

    shown = world.ctl("decide", "-", stdin=REQUEST)
    assert shown.returncode == 0, shown.stderr
    assert shown.stdout.startswith("red: ")
    raw = json.loads(world.ctl("decide", "-", "--json", stdin=REQUEST).stdout)
    assert list(raw["answers"]) == ["red", "next", "late"]
    assert raw["usage"]["state_cache_hit"] > 0
    refused = world.ctl("decide", "-", stdin="{")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "422" in refused.stderr

    listed = json.loads(world.ctl("model", "list", "--json").stdout)
    assert listed["in_use"] == model
    assert [(one["name"], one["family"]) for one in listed["models"]] == [(model, "qwen3")]
    assert "* " in world.ctl("model", "list").stdout
    assert "qwen3 on cpu" in world.ctl("status").stdout

    # the engine is killed; the gate answers all the while, and the engine comes back
    pid = engine(world).pid
    os.kill(pid, signal.SIGKILL)
    answered = 0
    while engine(world).state != "ready" or engine(world).pid == pid:
        Client(world.home).check(CheckRequest(command="git status", cwd=world.home))
        answered += 1
    assert answered > 5
    again = json.loads(world.ctl("decide", "-", "--json", stdin=REQUEST).stdout)
    assert same(again["answers"], raw["answers"])  # one of them from a kept state, the other not

    # the daemon is killed, and the engine goes with it
    pid = engine(world).pid
    world.kill_daemon()
    until(lambda: not os.path.exists(f"/proc/{pid}") or _dead(pid))
    world.ctl("start")
    assert until(lambda: engine(world).state == "ready")
    assert world.ctl("model", "use", "--none").returncode == 0
    assert engine(world).state == "off"
    assert "[engine]" not in world.read(".config/reflex/config.toml")


def _dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].startswith("Z")
    except FileNotFoundError:
        return True


def test_what_cannot_be_used_is_refused_before_anything_changes(world: World, model: str) -> None:
    cases = {
        "/nowhere": "there is no model at",
        "OWNER/NAME": "is not on this machine",
        world.write("broken/config.json", "{")[: -len("/config.json")]: "cannot be read",
    }
    for name, says in cases.items():
        done = world.ctl("model", "use", name)
        assert done.returncode == 1
        assert says in done.stderr, done.stderr
    weights = os.path.join(model, "model.safetensors")
    for size, says in ((os.path.getsize(weights) - 1, "not as long as its header says"), (1000, "cut short")):
        os.truncate(weights, size)
        assert says in world.ctl("model", "use", model).stderr
    assert not world.exists(".config/reflex/config.toml")


def test_a_model_that_breaks_later_is_told_of(world: World, model: str) -> None:
    world.write(".config/reflex/config.toml", f'[engine]\nmodel = "{model}"\n', 0o600)
    os.chmod(world.path(".config/reflex"), 0o700)
    os.unlink(os.path.join(model, "tokenizer.json"))
    world.ctl("start")
    until(lambda: engine(world).state == "down")
    assert "tokenizer.json is not there" in world.ctl("status").stdout
    done = world.ctl("decide", "-", stdin=REQUEST)
    assert "the engine is down" in done.stderr
    assert world.ctl("check", "git status").returncode == 0


def test_a_model_is_measured_in_a_process_of_its_own(world: World, model: str) -> None:
    found = json.loads(world.ctl("model", "bench", model, "--json").stdout)
    assert found["model"] == "tiny"
    assert found["new_ms"] > 0


def test_nothing_of_the_current_directory_is_run(world: World, model: str) -> None:
    trap = world.write("trap/msgspec.py", "import os; os.write(2, b'TRAPPED'); raise SystemExit(9)")
    for args in (("model", "use", model), ("model", "bench", model), ("serve", "--model", "/nowhere")):
        command = [sys.executable, "-I", "-c", f"import sys; sys.path.append({ROOT!r}); "]
        command[-1] += "from reflexd.ctl.main import main; sys.exit(main(sys.argv[1:]))"
        done = subprocess.run(
            [*command, *args], env=world.env(), cwd=os.path.dirname(trap), capture_output=True, text=True, check=False
        )
        assert "TRAPPED" not in done.stderr


def test_settings_of_another_shape_are_named(world: World) -> None:
    world.write(".config/reflex/config.toml", "engine = 3\n", 0o600)
    done = world.ctl("model", "list")
    assert done.returncode == 1
    assert "engine has to be a table" in done.stderr


def test_a_model_that_is_half_there_is_not_listed(world: World, model: str) -> None:
    index = {"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}
    world.write(".local/share/reflex/models/tiny/model.safetensors.index.json", json.dumps(index))
    assert json.loads(world.ctl("model", "list", "--json").stdout)["models"] == []


# ---- pull -----------------------------------------------------------------------------


@pytest.fixture
def files() -> dict[str, bytes]:
    directory = models.tiny("llama")
    found = {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}
    return found | {"pytorch_model.bin": b"a pickle", "modeling.py": b"code", "README.md": b"words"}


def pull(world: World, hub: Hub, *args: str) -> Any:
    return world.ctl("model", "pull", *args, env={"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"})


def test_a_model_is_pulled_shown_and_listed(world: World, files: dict[str, bytes]) -> None:
    with Hub(files).serving() as hub:
        done = pull(world, hub, "OWNER/NAME", "--json")
        assert done.returncode == 0, done.stderr
        assert SHA in done.stderr
        assert "model.safetensors" in done.stderr
        assert not {"pytorch_model.bin", "modeling.py", "README.md"} & set(hub.asked)
        listed = json.loads(world.ctl("model", "list", "--json").stdout)["models"]
        assert [(one["name"], one["family"]) for one in listed] == [("OWNER/NAME", "llama")]
        hub.asked.clear()
        assert pull(world, hub, "OWNER/NAME").returncode == 0
        assert hub.asked == []  # it is all here


def test_a_broken_connection_leaves_nothing_that_looks_whole(world: World, files: dict[str, bytes]) -> None:
    with Hub(files, cut={"model.safetensors"}).serving() as hub:
        done = pull(world, hub, "OWNER/NAME")
        if done.returncode:  # it may also have gone on by itself
            assert "run it again" in done.stderr
            assert json.loads(world.ctl("model", "list", "--json").stdout)["models"] == []
            assert pull(world, hub, "OWNER/NAME").returncode == 0
        assert json.loads(world.ctl("model", "list", "--json").stdout)["models"][0]["family"] == "llama"


def test_what_cannot_be_pulled_says_why(world: World, files: dict[str, bytes]) -> None:
    with Hub({"pytorch_model.bin": b"x", "config.json": b"{}"}).serving() as hub:
        done = pull(world, hub, "OWNER/NAME")
        assert (done.returncode, done.stdout) == (1, "")
        assert "has no safetensors" in done.stderr
        assert "Traceback" not in done.stderr
        assert "no model" in pull(world, hub, "NOBODY/NOTHING").stderr
    gone = pull(world, hub, "OWNER/NAME")
    assert gone.returncode == 1
    assert "cannot be reached" in gone.stderr
    assert "Traceback" not in gone.stderr


def test_a_full_disk_is_told_of(world: World, files: dict[str, bytes]) -> None:
    """A limit on file size stands in for the disk: the write fails in the same place."""
    command = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000));"
    command += "import signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
    command += "from reflexd.ctl.main import main; sys.exit(main(['model', 'pull', 'OWNER/NAME']))"
    with Hub(files).serving() as hub:
        env = world.env({"HF_ENDPOINT": hub.url, "HF_HUB_DISABLE_XET": "1"})
        done = subprocess.run([sys.executable, "-c", command], env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert "could not be fetched" in done.stderr
    assert "Traceback" not in done.stderr
    assert json.loads(world.ctl("model", "list", "--json").stdout)["models"] == []
