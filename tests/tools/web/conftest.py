"""A local server that sends exactly what a test wants, and rules that allow it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress

import pytest
from msgspec.structs import replace

from bridle.core.permission import parse_rule
from bridle.core.ports import ToolContext

Handler = Callable[[str, asyncio.StreamWriter], Awaitable[None]]


class Site:
    """Answers by path; remembers what was asked for, head and all."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes | Handler] = {}
        self.requests: list[str] = []
        self.port = 0
        self.serving: set[asyncio.Task[None]] = set()
        self.left = asyncio.Event()
        """Set when a client has gone away."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.serving.add(asyncio.get_running_loop().create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            request = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.requests.append(request)
            page = self.pages[request.split()[1]]
            if isinstance(page, bytes):
                writer.write(page)
                await writer.drain()
            else:
                await page(request, writer)
        self.left.set()
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    server = await asyncio.start_server(site.accept, "127.0.0.1", 0)
    site.port = server.sockets[0].getsockname()[1]
    yield site
    server.close()
    await asyncio.gather(*site.serving)


@pytest.fixture
def opened(context: ToolContext) -> ToolContext:
    """Allow both tools to reach this machine."""
    rules = (
        parse_rule("allow", "web_fetch(domain:127.0.0.1)"),
        parse_rule("allow", "download(domain:127.0.0.1)"),
    )
    return replace(context, rules=rules)
