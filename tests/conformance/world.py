"""The setup for scenarios: one home with a real daemon, and a separate project for each play."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, aclosing, suppress
from pathlib import Path
from typing import Any, Protocol, TypeVar

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.config.trust_record import fingerprint, set_trust
from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Delta, Prompt, Record, RunEnded
from bridle.core.session_api import SessionApi
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.conformance.log import UUID, normal, plain
from tests.conformance.scenario import Move, Scenario, Touch
from tests.conformance.seen import Reducer, Seen
from tests.surfaces.daemon.process import DaemonProcess, until

T = TypeVar("T")

SETTINGS = """\
[grpc]
bind = "127.0.0.1:0"
approvals = "rules"      # as everywhere else; "each" is a rule that only this wire has

[http]
bind = "127.0.0.1:0"

[retry]
initial_delay = "1ms"

[sandbox]
mode = "off"             # it costs time, and says nothing about surfaces

[compaction]
keep_turns = 0

[memory]
enabled = false

[rules]
allow = ["bash([ *)", "bash(sleep *)", "bash(echo *)"]
"""


class Place:
    """A project with a script for its model, and the session that is played in it."""

    def __init__(self, world: "World", number: int, scenario: Scenario) -> None:
        self.scenario = scenario
        self.folder = world.root / f"project-{number:04}"
        self.session = SessionId(f"play-{number:04}")
        self._script = world.root / f"script-{number:04}.json"
        self._home = world.home
        self._write()
        for home in world.homes:  # a project that is not trusted does not choose the model
            set_trust(home, self.cwd, fingerprint(self.folder))

    @property
    def cwd(self) -> str:
        return str(self.folder)

    def _write(self) -> None:
        (self.folder / ".bridle").mkdir(parents=True)
        settings = f'model = "scripted/{self._script}"\n{self.scenario.settings}'
        (self.folder / ".bridle" / "config.toml").write_text(settings)
        for name, text in self.scenario.files.items():
            (self.folder / name).write_text(text)
        script = {"replies": self.scenario.replies, **self.scenario.facts}
        self._script.write_text(json.dumps(script).replace("PROJECT", self.cwd))

    @property
    def _names(self) -> dict[str, str]:
        names = {f"scripted/{self._script}": "MODEL", str(self._script): "SCRIPT", self.cwd: "PROJECT"}
        return {**names, str(self._home): "HOME", self.session: "SESSION"}

    def normal(self, records: Sequence[Record]) -> list[Any]:
        """Return a log without what differs from play to play."""
        return normal(records, self._names)

    def normal_lines(self, lines: Sequence[Seen]) -> list[Seen]:
        """Return everything visible, without parts that differ from play to play."""
        return [Seen(line.kind, UUID.sub("ID", plain(line.what, self._names)), line.call) for line in lines]


class Driver(Protocol):
    """Plays one scenario through a surface."""

    async def start(self) -> None:
        """Start the run, and with a scenario that says so the session; returns once it is taken."""
        ...

    async def do(self, move: Move) -> None:
        """Make a move, as the surface's clients would."""
        ...

    async def seen(self) -> list[Seen]:
        """Wait for the end of the output, and return it."""
        ...


Open = Callable[["World", Place], AbstractAsyncContextManager[tuple[Driver, SessionApi]]]
"""Gives a driver, and the session API of the engine behind its surface."""


class World:
    """A home, its daemon, and what surfaces keep open from one play to the next."""

    def __init__(self, root: Path, environ: Mapping[str, str]) -> None:
        self.root = root
        self.home = root / "home"
        self.home.mkdir()
        (self.home / "config.toml").write_text(SETTINGS)
        self.environ = {**environ, "BRIDLE_HOME": str(self.home), "HOME": str(root)}
        self.stack = AsyncExitStack()
        """Closed with the world."""
        self.kept: dict[str, Any] = {}
        self._daemon = DaemonProcess(self.home, self.environ)
        self._api: RemoteService | None = None
        self._plays = 0

    @property
    def homes(self) -> Sequence[Path]:
        """Where it is kept which projects are trusted."""
        return (self.home,)

    async def __aenter__(self) -> "World":
        await self.stack.__aenter__()
        return self

    async def __aexit__(self, *exception: Any) -> None:
        try:
            await self.stack.__aexit__(*exception)
        finally:
            self._daemon.close()

    def place(self, scenario: Scenario) -> Place:
        """Make a project for one play."""
        self._plays += 1
        return Place(self, self._plays, scenario)

    async def api(self) -> RemoteService:
        """Return the daemon's session API, for what a surface cannot do; the first use starts the daemon."""
        if self._api is None:
            await self._daemon.start()
            self._api = await self._daemon.client()
            self.stack.push_async_callback(self._api.aclose)
        return self._api

    async def keep(self, opened: AbstractAsyncContextManager[T]) -> T:
        """Open something for as long as the world is there, in a separate task that also closes it."""
        ready: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        is_over = asyncio.Event()

        async def hold() -> None:
            async with opened as value:
                ready.set_result(value)
                await is_over.wait()

        holding = asyncio.create_task(hold())
        self.stack.push_async_callback(lambda: holding)
        self.stack.callback(is_over.set)
        await asyncio.wait((ready, holding), return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            await holding  # which says what went wrong
        return ready.result()

    async def listening(self, what: str) -> str:
        """Return where the daemon listens for a wire."""
        status = await (await self.api()).status()
        [address] = [one.partition(" ")[2] for one in status.listening if one.startswith(f"{what} ")]
        return address

    @property
    def token(self) -> str:
        return self._daemon.place.token.read_text().strip()

    def own_engine(self) -> SessionApi:
        """Open an engine in this process, on the same home."""
        return open_service(load_settings(self.environ, self.root), self.environ)

    async def forget(self, rule: str) -> None:
        """Wait until a rule stands in the user's settings, and take it out again."""
        settings = self.home / "config.toml"
        await until(lambda: rule in settings.read_text())
        settings.write_text(SETTINGS)


def environment() -> dict[str, str]:
    """Return what programs get."""
    return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8", "NO_COLOR": "1"}


async def play(place: Place, driver: Driver, api: SessionApi) -> None:
    """Play a scenario: what is seen at the session API says when to move."""
    scenario = place.scenario
    if scenario.begins:
        await driver.start()
    else:
        await api.create(cwd=place.cwd, session_id=place.session, options=scenario.made)
    if scenario.before:
        receipt = await api.submit(place.session, Prompt(user_message(scenario.before)))
        assert receipt.run_id is not None
        await wait_for_run(api, place.session, receipt.run_id)
    if scenario.too_early is not None:
        with suppress(AssertionError, BridleError):
            await driver.do(scenario.too_early)
    async with aclosing(api.watch(place.session)) as items:
        await anext(items)
        if not scenario.begins:
            await driver.start()
        await follow(place, driver, items)


async def follow(place: Place, driver: Driver, items: AsyncIterator[Record | Delta]) -> None:
    """Make the moves of a scenario, and wait for the ends of its runs."""
    scenario, reducer = place.scenario, Reducer()
    moves, runs = list(scenario.moves), scenario.runs + bool(scenario.before)
    async for item in items:
        for line in reducer.feed(item):
            while moves and moves[0].seen == line:
                do = moves.pop(0).do
                await (_touch(place, do) if isinstance(do, Touch) else driver.do(do))
        if isinstance(item, Record) and isinstance(item.event, RunEnded):
            runs -= 1
            if not runs:
                assert not moves, f"never seen: {moves[0].seen}"
                return


async def _touch(place: Place, do: Touch) -> None:
    (place.folder / do.name).touch()
