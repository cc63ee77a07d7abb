import os
from pathlib import Path

from bridle.providers.model_files import MAX_FILES, ModelFile, find_model_files
from tests.providers.llama.test_gguf import LLAMA, gguf, pair, text

CHAT = gguf(*LLAMA)
BERT = gguf(pair("general.architecture", 8, text("bert")))


def put(path: Path, data: bytes = CHAT, size_bytes: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    if size_bytes:
        os.truncate(path, size_bytes)
    return path


def test_models_that_chat_are_found_the_largest_first(tmp_path: Path):
    small = put(tmp_path / "a" / "small.gguf", size_bytes=10_000)
    large = put(tmp_path / "b" / "org" / "name" / "Large.GGUF", size_bytes=90_000)
    put(tmp_path / "a" / "mmproj.gguf", gguf(pair("general.architecture", 8, text("clip"))))
    put(tmp_path / "a" / "minilm-like.gguf", BERT)
    put(tmp_path / "a" / "notes.txt")
    put(tmp_path / "a" / "broken.gguf", b"nothing")
    put(tmp_path / "a" / "silent.gguf", b"GGUF")
    put(tmp_path / "a" / "smollm2-135m.gguf")
    put(tmp_path / "a" / "split-00002-of-00003.gguf")
    first = put(tmp_path / "a" / "split-00001-of-00003.gguf", size_bytes=20_000)

    assert find_model_files([tmp_path / "a", tmp_path / "none", tmp_path / "b"]) == [
        ModelFile(large, 90_000, 8192),
        ModelFile(first, 20_000, 8192),
        ModelFile(small, 10_000, 8192),
    ]


def test_a_file_that_two_names_lead_to_is_one(tmp_path: Path):
    blob = put(tmp_path / "blobs" / "abc", size_bytes=9_999)
    link = tmp_path / "hub" / "models--x--y" / "snapshots" / "1" / "m.gguf"
    link.parent.mkdir(parents=True)
    link.symlink_to(blob)
    (link.parent / "other.gguf").symlink_to(blob)

    assert find_model_files([tmp_path / "hub", tmp_path / "hub"]) == [ModelFile(link, 9_999, 8192)]


def test_strange_files_do_no_harm(tmp_path: Path):
    os.mkfifo(tmp_path / "pipe.gguf")
    (tmp_path / "folder.gguf").mkdir()
    (tmp_path / "nowhere.gguf").symlink_to(tmp_path / "none")
    (tmp_path / "loop").symlink_to(tmp_path)
    good = put(tmp_path / "good.gguf", size_bytes=9_999)

    assert find_model_files([tmp_path]) == [ModelFile(good, 9_999, 8192)]


def test_there_is_an_end_to_looking(tmp_path: Path):
    deep = tmp_path.joinpath(*"abcdefgh")
    put(deep / "deep.gguf")
    for number in range(MAX_FILES + 5):
        put(tmp_path / f"{number:03}.gguf")
    found = find_model_files([tmp_path])

    assert len(found) == MAX_FILES
    assert deep / "deep.gguf" not in [file.path for file in find_model_files([deep.parents[7]])]
    assert find_model_files([tmp_path], most_entries=10) == []
