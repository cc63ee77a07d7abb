"""The page to which the browser returns after a login: on this machine's loopback address, for one visit."""

import asyncio
from contextlib import AbstractAsyncContextManager
from secrets import compare_digest
from urllib.parse import parse_qs, urlsplit

from mcp.shared.auth import AuthorizationCodeResult

from bridle.core.errors import ToolError
from bridle.mcp.server_log import clean_line

HOST = "127.0.0.1"
PATH = "/callback"
READ_TIMEOUT_S = 5.0
MAX_HEAD_BYTES = 16 * 1024
_PAGE = "<!doctype html><meta charset=utf-8><title>Bridle</title><p>{}</p>"


class LoginCallback(AbstractAsyncContextManager["LoginCallback"]):
    """Listens while entered; only the visit with the right state counts."""

    def __init__(self, port: int = 0) -> None:
        """Set the port to listen on, 0 for any."""
        self.port = port
        self._state: str | None = None
        self._server: asyncio.Server | None = None
        self._visits: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "LoginCallback":
        self._found: asyncio.Future[AuthorizationCodeResult] = asyncio.get_running_loop().create_future()
        try:
            self._server = await asyncio.start_server(self._visit, HOST, self.port, limit=MAX_HEAD_BYTES)
        except OSError as error:
            raise ToolError(
                f"cannot listen at {HOST}:{self.port} for the browser: {error.strerror}",
                hint="set another callback_port, or none",
            ) from error
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        assert self._server is not None
        self._server.close()
        for visit in self._visits:
            visit.cancel()
        await asyncio.gather(*self._visits, return_exceptions=True)
        self._found.cancel()

    def expect(self, url: str) -> None:
        """Set the page to which the user is sent: its state must come back."""
        self._state = (parse_qs(urlsplit(url).query).get("state") or [""])[0]

    async def answer(self) -> AuthorizationCodeResult:
        """Wait for the browser; raises ToolError if the user or the server refused."""
        return await self._found

    async def _visit(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = asyncio.current_task()
        assert visit is not None
        self._visits.add(visit)
        visit.add_done_callback(self._visits.discard)
        try:
            async with asyncio.timeout(READ_TIMEOUT_S):
                head = await reader.readuntil(b"\r\n\r\n")
                status, words = self._read(head)
                body = _PAGE.format(words).encode()
                lines = f"HTTP/1.1 {status}\r\ncontent-type: text/html\r\ncontent-length: {len(body)}\r\n"
                writer.write(f"{lines}connection: close\r\n\r\n".encode() + body)
                await writer.drain()
        except (TimeoutError, OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            return  # a visitor without a valid request
        finally:
            writer.close()

    def _read(self, head: bytes) -> tuple[str, str]:
        """Check a visit; return the status and text of its page."""
        method, _, rest = head.decode("latin-1").partition(" ")
        target = urlsplit(rest.split(" ", 1)[0])
        if method != "GET" or target.path != PATH:
            return "404 Not Found", "Not found."
        given = {name: values[0] for name, values in parse_qs(target.query).items()}
        if not self._state or not compare_digest(given.get("state", "").encode(), self._state.encode()):
            return "400 Bad Request", "This is not the expected login."
        if self._found.done():
            return "400 Bad Request", "This login has expired."
        if "code" not in given:
            why = clean_line(given.get("error_description") or given.get("error") or "no code came back", 300)
            self._found.set_exception(ToolError(f"the login was refused: {why}"))
            return "200 OK", "The login was refused. You can close this page."
        self._found.set_result(
            AuthorizationCodeResult(code=given["code"], state=given["state"], iss=given.get("iss"))
        )
        return "200 OK", "You are logged in. You can close this page."
