"""Random failures of cluster processes, from a seed; every process that ended is restarted.

| harm | to |
|---|---|
| kill -9, SIGTERM, frozen for a while (shorter or longer than `dead_after`) | workers, gateways |
| kill -9, halt, frozen for a while | PostgreSQL |
"""

import asyncio
import random
from collections import Counter

from tests.scale.nodes import Node
from tests.scale.stage import Cluster

DEAD_AFTER_S = 3.0
LOST = 75


class Storm:
    """Does one harm after the other, up to three of them at a time."""

    def __init__(self, cluster: Cluster, chance: random.Random) -> None:
        self.done: Counter[str] = Counter()
        self.exits: Counter[tuple[str, int]] = Counter()
        """How often nodes have ended in which way."""
        self._cluster = cluster
        self._chance = chance
        self._idle = {*cluster.nodes, "postgres"}
        self._tasks: set[asyncio.Task[None]] = set()

    async def rage(self, seconds: float, pause_s: float) -> None:
        """Do harm for some time, then mend everything."""
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(self._chance.uniform(0.2, 2 * pause_s))
            if self._idle:
                self._tasks.add(asyncio.create_task(self._harm(self._chance.choice(sorted(self._idle)))))
            while len(running := {task for task in self._tasks if not task.done()}) >= 3:
                await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.gather(*self._tasks)
        await self._mend()

    async def watch_over(self) -> None:
        """Restart every node that ends from now on; a node declared dead reports that."""
        while True:
            await self._mend()

    async def _harm(self, name: str) -> None:
        self._idle.discard(name)
        if name == "postgres":
            await self._harm_postgres()
        else:
            await self._harm_node(self._cluster[name])
        self._idle.add(name)

    async def _harm_node(self, node: Node) -> None:
        if not node.lives:  # it was lost when the database was away, or when it was frozen
            await self._again(node)
            return
        match self._note(node.words[0], ("kill", "kill", "drain", "freeze briefly", "freeze")):
            case "kill":
                node.kill()
            case "drain":
                node.drain()
                await node.ended()
            case "freeze briefly":
                node.freeze()
                await asyncio.sleep(DEAD_AFTER_S / 4)
                node.thaw()
                return
            case _:
                node.freeze()
                await asyncio.sleep(DEAD_AFTER_S * self._chance.uniform(1.5, 2.5))
                node.thaw()
                return
        await asyncio.sleep(self._chance.uniform(0, DEAD_AFTER_S))
        await self._again(node)

    async def _harm_postgres(self) -> None:
        server = self._cluster.server
        match self._note("postgres", ("kill", "halt", "freeze")):
            case "freeze":
                server.freeze()
                await asyncio.sleep(self._chance.uniform(0.2, DEAD_AFTER_S))
                server.thaw()
                return
            case "kill":
                await asyncio.to_thread(server.kill)
            case _:
                await asyncio.to_thread(server.halt)
        await asyncio.sleep(self._chance.uniform(0, DEAD_AFTER_S))
        await asyncio.to_thread(server.start)

    def _note(self, whom: str, harms: tuple[str, ...]) -> str:
        harm = self._chance.choice(harms)
        self.done[f"{harm} {whom}"] += 1
        return harm

    async def _mend(self) -> None:
        """Start what has ended until everything has lived for a while."""
        quiet_s = 0.0
        while quiet_s < DEAD_AFTER_S:
            ended = [node for node in self._cluster.nodes.values() if not node.lives]
            for node in ended:
                await self._again(node)
            await asyncio.sleep(0.1)
            quiet_s = 0.0 if ended else quiet_s + 0.1

    async def _again(self, node: Node) -> None:
        """Start a node like a supervisor would; a node declared dead reports that by its exit code."""
        self.exits[node.words[0], node.process.wait(0)] += 1
        while True:
            node.spawn()
            try:
                await node.until_ready()
            except AssertionError:  # the database went away meanwhile
                self.exits[node.words[0], node.process.wait(0)] += 1
                await asyncio.sleep(0.2)
            else:
                return
