"""The cluster part of a process: its node, and the listener for other nodes."""

import asyncio
import logging
import os
import ssl
from collections.abc import Mapping
from typing import TYPE_CHECKING

import bridle
from bridle.app import Extensions
from bridle.app.cluster import OpenedNode, open_node
from bridle.config.settings import Settings
from bridle.core.errors import ConfigError
from bridle.scale.token_auth import TokenGate
from bridle.surfaces.daemon.listen_address import parse_listen_address
from bridle.surfaces.remote.client import RemoteService, say_hello
from bridle.surfaces.remote.server import Keeper, RemoteServer

if TYPE_CHECKING:
    from bridle.providers.factory import Tell

WIRE = "cluster-1"
"""The protocol version between nodes; it changes when old and new are incompatible."""
BACKLOG = 1024
MAX_LINE_START = 64 * 1024

log = logging.getLogger("bridle.scale")


class ClusterService:
    """Opens the node of a process, listens for other nodes, and closes it."""

    def __init__(self, settings: Settings, environ: Mapping[str, str], *, is_worker: bool) -> None:
        self._settings = settings
        self._environ = environ
        self._is_worker = is_worker
        self._tls = settings.scale.tls.files("scale.tls")
        self._opened: OpenedNode | None = None
        self._server: RemoteServer | None = None
        self._listener: asyncio.Server | None = None
        self.address = ""

    @property
    def opened(self) -> OpenedNode:
        """The node and its sessions."""
        assert self._opened is not None, "it is not open"
        return self._opened

    async def open(self, tell: "Tell | None", brought: Extensions) -> OpenedNode:
        """Create the node; raises ConfigError, StoreError."""
        self._opened = await open_node(
            self._settings,
            self._environ,
            self._connect,
            version=bridle.__version__,
            is_worker=self._is_worker,
            tell=tell,
            extensions=brought,
        )
        return self._opened

    async def start(self, keeper: Keeper) -> None:
        """Listen for other nodes and join the cluster; raises ConfigError, StoreError."""
        if self._is_worker:
            self._server = RemoteServer(
                self.opened.node.worker_api, keeper, version=WIRE, token=self.opened.token
            )
            self.address = await self._listen(self._server)
        await self.opened.node.start(self.address)
        log.info("%s is part of the cluster %s", self.opened.node.members.me.id, self.address)

    def gate(self, node_token: str) -> TokenGate:
        """Return the gate that authenticates tenants' tokens."""
        opened, folders = self.opened, self._settings.scale.tenant_folders
        return TokenGate(opened.api, opened.tenants, opened.audit, node_token=node_token, workspaces=folders)

    def stop_taking(self, timeout_s: float) -> None:
        """Take no more work."""
        self.opened.node.stop_taking(timeout_s)

    async def until_lost(self) -> None:
        """Wait until other nodes have declared this node gone."""
        await self.opened.node.members.is_lost.wait()

    async def aclose(self) -> None:
        """Leave the cluster; close the sessions of the process first."""
        if self._opened is None:
            return
        await self._opened.audit.aclose()
        await self._opened.node.aclose()
        if self._listener is not None:
            self._listener.close()
        if self._server is not None:
            await self._server.aclose()
        await self._opened.postgres.aclose()

    async def _listen(self, server: RemoteServer) -> str:
        scale = self._settings.scale
        host, port = parse_listen_address(scale.listen, "scale.listen", tls=self._tls)
        try:
            self._listener = await asyncio.start_server(
                server.connected(needs_token=True), host, port, backlog=BACKLOG, ssl=self._server_tls()
            )
        except OSError as error:
            raise ConfigError(
                f'scale.listen: cannot listen at "{scale.listen}": {os.strerror(error.errno or 0)}'
            ) from error
        bound = self._listener.sockets[0].getsockname()
        if not scale.advertise:
            return f"{host}:{bound[1]}"
        name, _, wanted = scale.advertise.rpartition(":")
        return f"{name}:{bound[1] if wanted == '0' else wanted}"

    async def _connect(self, address: str, token: str) -> RemoteService:
        host, _, port = address.rpartition(":")
        reader, writer = await asyncio.open_connection(host.strip("[]"), int(port), ssl=self._client_tls())
        return await say_hello(reader, writer, WIRE, token)

    def _server_tls(self) -> ssl.SSLContext | None:
        if not self._tls:
            return None
        from bridle.system.tls import server_context

        return server_context(self._tls)

    def _client_tls(self) -> ssl.SSLContext | None:
        if not self._tls:
            return None
        from bridle.system.tls import client_context

        # One authority signs all nodes: its signature identifies a node, whatever name it is reached by.
        return client_context(self._tls.client_ca, self._tls, any_name=True)
