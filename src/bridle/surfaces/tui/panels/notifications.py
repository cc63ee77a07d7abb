"""Notifications in a corner of the screen, and the footer with clickable actions."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

from textual import events
from textual.app import App
from textual.content import Content
from textual.style import Style

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.protocol import Command
from bridle.surfaces.shared.terminal import visible
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.styles import styled

PATIENCE_S = 60.0
MAX_CHARS = 500

CLICKED = "action"
WAITING = "…"
"""Shown until the requested data arrives."""


@asynccontextmanager
async def report_errors(app: App[Any]) -> AsyncIterator[None]:
    """Show a BridleError or a timeout as a notification and skip the rest of the block."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield
    except BridleError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        notify(app, error.message + hint, failed=True)
    except TimeoutError:
        notify(app, f"no answer within {PATIENCE_S:.0f} s", failed=True)


def notify(app: App[Any], words: str, *, failed: bool = False) -> None:
    """Show a notification."""
    app.notify(visible(words)[:MAX_CHARS], severity="error" if failed else "information", markup=False)


async def submit(host: PanelHost, session: SessionId, command: Command, done: str) -> None:
    """Submit a command to a session, and notify the user of the result."""
    async with report_errors(host.app):
        await host.api.submit(session, command)
        notify(host.app, done)


def format_footer(host: PanelHost, actions: Iterable[tuple[str, str]]) -> Content:
    """Return keys and their labels on one line, without actions that have no key.

    A click on a label runs its action if the surrounding widget calls `clicked`.
    """
    named = [(name, host.key_text(name), words) for name, words in actions]
    parts = [
        styled(("name", keys), f" {words}").stylize(Style.from_meta({CLICKED: name}))
        for name, keys, words in named
        if keys
    ]
    return Content(" · ").join(parts)


def clicked_action(event: events.Click) -> str:
    """Return the action that was clicked in a foot line; empty if none."""
    return str(event.style.meta.get(CLICKED, ""))
