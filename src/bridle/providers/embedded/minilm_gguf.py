"""Converts the published weights of all-MiniLM-L6-v2 to a GGUF file, with numpy and no model library.

```
model.safetensors  u64 length | JSON {name: {dtype, shape, data_offsets}} | bytes      in
vocab.txt          one token per line                                                  in
"GGUF" | 3 | tensors | pairs | pair… | tensor: name, shape, type, offset … | data       out
```

Matrices become Q8_0: blocks of 32 numbers, each a half-precision scale and 32 signed bytes. Every step is
exact or rounded by IEEE 754, so the same input gives the same bytes on every machine.
"""

import json
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bridle.core.errors import ProviderError
from bridle.providers.llama.gguf import MAGIC

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LAYERS = 6
MAX_HEADER_BYTES = 1024 * 1024
_ALIGNMENT = 32
_BLOCK = 32
_F32, _Q8_0 = 0, 8
_U32, _I32, _FLOAT, _BOOL, _TEXT, _ARRAY = 4, 5, 6, 7, 8, 9
_NORMAL, _CONTROL, _UNUSED = 1, 3, 5  # token types
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")

_EMBEDDINGS = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}
_PLAIN = ("position_embd.weight", "token_types.weight")
_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}


def write_minilm(safetensors: bytes, vocab: str, target: Path) -> None:
    """Write the model file; raises ProviderError for weights of another model, or if numpy is missing."""
    try:
        import numpy as np  # noqa: PLC0415  optional, and only for this
    except ImportError as error:
        raise ProviderError(
            "minilm: its weights are converted with the package numpy, which is not installed",
            kind="model_not_found",
            hint="pip install 'bridle-agent[memory]'",
        ) from error
    try:
        tensors = [(name, _packed(np, name, value)) for name, value in _tensors(np, safetensors)]
        pairs = list(_pairs(vocab.removesuffix("\n").split("\n")))
    except (KeyError, ValueError, TypeError, struct.error) as error:
        raise ProviderError(
            f"minilm: the package holds other weights than expected ({error})", kind="model_not_found"
        ) from error
    with target.open("wb") as file:
        file.write(MAGIC + struct.pack("<IQQ", 3, len(tensors), len(pairs)))
        file.writelines(pairs)
        offset = 0
        for name, (shape, kind, data) in tensors:
            sizes = struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
            file.write(_text(name) + sizes + struct.pack("<IQ", kind, offset))
            offset += _aligned(len(data))
        file.write(bytes(_aligned(file.tell()) - file.tell()))
        for _, (_, _, data) in tensors:
            file.write(data + bytes(_aligned(len(data)) - len(data)))


def _tensors(np: Any, data: bytes) -> "Iterator[tuple[str, NDArray[np.float32]]]":
    """Yield the tensors with their llama.cpp names."""
    size = int.from_bytes(data[:8], "little")
    if not 0 < size <= MAX_HEADER_BYTES:
        raise ValueError("no safetensors file")
    header = json.loads(data[8 : 8 + size])
    for theirs, ours in _names():
        entry = header.get(theirs) or header[f"bert.{theirs}"]
        start, end = entry["data_offsets"]
        if entry["dtype"] != "F32":
            raise ValueError(f"{theirs} is {entry['dtype']}")
        values = np.frombuffer(data[8 + size + start : 8 + size + end], dtype="<f4")
        yield ours, values.reshape(entry["shape"])


def _names() -> Iterator[tuple[str, str]]:
    yield from _EMBEDDINGS.items()
    for layer in range(LAYERS):
        for theirs, ours in _LAYER.items():
            for part in ("weight", "bias"):
                yield f"encoder.layer.{layer}.{theirs}.{part}", f"blk.{layer}.{ours}.{part}"


def _packed(np: Any, name: str, values: "NDArray[np.float32]") -> tuple[tuple[int, ...], int, bytes]:
    """Return the shape, type and bytes of a tensor."""
    # llama.cpp adds position and token type embeddings unconverted, so these stay F32.
    if name in _PLAIN or values.ndim != 2:
        return values.shape, _F32, values.tobytes()
    blocks = values.reshape(-1, _BLOCK)
    scales = np.abs(blocks).max(axis=1, keepdims=True) / np.float32(127)
    with np.errstate(divide="ignore"):
        inverse = np.where(scales == 0, np.float32(0), np.float32(1) / scales)
    numbers = np.rint(blocks * inverse).astype(np.int8)
    packed = np.concatenate([scales.astype("<f2").view(np.uint8), numbers.view(np.uint8)], axis=1)
    return values.shape, _Q8_0, packed.tobytes()


def _pairs(vocab: list[str]) -> Iterator[bytes]:
    """Yield the metadata of a BERT file and its tokenizer."""
    for key, text in (("architecture", "bert"), ("name", "all-MiniLM-L6-v2"), ("license", "apache-2.0")):
        yield _pair(f"general.{key}", _TEXT, _text(text))
    counts = {"block_count": LAYERS, "context_length": 512, "embedding_length": 384}
    counts |= {"feed_forward_length": 1536, "attention.head_count": 12, "pooling_type": 1}
    for key, number in counts.items():
        yield _pair(f"bert.{key}", _U32, struct.pack("<I", number))
    yield _pair("bert.attention.layer_norm_epsilon", _FLOAT, struct.pack("<f", 1e-12))
    yield _pair("bert.attention.causal", _BOOL, b"\0")
    yield _pair("general.file_type", _U32, struct.pack("<I", 7))
    yield _pair("general.quantization_version", _U32, struct.pack("<I", 2))
    yield _pair("tokenizer.ggml.model", _TEXT, _text("bert"))
    yield _pair("tokenizer.ggml.pre", _TEXT, _text("default"))
    tokens = [_token(word) for word in vocab]
    words = b"".join(_text(word) for word, _ in tokens)
    yield _pair("tokenizer.ggml.tokens", _ARRAY, struct.pack("<IQ", _TEXT, len(tokens)) + words)
    kinds = struct.pack(f"<{len(tokens)}i", *(kind for _, kind in tokens))
    yield _pair("tokenizer.ggml.token_type", _ARRAY, struct.pack("<IQ", _I32, len(tokens)) + kinds)
    yield _pair("tokenizer.ggml.token_type_count", _U32, struct.pack("<I", 2))
    special = {"bos": "[CLS]", "eos": "[SEP]", "unknown": "[UNK]", "padding": "[PAD]", "mask": "[MASK]"}
    special["seperator"] = "[SEP]"  # the format spells it like this
    for key, word in special.items():
        yield _pair(f"tokenizer.ggml.{key}_token_id", _U32, struct.pack("<I", vocab.index(word)))
    for key in ("bos", "eos"):
        yield _pair(f"tokenizer.ggml.add_{key}_token", _BOOL, b"\1")


def _token(word: str) -> tuple[str, int]:
    """Return a token in llama.cpp's form and its type: it marks the start of a word, not a continuation."""
    if word in _SPECIAL:
        return word, _CONTROL
    if word.startswith("[unused") and word.endswith("]"):
        return word, _UNUSED
    return (word[2:] if word.startswith("##") else f"\u2581{word}"), _NORMAL


def _pair(key: str, kind: int, value: bytes) -> bytes:
    return _text(key) + struct.pack("<I", kind) + value


def _text(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _aligned(size: int) -> int:
    return -(-size // _ALIGNMENT) * _ALIGNMENT
