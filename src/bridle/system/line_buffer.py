"""Split a stream of byte chunks into lines of limited length."""


class LineBuffer:
    """Collect bytes as they arrive and return complete lines."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chunks: list[bytes] = []
        self._size = 0
        self._is_skipping = False

    def feed(self, data: bytes) -> list[bytes | None]:
        """Return the lines that are complete now, without line ends; None for a line that was too long."""
        found: list[bytes | None] = []
        *whole, rest = data.split(b"\n")
        for end in whole:
            self._add(end)
            found.append(None if self._is_skipping else b"".join(self._chunks).removesuffix(b"\r"))
            self._is_skipping = False
            self._drop()
        self._add(rest)
        return found

    def rest(self) -> bytes:
        """Return and drop the bytes after the last line end."""
        rest = b"".join(self._chunks)
        self._drop()
        return rest

    def _add(self, chunk: bytes) -> None:
        if not chunk or self._is_skipping:
            return
        self._size += len(chunk)
        if self._size > self._limit:
            self._is_skipping = True
            self._drop()
        else:
            self._chunks.append(chunk)

    def _drop(self) -> None:
        self._chunks.clear()
        self._size = 0
