"""Reaching the sessions, for the commands that change or run something: in the daemon, or in this process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bridle.config.document import key_text
from bridle.config.layers import SERVERS
from bridle.config.settings import Settings, load_settings
from bridle.core.door import Door
from bridle.core.errors import BridleError
from bridle.core.protocol.commands import LENT_VARIABLES
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.find import find_session, working_directory
from bridle.surfaces.terminal import Console

if TYPE_CHECKING:
    from bridle.surfaces.remote.asks import Welcome

Work = Callable[[Door, SessionSummary], Awaitable[None]]

ENGINE_KEYS = tuple(
    "children compaction kernel memory models providers retry sandbox store tools warn_at".split()
)
"""What the engine is made of: a project that sets one of these needs an engine of its own."""


@asynccontextmanager
async def serving(console: Console, cwd: str | None = None) -> AsyncIterator[Door]:
    """Reach the sessions for a directory, and let go afterwards; what a project may not set is said."""
    cwd = cwd or working_directory()
    settings = load_settings(console.environ, Path(cwd))
    for warning in settings.warnings:
        if not _is_of_server(warning, settings):
            console.warn(warning)
    door = await _daemon(settings, console) or _engine(settings, console)
    try:
        yield door
    finally:
        await door.aclose()


def _is_of_server(warning: str, settings: Settings) -> bool:
    """Tell whether a warning is about a tool server: a run says by itself which of them it does without."""
    used = {one.name for one in settings.servers_found if one.trusted}
    servers = [one for one in settings.servers_found if one.name not in used]
    return warning.startswith(tuple(f"{one.place}: {key_text((*SERVERS, one.name))} " for one in servers))


def _engine(settings: Settings, console: Console) -> Door:
    from bridle.app import open_service
    from bridle.surfaces.cli.models import weights_notice

    return open_service(settings, console.environ, weights_notice(console))


async def _daemon(settings: Settings, console: Console) -> Door | None:
    """Return the daemon's sessions, where it is wanted, runs, and is as this directory needs it."""
    if settings.daemon == "never" or settings.store.backend == "ephemeral" or _needs_own_engine(settings):
        return None
    from bridle.surfaces.daemon.place import Place

    place = Place(settings.home)
    if settings.daemon == "running" and not place.is_held():
        return None
    from bridle.surfaces.daemon.starting import reach, start

    try:
        daemon = await reach(place) or (
            await start(place, console.environ) if settings.daemon == "auto" else None
        )
    except BridleError as error:  # it does not want us, or does not start
        console.warn(f"{error.message}; going on without it")
        console.hint(error.hint)
        return None
    if daemon is not None and (missing := _other_keys(settings, daemon.daemon)):
        console.warn(f"the daemon does not have {missing} as it is here; going on without it")
        console.hint("bridle daemon restart")
        await daemon.aclose()
        return None
    if daemon is not None:
        daemon.env = {name: console.environ[name] for name in LENT_VARIABLES if name in console.environ}
    return daemon


def _other_keys(settings: Settings, daemon: "Welcome") -> str:
    """Name the variables with API keys that are other ones in the daemon, or not there."""
    from bridle.surfaces.remote.asks import fingerprint

    names = [
        settings.providers[provider].api_key_env
        for provider, key in settings.api_keys.items()
        if daemon.keys.get(settings.providers[provider].api_key_env) != fingerprint(daemon.salt, key.reveal())
    ]
    return ", ".join(dict.fromkeys(names))


def _needs_own_engine(settings: Settings) -> bool:
    return any(
        path[0] in ENGINE_KEYS and source.layer in ("project", "flag")
        for path, sources in settings.sources.items()
        for source in sources
    )


def with_session(wanted: str, console: Console, work: Work) -> int:
    """Do something with a session that the user named, by the engine."""

    async def opened() -> None:
        async with serving(console) as service:
            await work(service, find_session(await service.list(archived=True), wanted))

    asyncio.run(opened())
    return 0
