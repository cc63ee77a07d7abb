"""Decides whether a folder's sessions run in the daemon, and connects to it if so."""

from typing import TYPE_CHECKING

from bridle.config.settings import Settings
from bridle.core.errors import BridleError
from bridle.core.protocol.commands import CLIENT_VARIABLES
from bridle.core.session_api import SessionApi
from bridle.surfaces.shared.terminal import Console

if TYPE_CHECKING:
    from bridle.surfaces.remote.asks import Welcome

ENGINE_KEYS = tuple(
    """
    children compaction kernel max_output_tokens memory models providers retry sandbox store tools warn_at
    """.split()
)
"""The settings of the engine: a project that sets one of them needs a separate engine."""


async def choose_daemon(settings: Settings, console: Console, *, starts: bool) -> SessionApi | None:
    """Return the daemon's session API, if the daemon is enabled, runs, and fits the settings of this folder.

    With `starts`, a daemon is started if none runs; a warning says why it is not used.
    """
    if settings.daemon == "never" or settings.store.backend == "ephemeral" or _needs_own_engine(settings):
        return None
    from bridle.surfaces.daemon.daemon_files import DaemonFiles

    place = DaemonFiles(settings.home)
    if not starts and not place.is_held():
        return None
    from bridle.surfaces.daemon.launcher import connect_if_running, launch_daemon

    try:
        daemon = await connect_if_running(place) or (
            await launch_daemon(place, console.environ) if starts else None
        )
    except BridleError as error:  # it refuses us, or does not start
        console.warn(f"{error.message}; continuing without it")
        console.hint(error.hint)
        return None
    if daemon is not None and (missing := _other_keys(settings, daemon.daemon)):
        console.warn(f"the daemon has a different {missing}; continuing without it")
        console.hint("bridle daemon restart")
        await daemon.aclose()
        return None
    if daemon is not None:
        daemon.env = {name: console.environ[name] for name in CLIENT_VARIABLES if name in console.environ}
    return daemon


def _other_keys(settings: Settings, daemon: "Welcome") -> str:
    """Return the names of API key variables that differ in the daemon or are missing there."""
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
