"""A setup for the page: a service with a scripted model, and a browser that can reach nothing else.

```
Chromium, one per worker          a service of the test's own, at a port of 127.0.0.1
  └── a context per test ──HTTP──▶ HttpSide ──▶ SessionService ──▶ scripted model
```

What a page must never do fails the test when it ends: ask another host, print an error, break the policy of
its content, or open a dialog.
"""

import asyncio
import json
import os
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from playwright.async_api import Browser, BrowserContext, Page, Request, Response, async_playwright, expect

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.ports import Store
from bridle.core.protocol import Event, Prompt, Record, RunOptions
from bridle.core.queries import ListSessions
from bridle.sessions.service import SessionService
from bridle.surfaces.daemon.daemon_files import DaemonFiles
from bridle.surfaces.daemon.http_service import HttpService
from bridle.surfaces.daemon.process import RpcService
from tests.patience import PATIENCE_S

TOKEN = "token of the stage, as long as one is"
SHOTS = "BRIDLE_SCREENSHOTS"
"""The folder that pictures are kept in; that of the test if it is not set."""
CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",  # which root cannot have
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
DESK = {"width": 1280, "height": 800}
PHONE = {"width": 375, "height": 740}

expect.set_options(timeout=PATIENCE_S * 1000)


@asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """Start the system's browser."""
    program = CHROMIUM if Path(CHROMIUM).exists() else shutil.which("chromium")
    assert program, "no Chromium found (hint: make packages)"
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=program, args=list(FLAGS))
        try:
            yield browser
        finally:
            await browser.close()


