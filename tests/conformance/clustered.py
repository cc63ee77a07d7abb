"""The same setup on many machines: a gateway replaces the daemon, and workers run its sessions.

An engine in its own process (`import bridle`, the session API) keeps its sessions in the same PostgreSQL.
"""

import asyncio
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from bridle.core.ids import SessionId
from bridle.surfaces.remote.client import RemoteService
from tests.conformance.scenario import Scenario
from tests.conformance.world import SETTINGS, Place, World
from tests.postgres import TEMPLATE, shared_server
from tests.scale.nodes import PATIENCE_S, Node
from tests.scale.stage import Cluster
from tests.surfaces.daemon.process import until

THINKS_MS = 500

_numbers = count(1)


class ClusterWorld(World):
    """A gateway in the place of the daemon, and two workers."""

    def __init__(self, root: Path, environ: dict[str, str]) -> None:
        super().__init__(root, environ)
        # No run is put aside while it waits for a client that is slow to look: that shows in the log.
        patient = {"rest_after": "10m"}
        self._cluster = Cluster(
            root / "cluster", workers=2, url=_database(root), settings=SETTINGS, scale=patient
        )
        self.home = root / "cluster" / "g1"
        self.environ |= {"BRIDLE_HOME": str(self.home), "BRIDLE_DATABASE_URL": self._cluster.url}

    @property
    def homes(self) -> Sequence[Path]:
        """Each node has its own."""
        return [self.home, *(node.place.home for node in self._cluster.nodes.values())]

    async def __aenter__(self) -> "ClusterWorld":
        await super().__aenter__()
        await self._cluster.__aenter__()
        return self

    async def __aexit__(self, *exception: Any) -> None:
        await super().__aexit__(*exception)
        await self._cluster.__aexit__(None, None, None)

    async def api(self) -> RemoteService:
        """Return the session API of the gateway."""
        if self._api is None:
            self._api = await self._gateway.api()
            self.stack.push_async_callback(self._api.aclose)
        return self._api

    def place(self, scenario: Scenario) -> Place:
        """Make a project for one play.

        A model takes its time if a client waits for half of its answer, like real ones: a client that follows
        a session to its worker does not see what was streamed before.
        """
        if any(when.seen.kind == "streams" for when in scenario.moves):
            replies = tuple({**reply, "delay_ms": THINKS_MS} for reply in scenario.replies)
            scenario = replace(scenario, replies=replies)
        return super().place(scenario)

    @property
    def token(self) -> str:
        return self._gateway.token

    async def until_given_up(self, session: SessionId) -> None:
        """Wait until the cluster knows that the former owner of a session is gone."""
        async with asyncio.timeout(PATIENCE_S):
            while await self._cluster.held_by(session):  # noqa: ASYNC110  another process gives no event
                await asyncio.sleep(0.02)

    async def forget(self, rule: str) -> None:
        """Wait until a rule stands in the settings of the node that was told, and take it out again."""
        files = {node.place.home / "config.toml": node.settings for node in self._cluster.nodes.values()}
        await until(lambda: any(rule in file.read_text() for file in files))
        for file, text in files.items():
            file.write_text(text)

    def print_logs(self) -> None:
        """Show the output of the nodes."""
        self._cluster.print_logs()

    @property
    def _gateway(self) -> Node:
        return self._cluster["g1"]


def _database(root: Path) -> str:
    """Make a database that lasts as long as the world."""
    name = f"world_{root.stat().st_ino}_{next(_numbers)}"
    shared_server().run(f"CREATE DATABASE {name} TEMPLATE {TEMPLATE} STRATEGY FILE_COPY")
    return shared_server().url(name)
