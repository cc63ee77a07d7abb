"""`bridle` and `bridle tui`: start the terminal interface."""

import argparse
import asyncio
import gc
import importlib
import sys
from collections.abc import Sequence
from pathlib import Path

from bridle.config.settings import load_settings
from bridle.core.errors import UsageError
from bridle.core.ids import SessionId
from bridle.core.summary import SessionSummary
from bridle.surfaces.cli.session_lookup import find_newest_session, find_session, resolve_directory
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.text_format import short_id
from bridle.surfaces.tui.terminal import BackgroundQuery


def tui(args: argparse.Namespace, console: Console) -> int:
    """Run the terminal interface until the user leaves."""
    return show(console, args.cwd, wanted=args.session, goes_on=args.go_on)


def show(
    console: Console, cwd: str | None = None, *, wanted: str | None = None, goes_on: bool = False
) -> int:
    """Open the given session, the newest one, or a new one; raises UsageError, ConfigError."""
    _check_terminal(console)
    where = resolve_directory(cwd)
    settings = load_settings(console.environ, Path(where))
    session = _find(console, where, wanted) if wanted is not None or goes_on else None
    background = BackgroundQuery(console.environ)
    if settings.tui.theme == "auto":
        background.ask()
    try:
        _load()
    finally:
        light = background.is_light()
    from bridle.surfaces.tui.app import BridleApp
    from bridle.surfaces.tui.session_connector import SessionConnector
    from bridle.surfaces.tui.startup import StartOptions

    theme = settings.tui.theme if settings.tui.theme != "auto" else "light" if light else "dark"
    app = BridleApp(
        settings,
        console.environ,
        StartOptions(where, session, theme, background.typed),
        SessionConnector(console.environ, where),
    )
    left = app.run(mouse=settings.tui.mouse)
    if left is not None and left.session is not None:
        goes = "the run continues" if left.runs else "left"
        console.err.line(f"{goes}; reopen with bridle tui --session {short_id(left.session)}")
    return app.return_code or 0


def _load() -> None:
    """Import the interface without garbage collection, and exempt it later: modules are never garbage."""
    gc.disable()
    try:
        importlib.import_module("bridle.surfaces.tui.app")
    finally:
        gc.freeze()
        gc.enable()


def _check_terminal(console: Console) -> None:
    if not (sys.stdin and sys.stdin.isatty() and console.out.is_terminal and console.err.is_terminal):
        raise UsageError("the terminal interface needs a terminal", hint='bridle run "…" works without one')
    if console.environ.get("TERM", "dumb") == "dumb":
        raise UsageError(
            "the terminal interface needs a terminal that can move the cursor, but TERM is dumb",
            hint='set TERM, or use bridle run "…"',
        )


def _find(console: Console, cwd: str, wanted: str | None) -> SessionId:
    from bridle.surfaces.cli.store_access import open_configured_store

    async def listed() -> Sequence[SessionSummary]:
        async with open_configured_store(console, cwd) as store:
            return await store.list(archived=True)

    sessions = asyncio.run(listed())
    return (find_newest_session(sessions, cwd) if wanted is None else find_session(sessions, wanted)).id
