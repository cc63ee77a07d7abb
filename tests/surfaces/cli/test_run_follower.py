"""Following a run: its questions are answered even if the first client has gone."""

import asyncio
import os
import pty
from contextlib import suppress
from io import StringIO
from pathlib import Path

from bridle.core.ids import SessionId
from bridle.core.mcp_servers import ToolOffer
from bridle.core.messages import user_message
from bridle.core.protocol import ApprovalRequested, Decide, Prompt
from bridle.core.queries import IsRunning, Records
from bridle.core.session_api import SessionApi
from bridle.surfaces.cli.approver import Approver
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.cli.run_follower import Follower
from bridle.surfaces.shared.terminal import Console, Screen
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.sessions.test_servers import Lenders
from tests.surfaces.remote.test_remote import Hall


class LostTerminal(Approver):
    """A terminal that goes away as soon as something is asked on it."""

    def __init__(self) -> None:
        self._master, slave = pty.openpty()
        super().__init__(slave, {"NO_COLOR": "1"})
        self.has_asked = asyncio.Event()

    async def ask(self, request: ApprovalRequested) -> Decide | None:
        os.close(self._master)
        try:
            return await super().ask(request)
        finally:
            self.has_asked.set()


def hall(folder: Path) -> Hall:
    change = SmallTool("change", lambda on: f"changed {on}", access="write")
    return Hall(Stage(Play(says("", call("a", "change")), says("done")), tools=[change]), folder)


def follower(api: SessionApi, session: SessionId, approver: Approver) -> Follower:
    console = Console(Screen(StringIO(), {}), Screen(StringIO(), {}), {})
    return Follower(api, session, RunView(console, answer="streamed", chatty=True, verbose=False), approver)


async def test_a_terminal_that_closes_answers_nothing_for_a_run_that_goes_on(tmp_path: Path):
    """It may be seen to close before the signal comes that ends the program."""
    async with hall(tmp_path).open() as opened:
        client, session, approver = await opened.client(), opened.stage.session, LostTerminal()
        running = asyncio.create_task(
            follower(client, session, approver).run(Prompt(user_message("hi")), last_seq=1)
        )
        await approver.has_asked.wait()
        for _ in range(10):  # what the follower says comes before this
            await client.ask(IsRunning(session))
        states = [one.state for one in opened.stage.service.live()]
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        approver.close()

    assert states == ["waiting"]


async def test_a_run_that_would_end_with_us_is_stopped(tmp_path: Path):
    async with hall(tmp_path).open() as opened:
        approver = LostTerminal()
        result = await follower(opened.stage.service, opened.stage.session, approver).run(
            Prompt(user_message("hi")), last_seq=1
        )
        approver.close()

    assert (result.outcome, result.denied[0].reason) == ("denied", "the terminal went away")


class SlowLenders(Lenders):
    """Servers that start when the test wants it."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked, self.may_start = asyncio.Event(), asyncio.Event()

    async def offer(self, session: SessionId, cwd: str) -> ToolOffer:
        self.is_asked.set()
        await self.may_start.wait()
        return self.offered


async def test_who_leaves_while_a_run_is_being_started_has_called_it_off(tmp_path: Path):
    lenders = SlowLenders()
    async with Hall(Stage(Play(says("done")), servers=lenders), tmp_path).open() as opened:
        client, service, session = await opened.client(), opened.stage.service, opened.stage.session
        running = asyncio.create_task(
            follower(client, session, approver := LostTerminal()).run(Prompt(user_message("hi")), last_seq=1)
        )
        await lenders.is_asked.wait()
        running.cancel()
        await asyncio.wait([running])
        approver.close()
        await client.aclose()
        lenders.may_start.set()
        events = [record.event for record in await service.ask(Records(session))]

    assert running.cancelled()
    assert [type(event).__name__ for event in events] == ["SessionCreated"]
