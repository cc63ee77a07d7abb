"""The whole terminal interface with a real service and a scripted model, driven by Textual's pilot."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from textual.pilot import Pilot

from bridle.config.settings import load_settings
from bridle.core.ids import SessionId
from bridle.core.session_api import SessionApi
from bridle.surfaces.tui.app import BridleApp
from bridle.surfaces.tui.startup import StartOptions
from tests.patience import PATIENCE_S


class Tui:
    """The interface, what it shows, and keys for it."""

    def __init__(self, app: BridleApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def screen(self) -> str:
        """Return everything that is shown, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return "\n".join("".join(segment.text for segment in strip).rstrip() for strip in strips)

    @property
    def typed(self) -> str:
        """Return the text of the prompt."""
        return self.app.editor.text

    async def press(self, *keys: str) -> None:
        """Press keys, and let everything happen that they lead to at once."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        """Type a text, letter by letter."""
        await self.press(*("space" if letter == " " else letter for letter in text))

    async def send(self, text: str) -> None:
        """Write a prompt at once, and send it."""
        self.app.editor.put(text)
        await self.press("enter")

    async def sent(self) -> None:
        """Wait until the session has accepted the input."""
        await self.until(lambda: all(one.is_finished for one in self.app.workers if one.group == "send"))

    async def until(self, holds: Callable[[], object]) -> None:
        """Wait until something is so."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not holds():
                    await self.pilot.pause()
                    await asyncio.sleep(0.005)  # other tasks, and other processes, need their time
        except TimeoutError:
            raise AssertionError(f"it did not come:\n{self.screen}") from None

    async def insist(self, key: str, holds: Callable[[], object]) -> None:
        """Press a key until something is so: what is asked takes no key in its first moments."""
        async with asyncio.timeout(PATIENCE_S):
            while not holds():
                await self.press(key)
                await asyncio.sleep(0.05)

    async def sees(self, *words: str) -> None:
        """Wait until words are shown."""
        await self.until(lambda: all(word in self.screen for word in words))


@asynccontextmanager
async def tui(
    api: SessionApi | Callable[[], Any],
    home: Path,
    cwd: Path,
    *,
    session: str = "",
    size: tuple[int, int] = (80, 24),
    config: str = "",
    theme: str = "dark",
    waits: bool = True,
) -> AsyncIterator[Tui]:
    """Show the interface over a session API, or over what a function opens, until the block ends.

    It begins once the API is open, unless it shall not wait for that.
    """
    home.mkdir(exist_ok=True)
    if config:
        (home / "config.toml").write_text(config)
    environ = {"BRIDLE_HOME": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin"}

    async def opened(tell: Callable[[str], None]) -> SessionApi:
        return await api() if callable(api) else api

    begin = StartOptions(str(cwd), SessionId(session) if session else None, theme)
    app = BridleApp(load_settings(environ, cwd), environ, begin, opened)
    async with app.run_test(size=size, notifications=True) as pilot:
        shown = Tui(app, pilot)
        if waits:
            await shown.until(lambda: app.link.state == "ready")
        yield shown
