"""Loading: what is refused and how it is said, conversion, adapters, and that nothing goes over the network."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from reflexd.engine import Engine
from reflexd.engine.errors import EngineFailed, ModelError
from reflexd.engine.tensor import gguf, loader
from reflexd.engine.values import Branch, Prefix, Row
from reflexd.types import Noul, Request
from tests.engine import models

ROOT = Path(__file__).parents[3]
ASKED = Request("the state", (("q", Noul("Is it red?")),))


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return Path(shutil.copytree(models.tiny("llama"), tmp_path / "model"))


def load(path: Path | str, **more: Any) -> loader.Loaded:
    return loader.load(str(path), "cpu", "float32", more.get("adapter"), more.get("require_fast", False))


def edited(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    found = json.loads(path.read_text())
    change(found)
    path.write_text(json.dumps(found))


def cut(model: Path) -> None:
    os.truncate(model / "model.safetensors", 5000)


def corrupt(model: Path) -> None:
    file = model / "model.safetensors"
    file.write_bytes(b"\xff" * 64 + file.read_bytes()[64:])


def pickled(model: Path) -> None:
    (model / "model.safetensors").rename(model / "pytorch_model.bin")


BROKEN: list[tuple[Callable[[Path], object], str]] = [
    (lambda model: (model / "config.json").unlink(), "config.json is not there"),
    (lambda model: (model / "config.json").write_text("{"), "config.json cannot be read"),
    (lambda model: (model / "config.json").write_text("{}"), "model_type"),
    (lambda model: (model / "tokenizer.json").unlink(), "tokenizer.json is not there"),
    (lambda model: (model / "tokenizer.json").write_text("{}"), "is no tokenizer"),
    (lambda model: (model / "model.safetensors").unlink(), "has no weights"),
    (cut, "not as long as its header says"),
    (corrupt, "safetensors"),
    (pickled, "can run code when it is read"),
    (lambda model: edited(model / "config.json", lambda c: c.update(auto_map={"x": "y"})), "code of its own"),
    (lambda model: edited(model / "config.json", lambda c: c.update(model_type="gemma9")), "gemma9 are not supported"),
    (lambda model: edited(model / "config.json", lambda c: c.update(vocab_size=100)), "cannot be loaded"),
    (
        lambda model: (model / "model.safetensors.index.json").write_text('{"weight_map": {"a": "gone.safetensors"}}'),
        "misses gone.safetensors",
    ),
]


@pytest.mark.parametrize(("break_it", "says"), BROKEN, ids=[says for _, says in BROKEN])
def test_a_broken_directory_is_refused_by_what_is_broken(
    model: Path, break_it: Callable[[Path], object], says: str
) -> None:
    break_it(model)
    with pytest.raises(ModelError) as refused:
        load(model)
    assert says in refused.value.message


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no model at"):
        load(tmp_path / "nothing")
    with pytest.raises(ModelError, match="is not on this machine") as refused:
        load("OWNER/NAME")
    assert "reflexctl model pull" in refused.value.hint
    with pytest.raises(ModelError, match="no cuda"):
        loader.load(str(models.tiny("llama")), "cuda", None, None, False)


def test_slow_kernels_are_told_of_and_can_be_refused() -> None:
    assert "reference in torch" in load(models.tiny("qwen3_5_text")).info.kernels
    with pytest.raises(ModelError, match="not all fast kernels"):
        load(models.tiny("qwen3_5_text"), require_fast=True)
    load(models.tiny("qwen3"), require_fast=True)


def test_an_adapter_is_merged_and_a_wrong_one_refused(tmp_path: Path) -> None:
    from peft import LoraConfig, get_peft_model
    from transformers import LlamaForCausalLM

    torch.manual_seed(3)
    made = get_peft_model(
        LlamaForCausalLM.from_pretrained(models.tiny("llama")), LoraConfig(r=4, target_modules=["q_proj", "v_proj"])
    )
    for name, parameter in made.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.3)
    made.save_pretrained(tmp_path / "adapter")
    prefix, branch = Prefix((10, 20, 30)), Branch((40, 50), (1, 2, 3))
    with torch.inference_mode():
        wanted = made.eval()(input_ids=torch.tensor([prefix.tokens + branch.tokens])).logits[0, -1]
    backend = load(models.tiny("llama"), adapter=str(tmp_path / "adapter")).backend
    (found,) = backend.read([Row(backend.encode(None, prefix, 0, 3), branch)])
    assert found.logits == pytest.approx(wanted[[1, 2, 3]].tolist(), abs=1e-5)
    with pytest.raises(ModelError, match=r"adapter_model\.safetensors"):
        load(models.tiny("llama"), adapter=str(tmp_path))
    with pytest.raises(ModelError, match="does not fit"):
        load(models.tiny("qwen3_5_text"), adapter=str(tmp_path / "adapter"))


def test_weights_that_are_no_numbers_fail_the_request_and_not_the_engine(model: Path) -> None:
    from safetensors.torch import load_file, save_file

    weights = load_file(model / "model.safetensors")
    weights["model.norm.weight"] *= float("nan")
    save_file(weights, model / "model.safetensors", metadata={"format": "pt"})
    with Engine.open(str(model), device="cpu", precision="float32") as engine:
        with pytest.raises(EngineFailed, match="not finite"):
            engine.answer(ASKED, 60)
        assert engine.stats().waiting == 0


@pytest.mark.slow
def test_a_gguf_file_is_converted_once_and_answers_as_the_conversion(tmp_path: Path) -> None:
    first = gguf.converted(models.gguf(), tmp_path)
    stamp = (first / "model.safetensors").stat().st_mtime_ns
    assert gguf.converted(models.gguf(), tmp_path) == first
    assert (first / "model.safetensors").stat().st_mtime_ns == stamp
    assert [path.name for path in tmp_path.iterdir()] == [first.name]
    assert loader.files.weights(first)


def test_a_gguf_file_that_is_none_leaves_nothing_behind(tmp_path: Path) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(ModelError, match="cannot be read as GGUF"):
        gguf.converted(broken, tmp_path / "kept")
    assert list((tmp_path / "kept").iterdir()) == []


OFFLINE = """
import socket, sys

def refuse(self, address, *more):
    if self.family != socket.AF_UNIX:
        print("CONNECTS", address, flush=True)
        raise OSError("no network here")

socket.socket.connect = socket.socket.connect_ex = refuse
socket.getaddrinfo = lambda *asked, **more: print("LOOKS UP", asked, flush=True)
from reflexd.engine import Engine
from reflexd.types import Noul, Request
with Engine.open(sys.argv[1], device="cpu") as engine:
    engine.answer(Request("s", (("q", Noul("x")),)))
print("answered")
"""


@pytest.mark.parametrize("name", ["qwen3", "qwen3_5"])
def test_nothing_goes_over_the_network(name: str, tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", OFFLINE, str(models.tiny(name))]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "answered", done.stderr[-2000:]
