"""Embeddings from an OpenAI-compatible server: `POST …/embeddings {model, input}`.

The server may be any, or a llama-server of Bridle's that `ready` starts on first use.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Annotated, Any

import aiohttp
import msgspec
import numpy as np
from msgspec import Meta, Struct
from numpy.typing import NDArray

from bridle.core.errors import ProviderError, ProviderErrorKind
from bridle.core.malformed import MALFORMED
from bridle.memory.embedders.normalize import normalize_rows

BATCH_TEXTS = 32
MAX_ANSWER_BYTES = 64 * 1024 * 1024
MAX_DIMS = 8192
MIN_TEXT_CHARS = 64  # a text is not halved below this
TIMEOUT_S = 60.0
_REFUSALS: dict[int, ProviderErrorKind] = {
    401: "invalid_api_key",
    403: "authentication_failed",
    404: "model_not_found",
}


class Endpoint(Struct, frozen=True):
    """The URL for embeddings, and the headers of every request."""

    url: str
    headers: Mapping[str, str] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r})"


class _Item(Struct):
    index: int
    embedding: Annotated[list[float], Meta(min_length=1, max_length=MAX_DIMS)]


class _Answer(Struct):
    data: list[_Item]


class ServerEmbedder:
    """Computes embeddings on a server."""

    def __init__(
        self,
        id: str,  # noqa: A002  the name the protocol has for it
        ready: Callable[[], Awaitable[Endpoint]],
        *,
        model: str,
        close: Callable[[], Awaitable[None]] | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        self.id = id
        self._ready = ready
        self._model = model
        self._close = close
        self._timeout_s = timeout_s
        self._opened: aiohttp.ClientSession | None = None

    async def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return a row of length 1 for each text; raises BridleError.

        Of a text that is too long for the model, only the beginning is embedded.
        """
        endpoint = await self._ready()
        rows: list[list[float]] = []
        for start in range(0, len(texts), BATCH_TEXTS):
            rows += await self._batch(endpoint, list(texts[start : start + BATCH_TEXTS]))
        if len({len(row) for row in rows}) > 1:
            raise self._failure("gave vectors of different lengths")
        return normalize_rows(np.array(rows))

    async def aclose(self) -> None:
        """Close the connections, and the server if Bridle started it."""
        session, self._opened = self._opened, None
        try:
            if session is not None:
                await session.close()
        finally:
            if self._close is not None:
                await self._close()

    async def _batch(self, endpoint: Endpoint, texts: list[str]) -> list[list[float]]:
        """Request all texts at once; if the server refuses, one by one and shortened."""
        # The server would refuse a blank text as empty.
        status, body = await self._ask(endpoint, [text.strip() or "-" for text in texts])
        if status == 200:
            return self._read(body, len(texts))
        longest = max(map(len, texts))
        if status not in (400, 413, 422, 500) or (len(texts) == 1 and longest < 2 * MIN_TEXT_CHARS):
            raise self._refused(status, body)
        if len(texts) > 1:
            return [(await self._batch(endpoint, [text]))[0] for text in texts]
        return await self._batch(endpoint, [texts[0][: longest // 2]])

    async def _ask(self, endpoint: Endpoint, texts: list[str]) -> tuple[int, bytes]:
        try:
            async with self._session().post(
                endpoint.url,
                data=msgspec.json.encode({"model": self._model, "input": texts}),
                headers={"Content-Type": "application/json", **endpoint.headers},
                allow_redirects=False,
                timeout=aiohttp.ClientTimeout(total=self._timeout_s),
            ) as response:
                body = bytearray()
                while not response.content.at_eof():
                    body += await response.content.readany()
                    if len(body) > MAX_ANSWER_BYTES:
                        raise self._failure("sent an endless answer")
                return response.status, bytes(body)
        except TimeoutError as error:
            raise self._failure(f"gave no answer within {self._timeout_s:g} s", "network_timeout") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise self._failure(f"cannot be reached ({type(error).__name__})", "connection_reset") from error

    def _read(self, body: bytes, count: int) -> list[list[float]]:
        try:
            items = msgspec.json.decode(body, type=_Answer).data
        except MALFORMED as error:
            raise self._failure("sent an answer without embeddings") from error
        rows = {item.index: item.embedding for item in items}
        if sorted(rows) != list(range(count)):
            raise self._failure(f"gave {len(items)} vectors for {count} texts")
        return [rows[index] for index in range(count)]

    def _refused(self, status: int, body: bytes) -> ProviderError:
        said = "".join(c if c.isprintable() else " " for c in _message(body)[:300])
        kind = _REFUSALS.get(status, "server_error" if status >= 500 else "invalid_request")
        return self._failure(f"answered with HTTP {status}{f': {said}' if said else ''}", kind)

    def _failure(self, what: str, kind: ProviderErrorKind = "server_error") -> ProviderError:
        return ProviderError(f"embeddings of {self.id}: the server {what}", kind=kind)

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None:
            self._opened = aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())
        return self._opened


def _message(body: bytes) -> str:
    try:
        answer: Any = msgspec.json.decode(body)
    except MALFORMED:
        return ""
    error = answer.get("error") if isinstance(answer, dict) else None
    return str(error.get("message", "")) if isinstance(error, dict) else str(error or "")
