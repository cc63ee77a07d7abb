"""The daemon's JSON-RPC socket; its code is loaded when the first client connects."""

import asyncio
import os
import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

import bridle
from bridle.core.session_api import SessionApi
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.system.unix_socket import short_path

if TYPE_CHECKING:
    from bridle.surfaces.rpc import RpcContext, SocketServer

BACKLOG = 64


class RpcService:
    """Accepts the clients of one socket."""

    def __init__(self, api: SessionApi, environ: Mapping[str, str], place: DaemonFiles, usual: str) -> None:
        """Take the sessions; `usual` is the folder of sessions that name none."""
        self._api = api
        self._environ = environ
        self._usual = usual
        self._place = place
        self._listener: SocketServer | None = None

    async def open(self) -> asyncio.Server:
        """Listen on a socket that only the user can open; raises OSError."""
        api = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            self._place.rpc.unlink(missing_ok=True)  # we hold the lock: it is a dead daemon's
            with short_path(str(self._place.rpc)) as path:
                api.bind(path)
        finally:
            os.umask(before)
        return await asyncio.start_unix_server(self._take, sock=api, backlog=BACKLOG)

    def context(self) -> "RpcContext":
        """Return the state shared by all connections; runs continue after their client disconnects."""
        from bridle.surfaces.meerkat.contract import DEFAULT_CONTRACT, parse_contract
        from bridle.surfaces.rpc import RpcContext
        from bridle.surfaces.shared.folder_info import Folders

        return RpcContext(
            api=self._api,
            folders=Folders(self._environ, self._usual),
            contract=parse_contract(DEFAULT_CONTRACT),
            keeps_runs=True,
            version=bridle.__version__,
        )

    async def aclose(self) -> None:
        """End every connection."""
        with suppress(FileNotFoundError):
            os.unlink(self._place.rpc)
        if self._listener is not None:
            await self._listener.aclose()

    def _take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._listener is None:
            from bridle.surfaces.rpc import SocketServer

            self._listener = SocketServer(self.context())
        self._listener.take(reader, writer)
