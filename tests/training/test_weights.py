"""The weights of the base model are read from a GGUF file without the package gguf."""

import struct
from pathlib import Path

import numpy as np
import pytest

from training.weights import WeightsError, dequantise_q4_1, dequantise_q8_0, join_parts, read_gguf

F32, F16, Q4_1, Q8_0 = 0, 1, 3, 8


def q4_1_block(scale: float, minimum: float) -> bytes:
    """A block whose numbers are 0 to 15 and then 15 to 0."""
    return struct.pack("<ee16B", scale, minimum, *(low | (15 - low) << 4 for low in range(16)))


def q8_0_block(scale: float, first: int) -> bytes:
    return struct.pack("<e32b", scale, *range(first, first + 32))


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def model(*tensors: tuple[str, tuple[int, ...], int, bytes]) -> bytes:
    """A small GGUF file with values of many types before its tensors."""
    pairs = [
        text("general.name") + struct.pack("<I", 8) + text("tiny"),
        text("llama.block_count") + struct.pack("<II", 4, 30),
        text("llama.rope.freq_base") + struct.pack("<If", 6, 0.5),
        text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + text("ä") + text("b"),
        text("tokenizer.ggml.add_bos_token") + struct.pack("<I?", 7, True),
    ]
    header = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(pairs)) + b"".join(pairs)
    data = b""
    for name, shape, kind, raw in tensors:
        header += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *reversed(shape))
        header += struct.pack("<IQ", kind, len(data))
        data += raw + bytes(-len(raw) % 32)
    return header + bytes(-len(header) % 32) + data


def test_q4_1_is_scale_times_number_plus_minimum() -> None:
    raw = np.frombuffer(q4_1_block(0.5, -2.0) + q4_1_block(2.0, 1.0), np.uint8)

    found = dequantise_q4_1(raw)

    rise, fall = np.arange(16), np.arange(15, -1, -1)
    assert found.dtype == np.float32
    assert found.tolist() == [*(rise * 0.5 - 2), *(fall * 0.5 - 2), *(rise * 2.0 + 1), *(fall * 2.0 + 1)]


def test_q8_0_is_scale_times_signed_number() -> None:
    raw = np.frombuffer(q8_0_block(0.25, -128) + q8_0_block(-1.5, 96), np.uint8)

    found = dequantise_q8_0(raw)

    assert found.dtype == np.float32
    assert found.tolist() == [*(np.arange(-128, -96) * 0.25), *(np.arange(96, 128) * -1.5)]


def test_a_file_gives_metadata_and_tensors() -> None:
    data = model(
        ("norm", (3,), F32, struct.pack("<3f", 1, -2, 0.5)),
        ("table", (2, 32), Q8_0, q8_0_block(1.0, 0) + q8_0_block(2.0, 0)),
        ("map", (1, 32), Q4_1, q4_1_block(1.0, 0.0)),
    )

    gguf = read_gguf(data)

    assert gguf.metadata == {
        "general.name": "tiny",
        "llama.block_count": 30,
        "llama.rope.freq_base": 0.5,
        "tokenizer.ggml.tokens": ["ä", "b"],
        "tokenizer.ggml.add_bos_token": True,
    }
    assert gguf.tensors["norm"].tolist() == [1, -2, 0.5]
    assert gguf.tensors["table"].tolist() == [list(range(32)), list(range(0, 64, 2))]
    assert gguf.tensors["map"].shape == (1, 32)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PK..", "not a GGUF file"),
        (model(("norm", (3,), F32, bytes(12)))[:100], "damaged or incomplete"),
        (model(("norm", (64,), F32, bytes(256)))[:-128], "norm: the file ends before it"),
        (model(("norm", (3,), F16, bytes(6))), "norm: tensors of type 1 cannot be read"),
    ],
)
def test_other_files_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(WeightsError, match=reason):
        read_gguf(data)


def test_parts_are_joined_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    for number in range(11):
        (tmp_path / f"weights.{number}").write_bytes(bytes([number]))

    assert join_parts(tmp_path) == bytes(range(11))


def test_a_folder_without_parts_is_refused(tmp_path: Path) -> None:
    with pytest.raises(WeightsError, match=r"holds no file weights\.0"):
        join_parts(tmp_path)
