"""Idle sessions are unloaded early if there are too many, or too little memory."""

import asyncio
from contextlib import suppress

import pytest

from bridle.config.daemon_keys import ServeSettings
from bridle.config.duration import Duration
from bridle.core.ids import SessionId
from bridle.core.protocol import Rename
from bridle.surfaces.daemon import idle_sessions
from bridle.surfaces.daemon.idle_sessions import unload_idle_sessions
from tests.patience import PATIENCE_S
from tests.sessions.stage import Play, Stage

IDLE = Duration(600)


@pytest.fixture(autouse=True)
def _often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle_sessions, "MIN_SWEEP_S", 0.001)
    monkeypatch.setattr(idle_sessions, "MAX_SWEEP_S", 0.001)


async def used_sessions(stage: Stage) -> list[SessionId]:
    """Use four sessions, one after the other."""
    sessions = [stage.session, *[await stage.service.create(cwd="/") for _ in range(3)]]
    for session in sessions:
        await stage.service.submit(session, Rename("used"))
    assert {one.id for one in stage.service.live()} == set(sessions)
    return sessions


async def swept(stage: Stage, serve: ServeSettings, left: int) -> set[SessionId]:
    """Sweep until so many sessions are left in memory, and return them."""
    sweeper = asyncio.create_task(unload_idle_sessions(stage.service, serve))
    async with asyncio.timeout(PATIENCE_S):
        while len(stage.service.live()) > left:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0.001)
    sweeper.cancel()
    with suppress(asyncio.CancelledError):
        await sweeper
    return {one.id for one in stage.service.live()}


async def test_of_too_many_sessions_the_longest_idle_is_put_away():
    async with Stage(Play()) as stage:
        sessions = await used_sessions(stage)

        serve = ServeSettings(idle=IDLE, max_sessions=2, memory_bytes=2**40)  # this process holds all tests
        assert await swept(stage, serve, 2) == set(sessions[2:])


async def test_with_too_much_memory_in_use_nothing_idle_is_kept():
    async with Stage(Play()) as stage:
        await used_sessions(stage)

        assert await swept(stage, ServeSettings(idle=IDLE, memory_bytes=1_000), 0) == set()
