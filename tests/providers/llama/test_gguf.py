"""The header of a model file is read, whatever follows it, and other files are rejected with a reason."""

import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ConfigError
from bridle.providers.llama.gguf import GgufHeader, read_header


def text(value: str) -> bytes:
    return struct.pack("<Q", len(value.encode())) + value.encode()


def pair(key: str, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def gguf(*pairs: bytes, version: int = 3) -> bytes:
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(pairs)) + b"".join(pairs)


LLAMA = (
    pair("general.architecture", 8, text("llama")),
    pair("general.tags", 9, struct.pack("<IQ", 8, 2) + text("a") + text("b")),
    pair("general.name", 8, text("Tiny")),
    pair("llama.rope", 6, struct.pack("<f", 1.5)),
    pair("llama.context_length", 4, struct.pack("<I", 8192)),
    pair("tokenizer.ggml.tokens", 9, struct.pack("<IQ", 8, 10**9)),
)


def test_the_facts_before_the_tokenizer_are_read(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(*LLAMA))

    assert read_header(path) == GgufHeader("llama", "Tiny", 8192)


def test_a_file_that_ends_early_has_the_facts_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf(*LLAMA)[:80])

    assert read_header(path) == GgufHeader("llama")


@given(st.binary(max_size=200))
def test_no_bytes_after_the_magic_do_harm(tmp_path_factory: pytest.TempPathFactory, rest: bytes) -> None:
    path = tmp_path_factory.getbasetemp() / "fuzz.gguf"
    path.write_bytes(b"GGUF" + rest)

    assert isinstance(read_header(path), GgufHeader)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "file not found"),
        (b"", "is not a GGUF file"),
        (b"PK\x03\x04zip", r"begins with b'PK\\x03\\x04'"),
    ],
)
def test_what_is_no_model_file_is_refused(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "m.gguf"
    if content is not None:
        path.write_bytes(content)

    with pytest.raises(ConfigError, match=said):
        read_header(path)


def test_a_folder_is_no_model_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="it is a folder"):
        read_header(tmp_path)
