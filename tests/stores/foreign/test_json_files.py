import os
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.errors import StoreError
from bridle.stores.foreign import claude, codex, json_files
from bridle.stores.foreign.json_files import NO_JSON, TOO_LONG, SourceFolder, find_files, read_json_lines
from tests.stores.foreign.samples import lines as written


def read(path: Path, root: Path | None = None) -> tuple[list[dict[str, object]], dict[str, int]]:
    skipped: Counter[str] = Counter()
    return list(read_json_lines(SourceFolder("x", path, root or path.parent), skipped)), dict(skipped)


def test_only_tables_are_lines(tmp_path: Path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"a":1}\n\n[1]\n{"b":\n\xff\xfe\n' + b"[" * 5000 + b'\n{"c":3}')

    assert read(file) == ([{"a": 1}, {"c": 3}], {NO_JSON: 4})


def test_a_long_line_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_files, "MAX_LINE_BYTES", 20)
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"a":1}\n{"b":"' + b"x" * 100 + b'"}\n{"c":3}\n')

    assert read(file) == ([{"a": 1}, {"c": 3}], {TOO_LONG: 1})


def test_lines_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(json_files, "MAX_LINES", 2)
    (tmp_path / "a.jsonl").write_bytes(b'{"a":1}\n' * 3)

    assert read(tmp_path / "a.jsonl") == ([{"a": 1}] * 2, {json_files.TOO_MANY: 1})


def test_what_is_no_file_of_the_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    inside, secret = tmp_path / "in", tmp_path / "secret.jsonl"
    inside.mkdir()
    secret.write_bytes(b'{"a":1}\n')
    (inside / "link.jsonl").symlink_to(secret)
    os.mkfifo(inside / "pipe.jsonl")
    (inside / "big.jsonl").write_bytes(b'{"a":1}\n')
    (inside / "folder.jsonl").mkdir()

    assert find_files(inside, suffix=".jsonl") == [inside / "big.jsonl"]
    for name, why in (
        ("link", "leads out"),
        ("pipe", "regular"),
        ("folder", "regular"),
        ("none", "No such file"),
    ):
        with pytest.raises(StoreError, match=why):
            read(inside / f"{name}.jsonl")
    monkeypatch.setattr(json_files, "MAX_FILE_BYTES", 3)
    with pytest.raises(StoreError, match="larger"):
        read(inside / "big.jsonl")


def test_files_are_found_to_some_depth_and_number(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    deep = tmp_path.joinpath(*"abcdefgh")
    deep.mkdir(parents=True)
    (deep / "x.jsonl").touch()
    (tmp_path / "a/b/y.jsonl").touch()

    assert find_files(tmp_path, suffix=".jsonl") == [tmp_path / "a/b/y.jsonl"]
    assert find_files(tmp_path / "nowhere", suffix=".jsonl") == []
    monkeypatch.setattr(json_files, "MAX_FILES", 0)
    with pytest.raises(StoreError, match="more than 0"):
        find_files(tmp_path, suffix=".jsonl")


KEYS = "type message content payload uuid parentUuid role text id call_id output name input arguments".split()
KINDS = "user assistant response_item function_call function_call_output text tool_use tool_result message"
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(KEYS), inner | st.sampled_from(KINDS.split()), max_size=6)
    ),
    max_leaves=20,
)


@settings(max_examples=30)
@given(lines=st.lists(JSON, max_size=6))
def test_nothing_in_a_line_breaks_a_reader(lines: list[object], tmp_path_factory: pytest.TempPathFactory):
    file = tmp_path_factory.getbasetemp() / f"any-{os.getpid()}.jsonl"
    file.write_bytes(written(*lines))

    for reader in (claude, codex):
        session = reader.read(SourceFolder("x", file, file.parent))
        if session is not None:
            assert session.conversation.messages
