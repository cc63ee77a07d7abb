"""Blobs: bytes stored under the SHA-256 of their content, such as earlier file versions and long outputs.

```
<folder>/ab/cdef…            one blob, packed; "ab" + "cdef…" is the digest of the content
<folder>/ab/.<pid>-<n>.tmp   being written; the next `prune` removes what a crash left
```

A blob appears by rename, so after its process is killed it is complete or absent. Content is not forced to
the disk: after a power cut a blob may be empty or damaged. `get` detects both; `put` of the same bytes
rewrites an empty one.
"""

import hashlib
import os
import re
import time
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from bridle.core.errors import StoreCorrupt, StoreError
from bridle.stores.record_lines import from_os_error

# ---------------------------------------------------------------------------- blob format
# The storage format of blobs: a one-byte mark, then the content, plain or compressed.
#
# ```
# "r" content       plain
# "z" zlib stream   where that is shorter
# ```


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


# ---------------------------------------------------------------------------- blobs


_ASIDE = ".prune"


class FileBlobs:
    """Blobs as files in one folder, which several processes may use at once."""

    def __init__(
        self,
        folder: Path,
        *,
        max_blob_bytes: int = MAX_BLOB_BYTES,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        """Use `folder`, which the first blob creates."""
        self._folder = folder
        self._root = os.fspath(folder)
        self._max_blob_bytes = max_blob_bytes
        self._now_s = now_s
        self._numbers = count()

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest; raises StoreFull or StoreError."""
        digest = digest_of(data, self._max_blob_bytes)
        path = self._path(digest)
        try:
            if not _renewed(path):
                self._write(path, data)
        except OSError as error:
            raise from_os_error(Path(path), error) from error
        return digest

    def get(self, digest: str) -> bytes:
        """Return stored bytes; raises StoreError if they are missing, StoreCorrupt if they are damaged."""
        check_digest(digest)
        try:
            with open(self._path(digest), "rb") as file:
                stored = file.read(self._max_blob_bytes + 2)
        except FileNotFoundError:
            raise missing_error(digest) from None
        except OSError as error:
            raise from_os_error(Path(self._path(digest)), error) from error
        return unpack(digest, stored, self._max_blob_bytes)

    def prune(self, used: Collection[str], older_than_s: float) -> int:
        """Remove blobs not in `used` and last put that long ago; return how many files; raises StoreError.

        The age protects what a running session has put but not recorded yet: an hour is plenty.
        """
        limit = self._now_s() - older_than_s
        removed = 0
        try:
            for digest, entry in self._entries():
                if digest in used or entry.stat(follow_symlinks=False).st_mtime > limit:
                    continue
                removed += _remove_unless_renewed(entry.path, limit)
        except OSError as error:
            raise from_os_error(self._folder, error) from error
        return removed

    def digests(self) -> set[str]:
        """Return the digests of all stored blobs."""
        return {digest for digest, _ in self._entries()}

    def _path(self, digest: str) -> str:
        return f"{self._root}/{digest[:2]}/{digest[2:]}"

    def _entries(self) -> Iterator[tuple[str, os.DirEntry[str]]]:
        with suppress(FileNotFoundError), os.scandir(self._root) as folders:
            for folder in folders:
                if len(folder.name) == 2 and folder.is_dir(follow_symlinks=False):
                    with os.scandir(folder.path) as entries:
                        yield from ((folder.name + entry.name, entry) for entry in entries)

    def _write(self, path: str, data: bytes) -> None:
        temporary, descriptor = self._create_temporary(os.path.dirname(path))
        try:
            try:
                for piece in pack(data):
                    _write_all(descriptor, piece)
            finally:
                os.close(descriptor)
            os.rename(temporary, path)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(temporary)
            raise

    def _create_temporary(self, folder: str) -> tuple[str, int]:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        for number in self._numbers:
            path = f"{folder}/.{os.getpid()}-{number}.tmp"
            try:
                return path, os.open(path, flags, 0o600)
            except FileNotFoundError:
                os.makedirs(self._root, mode=0o700, exist_ok=True)
                os.makedirs(folder, mode=0o700, exist_ok=True)
            except FileExistsError:
                continue  # left by an earlier process with the same id
        raise AssertionError("count() does not end")


class MemoryBlobs:
    """Blobs in memory, lost when the process ends."""

    def __init__(self, *, max_blob_bytes: int = MAX_BLOB_BYTES) -> None:
        self._max_blob_bytes = max_blob_bytes
        self._blobs: dict[str, bytes] = {}

    def put(self, data: bytes) -> str:
        """Store bytes and return their digest; raises StoreError."""
        digest = digest_of(data, self._max_blob_bytes)
        self._blobs[digest] = bytes(data)
        return digest

    def get(self, digest: str) -> bytes:
        """Return stored bytes; raises StoreError if they are missing."""
        try:
            return self._blobs[digest]
        except KeyError:
            raise missing_error(digest) from None


def _renewed(path: str) -> bool:
    """Return True if a blob exists and is not empty; renews its date so that it is not pruned now."""
    try:
        os.utime(path)
        return os.stat(path).st_size > 0
    except FileNotFoundError:
        return False


def _remove_unless_renewed(path: str, limit: float) -> bool:
    """Remove an old blob; put it back if it was renewed meanwhile."""
    moved = path + _ASIDE
    with suppress(FileNotFoundError):
        os.rename(path, moved)
        if os.stat(moved).st_mtime > limit:
            os.rename(moved, path)
            return False
        os.unlink(moved)
        return True
    return False


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]
