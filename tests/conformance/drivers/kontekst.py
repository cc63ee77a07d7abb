"""gRPC, with a client that knows only Kontekst's tables."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import grpc

from bridle.core.protocol import Cancel, Decide
from bridle.core.session_api import SessionApi
from tests.conformance.scenario import Move, Scenario
from tests.conformance.seen import Seen, asked, began, ended, finished, said, started, thought
from tests.conformance.world import Driver, Place, World
from tests.surfaces.grpc.client import Run

OUTCOMES = {"denied": "cancelled", "budget_exhausted": "failed", "limit": "failed"}


def told_by_kontekst(scenario: Scenario) -> Sequence[Seen]:
    """Return what of a story its clients are told: calls that are not refused, and three ways to end."""
    story = scenario.story
    running = {line.call for line in story if line.kind == "started"}
    known = {line.call for line in story if line.kind == "asked"} | running
    told: list[Seen] = []
    for line in story:
        if line.kind == "ended":
            told.append(line._replace(what=OUTCOMES.get(line.what, line.what)))
        elif line.kind not in ("finished", "failed") or line.call in running:
            told.append(line)
        elif line.call not in known:  # there is no such tool
            told += [started(line.call), line]
    return told


class GrpcDriver:
    """One stream."""

    def __init__(self, place: Place, run: Run) -> None:
        self._place = place
        self._run = run
        self._proposed: dict[str, asyncio.Event] = {}
        self._reading: asyncio.Task[list[Seen]] | None = None

    async def start(self) -> None:
        place = self._place
        await self._run.start(place.scenario.prompt, session_id=place.session, working_dir=place.cwd)
        first = await self._run.read()
        assert first is not None
        assert first.WhichOneof("event") == "started", first
        self._reading = asyncio.create_task(self._read())

    async def do(self, move: Move) -> None:
        match move:
            case Decide(answer="once"):
                await self._when_proposed(move.call_id)
                await self._run.approve(move.call_id)
            case Decide(answer="deny"):
                await self._when_proposed(move.call_id)
                await self._run.deny(move.call_id, move.reason)
            case Cancel():
                await self._run.cancel()
            case _:
                raise AssertionError(move)

    async def _when_proposed(self, call_id: str) -> None:
        await self._proposed.setdefault(call_id, asyncio.Event()).wait()

    async def seen(self) -> list[Seen]:
        assert self._reading is not None
        return await self._reading

    async def _read(self) -> list[Seen]:
        told, text, reasoning = [began()], "", ""
        while True:
            event = await self._run.read()
            assert event is not None, await self._run.call.code()
            kind = event.WhichOneof("event")
            body = getattr(event, kind)
            if kind == "token":
                text += body.text
            elif kind == "reasoning":
                reasoning += body.text
            elif kind in ("turn_completed", "completed", "cancelled", "failed"):
                if kind == "turn_completed":
                    assert text.endswith(body.content)  # before it may stand what a retry has made void
                    text = body.content
                told += [*([thought(reasoning)] if reasoning else []), *([said(text)] if text else [])]
                text = reasoning = ""
            told += self._line(kind, body)
            if kind in ("completed", "cancelled", "failed"):
                return told

    def _line(self, kind: str, body: Any) -> list[Seen]:
        match kind:
            case "tools_proposed":
                for call in body.calls:
                    self._proposed.setdefault(call.call_id, asyncio.Event()).set()
                return [asked(call.call_id) for call in body.calls]
            case "tool_started":
                return [started(body.call_id)]
            case "tool_completed":
                return [finished(body.call_id, body.output)]
            case "tool_failed":
                return [finished(body.call_id, body.error, is_error=True)]
            case "completed":
                return [ended("completed", body.content)]
            case "cancelled" | "failed":
                return [ended(kind)]
            case _:
                return []


@asynccontextmanager
async def over_grpc(world: World, place: Place) -> AsyncIterator[tuple[Driver, SessionApi]]:
    """Drive by one stream to the daemon."""
    async with grpc.aio.insecure_channel(await world.listening("grpc")) as channel:
        run = Run(channel, (("authorization", f"Bearer {world.token}"),))
        yield GrpcDriver(place, run), await world.api()
        await run.call.done_writing()
