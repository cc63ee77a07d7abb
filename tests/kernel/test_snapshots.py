"""Sealed snapshots: one that was not sealed here, for this owner and with this key, is never restored."""

import os
import zlib
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.kernel.snapshot import MAX_FILES, load_key, open_sealed, pack, seal, unpack

KEY = bytes(range(32))
FOREIGN = "was not made by Bridle on this machine for this session"


@given(st.binary(max_size=300), st.text(max_size=10))
def test_what_was_sealed_can_be_opened(data: bytes, owner: str):
    assert open_sealed(seal(data, KEY, owner), KEY, owner) == data
    assert seal(data, KEY, owner) == seal(data, KEY, owner)


@given(st.binary(max_size=50), st.integers(0, 10_000), st.integers(1, 255))
def test_any_changed_byte_is_noticed(data: bytes, place: int, change: int):
    sealed = bytearray(seal(data, KEY, "s1"))
    sealed[place % len(sealed)] ^= change

    with pytest.raises(ToolError, match=FOREIGN):
        open_sealed(bytes(sealed), KEY, "s1")


@given(st.integers(0, 10_000))
def test_any_cut_is_noticed(size: int):
    sealed = seal(b"some data", KEY, "s1")

    with pytest.raises(ToolError, match=FOREIGN):
        open_sealed(sealed[: size % len(sealed)], KEY, "s1")


@pytest.mark.parametrize(("key", "owner"), [(bytes(32), "s1"), (KEY, "s2"), (KEY, "")])
def test_another_key_and_another_owner_open_nothing(key: bytes, owner: str):
    with pytest.raises(ToolError, match=FOREIGN):
        open_sealed(seal(b"data", KEY, "s1"), key, owner)


def test_an_owner_cannot_be_moved_into_the_data():
    """Owner and payload are kept apart by a length, or "ab" + "c" would pass for "a" + "bc"."""
    sealed = seal(b"data", KEY, "s1")
    start = len(sealed) - len(zlib.compress(b"data", 1))

    with pytest.raises(ToolError, match=FOREIGN):
        open_sealed(sealed[:start] + b"1" + sealed[start:], KEY, "s")


def test_what_would_become_too_large_is_not_unpacked():
    sealed = seal(bytes(10_000_000), KEY, "s1")

    assert len(sealed) < 100_000
    assert len(open_sealed(sealed, KEY, "s1", max_bytes=10_000_000)) == 10_000_000
    with pytest.raises(ToolError, match="larger than 9999999 bytes"):
        open_sealed(sealed, KEY, "s1", max_bytes=9_999_999)


def test_a_key_is_made_once_and_for_its_owner_alone(tmp_path: Path):
    path = tmp_path / "run" / "kernel.key"

    made = load_key(path)

    assert len(made) == 32
    assert load_key(path) == made
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(path.parent) == ["kernel.key"]
    assert load_key(tmp_path / "other.key") != made


@pytest.mark.parametrize(
    ("size", "mode", "why"),
    [(31, 0o600, "32 bytes"), (33, 0o600, "32 bytes"), (32, 0o644, "others can read")],
)
def test_a_key_that_is_not_safe_is_refused(tmp_path: Path, size: int, mode: int, why: str):
    path = tmp_path / "kernel.key"
    path.write_bytes(bytes(size))
    path.chmod(mode)

    with pytest.raises(ToolError, match=why):
        load_key(path)


def test_a_key_behind_a_link_is_refused(tmp_path: Path):
    load_key(tmp_path / "real.key")
    (tmp_path / "kernel.key").symlink_to(tmp_path / "real.key")

    with pytest.raises(ToolError, match="cannot be read"):
        load_key(tmp_path / "kernel.key")


def held(**parts: object) -> str:
    return msgspec.json.encode({"vars": {}, **parts}).decode()


@pytest.mark.parametrize("codec", ["json", "rich"])
def test_data_keeps_the_way_it_was_written(codec: str):
    text = held(files={"a/b.txt": "x"}, binary={"c": "AA=="})

    assert unpack(pack(codec, text)) == (codec, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("part", ["files", "binary"])
@pytest.mark.parametrize("path", ["/etc/passwd", "../x", "a/../../x", "..", "", ".", "a\0b", "x" * 2000])
def test_files_outside_of_the_scratch_folder_are_refused(part: str, path: str):
    with pytest.raises(ToolError, match=r"outside its folder.*nothing was restored"):
        unpack(pack("json", held(**{part: {path: ""}})))


def test_too_many_files_are_refused():
    with pytest.raises(ToolError, match="nothing was restored"):
        unpack(pack("json", held(files={str(number): "" for number in range(MAX_FILES + 1)})))


@pytest.mark.parametrize(
    "data", [b"", b"{}", b"pickle:{}", b"json:", b"json:[]", b'json:{"files":[]}', b"json:\xff"]
)
def test_what_is_no_snapshot_is_refused(data: bytes):
    with pytest.raises(ToolError, match="nothing was restored"):
        unpack(data)
