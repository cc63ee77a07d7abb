"""A good client of a cluster: it reconnects to another gateway and repeats unanswered requests."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from bridle.core.errors import (
    DaemonGone,
    SessionBusy,
    SessionConflict,
    SessionNotRunning,
    SessionTaken,
    StoreError,
)
from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalDecided, ApprovalRequested, Command, Decide, Record, RunEnded
from bridle.core.queries import Records
from bridle.core.session_api import Receipt, SessionApi
from bridle.surfaces.remote.client import RemoteService
from tests.scale.nodes import Node

T = TypeVar("T")

PASSING = (DaemonGone, SessionBusy, SessionTaken, StoreError, OSError, TimeoutError)
"""What a client tries again after; SessionNotRunning depends on what was asked."""
ANSWER_S = 30.0
AGAIN_S = 0.1


class Clients:
    """Connections to the gateways, one to each, made again when they are lost."""

    def __init__(self, gateways: list[Node], chance: random.Random) -> None:
        self.chance = chance
        self.retries = 0
        """How often something had to be sent again."""
        self._gateways = gateways
        self._apis: dict[str, RemoteService] = {}

    async def aclose(self) -> None:
        for api in self._apis.values():
            await api.aclose()

    async def asked(self, ask: Callable[[SessionApi], Awaitable[T]]) -> T:
        """Ask some gateway, and another one as long as there is no answer."""
        while True:
            gateway = self.chance.choice(self._gateways)
            try:
                api = await self._api(gateway)
                async with asyncio.timeout(ANSWER_S):
                    return await ask(api)
            except PASSING as error:
                self.retries += 1
                await self._lost(gateway, error)

    async def watch(self, session: SessionId) -> AsyncIterator[Record]:
        """Yield the records of a session, each once and in order, whatever happens to gateways."""
        after = 0
        while True:
            gateway = self.chance.choice(self._gateways)
            try:
                api = await self._api(gateway)
                async with aclosing(api.watch(session, after)) as items:
                    async for item in items:
                        if isinstance(item, Record):
                            assert item.seq == after + 1, f"record {item.seq} came after {after}"
                            after = item.seq
                            yield item
            except PASSING as error:
                await self._lost(gateway, error)

    async def create(self, session: SessionId, cwd: str) -> None:
        """Create a session; if it exists already, an earlier request without an answer created it."""

        async def create(api: SessionApi) -> None:
            try:
                await api.create(cwd=cwd, session_id=session)
            except SessionTaken:
                raise
            except SessionConflict:
                await api.ask(Records(session, limit=1))

        await self.asked(create)

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Submit a command that has a key or may be repeated; raises SessionError."""
        return await self.asked(lambda api: api.submit(session, command))

    async def decide(self, session: SessionId, decision: Decide) -> bool:
        """Answer an approval; return False if it was no longer open, so the answer was not accepted."""
        while True:
            try:
                await self.submit(session, decision)
            except SessionNotRunning:
                if not await self._is_open(session, decision):
                    return False
                self.retries += 1
                await asyncio.sleep(AGAIN_S)
            else:
                return True

    async def _is_open(self, session: SessionId, decision: Decide) -> bool:
        records = await self.asked(lambda api: api.ask(Records(session)))
        is_open = False
        for record in records:
            match record.event:
                case ApprovalRequested(call_id=call_id) if call_id == decision.call_id:
                    is_open = True
                case ApprovalDecided(call_id=call_id) if call_id == decision.call_id:
                    is_open = False
                case RunEnded():
                    is_open = False
                case _:
                    pass
        return is_open

    async def _api(self, gateway: Node) -> RemoteService:
        if (api := self._apis.get(gateway.name)) is None:
            api = await gateway.api()
            if (first := self._apis.get(gateway.name)) is not None:  # another task connected meanwhile
                await api.aclose()
                return first  # it may be lost by now: then its use fails, and is tried again
            self._apis[gateway.name] = api
        return api

    async def _lost(self, gateway: Node, error: BaseException) -> None:
        if isinstance(error, (DaemonGone, OSError)) and (api := self._apis.pop(gateway.name, None)):
            await api.aclose()
        await asyncio.sleep(self.chance.uniform(AGAIN_S / 2, AGAIN_S))
