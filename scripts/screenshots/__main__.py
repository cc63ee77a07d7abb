"""Take the screenshots for the README: `python -m scripts.screenshots`.

They show the real program: a service with a temporary home, a project with two small bugs, and a scripted
model behind the address of a vendor. The terminal interface becomes an SVG, the page becomes PNGs.
"""

import asyncio
import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

from playwright.async_api import Page, expect

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested
from bridle.providers.scripted_server import ScriptedServer
from bridle.stores.sqlite import SqliteStore
from scripts.screenshots.past import Then, write_past
from tests.surfaces.tui.stage import tui
from tests.surfaces.web.stage import Stage, chromium

IMAGES = Path(__file__).parents[2] / "docs" / "images"
SCRIPT = Path(__file__).with_name("script.json")
PROJECT = Path(tempfile.gettempdir()) / "greeter"
"""The pictures show this path, so it must not be the folder of a real user."""
SIZE = 120, 36
MAX_PNG_BYTES = 250_000

TITLE = "Mend the greeter"
FIRST, SECOND = "The tests of the greeter fail. Find out why.", "Yes, please. Mend that too."
CONFIG = """\
model = "anthropic/claude-sonnet-4-5"
[providers.anthropic]
kind = "anthropic"
base_url = "{url}"
api_key_env = "GREETER_KEY"
[models."anthropic/claude-sonnet-4-5"]
window_tokens = 200000
price = {{ input = 3.0, output = 15.0, cache_read = 0.3 }}
[lsp]
enabled = false
[memory]
enabled = false
"""
FILES = {
    "greeter.py": '''\
"""Greets people."""

GREETINGS = {"en": "Helo", "pl": "Cześć"}


def greet(name: str, language: str = "en") -> str:
    return f"{GREETINGS[language]}, {name}!"
''',
    "test_greeter.py": """\
from greeter import greet


def test_english():
    assert greet("Ada") == "Hello, Ada!"


def test_other_languages():
    assert greet("Ada", "xx") == "Hello, Ada!"
""",
}

FONT = re.compile(r"@font-face\s*\{.*?\}", re.DOTALL)


async def main() -> None:
    """Take all screenshots."""
    PROJECT.mkdir()
    try:
        for name, text in FILES.items():
            (PROJECT / name).write_text(text)
        with tempfile.TemporaryDirectory() as place:
            await picture(Path(place))
    finally:
        shutil.rmtree(PROJECT)


async def picture(place: Path) -> None:
    """Let a session wait for an approval, and take screenshots of it on every surface."""
    home = place / ".bridle"
    home.mkdir()
    env = {"BRIDLE_HOME": str(home), "HOME": str(place), "PATH": os.environ["PATH"], "GREETER_KEY": "none"}
    clock = Then()
    past = SqliteStore(home / "bridle.db", clock)
    await write_past(past, clock, int(time.time() * 1000), str(PROJECT))
    await past.aclose()
    async with ScriptedServer(SCRIPT) as server, chromium() as browser:
        (home / "config.toml").write_text(CONFIG.format(url=server.url))
        stage = Stage(browser, home, env, IMAGES)
        await stage.start()
        try:
            session = await stage.service.create(cwd=str(PROJECT), title=TITLE)
            await stage.run(session, FIRST, mode="accept-edits")
            await stage.prompt(session, SECOND)
            await stage.until(session, ApprovalRequested)
            await pages(stage, session)
            await terminal(stage, session, home)  # closes the service at the end
        finally:
            await stage.aclose()


async def terminal(stage: Stage, session: SessionId, home: Path) -> None:
    """Take a screenshot of the terminal interface."""
    async with tui(stage.service, home, PROJECT, session=session, size=SIZE) as shown:
        await shown.sees("multi_edit", "greeting")
        svg = shown.app.export_screenshot(title="bridle")
    (IMAGES / "tui.svg").write_text(FONT.sub("", svg))  # fonts would be loaded from another host


async def pages(stage: Stage, session: SessionId) -> None:
    """Take screenshots of the page: the waiting session, and the dashboard."""
    page = await stage.open_session(session)
    await expect(page.get_by_role("group", name="Approval: multi_edit")).to_be_visible()
    await take(stage, page, "page")
    page = await stage.open("#/dashboard", color_scheme="dark")
    await page.get_by_text("30 days").click()
    await expect(page.get_by_role("heading", name="Tokens")).to_be_visible()
    await take(stage, page, "dashboard")


async def take(stage: Stage, page: Page, name: str) -> None:
    """Save one screenshot of the page."""
    await page.wait_for_load_state("networkidle")
    await stage.shoot(page, name)
    size = (IMAGES / f"{name}.png").stat().st_size
    if size > MAX_PNG_BYTES:
        raise BridleError(f"{name}.png has {size:,} bytes, more than {MAX_PNG_BYTES:,}")


if __name__ == "__main__":
    IMAGES.mkdir(exist_ok=True)
    try:
        asyncio.run(main())
    except (BridleError, FileExistsError) as error:
        sys.exit(f"error: {error}")
