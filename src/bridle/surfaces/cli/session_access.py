"""Open the session API for commands that change or run something: in the daemon, or in this process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from bridle.config.settings import Settings, load_settings
from bridle.core.queries import ListSessions
from bridle.core.session_api import SessionApi
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.session_lookup import find_session, resolve_directory
from bridle.surfaces.daemon.daemon_choice import choose_daemon
from bridle.surfaces.shared.terminal import Console

Work = Callable[[SessionApi, SessionSummary], Awaitable[None]]


@asynccontextmanager
async def open_sessions(console: Console, cwd: str | None = None) -> AsyncIterator[SessionApi]:
    """Open the session API for a directory, and close it at the end of the context."""
    cwd = cwd or resolve_directory()
    settings = load_settings(console.environ, Path(cwd))
    starts = settings.daemon == "auto"
    api = await choose_daemon(settings, console, starts=starts) or _engine(settings, console)
    try:
        yield api
    finally:
        await api.aclose()


def _engine(settings: Settings, console: Console) -> SessionApi:
    from bridle.app import open_service
    from bridle.surfaces.cli.models import weights_notice

    return open_service(settings, console.environ, weights_notice(console))


def run_with_session(wanted: str, console: Console, work: Work) -> int:
    """Call `work` with the session that the user named; return exit code 0."""

    async def opened() -> None:
        async with open_sessions(console) as service:
            await work(service, find_session(await service.ask(ListSessions(archived=True)), wanted))

    asyncio.run(opened())
    return 0
