"""Sessions with all features, whose clients reconnect, while the daemon and its programs are killed."""

import asyncio
import random
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bridle.core.errors import SessionConflict, SessionError, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import ApprovalRequested, Compact, Compacted, Prompt, Rewind, Rewound, RunOptions
from bridle.core.queries import ListSessions
from bridle.surfaces.shared.session_calls import fork_session, wait_for_run
from tests.endurance.house import EXTRAS, Callers, House, Tender, Weather
from tests.endurance.soak_report import Part
from tests.endurance.surfaces_part import figures_of
from tests.scale.clients import Clients
from tests.scale.plays import Play, make_play
from tests.scale.verdict import log_faults, promise_faults, tool_faults
from tests.scale.visitors import Visitor

PATIENCE_S = 120.0
PAUSE_S = 1.5  # between two harms, on average
BEGINNINGS = 0.8  # of the time in which sessions begin
SESSIONS_PER_S = 0.8
AGAIN_S = 1.0
TALK = "Say one word."


class Guest(Visitor):
    """A visitor who does more with a session once its runs are over."""

    def __init__(self, clients: Clients, play: Play, chance: random.Random) -> None:
        super().__init__(clients, play, chance)
        self.forks = 0
        self._post = clients
        self._dice = chance

    async def visit(self) -> None:
        """Play the session, then go back, compact or fork."""
        await super().visit()
        for move in self._dice.sample((self._compact, self._go_back, self._fork), 2):
            with suppress(SessionConflict, SessionError, UsageError):  # there may be nothing to compact
                await move()

    async def _compact(self) -> None:
        await self._post.submit(self.play.session, Compact())

    async def _go_back(self) -> None:
        seq = self._dice.randint(1, self.session.seq)
        await self._post.submit(self.play.session, Rewind(seq, scope="conversation"))

    async def _fork(self) -> None:
        name = SessionId(f"{self.play.session}-fork")

        async def fork(api: Any) -> None:
            with suppress(SessionConflict):  # a request without an answer has made it
                await fork_session(api, self.play.session, session_id=name)

        await self._post.asked(fork)
        self.forks += 1
        script = self.play.folder / "fork.json"
        script.write_text('{"replies": [{"text": "Done."}], "repeat": true}')
        options = RunOptions(model=f"scripted/{script}")
        await self._post.submit(name, Prompt(user_message("and now"), options, key="fork"))

    async def _decide(self, asked: ApprovalRequested) -> None:
        """Answer, and answer again what is still open: an answer counts once it is recorded."""
        while True:
            await super()._decide(asked)
            self.decided.discard(asked.call_id)
            await asyncio.sleep(AGAIN_S)
            run = self.session.run
            if run is None or all(one.call_id != asked.call_id for one in run.pending):
                return


async def storm(
    root: Path, environ: dict[str, str], seconds: float, chance: random.Random, model: str
) -> Part:
    """Let sessions play while it storms, then look through all that is stored."""
    house, part = House(root, environ), Part("storm")
    await house.start()
    clients = Callers(house, random.Random(chance.random()))
    tender, weather = Tender(clients), Weather(house, random.Random(chance.random()))
    count = max(4, int(seconds * SESSIONS_PER_S))
    plays = [make_play(house.projects, n, random.Random(chance.random()), EXTRAS) for n in range(count)]
    guests = [Guest(clients, play, random.Random(chance.random())) for play in plays]
    try:
        starts = [chance.uniform(0, seconds * BEGINNINGS) for _ in guests]
        visits = [asyncio.create_task(_later(at, guest)) for at, guest in zip(starts, guests, strict=True)]
        if model:
            visits.append(asyncio.create_task(_talk(house, clients, model, seconds)))
        tending = asyncio.create_task(tender.tend())
        await weather.rage(seconds, PAUSE_S)
        part.wrong += await _ends(visits)
        await _until_quiet(clients, tending, part)
    finally:
        await clients.aclose()
        await house.end()
    events = await _look_through(house, guests, part)
    part.figures |= {
        "sessions": len(guests),
        **figures_of(events),
        "resumed": tender.resumed,
        "sent again": clients.retries,
        "compactions": sum(isinstance(event, Compacted) for event in events),
        "rewinds": sum(isinstance(event, Rewound) for event in events),
        "forks": sum(guest.forks for guest in guests),
        **dict(sorted(weather.done.items())),
    }
    return part


async def _later(seconds: float, guest: Guest) -> None:
    await asyncio.sleep(seconds)
    await guest.visit()


async def _talk(house: House, clients: Clients, model: str, seconds: float) -> None:
    """Talk with a model in a separate process, one short prompt after the other."""
    session, deadline, number = SessionId("talk"), time.monotonic() + seconds, 0
    folder = house.projects / "talk"
    folder.mkdir()
    await clients.create(session, str(folder))
    while time.monotonic() < deadline:
        number += 1
        options = RunOptions(model=model)
        receipt = await clients.submit(session, Prompt(user_message(TALK), options, key=f"talk {number}"))
        if (run_id := receipt.run_id) is not None:
            await clients.asked(lambda api, run=run_id: wait_for_run(api, session, run))


async def _ends(visits: Sequence[asyncio.Task[None]]) -> list[str]:
    """Wait until all sessions are played; returns what went wrong."""
    _, late = await asyncio.wait(visits, timeout=PATIENCE_S)
    for task in late:
        task.cancel()
    ended = await asyncio.gather(*visits, return_exceptions=True)
    broken = [repr(error) for error in ended if isinstance(error, Exception)]
    return [*broken, *([f"{len(late)} sessions did not end in time"] if late else [])]


async def _until_quiet(clients: Clients, tending: asyncio.Task[None], part: Part) -> None:
    """Let the last runs end; report the ones that do not end in time."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        summaries = await clients.asked(lambda api: api.ask(ListSessions(archived=True)))
        found = [one.id for one in summaries if one.unfinished]
        if not found or time.monotonic() > deadline:
            break
        await asyncio.sleep(0.1)
    tending.cancel()
    with suppress(asyncio.CancelledError):
        await tending
    part.wrong += [f"{session} has not ended" for session in found]


async def _look_through(house: House, guests: Sequence[Guest], part: Part) -> list[Any]:
    """Check every record, and what tools have left behind."""
    store = house.open_store()
    by_session = {guest.play.session: guest for guest in guests}
    events: list[Any] = []
    try:
        for session in await store.ids():
            records = await store.read(session)
            events += [record.event for record in records]
            faults = [*await log_faults(store, session, records), *tool_faults(house.projects, records)]
            if (guest := by_session.pop(session, None)) is not None:
                faults += promise_faults(guest, records)
            part.wrong += [f"{session}: {fault}" for fault in faults]
    finally:
        await store.aclose()
    part.wrong += [f"{session} does not exist" for session in by_session]
    return events