class Stage:
    """A service that can be restarted, and tabs that look at it."""

    def __init__(self, browser: Browser, home: Path, env: dict[str, str], shots: Path) -> None:
        self.env = env
        self.project = home.parent / "project"
        self.project.mkdir(exist_ok=True)
        self.faults: list[str] = []
        """What a page did that it must not do."""
        self.bytes = 0
        """Of all answers that say how long they are, as they were sent."""
        self.asked: list[str] = []
        """The addresses that were asked for, without the host."""
        self._browser = browser
        self._home = home
        self._shots = shots
        self._contexts: list[BrowserContext] = []
        self._forgiven: list[str] = []
        self._port = 0
        self._scripts = 0
        self._model = ""
        self._service: SessionService | None = None
        self._side: HttpService | None = None

    # ------------------------------------------------------------------ the service

    def script(self, *replies: dict[str, Any], repeat: bool = True, **facts: Any) -> None:
        """Write the model's answers to the prompts of the test, and of a page before its first one.

        A service reads a script once, so each has a separate file; the settings name the one for pages.
        """
        self._scripts += 1
        own, of_pages = (self._home.parent / name for name in (f"script{self._scripts}.json", "script.json"))
        for path in (own, of_pages):
            path.write_text(json.dumps({"replies": replies, "repeat": repeat, **facts}))
        self._model = f"scripted/{own}"
        (self._home / "config.toml").write_text(f'model = "scripted/{of_pages}"\n[lsp]\nenabled = false\n')

    @property
    def service(self) -> SessionService:
        assert self._service is not None
        return self._service

    @property
    def store(self) -> Store:
        """Where records can be put that no run has made."""
        return self.service._engine.store

    @property
    def link(self) -> str:
        """A link that logs a browser in."""
        assert self._side is not None
        return self._side.page

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    async def start(self, token: str = TOKEN) -> None:
        """Serve, at the same port as before if there was one."""
        settings = load_settings(self.env, self.project)
        self._service = open_service(settings, self.env)
        desk = RpcService(self._service, self.env, DaemonFiles(self._home), str(self.project)).context()
        self._side = HttpService(self._service, desk, settings.http, token, live=self._service.live)
        await self._side.listen(("127.0.0.1", self._port))
        self._port = int(self._side.address.rpartition(":")[2])

    async def stop(self) -> None:
        """End it as a daemon ends."""
        if self._side is not None:
            await self._side.aclose()
        if self._service is not None:
            await self._service.aclose()
        self._side = self._service = None

    async def aclose(self) -> None:
        """Stop everything, and return the pages' faults."""
        for context in self._contexts:
            await context.close()
        await self.stop()
        left = [fault for fault in self.faults if not any(part in fault for part in self._forgiven)]
        assert not left, "\n".join(left)

    # ------------------------------------------------------------------ sessions

    async def session(self, *prompts: str, title: str = "") -> SessionId:
        """Start a session, and run prompts one after the other."""
        session = await self.service.create(cwd=str(self.project), title=title)
        for prompt in prompts:
            await self.run(session, prompt)
        return session

    async def prompt(self, session: SessionId, text: str, **options: Any) -> RunId:
        """Start a run."""
        wanted = RunOptions(**{"model": self._model, **options})
        receipt = await self.service.submit(session, Prompt(user_message(text), wanted))
        assert receipt.run_id is not None
        return receipt.run_id

    async def run(self, session: SessionId, text: str, **options: Any) -> None:
        """Start a run and wait for its end."""
        run = await self.prompt(session, text, **options)
        async with asyncio.timeout(PATIENCE_S):
            await self.service.wait(session, run)

    async def until(self, session: SessionId, kind: type[Event], count: int = 1) -> Any:
        """Wait until so many events of a kind are recorded; returns the last of them."""
        async with asyncio.timeout(PATIENCE_S):
            async for item in self.service.watch(session):
                if isinstance(item, Record) and isinstance(item.event, kind):
                    count -= 1
                    if not count:
                        return item.event
        raise AssertionError("the watch ended")

    async def only_session(self) -> SessionId:
        """Return the session that a page has begun."""
        (session,) = await self.service.ask(ListSessions())
        return session.id

    # ------------------------------------------------------------------ pages

    async def context(self, **options: Any) -> BrowserContext:
        """Open a separate, monitored browser without cookies or cache."""
        wanted = {"viewport": DESK, "reduced_motion": "reduce", **options}
        context = await self._browser.new_context(**wanted)
        context.set_default_timeout(PATIENCE_S * 1000)
        context.on("request", self._heed)
        context.on("response", self._count)
        context.on(
            "console", lambda said: said.type == "error" and self.faults.append(f"console: {said.text}")
        )
        context.on("weberror", lambda error: self.faults.append(f"error: {error.error}"))
        context.on("dialog", self._remove_warden)
        self._contexts.append(context)
        return context

    async def open(self, place: str = "#/", *, context: BrowserContext | None = None, **options: Any) -> Page:
        """Log a new browser in, or use one that is, and go to a place in the page."""
        if context is None:
            context = await self.context(**options)
            await context.request.get(self.link, max_redirects=0)  # a cookie, and nothing of the page yet
        page = await context.new_page()
        await page.goto(f"{self.origin}/{place}")
        return page

    async def open_session(self, session: SessionId, rest: str = "", **options: Any) -> Page:
        """Open the page at a session."""
        return await self.open(f"#/s/{session}{rest}", **options)

    def forgive(self, *parts: str) -> None:
        """Accept faults with these texts: the test causes them."""
        self._forgiven.extend(parts)

    async def shoot(self, page: Page, name: str) -> None:
        """Keep a picture."""
        folder = Path(os.environ[SHOTS]) if SHOTS in os.environ else self._shots
        folder.mkdir(parents=True, exist_ok=True)
        await page.screenshot(path=folder / f"{name}.png")

    def _heed(self, request: Request) -> None:
        if request.url.startswith(("data:", "blob:", "about:")):
            return
        if not request.url.startswith(f"{self.origin}/"):
            self.faults.append(f"asked elsewhere: {request.url}")
        self.asked.append(request.url.removeprefix(self.origin))

    def _count(self, response: Response) -> None:
        self.bytes += int(response.headers.get("content-length", "0"))

    async def _remove_warden(self, dialog: Any) -> None:
        self.faults.append(f"dialog: {dialog.message}")
        await dialog.dismiss()


async def eventually(holds: Callable[[], Awaitable[Any]]) -> Any:
    """Wait for a condition outside the page; return its value."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await holds()):  # noqa: ASYNC110  another process gives no event
            await asyncio.sleep(0.02)
    return found


def words(text: str, count: int) -> Sequence[str]:
    """Return an answer in so many chunks."""
    return [f"{text}{number} " for number in range(count)]
