"""Clients of a cluster in a storm: each plays one session, and notes what was acknowledged."""

import asyncio
import random
from collections.abc import Coroutine
from contextlib import aclosing, suppress
from typing import Any

from bridle.core.errors import SessionNotRunning
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Decide,
    MessageAdded,
    Prompt,
    Record,
    RunOptions,
    Steer,
)
from bridle.core.session import Session
from tests.scale.clients import Clients
from tests.scale.plays import Play

DENIED = 0.2  # of the approvals
TWICE = 0.2  # of the approvals and prompts are sent by two gateways at once


class Visitor:
    """Plays one session to its end."""

    def __init__(self, clients: Clients, play: Play, chance: random.Random) -> None:
        self.play = play
        self.taken: set[str] = set()
        """Prompts that were acknowledged."""
        self.decided: set[str] = set()
        """Calls about which an answer was acknowledged."""
        self.is_over = False
        self.session = Session()
        self._clients = clients
        self._chance = chance
        self._answered: set[str] = set()
        self._added: set[str] = set()
        self._children: set[str] = set()
        self._options = RunOptions(model=play.model, allow=("bash(*)",))

    async def visit(self) -> None:
        """Play the session until nothing is left to do."""
        play = self.play
        await self._clients.create(play.session, str(play.folder))
        waits = [self._chance.randint(5, 20) for _ in play.prompts[1:]]
        steer_after = self._chance.randint(5, 15) if play.steer else 0
        async with asyncio.TaskGroup() as tasks, aclosing(self._clients.watch(play.session)) as records:
            tasks.create_task(self._prompt(0))
            async for record in records:
                self._note(record)
                if isinstance(record.event, ApprovalRequested):
                    tasks.create_task(self._decide(record.event))
                if record.seq == steer_after:
                    tasks.create_task(self._steer())
                while waits and record.seq >= waits[0]:
                    waits.pop(0)
                    tasks.create_task(self._prompt(len(play.prompts) - len(waits) - 1))
                if waits and self._is_quiet():  # a short run: the prompt comes after it
                    waits[0] = record.seq
                if self._is_quiet() and self._added >= set(play.prompts):
                    break
        self.is_over = True

    def _note(self, record: Record) -> None:
        self.session.apply(record)
        match record.event:
            case MessageAdded(message=message):
                self._added.add(message.text)
            case ChildStarted(child=child):
                self._children.add(child)
            case ChildEnded(child=child):
                self._children.discard(child)
            case _:
                pass

    def _is_quiet(self) -> bool:
        known = self.session.known
        return self.session.run is None and not known.queue and not self._children and self.session.seq > 1

    # ------------------------------------------------------------------ what is sent

    async def _prompt(self, number: int) -> None:
        text = self.play.prompts[number]
        command = Prompt(user_message(text), self._options, key=f"key-{number}")
        sendings = [self._clients.submit(self.play.session, command)] * 1
        if self._chance.random() < TWICE:
            sendings.append(self._clients.submit(self.play.session, command))
        receipts = await asyncio.gather(*sendings)
        assert all(receipt.run_id or receipt.item_id for receipt in receipts), receipts
        self.taken.add(text)

    async def _steer(self) -> None:
        command = Steer(user_message(self.play.steer), key="key-steer")
        with suppress(SessionNotRunning):
            await self._clients.submit(self.play.session, command)
            self.taken.add(self.play.steer)

    async def _decide(self, asked: ApprovalRequested) -> None:
        answer = "deny" if self._chance.random() < DENIED else "once"
        decision = Decide(asked.call_id, answer)
        sendings: list[Coroutine[Any, Any, bool]] = [self._clients.decide(self.play.session, decision)]
        if self._chance.random() < TWICE:
            sendings.append(self._clients.decide(self.play.session, decision))
        if any(await asyncio.gather(*sendings)):
            self.decided.add(asked.call_id)
