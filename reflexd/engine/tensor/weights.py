"""A decoder's weights as the flat pass wants them: what is multiplied with the same input stands in one matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn


class Layer(NamedTuple):
    before: Tensor
    qkv: Tensor
    qkv_bias: Tensor | None
    q_norm: Tensor | None
    k_norm: Tensor | None
    out: Tensor
    out_bias: Tensor | None
    after: Tensor
    gate_up: Tensor
    down: Tensor


class Decoder(NamedTuple):
    """`rotary(x, positions)` gives cosines and sines, each of shape (1, tokens, head size)."""

    embedding: Tensor
    layers: list[Layer]
    norm: Tensor
    epsilon: float
    head: Tensor
    rotary: Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]
    heads: int
    kv_heads: int
    head_size: int
    scale: float

    @property
    def kv_bytes(self) -> int:
        """Bytes of one token's keys and values."""
        return 2 * len(self.layers) * self.kv_heads * self.head_size * self.norm.element_size()


def gathered(text: nn.Module, head: nn.Module) -> Decoder:
    """The weights of a Llama-like text model of transformers, which keeps seeing them through views."""
    found: Any = text
    config = found.config
    first = found.layers[0].self_attn
    layers = [_layer(one) for one in found.layers]
    return Decoder(
        embedding=found.embed_tokens.weight,
        layers=layers,
        norm=found.norm.weight,
        epsilon=config.rms_norm_eps,
        head=head.weight,  # type: ignore[arg-type]
        rotary=found.rotary_emb,
        heads=config.num_attention_heads,
        kv_heads=config.num_key_value_heads,
        head_size=first.head_dim,
        scale=first.scaling,
    )


def _layer(layer: Any) -> Layer:
    attention, mlp = layer.self_attn, layer.mlp
    qkv = _joined(attention.q_proj, attention.k_proj, attention.v_proj)
    biases = [one.bias for one in (attention.q_proj, attention.k_proj, attention.v_proj)]
    return Layer(
        before=layer.input_layernorm.weight,
        qkv=qkv,
        qkv_bias=torch.cat(biases) if biases[0] is not None else None,
        q_norm=attention.q_norm.weight if hasattr(attention, "q_norm") else None,
        k_norm=attention.k_norm.weight if hasattr(attention, "k_norm") else None,
        out=attention.o_proj.weight,
        out_bias=attention.o_proj.bias,
        after=layer.post_attention_layernorm.weight,
        gate_up=_joined(mlp.gate_proj, mlp.up_proj),
        down=mlp.down_proj.weight,
    )


def _joined(*parts: nn.Linear) -> Tensor:
    """One matrix of several; the parts become views of it, so that nothing is held twice."""
    joined = torch.cat([part.weight for part in parts])
    for part, view in zip(parts, joined.split([part.weight.shape[0] for part in parts]), strict=True):
        part.weight.data = view
    return joined


def norm(x: Tensor, weight: Tensor, epsilon: float) -> Tensor:
    """Root mean square norm, computed in float32 as transformers does."""
    if x.dtype == torch.float32:
        # torch's own is several sweeps over x on a CPU; this is three
        square: Tensor = torch.linalg.vector_norm(x, dim=-1, keepdim=True).square_().div_(x.shape[-1])
        return (x * square.add_(epsilon).rsqrt_()).mul_(weight)
    wide = x.float()
    return weight * (wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + epsilon)).to(x.dtype)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotary positions on (tokens, heads, size): halves rotated, as in the Llama family. Both halves of `sin` agree."""
    half = x.shape[-1] // 2
    sin = sin[..., :half]
    turned = x * cos
    turned[..., :half].addcmul_(x[..., half:], sin, value=-1)
    turned[..., half:].addcmul_(x[..., :half], sin)
    return turned


def added(x: Tensor, to: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x`, which is written to, plus the linear layer of `to`: in one sweep with the product."""
    if bias is not None:
        x += bias
    return x.addmm_(to, weight.t())
