"""A cluster of real processes: PostgreSQL, workers and gateways, each with a separate home.

```
async with Cluster(tmp_path, workers=3, gateways=2) as cluster:
    api = await cluster.api()                   a client of the first gateway
    cluster["w1"].kill()
```
"""

import asyncio
import json
import os
import random
from collections.abc import Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any, Self

from bridle.core.ids import SessionId
from bridle.core.protocol import Record
from bridle.sessions.system_clock import SystemClock
from bridle.stores.postgres.pool import Postgres
from bridle.stores.postgres.store import PostgresStore
from bridle.surfaces.remote.client import RemoteService
from bridle.system.tls_files import TlsFiles
from tests.certificates import Authority
from tests.postgres import Server
from tests.scale.networks import Network, open_network
from tests.scale.nodes import Node, warm_nodes

STORE = """\
[store]
backend = "postgres"
blobs = "database"

[serve]
shutdown_timeout = "1s"
"""
QUICK = """\
[memory]
enabled = false

[sandbox]
mode = "off"

[retry]
initial_delay = "1ms"
"""
SCALE: dict[str, Any] = {
    "beat": "250ms",
    "dead_after": "3s",
    "poll": "50ms",
    "rest_after": "1s",
    "take_timeout": "20s",
}


class Cluster:
    """PostgreSQL, nodes and the folder that all of them see."""

    def __init__(
        self,
        folder: Path,
        *,
        workers: int = 2,
        gateways: int = 1,
        url: str = "",
        spread: bool = False,
        settings: str = QUICK,
        scale: Mapping[str, Any] = {},
    ) -> None:
        """Use an existing database, or a separate server, which may be killed.

        `spread` gives each node a separate network if the machine allows it.
        """
        self.folder = folder
        self.projects = folder / "projects"
        self.nodes: dict[str, Node] = {}
        self.network: Network | None = open_network() if spread else None
        self.url = url
        self._server = None if url else Server(listen=self.network.address if self.network else "127.0.0.1")
        self._wanted = [*(f"w{n}" for n in range(1, workers + 1)), *(f"g{n}" for n in range(1, gateways + 1))]
        self._settings = settings
        self._scale = SCALE | dict(scale)
        self._authority: Authority | None = None
        self._stack = AsyncExitStack()
        self._numbers = count(1)
        self._postgres: Postgres | None = None

    async def __aenter__(self) -> Self:
        try:
            await self._start()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def _start(self) -> None:
        self.projects.mkdir(parents=True)
        self._stack.callback(self._end)
        warm_nodes()  # it loads while the server starts
        if self._server is not None:
            await asyncio.to_thread(self._server.start)
            self.url = self._server.url()
        for name in self._wanted:
            self.add(name)
        await asyncio.gather(*(node.start() for node in self.nodes.values()))
        self._postgres = Postgres(self.url, size=4)
        self._stack.push_async_callback(self._postgres.aclose)

    async def __aexit__(self, *exception: object) -> None:
        if exception[0] is not None:
            self.print_logs()
        await self._stack.aclose()

    def _end(self) -> None:
        for node in self.nodes.values():
            node.close()
        if self._server is not None:
            self._server.stop()
        if self.network is not None:
            self.network.close()

    @property
    def server(self) -> Server:
        """The PostgreSQL of this cluster alone."""
        assert self._server is not None, "the server is that of all tests"
        return self._server

    # ------------------------------------------------------------------ nodes

    def __getitem__(self, name: str) -> Node:
        return self.nodes[name]

    @property
    def workers(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.words[0] == "worker"]

    @property
    def gateways(self) -> list[Node]:
        return [node for node in self.nodes.values() if node.words[0] == "gateway"]

    def add(self, name: str, role: str = "", settings: str = "", **scale: Any) -> Node:
        """Make a node, a worker by a name with w and a gateway otherwise; it is not started yet."""
        home = self.folder / name
        home.mkdir()
        network, address = self.network.add() if self.network is not None else ("", "")
        tables = [STORE, self._settings, settings]
        keys = self._scale | scale | {"node": scale.get("node", name)}
        if address:
            keys |= {"listen": f"{address}:0"}
            tables.append(self._protection(name))
        tables.append(_table("scale", keys))
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "LANG": "C.UTF-8",
            "BRIDLE_DATABASE_URL": self.url,
        }
        words = role.split() or ["worker" if name.startswith("w") else "gateway"]
        node = self.nodes[name] = Node(name, words, home, env, "\n".join(tables), network)
        return node

    def _protection(self, name: str) -> str:
        if self._authority is None:
            (self.folder / "certificates").mkdir()
            self._authority = Authority(self.folder / "certificates")
        files: TlsFiles = self._authority.sign(name, mtls=True)
        return _table("scale.tls", {"cert": files.cert, "key": files.key, "client_ca": files.client_ca})

    def print_logs(self) -> None:
        """Show the last output of the nodes."""
        for node in self.nodes.values():
            print(node.last_words())

    # ------------------------------------------------------------------ clients

    async def api(self, gateway: str = "g1") -> RemoteService:
        """Connect to a gateway; it is closed with the cluster."""
        api = await self[gateway].api()
        self._stack.push_async_callback(api.aclose)
        return api

    @asynccontextmanager
    async def client(self, gateway: str = "g1"):
        """Connect to a gateway for a while."""
        api = await self[gateway].api()
        try:
            yield api
        finally:
            await api.aclose()

    def project(self, name: str = "") -> Path:
        """Make a folder for a session."""
        folder = self.projects / (name or f"p{next(self._numbers)}")
        folder.mkdir()
        return folder

    def script(self, *replies: dict[str, Any], **facts: Any) -> str:
        """Write a script and return the model that follows it."""
        path = self.projects / f"script{next(self._numbers)}.json"
        path.write_text(json.dumps({"replies": replies, **facts}))
        return f"scripted/{path}"

    # ------------------------------------------------------------------ what is stored

    @property
    def postgres(self) -> Postgres:
        assert self._postgres is not None, "the cluster is not started"
        return self._postgres

    @property
    def store(self) -> PostgresStore:
        """The journal, for who looks at it."""
        return PostgresStore(self.postgres, SystemClock())

    async def records(self, session: SessionId) -> list[Record]:
        return await self.store.read(session)

    async def holder(self, session: SessionId) -> Node | None:
        """Return the worker that holds a session."""
        owner = await self.held_by(session)
        return self.nodes[owner.rpartition("-")[0]] if owner else None

    async def held_by(self, session: SessionId) -> str:
        """Return the process that holds a session, by its name in the cluster; empty for none."""
        rows = await self.postgres.rows("SELECT owner FROM bridle.sessions WHERE id = %s", (session,))
        return str(rows[0][0]) if rows else ""

    async def held(self) -> list[tuple[str, str]]:
        """Return the sessions that are held, and by which process."""
        rows = await self.postgres.rows("SELECT id, owner FROM bridle.sessions WHERE owner <> ''")
        return [(str(session), str(owner)) for session, owner in rows]


def _table(name: str, keys: Mapping[str, Any]) -> str:
    return "\n".join([f"[{name}]", *(f"{key} = {_toml(value)}" for key, value in keys.items()), ""])


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{key} = {_toml(one)}' for key, one in value.items())} }}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def seed_of(given: str | None) -> int:
    """Return the seed of a test with chance: the given one, or a new one."""
    return int(given) if given else random.SystemRandom().randrange(2**31)
