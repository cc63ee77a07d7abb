"""The base model and its LoRA adapter in PyTorch, for conversations that lie one after the other in one row.

The weights stay in the order of llama.cpp, where a rotary pair is two neighbours, so the adapter needs no
reordering either. The base is frozen in bfloat16; the adapter is kept in single precision. On a GPU,
FlashAttention keeps the conversations of a row apart; on a CPU a loop does, for trials.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from training.weights import Gguf

MAPS = ("attn_q", "attn_k", "attn_v", "attn_output", "ffn_gate", "ffn_up", "ffn_down")
_NORMS = ("attn_norm", "ffn_norm")
_LOSS_POSITIONS = 16384  # the scores of more positions at once would fill the memory: 49,152 numbers each

Layer = dict[str, Tensor]


@dataclass(frozen=True)
class Shape:
    """The sizes of a model."""

    layers: int
    heads: int
    key_heads: int
    rotary_base: float
    epsilon: float

    @classmethod
    def from_metadata(cls, metadata: dict[str, Any]) -> "Shape":
        """Return the sizes in the metadata of a GGUF file."""
        return cls(
            layers=metadata["llama.block_count"],
            heads=metadata["llama.attention.head_count"],
            key_heads=metadata["llama.attention.head_count_kv"],
            rotary_base=metadata["llama.rope.freq_base"],
            epsilon=metadata["llama.attention.layer_norm_rms_epsilon"],
        )


@dataclass(frozen=True)
class Row:
    """Conversations one after the other, and the positions whose next token is to be learnt."""

    tokens: Tensor
    lengths: tuple[int, ...]
    longest: int
    bounds: Tensor  # where each conversation starts, and the end of the last one
    places: Tensor  # a token's place in its conversation
    trained: Tensor
    targets: Tensor


@dataclass(frozen=True)
class Adapter:
    """The LoRA matrices of each layer: `attn_q.lora_a`, `attn_q.lora_b` and so on."""

    layers: list[Layer]
    scale: float

    def parameters(self) -> list[Tensor]:
        """Return all matrices, always in the same order."""
        return [matrix for layer in self.layers for matrix in layer.values()]

    def named(self) -> dict[str, Tensor]:
        """Return all matrices by their full names."""
        return {
            f"blk.{number}.{name}": matrix
            for number, layer in enumerate(self.layers)
            for name, matrix in layer.items()
        }


class Model:
    """The frozen base model."""

    def __init__(self, gguf: Gguf, device: str) -> None:
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        tensors = {name: torch.from_numpy(values).to(device, dtype) for name, values in gguf.tensors.items()}
        self.device = device
        self.shape = Shape.from_metadata(gguf.metadata)
        self._embeddings = tensors["token_embd.weight"]
        self._output = tensors.get("output.weight", self._embeddings)
        self._last_norm = tensors["output_norm.weight"]
        self._layers: list[Layer] = [
            {name: tensors[f"blk.{number}.{name}.weight"] for name in (*MAPS, *_NORMS)}
            for number in range(self.shape.layers)
        ]
        self._run_layer: Callable[..., Tensor] = _run_layer

    def compile(self) -> None:
        """Compile the layers: slower to start, faster to run."""
        self._run_layer = torch.compile(_run_layer)

    def new_adapter(self, rank: int, alpha: float, seed: int) -> Adapter:
        """Return an adapter that changes nothing yet: A is normal and B is zero."""
        generator = torch.Generator().manual_seed(seed)
        layers = []
        for base in self._layers:
            layer: Layer = {}
            for name in MAPS:
                outputs, inputs = base[name].shape
                start = torch.randn(rank, inputs, generator=generator) / math.sqrt(inputs)
                layer[f"{name}.lora_a"] = start.to(base[name].device).requires_grad_()
                layer[f"{name}.lora_b"] = torch.zeros(
                    outputs, rank, device=base[name].device, requires_grad=True
                )
            layers.append(layer)
        return Adapter(layers, alpha / rank)

    def hidden(self, row: Row, adapter: Adapter) -> Tensor:
        """Return the last hidden state of every position of a row."""
        values = functional.embedding(row.tokens, self._embeddings)
        rotation = self._rotation(row.places)
        for base, lora in zip(self._layers, adapter.layers, strict=True):
            values = self._run_layer(values, base, lora, adapter.scale, rotation, row, self.shape)
        return _norm(values, self._last_norm, self.shape)

    def scores(self, hidden: Tensor) -> Tensor:
        """Return the score of every possible next token."""
        return functional.linear(hidden, self._output).float()

    def loss(self, row: Row, adapter: Adapter) -> Tensor:
        """Return the mean loss at the trained positions of a row."""
        hidden = self.hidden(row, adapter).index_select(0, row.trained)
        total = torch.zeros((), device=hidden.device)
        chunks = zip(hidden.split(_LOSS_POSITIONS), row.targets.split(_LOSS_POSITIONS), strict=True)
        for values, targets in chunks:  # the scores are computed again for the gradient, to save memory
            total = total + checkpoint(
                self._sum_of_losses, values, targets, use_reentrant=False, preserve_rng_state=False
            )
        return total / max(1, len(row.targets))

    def _sum_of_losses(self, hidden: Tensor, targets: Tensor) -> Tensor:
        return functional.cross_entropy(self.scores(hidden), targets, reduction="sum")

    def _rotation(self, places: Tensor) -> Tensor:
        """Return a complex number of length 1 for each place and rotary pair."""
        size = self._layers[0]["attn_q"].shape[0] // self.shape.heads
        steps = torch.arange(0, size, 2, device=places.device, dtype=torch.float32) / size
        angles = places.float()[:, None] * self.shape.rotary_base**-steps
        return torch.polar(torch.ones_like(angles), angles)[:, None]


def _run_layer(
    values: Tensor, base: Layer, lora: Layer, scale: float, rotation: Tensor, row: Row, shape: Shape
) -> Tensor:
    """Return the output of one layer."""

    def project(name: str, inputs: Tensor) -> Tensor:
        inner = functional.linear(inputs, lora[f"{name}.lora_a"].to(inputs.dtype))
        outer = lora[f"{name}.lora_b"].to(inputs.dtype)
        return functional.linear(inputs, base[name]).addmm_(inner, outer.t(), alpha=scale)

    normed = _norm(values, base["attn_norm"], shape)
    queries = _rotate(project("attn_q", normed).unflatten(-1, (shape.heads, -1)), rotation)
    keys = _rotate(project("attn_k", normed).unflatten(-1, (shape.key_heads, -1)), rotation)
    contents = project("attn_v", normed).unflatten(-1, (shape.key_heads, -1))
    group = shape.heads // shape.key_heads
    keys, contents = keys.repeat_interleave(group, 1), contents.repeat_interleave(group, 1)
    values = values + project("attn_output", _attend(queries, keys, contents, row).flatten(1))
    normed = _norm(values, base["ffn_norm"], shape)
    gated = functional.silu(project("ffn_gate", normed)) * project("ffn_up", normed)
    return values + project("ffn_down", gated)


def _norm(values: Tensor, weight: Tensor, shape: Shape) -> Tensor:
    return functional.rms_norm(values, weight.shape, weight, shape.epsilon)


def _rotate(heads: Tensor, rotation: Tensor) -> Tensor:
    pairs = torch.view_as_complex(heads.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rotation).flatten(-2).to(heads.dtype)


def _attend(queries: Tensor, keys: Tensor, contents: Tensor, row: Row) -> Tensor:
    """Return the attention of each token to those before it in its own conversation."""
    if queries.is_cuda:
        attend = torch.ops.aten._flash_attention_forward  # noqa: SLF001  varlen_attn changes by version
        limits = (row.bounds, row.bounds, row.longest, row.longest)
        return attend(queries, keys, contents, *limits, 0.0, True, False)[0]  # no dropout, causal
    conversations = zip(*(heads.split(row.lengths) for heads in (queries, keys, contents)), strict=True)
    return torch.cat([_attend_one(*conversation) for conversation in conversations])


def _attend_one(queries: Tensor, keys: Tensor, contents: Tensor) -> Tensor:
    heads = (values.transpose(0, 1) for values in (queries, keys, contents))
    return functional.scaled_dot_product_attention(*heads, is_causal=True).transpose(0, 1)
