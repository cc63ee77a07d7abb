"""A proxy in front of PostgreSQL that cuts a connection after a number of bytes, or accepts none."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Literal
from urllib.parse import quote

from tests.postgres import shared_server

Direction = Literal["up", "down"]


class Proxy:
    """Listens on a Unix socket in a folder; `up` is towards the server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.cuts = 0
        self._goes_on = asyncio.Event()
        self._goes_on.set()
        self._left: dict[Direction, int | None] = {"up": None, "down": None}
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> "Proxy":
        self._server = await asyncio.start_unix_server(self._serve, self.folder / ".s.PGSQL.5432")
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        self.drop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, direct: str) -> str:
        """Return the address of a database by way of the proxy."""
        return f"{direct.partition('?')[0]}?host={quote(str(self.folder), safe='')}"

    def cut_after(self, direction: Direction, size: int) -> None:
        """Cut the connection once so many more bytes have gone through."""
        self._left = {"up": None, "down": None, direction: size}

    def hold(self) -> None:
        """Hold back the server's answers."""
        self._goes_on.clear()

    def go_on(self) -> None:
        """Let it through."""
        self._goes_on.set()

    def drop(self) -> None:
        """Cut all connections now."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there = await asyncio.open_unix_connection(shared_server().folder / ".s.PGSQL.5432")
        self._writers |= {writer, there[1]}
        ends = (writer, there[1])
        self._tasks |= {
            asyncio.create_task(self._pump("up", reader, there[1], ends)),
            asyncio.create_task(self._pump("down", there[0], writer, ends)),
        }

    async def _pump(
        self,
        direction: Direction,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ends: tuple[asyncio.StreamWriter, ...],
    ) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if direction == "down":
                    await self._goes_on.wait()
                left = self._left[direction]
                if left is not None and len(data) > left:
                    self._left[direction] = None
                    self.cuts += 1
                    writer.write(data[:left])
                    await writer.drain()
                    break
                self._left[direction] = None if left is None else left - len(data)
                writer.write(data)
                await writer.drain()
        for each in ends:
            each.close()
