"""Telling what went wrong, and what was done, in a corner of the screen."""

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
from bridle.surfaces.terminal import visible
from bridle.surfaces.tui.panels.colours import painted
from bridle.surfaces.tui.panels.host import PanelHost

PATIENCE_S = 60.0
MOST_CHARS = 500

CLICKED = "action"
WAITING = "…"
"""Stands where something will be that was asked for."""


@asynccontextmanager
async def telling(app: App[Any]) -> AsyncIterator[None]:
    """Tell of an error and go on behind the block; do inside it what only a success allows."""
    try:
        async with asyncio.timeout(PATIENCE_S):
            yield
    except BridleError as error:
        hint = f"\nhint: {error.hint}" if error.hint else ""
        tell(app, error.message + hint, failed=True)
    except TimeoutError:
        tell(app, f"no answer within {PATIENCE_S:.0f} s", failed=True)


def tell(app: App[Any], words: str, *, failed: bool = False) -> None:
    """Show words for a moment."""
    app.notify(visible(words)[:MOST_CHARS], severity="error" if failed else "information", markup=False)


async def submit(host: PanelHost, session: SessionId, command: Command, done: str) -> None:
    """Hand a command to a session, and say that it was taken or why not."""
    async with telling(host.app):
        await host.api.submit(session, command)
        tell(host.app, done)


def foot_line(host: PanelHost, actions: Iterable[tuple[str, str]]) -> Content:
    """Name keys and what they do, on one line; an action that has no key is left out.

    A click on one does it too, where the widget around the line asks `clicked`.
    """
    named = [(name, host.key_words(name), words) for name, words in actions]
    parts = [
        painted(("name", keys), f" {words}").stylize(Style.from_meta({CLICKED: name}))
        for name, keys, words in named
        if keys
    ]
    return Content(" · ").join(parts)


def clicked(event: events.Click) -> str:
    """Return the action that was clicked on in a foot line; empty when there is none."""
    return str(event.style.meta.get(CLICKED, ""))
