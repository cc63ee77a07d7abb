"""Planted secrets, and a search for them in every stored byte, also in compressed data.

```
file ─▶ its bytes ─▶ every zlib stream in it
SQLite ─▶ every value of every table ─▶ every zlib stream in it
```

Each secret is looked for as it is and as programs encode it: reversed, in hex, base64 and as part of a URL.
"""

import base64
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import quote

Found = set[tuple[str, str]]
"""Where something was found, and which secret it was."""
ZLIB_HEADS = (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")
MAX_INFLATED = 64 * 1024 * 1024


def forms(secret: str) -> list[bytes]:
    """Return how a secret may be written."""
    raw = secret.encode()
    # The first four letters and the last ones depend on what stands around it.
    encoded = [base64.b64encode(bytes(before) + raw)[4 : 4 + len(raw)] for before in range(3)]
    return [raw, raw[::-1], raw.hex().encode(), quote(secret, safe="").encode(), *encoded]


def search(pieces: Iterable[tuple[str, bytes]], secrets: Mapping[str, str]) -> Found:
    """Return which secrets are found where."""
    wanted = [(name, form) for name, secret in secrets.items() for form in forms(secret)]
    return {
        (where, name)
        for where, piece in pieces
        for data in (piece, *inflated(piece))
        for name, form in wanted
        if form in data
    }


def kept_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield every byte below a folder, with the path from there; of databases the values as well."""
    for path in sorted(folder.rglob("*")):
        if path.is_symlink() or not path.is_file():
            continue
        name = str(path.relative_to(folder))
        content = path.read_bytes()
        yield name, content
        if content.startswith(b"SQLite format 3\0"):
            yield from ((name, value) for value in values_in(path))


def values_in(database: Path) -> Iterator[bytes]:
    """Yield every value in a database, as it is and not as pages cut it up."""
    with sqlite3.connect(database) as opened:
        opened.text_factory = bytes
        tables = [
            row[0].decode() for row in opened.execute("select name from sqlite_master where type = 'table'")
        ]
        for table in tables:
            for row in opened.execute(f'select * from "{table}"'):
                yield from (value for value in row if isinstance(value, bytes))
    opened.close()


def inflated(data: bytes) -> Iterator[bytes]:
    """Yield the compressed data in some bytes, at any offset."""
    for head in ZLIB_HEADS:
        at = data.find(head)
        while at >= 0:
            with suppress(zlib.error):
                yield zlib.decompressobj().decompress(memoryview(data)[at:], MAX_INFLATED)
            at = data.find(head, at + 1)
