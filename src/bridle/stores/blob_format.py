"""The storage format of blobs: a one-byte mark, then the content, plain or compressed.

```
"r" content       plain
"z" zlib stream   where that is shorter
```
"""

import hashlib
import re
import zlib

from bridle.core.errors import StoreCorrupt, StoreError

MAX_BLOB_BYTES = 512 * 1024 * 1024

_DIGEST = re.compile(r"[0-9a-f]{64}")
_RAW, _ZLIB = b"r", b"z"
_MIN_COMPRESSED = 4096  # a disk block: compressing less saves nothing, and zlib's setup costs 60 µs
_SAMPLE_BYTES = 64 * 1024
_PAYS = 0.9


def digest_of(data: bytes, max_bytes: int) -> str:
    """Return the digest of the content; raises StoreError if it is too large to store."""
    if len(data) > max_bytes:
        raise _too_large("the content", max_bytes)
    return hashlib.sha256(data).hexdigest()


def check_digest(digest: str) -> None:
    """Reject what cannot be a digest; raises the StoreError for a missing blob."""
    if not _DIGEST.fullmatch(digest):
        raise missing_error(digest)


def pack(data: bytes) -> tuple[bytes, bytes]:
    """Return the mark and the bytes to store; a sample detects incompressible data."""
    if len(data) < _MIN_COMPRESSED:
        return _RAW, data
    sample = data[:_SAMPLE_BYTES]
    squeezed = zlib.compress(sample, 1)
    if len(squeezed) > len(sample) * _PAYS:
        return _RAW, data
    return _ZLIB, squeezed if len(sample) == len(data) else zlib.compress(data, 1)


def unpack(digest: str, stored: bytes, max_bytes: int) -> bytes:
    """Decode the bytes stored under a digest; raises StoreCorrupt unless the content matches the digest."""
    if stored[:1] == _RAW:
        data = stored[1:]
    elif stored[:1] == _ZLIB:
        inflate = zlib.decompressobj()
        try:
            data = inflate.decompress(memoryview(stored)[1:], max_bytes + 1)
        except zlib.error as error:
            raise _damaged(digest) from error
        if len(data) <= max_bytes and (not inflate.eof or inflate.unused_data):
            raise _damaged(digest)  # truncated, or followed by extra bytes
    else:
        raise _damaged(digest)
    if len(data) > max_bytes:
        raise _too_large(f"blob {digest[:12]}", max_bytes)
    if hashlib.sha256(data).hexdigest() != digest:
        raise _damaged(digest)
    return data


def missing_error(digest: str) -> StoreError:
    """Build the error for a blob that is not stored."""
    return StoreError(f"blob {digest[:12]} is no longer stored")


def _damaged(digest: str) -> StoreCorrupt:
    return StoreCorrupt(f"blob {digest[:12]} is damaged: its content has changed")


def _too_large(what: str, max_bytes: int) -> StoreError:
    return StoreError(f"{what} has more than {max_bytes} bytes and cannot be stored")
