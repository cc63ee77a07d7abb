"""HTTP hooks: the invocation is the request body, and the hook's response is the response body.

Importing this module imports aiohttp, which is slow, so `factory` does it only when an entry needs it.
"""

import aiohttp
import msgspec

from bridle import __version__
from bridle.core.errors import HookError
from bridle.core.hook import HookInvocation, HttpRuntime
from bridle.hooks.response import RawResponse, Runner, parse_response

_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # so that the size limit counts the bytes received
    "Content-Type": "application/json",
    "User-Agent": f"bridle/{__version__}",
}


class HttpHookClient:
    """Sends the requests of one run's HTTP hooks and keeps their connections."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._opened: aiohttp.ClientSession | None = None

    def runner(self, runtime: HttpRuntime) -> Runner:
        """Return the runner of an HTTP hook; the caller sets the timeout."""

        async def ask(invocation: HookInvocation) -> RawResponse:
            try:
                data = await self._call(runtime, msgspec.json.encode(invocation))
            except (aiohttp.ClientError, ValueError, OSError) as error:
                raise HookError(f"{_server_name(runtime.url)}: {_reason(error)}") from error
            return RawResponse(parse_response(data), data)

        return ask

    async def aclose(self) -> None:
        """Close every connection."""
        if self._opened is not None:
            session, self._opened = self._opened, None
            await session.close()

    async def _call(self, runtime: HttpRuntime, body: bytes) -> bytes:
        request = self._session().request(
            runtime.method.upper(),
            runtime.url,
            data=body,
            headers=runtime.headers,
            # The invocation may only go to the address in the settings.
            allow_redirects=False,
        )
        async with request as response:
            if not 200 <= response.status < 300:
                response.close()
                raise HookError(f"{_server_name(runtime.url)}: answered with status {response.status}")
            data = bytearray()
            async for chunk in response.content.iter_any():
                data += chunk
                if len(data) > self._limit_bytes:
                    response.close()
                    raise HookError(
                        f"{_server_name(runtime.url)}: its answer is longer than {self._limit_bytes:,} bytes",
                        raw=bytes(data[: self._limit_bytes]),
                    )
        return bytes(data)

    def _session(self) -> aiohttp.ClientSession:
        if self._opened is None or self._opened.closed:
            self._opened = aiohttp.ClientSession(
                timeout=aiohttp.ClientTimeout(total=None),
                cookie_jar=aiohttp.DummyCookieJar(),
                headers=_HEADERS,
                auto_decompress=False,
            )
        return self._opened


def _server_name(url: str) -> str:
    """Return scheme and host of a URL, without user, password and query, which may be secrets."""
    scheme, _, rest = url.partition("://")
    host = rest.split("/")[0].split("?")[0].rpartition("@")[2]
    return f"{scheme}://{host}"


def _reason(error: Exception) -> str:
    """Return the cause of a failure; the text of a response error would quote the request."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    match error:
        case aiohttp.InvalidURL():
            return "the address is invalid"
        case aiohttp.ClientResponseError():
            return "the answer is not HTTP"
        case aiohttp.ClientConnectionError() | aiohttp.ClientPayloadError():
            return "the connection was lost"
        case _:
            return "the request failed"
