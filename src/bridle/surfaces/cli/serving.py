"""Opening the whole engine, for the commands that change or run something."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.session import SessionSummary
from bridle.sessions.service import SessionService
from bridle.surfaces.cli.find import find_session, working_directory
from bridle.surfaces.cli.models import weights_notice
from bridle.surfaces.terminal import Console

Work = Callable[[SessionService, SessionSummary], Awaitable[None]]


@asynccontextmanager
async def serving(console: Console, cwd: str | None = None) -> AsyncIterator[SessionService]:
    """Open the engine for a directory, and close it afterwards; what a project may not set is said."""
    cwd = cwd or working_directory()
    settings = load_settings(console.environ, Path(cwd))
    for warning in settings.warnings:
        console.warn(warning)
    service = open_service(settings, console.environ, weights_notice(console))
    try:
        yield service
    finally:
        await service.aclose()


def with_session(wanted: str, console: Console, work: Work) -> int:
    """Do something with a session that the user named, by the engine."""

    async def opened() -> None:
        async with serving(console) as service:
            await work(service, find_session(await service.list(archived=True), wanted))

    asyncio.run(opened())
    return 0
