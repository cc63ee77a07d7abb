"""Snapshots: the saved state of a kernel, sealed so that Bridle restores only what it saved itself.

```
sealed   mark | HMAC-SHA256 of (mark, owner, payload) | payload = zlib(data)
data     codec ":" JSON {"vars": …, "files": {path: text}, "binary": {path: base64}, …}
```

A rich snapshot holds pickled values, and unpickling runs code: hence the seal.
"""

import hmac
import os
import secrets
import zlib
from pathlib import Path, PurePosixPath
from typing import Any, get_args

import msgspec

from bridle.core.errors import ToolError
from bridle.core.malformed import MALFORMED
from bridle.kernel.frames import Codec

MAX_SEALED_BYTES = 64 * 1024 * 1024
MAX_FILES = 10_000
_MAX_PATH_CHARS = 1024
_MARK = b"bridle-kernel-1\n"
_MAC_BYTES = 32
_KEY_BYTES = 32
_QUICK = 1  # a tenth larger than at the default level, in a fifth of the time
_CODECS: tuple[str, ...] = get_args(Codec)


class TakenSnapshot(msgspec.Struct, frozen=True):
    """A kernel's state; `dropped` names what could not be saved, each with the reason."""

    data: bytes
    dropped: tuple[tuple[str, str], ...] = ()


class _SnapshotData(msgspec.Struct, frozen=True):
    """The part of a snapshot's data that is checked here."""

    files: dict[str, Any] = {}
    binary: dict[str, Any] = {}


_decoder = msgspec.json.Decoder(_SnapshotData)


def seal(data: bytes, key: bytes, owner: str) -> bytes:
    """Return sealed data, which `open_sealed` opens with the same key and owner; the same for equal data.

    Blocking: one second per 100 MB.
    """
    payload = zlib.compress(data, _QUICK)
    return _MARK + _mac(key, owner, payload) + payload


def open_sealed(sealed: bytes, key: bytes, owner: str, *, max_bytes: int = MAX_SEALED_BYTES) -> bytes:
    """Return the sealed data; blocking; raises ToolError if it was changed, or for another key or owner."""
    start = len(_MARK) + _MAC_BYTES
    mark, mac, payload = sealed[: len(_MARK)], sealed[len(_MARK) : start], sealed[start:]
    if mark != _MARK or not hmac.compare_digest(mac, _mac(key, owner, payload)):
        raise ToolError(
            "the snapshot was not made by Bridle on this machine for this session; nothing was restored"
        )
    data = zlib.decompressobj().decompress(payload, max_bytes + 1)
    if len(data) > max_bytes:
        raise ToolError(f"the snapshot is larger than {max_bytes} bytes; nothing was restored")
    return data


def load_key(path: Path) -> bytes:
    """Return the key of this machine, and create it on first use; blocking; raises ToolError."""
    try:
        if not path.exists():
            _make_key(path)
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with open(descriptor, "rb") as file:
            key = file.read(_KEY_BYTES + 1)
            is_private = not os.fstat(file.fileno()).st_mode & 0o077
    except OSError as error:
        raise ToolError(f"the snapshot key cannot be read: {path}: {error.strerror}") from error
    if len(key) != _KEY_BYTES or not is_private:
        what = "others can read it" if len(key) == _KEY_BYTES else f"it does not have {_KEY_BYTES} bytes"
        raise ToolError(
            f"the snapshot key is not safe: {path}: {what}",
            hint="remove it to get a new one; kernels saved with the old key start empty",
        )
    return key


def _make_key(path: Path) -> None:
    """Write a key, whole or not at all; keep one that another process has created meanwhile."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    made = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:
            file.write(secrets.token_bytes(_KEY_BYTES))
            file.flush()
            os.fsync(file.fileno())
        try:
            os.link(made, path)
        except FileExistsError:
            return
    finally:
        os.unlink(made)


def pack(codec: Codec, data: str) -> bytes:
    """Return a guest's data with its codec in front."""
    return f"{codec}:{data}".encode()


def unpack(packed: bytes) -> tuple[Codec, str]:
    """Return the codec and the data; raises ToolError if a guest must not get them."""
    codec, colon, data = packed.partition(b":")
    name = codec.decode(errors="replace")
    if not colon or name not in _CODECS:
        raise ToolError("not a kernel snapshot; nothing was restored")
    try:
        found = _decoder.decode(data)
        text = data.decode()
    except MALFORMED as error:
        raise ToolError(f"the snapshot is damaged: {error}; nothing was restored") from error
    paths = [*found.files, *found.binary]
    if len(paths) > MAX_FILES:
        raise ToolError(f"the snapshot has {len(paths)} files, more than {MAX_FILES}; nothing was restored")
    for path in paths:
        if not _is_inside(path):
            raise ToolError(
                f"the snapshot has a file outside its folder: {path[:100]!r}; nothing was restored"
            )
    return "rich" if name == "rich" else "json", text


def _is_inside(path: str) -> bool:
    parts = PurePosixPath(path).parts
    return (
        bool(parts)
        and len(path) <= _MAX_PATH_CHARS
        and "\0" not in path
        and not path.startswith("/")
        and ".." not in parts
    )


def _mac(key: bytes, owner: str, payload: bytes) -> bytes:
    name = owner.encode(errors="surrogatepass")
    head = _MARK + len(name).to_bytes(8, "big") + name
    made = hmac.new(key, head, "sha256")
    made.update(payload)
    return made.digest()
