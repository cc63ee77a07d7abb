"""Blobs in an S3-compatible bucket, one object each.

```
<prefix>/<tenant or _>/ab/cdef…   "ab" + "cdef…" is the digest of the content; packed as in `blob_format`
```

An object's only date is that of its last upload. `put` of an existing blob uploads it again once it is older
than half the age that `prune` leaves alone; otherwise it does nothing. S3 cannot delete an object on the
condition that it is still the old one, so a blob that is put again at the very moment of its removal, an hour
after its last use, is lost; `get` reports that.
"""

import time
from collections.abc import Callable, Collection, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, TypeVar

import obstore
from obstore.exceptions import BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from bridle.core.errors import StoreError
from bridle.stores.blob_check import MIN_AGE_S
from bridle.stores.blobs import MAX_BLOB_BYTES, check_digest, digest_of, missing_error, pack, unpack
from bridle.system import current_tenant

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore

T = TypeVar("T")
RENEW_S = MIN_AGE_S / 2
DEFAULT_TENANT = "_"  # the folder of the default tenant; no tenant can have this name

_REFUSED = (PermissionDeniedError, UnauthenticatedError)


def open_bucket(
    bucket: str, *, endpoint: str = "", region: str = "us-east-1", patience_s: float = 300.0
) -> "ObjectStore":
    """Return a bucket without contacting it; keys come from the standard AWS variables or machine role."""
    more = {"endpoint": endpoint} if endpoint else {}
    return S3Store(
        bucket,
        region=region,
        disable_bulk_delete=True,  # not every S3-compatible service supports it
        **more,  # type: ignore[arg-type]
        client_options={
            "allow_http": endpoint.startswith("http://"),
            "connect_timeout": timedelta(seconds=10),
            "timeout": timedelta(seconds=120),
        },
        retry_config={
            "max_retries": 1000,
            "retry_timeout": timedelta(seconds=patience_s),
            "backoff": {
                "init_backoff": timedelta(milliseconds=100),
                "max_backoff": timedelta(seconds=5),
                "base": 2,
            },
        },
    )


class S3Blobs:
    """Blobs of all tenants in one bucket."""

    def __init__(
        self,
        bucket: "ObjectStore",
        *,
        name: str,
        prefix: str = "bridle",
        max_blob_bytes: int = MAX_BLOB_BYTES,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        """Use a bucket that `open_bucket` returned; `name` appears in error messages."""
        self._bucket = bucket
        self._name = name
        self._prefix = f"{prefix.strip('/')}/" if prefix.strip("/") else ""
        self._max_blob_bytes = max_blob_bytes
        self._now_s = now_s

    def put(self, data: bytes) -> str:
        """Store bytes for the current tenant and return their digest; raises StoreError."""
        digest = digest_of(data, self._max_blob_bytes)
        path = self._path(digest)
        try:
            found = self._do(lambda: obstore.head(self._bucket, path))
            if found["size"] and self._age_s(found) < RENEW_S:
                return digest
        except FileNotFoundError:
            pass
        self._do(lambda: obstore.put(self._bucket, path, b"".join(pack(data))))
        return digest

    def get(self, digest: str) -> bytes:
        """Return bytes stored for the current tenant; raises StoreError, StoreCorrupt."""
        check_digest(digest)
        path = self._path(digest)
        try:
            return unpack(digest, self._do(lambda: self._fetch(path)), self._max_blob_bytes)
        except FileNotFoundError:
            raise missing_error(digest) from None

    def digests(self) -> set[str]:
        """Return the digests of all stored blobs, of all tenants; raises StoreError."""
        return {digest for digest, _ in self._entries()}

    def prune(self, used: Collection[str], older_than_s: float) -> int:
        """Remove blobs not in `used` and last put that long ago; return how many; raises StoreError."""
        old = [
            entry["path"]
            for digest, entry in self._entries()
            if digest not in used and self._age_s(entry) >= older_than_s
        ]
        return sum(self._remove(path, older_than_s) for path in old)

    def _remove(self, path: str, older_than_s: float) -> bool:
        """Delete an object unless it was put again since it was listed."""
        try:
            if self._age_s(self._do(lambda: obstore.head(self._bucket, path))) < older_than_s:
                return False
            self._do(lambda: obstore.delete(self._bucket, path))
        except FileNotFoundError:
            return False
        return True

    def _fetch(self, path: str) -> bytes:
        found = obstore.get(self._bucket, path)
        if found.meta["size"] > self._max_blob_bytes + 1:
            raise StoreError(f"blob {path[-62:][:10]} has more than {self._max_blob_bytes} bytes")
        return found.bytes().to_bytes()

    def _entries(self) -> Iterator[tuple[str, "ObjectMeta"]]:
        pages = self._do(lambda: iter(obstore.list(self._bucket, self._prefix or None, chunk_size=1000)))
        while (page := self._do(lambda: next(pages, None))) is not None:
            for entry in page:
                *_, begin, rest = entry["path"].split("/")
                yield begin + rest, entry

    def _age_s(self, entry: "ObjectMeta") -> float:
        return self._now_s() - entry["last_modified"].timestamp()

    def _path(self, digest: str) -> str:
        return f"{self._prefix}{current_tenant.current.get() or DEFAULT_TENANT}/{digest[:2]}/{digest[2:]}"

    def _do(self, work: Callable[[], T]) -> T:
        try:
            return work()
        except FileNotFoundError:
            raise
        except _REFUSED as error:
            raise StoreError(
                f"bucket {self._name} denied access",
                hint="check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
            ) from error
        except (BaseError, OSError, ValueError) as error:
            text = (str(error).strip().splitlines() or ["it does not answer"])[0][:300]
            raise StoreError(f"bucket {self._name}: {text}") from error
