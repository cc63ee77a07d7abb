"""Assignments that overlap: on a worker that stops, and on a run that has not started yet."""

import asyncio

import pytest

from bridle.core.errors import NotDrivenHere
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import ApprovalRequested, Decide, MessageAdded, Prompt, Rename, Resume, RunEnded
from bridle.scale.assignments import DrivenSession
from bridle.scale.jobs import Job, decode_outcome
from tests.scale.test_assignments import S, Troupe, asking, drive, legs_of
from tests.sessions.stage import Play, Stage, call, says


async def test_a_worker_that_stops_leaves_what_comes_to_another():
    async with Stage(Play(says("hello"))) as stage:
        legs, troupe = legs_of(stage)
        legs.is_stopping = True
        command = Prompt(user_message("hi"), key="k")

        assert await drive(legs, troupe, command) == "continues elsewhere"

        with pytest.raises(NotDrivenHere):
            decode_outcome(troupe.told[0])
        assert (troupe.ordered, await stage.log()) == ([Job(S, command)], [])


async def test_a_run_that_is_put_aside_by_a_stopping_worker_costs_it_no_try():
    async with asking(says("", call("c1", "touch")), says("done")) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await stage.until(ApprovalRequested)
        legs.is_stopping = True
        await stage.service.park(0)

        assert await driving == "continues elsewhere"
        assert [(order.command, order.tries) for order in troupe.ordered] == [(Resume(), 1)]


class SlowToBring(Troupe):
    """Brings a folder when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.is_asked = asyncio.Event()
        self.go = asyncio.Event()

    async def bring(self, session: SessionId, folder: str) -> None:
        self.is_asked.set()
        await self.go.wait()


async def test_a_prompt_does_not_end_a_run_that_another_leg_is_about_to_take_up():
    async with asking(says("", call("c1", "touch")), says("done"), says("and done")) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await stage.until(ApprovalRequested)
        while not stage.service.rests(S):  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0)
        await legs.set_aside_resting(0.0)
        await legs.set_aside_resting(0.0)
        assert await driving == "rests"

        slow = SlowToBring()
        legs._around = slow
        answering = asyncio.create_task(drive(legs, slow, Decide(CallId("c1"), "once")))
        await slow.is_asked.wait()
        prompting = asyncio.create_task(legs.submit(S, Prompt(user_message("more"))))
        await asyncio.sleep(0)
        slow.go.set()

        await prompting
        assert await answering == "ended"
        ends = [event.outcome for event in await stage.log() if isinstance(event, RunEnded)]
        said = [event.message.text for event in await stage.log() if isinstance(event, MessageAdded)]
        assert (ends, said) == (["completed", "completed"], ["go", "more"])


def test_a_leg_that_wakes_no_run_takes_only_what_needs_none():
    leg = DrivenSession()
    leg.ready.set()

    assert [leg.takes(command) for command in (Rename("a"), Prompt(user_message("hi")))] == [True, False]
    leg.wake()
    assert leg.takes(Prompt(user_message("hi")))
