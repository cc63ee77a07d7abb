"""Connects the terminal interface to its sessions: in the daemon if possible, else in this process."""

import asyncio
import importlib
import io
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from bridle.config.settings import Settings, load_settings
from bridle.core.errors import DaemonGone
from bridle.core.session_api import SessionApi
from bridle.surfaces.daemon.daemon_choice import choose_daemon
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.shared.terminal import Console, Screen

if TYPE_CHECKING:
    from bridle.providers.embedded import Progress, Weights

Tell = Callable[[str], None]


class SessionConnector:
    """Connects to the sessions, and reconnects after the connection broke."""

    def __init__(self, environ: Mapping[str, str], cwd: str) -> None:
        self._environ = environ
        self._cwd = cwd
        self._had_daemon = False

    async def __call__(self, warn: Tell) -> SessionApi:
        """Connect to the daemon, start it, or run the sessions in this process; raises BridleError.

        A daemon that crashed is started again. One that was stopped on purpose is not: raises DaemonGone.
        """
        settings = await asyncio.to_thread(load_settings, self._environ, Path(self._cwd))
        place = DaemonFiles(settings.home)
        if self._had_daemon and not place.is_held() and not place.socket.exists():
            raise DaemonGone("the daemon was stopped", hint="bridle daemon start")
        api = await open_sessions(self._environ, self._cwd, warn)
        self._had_daemon = api.is_remote
        return api


async def open_sessions(environ: Mapping[str, str], cwd: str, warn: Tell) -> SessionApi:
    """Connect to the daemon, start it, or run the sessions in this process; pass warnings to `tell`.

    Raises BridleError.
    """
    settings = await asyncio.to_thread(load_settings, environ, Path(cwd))
    said = io.StringIO()
    console = Console(Screen(said, {}), Screen(said, {}), dict(environ))
    api = await choose_daemon(settings, console, starts=settings.daemon != "never")
    for line in said.getvalue().splitlines():
        warn(line.removeprefix("warning: "))
    return api or await _engine(settings, environ)


async def _engine(settings: Settings, environ: Mapping[str, str]) -> SessionApi:
    await asyncio.to_thread(importlib.import_module, "bridle.app.service")  # takes a while
    from bridle.app import open_service

    shown = ("", -1)

    def tell_weights(weights: "Weights", progress: "Progress | None") -> None:
        """Show the progress of a model download, at every tenth."""
        nonlocal shown
        if progress is None or not progress.total_bytes:
            return
        now = progress.phase, 10 * progress.done_bytes // progress.total_bytes
        if now != shown:
            shown = now
            service.notify(f"{weights.name}: {progress.phase} {now[1] * 10} %")

    service = open_service(settings, environ, tell_weights)
    return service
