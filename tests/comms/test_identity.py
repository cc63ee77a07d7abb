import asyncio
import os
from pathlib import Path

import pytest

from bridle.comms.identity import Identity, is_signed, load_identity, parse_peer_id, peer_id
from bridle.core.errors import ConfigError

# RFC 8032, 7.1, test 2
SECRET = bytes.fromhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
PUBLIC = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
SIGNATURE = bytes.fromhex(
    "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
    "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
)


def test_signatures_are_those_of_the_standard():
    identity = Identity(SECRET)

    assert identity.public == PUBLIC
    assert identity.sign(b"\x72") == SIGNATURE
    assert is_signed(PUBLIC, b"\x72", SIGNATURE)
    assert not is_signed(PUBLIC, b"\x73", SIGNATURE)
    assert not is_signed(PUBLIC, b"\x72", bytes(64))
    assert not is_signed(PUBLIC, b"\x72", b"short")
    assert not is_signed(bytes(31), b"\x72", SIGNATURE)


@pytest.mark.parametrize("y", ["00", "01", "edff", "eeff", "ecff", "26e8", "c717"])
@pytest.mark.parametrize("sign", [0, 0x80])
def test_a_key_that_anybody_can_sign_with_signs_nothing(y: str, sign: int):
    """Of a point of small order one signature holds for every eighth text or more."""
    rest = {"26e8": "958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"}
    rest |= {"c717": "6a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"}
    weak = bytearray(bytes.fromhex(y + rest.get(y, "ff" * 29 + "7f" if y.endswith("ff") else "00" * 31)))
    weak[31] |= sign

    assert not any(is_signed(bytes(weak), bytes([text]), bytes(weak) + bytes(32)) for text in range(100))
    assert not any(is_signed(bytes(weak), bytes([text]), b"\x01" + bytes(63)) for text in range(100))


def test_a_key_is_made_once_and_kept_private(tmp_path: Path):
    folder = tmp_path / "home/identity"
    before = os.umask(0)
    try:
        first = load_identity(folder)
    finally:
        os.umask(before)

    again = load_identity(folder)
    assert again.public == first.public
    assert (folder / "identity.pub").read_bytes() == first.public
    assert len((folder / "identity.key").read_bytes()) == 32
    assert (folder / "identity.key").stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in folder.iterdir()) == ["identity.key", "identity.pub"]


async def test_many_at_once_make_one_key(tmp_path: Path):
    found = await asyncio.gather(*(asyncio.to_thread(load_identity, tmp_path / "i") for _ in range(8)))

    assert len({identity.public for identity in found}) == 1


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o644, 0o660, 0o601])
def test_a_key_that_others_can_reach_is_refused(tmp_path: Path, mode: int):
    load_identity(tmp_path)
    (tmp_path / "identity.key").chmod(mode)

    with pytest.raises(ConfigError, match="others can read it") as caught:
        load_identity(tmp_path)
    assert caught.value.hint == f"chmod 600 {tmp_path}/identity.key"


@pytest.mark.parametrize("size", [0, 31, 33, 5000])
def test_a_key_of_another_size_is_refused_and_not_replaced(tmp_path: Path, size: int):
    key = tmp_path / "identity.key"
    key.write_bytes(bytes(size))
    key.chmod(0o600)

    with pytest.raises(ConfigError, match="bytes"):
        load_identity(tmp_path)
    assert key.read_bytes() == bytes(size)


def test_a_key_that_is_a_link_a_folder_or_a_pipe_is_refused(tmp_path: Path):
    for name, make in (
        ("link", lambda path: path.symlink_to(tmp_path / "elsewhere")),
        ("folder", lambda path: path.mkdir()),
        ("pipe", os.mkfifo),
    ):
        folder = tmp_path / name
        folder.mkdir()
        make(folder / "identity.key")

        with pytest.raises(ConfigError, match=r"identity\.key"):
            load_identity(folder)


def test_a_public_key_that_was_changed_is_put_right(tmp_path: Path):
    identity = load_identity(tmp_path)
    (tmp_path / "identity.pub").write_bytes(b"x" * 32)

    load_identity(tmp_path)

    assert (tmp_path / "identity.pub").read_bytes() == identity.public


def test_a_peer_id_names_a_key():
    text = "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw="

    assert peer_id(PUBLIC) == text
    assert parse_peer_id(text) == PUBLIC


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ed25519:",
        "PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
        "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw",
        "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgx=",
        "ed25519:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zg==",
        "ed25519: PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
        "ed25519:ä",
        "rsa:PUAXw+hDiVqStwqnTRt+vJyYLM8uxJaMwM1V8Sr0Zgw=",
        "ed25519:" + "A" * 10_000,
    ],
)
def test_what_is_no_peer_id_is_refused(text: str):
    with pytest.raises(ConfigError, match="is not a peer id"):
        parse_peer_id(text)
