"""The model families that are supported, by `model_type` of their config."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from reflexd.engine.errors import ModelError


class Family(Struct, frozen=True):
    """`module` and `model` name transformers' class. `kind`: which pass it takes. `vision`: it sees images."""

    module: str
    model: str
    kind: Literal["flat", "rows"]
    vision: bool = False

    def load(self) -> Any:
        return getattr(importlib.import_module(f"transformers.models.{self.module}"), self.model)


FAMILIES: Mapping[str, Family] = {
    "llama": Family("llama.modeling_llama", "LlamaForCausalLM", "flat"),
    "qwen2": Family("qwen2.modeling_qwen2", "Qwen2ForCausalLM", "flat"),
    "qwen3": Family("qwen3.modeling_qwen3", "Qwen3ForCausalLM", "flat"),
    "qwen3_vl": Family("qwen3_vl.modeling_qwen3_vl", "Qwen3VLForConditionalGeneration", "flat", vision=True),
    "qwen3_5_text": Family("qwen3_5.modeling_qwen3_5", "Qwen3_5ForCausalLM", "rows"),
    "qwen3_5": Family("qwen3_5.modeling_qwen3_5", "Qwen3_5ForConditionalGeneration", "rows", vision=True),
}


def family(model_type: str) -> Family:
    if model_type not in FAMILIES:
        raise ModelError(f"models of type {model_type} are not supported", f"supported: {', '.join(FAMILIES)}")
    return FAMILIES[model_type]
