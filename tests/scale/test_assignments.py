"""The work of an assignment, on a real service with a scripted model and a fake cluster."""

import asyncio
from collections.abc import Callable

import pytest

from bridle.core.errors import NotDrivenHere, SessionBusy, SessionNotRunning, WorkspaceLost
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import user_message
from bridle.core.permission import parse_rule
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    Command,
    Decide,
    Prompt,
    Rename,
    Resume,
    RunEnded,
    RunOptions,
    SessionTitled,
)
from bridle.core.queries import Records
from bridle.core.session_api import Receipt
from bridle.scale.assignments import MAX_TRIES, JobRunner
from bridle.scale.jobs import Job, decode_outcome, encode_job
from bridle.stores.claims import LocalClaims
from tests.sessions.stage import Play, SmallTool, Stage, call, says

S = SessionId("play")


class Troupe:
    """What an assignment needs of the rest: who else drives, what was ordered, what is told."""

    def __init__(self) -> None:
        self.ordered: list[Job] = []
        self.passed: list[Command] = []
        self.told: list[str] = []
        self.begun: list[tuple[str, SessionId]] = []
        self.lost = ""
        self.elsewhere: Callable[[], Receipt] | None = None

    def begin(self, session: SessionId) -> None:
        self.begun.append(("begin", session))

    def end(self, session: SessionId) -> None:
        self.begun.append(("end", session))

    async def forward(self, session: SessionId, command: Command) -> Receipt:
        self.passed.append(command)
        if self.elsewhere is None:
            raise NotDrivenHere("nobody")
        return self.elsewhere()

    async def order(self, order: Job, leg: str) -> None:
        self.ordered.append(order)

    async def bring(self, session: SessionId, folder: str) -> None:
        if self.lost:
            raise WorkspaceLost(self.lost)

    async def tell(self, text: str) -> None:
        self.told.append(text)


def legs_of(stage: Stage) -> tuple[JobRunner, Troupe]:
    troupe = Troupe()
    return JobRunner(stage.service, troupe, troupe), troupe


async def drive(legs: JobRunner, troupe: Troupe, command: Command, **order: int) -> str:
    return await legs.drive("leg", encode_job(Job(S, command, **order)), troupe.tell)


def asking(*replies: object) -> Stage:
    tools = [SmallTool("touch", lambda on: "touched", access="write")]
    return Stage(Play(*replies), tools=tools)


async def test_a_prompt_is_taken_and_driven_to_its_end():
    async with Stage(Play(says("hello"))) as stage:
        legs, troupe = legs_of(stage)

        came_of_it = await drive(legs, troupe, Prompt(user_message("hi")))

        assert came_of_it == "ended"
        assert [type(event) for event in await stage.log()][-1] is RunEnded
        assert decode_outcome(troupe.told[0]).run_id is not None
        assert troupe.begun == [("begin", S), ("end", S)]
        assert legs.sessions == ()


async def test_an_order_that_nobody_understands_is_told_and_does_no_harm():
    async with Stage(Play()) as stage:
        legs, troupe = legs_of(stage)

        assert await legs.drive("leg", '{"session": 1}', troupe.tell) == "refused"

        with pytest.raises(Exception, match="did not understand"):
            decode_outcome(troupe.told[0])


async def test_what_goes_wrong_is_told_to_whoever_ordered_it():
    async with Stage(Play()) as stage:
        legs, troupe = legs_of(stage)

        assert await drive(legs, troupe, Cancel()) == "refused"

        with pytest.raises(SessionNotRunning):
            decode_outcome(troupe.told[0])


async def test_an_answer_is_taken_once_it_is_recorded():
    async with asking(says("", call("c1", "touch")), says("done")) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await stage.until(ApprovalRequested)

        receipt = await legs.submit(S, Decide(CallId("c1"), "once"))
        recorded = (await stage.service.ask(Records(S)))[: receipt.seq]

        assert isinstance(recorded[-1].event, ApprovalDecided)
        assert await driving == "ended"


async def test_a_second_leg_of_a_session_goes_to_the_first():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        first = asyncio.create_task(drive(legs, troupe, Prompt(user_message("a"))))
        await play.streaming.wait()

        second = await drive(legs, troupe, Prompt(user_message("b")))
        play.go.set()

        assert (second, await first) == ("passed on", "ended")
        assert [type(event) for event in await stage.log()].count(RunEnded) == 2


async def test_a_session_that_another_worker_drives_gets_the_command_there():
    claims = LocalClaims()
    async with Stage(Play(), claims=claims) as stage:
        legs, troupe = legs_of(stage)
        await claims.claim(S)
        troupe.elsewhere = lambda: Receipt(9)

        assert await drive(legs, troupe, Cancel("stop")) == "passed on"

        assert (troupe.passed, decode_outcome(troupe.told[0])) == ([Cancel("stop")], Receipt(9))


async def test_a_worker_that_lets_go_meanwhile_is_not_waited_for_long():
    claims = LocalClaims()
    async with Stage(Play(says("hello")), claims=claims) as stage:
        legs, troupe = legs_of(stage)
        await claims.claim(S)

        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("hi"))))
        while not troupe.passed:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0)
        await claims.release(S)

        assert await driving == "ended"


async def test_commands_come_only_to_a_session_that_is_driven():
    async with Stage(Play(says("hello"))) as stage:
        legs, troupe = legs_of(stage)

        with pytest.raises(NotDrivenHere):
            await legs.submit(S, Prompt(user_message("hi")))

        await drive(legs, troupe, Prompt(user_message("hi")))
        with pytest.raises(NotDrivenHere):
            await legs.submit(S, Prompt(user_message("hi")))


async def test_a_run_that_waits_for_a_person_is_let_go_and_comes_back_with_the_answer():
    tool = SmallTool("touch", lambda on: "touched", access="write")
    async with Stage(Play(says("", call("c1", "touch")), says("done")), tools=[tool]) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await stage.until(ApprovalRequested)
        while not stage.service.rests(S):  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0)

        await legs.set_aside_resting(0.0)  # looks, and notes since when it rests
        await legs.set_aside_resting(0.0)

        assert await driving == "rests"
        assert (list(stage.service.live()), troupe.ordered) == ([], [])

        came_of_it = await drive(legs, troupe, Decide(CallId("c1"), "once"))

        assert (came_of_it, tool.calls) == ("ended", ["a"])


async def test_a_run_that_works_is_not_let_go():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await play.streaming.wait()

        await legs.set_aside_resting(0.0)
        await legs.set_aside_resting(0.0)

        assert not driving.done()
        play.go.set()
        assert await driving == "ended"


async def test_what_is_left_when_a_worker_stops_goes_on_elsewhere():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await play.streaming.wait()

        legs.is_stopping = True
        await stage.service.park(0.0)

        assert await driving == "continues elsewhere"
        assert [(type(order.command), order.tries) for order in troupe.ordered] == [(Resume, 1)]


async def test_a_leg_that_is_done_again_goes_on_with_the_run_and_takes_the_prompt_once():
    play = Play(says("hello"), hold=True)
    prompt = Prompt(user_message("go"), key="k")
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, prompt))
        await play.streaming.wait()
        await stage.service.set_aside(S)  # as a crash leaves it
        await driving
        play.go.set()

        assert await drive(legs, troupe, prompt) == "ended"

        kinds = await stage.kinds()
        assert (kinds.count("RunStarted"), kinds.count("RunResumed"), kinds.count("RunEnded")) == (1, 1, 1)
        assert decode_outcome(troupe.told[0]).run_id == decode_outcome(troupe.told[-1]).run_id


async def test_a_lost_folder_ends_the_run_that_was_open_and_says_so():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await play.streaming.wait()
        await stage.service.set_aside(S)
        await driving
        troupe.lost = "the folder is gone"

        assert await drive(legs, troupe, Resume(), tries=1) == "refused"

        ended = (await stage.log())[-1]
        assert isinstance(ended, RunEnded)
        assert (ended.outcome, ended.reason) == ("failed", "the folder is gone")
        with pytest.raises(WorkspaceLost):
            decode_outcome(troupe.told[-1])


async def test_a_name_does_not_wake_a_run_that_rests():
    async with asking(says("", call("c1", "touch")), says("done")) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go"))))
        await stage.until(ApprovalRequested)
        await stage.service.set_aside(S)
        await driving

        assert await drive(legs, troupe, Rename("a name")) == "rests"

        kinds = await stage.kinds()
        assert (kinds[-1], kinds.count("RunResumed")) == (SessionTitled.__name__, 0)


async def test_a_run_that_breaks_off_too_often_is_given_up():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("go")), tries=MAX_TRIES))
        await play.streaming.wait()

        await stage.service.set_aside(S)

        assert await driving == "given up"
        assert isinstance((await stage.log())[-1], RunEnded)


async def test_a_prompt_that_may_not_wait_is_refused_while_a_run_is_active():
    play = Play(says("hello"), hold=True)
    async with Stage(play) as stage:
        legs, troupe = legs_of(stage)
        driving = asyncio.create_task(drive(legs, troupe, Prompt(user_message("a"))))
        await play.streaming.wait()

        with pytest.raises(SessionBusy):
            await legs.submit(S, Prompt(user_message("b"), if_busy="reject"))

        play.go.set()
        assert await driving == "ended"


async def test_rules_of_the_run_hold_when_it_is_taken_up_again():
    tool = SmallTool("touch", lambda on: "touched", access="write")
    play = Play(says("", call("c1", "touch")), says("done"), hold=True)
    async with Stage(play, tools=[tool], rules=[parse_rule("ask", "touch")]) as stage:
        legs, troupe = legs_of(stage)
        prompt = Prompt(user_message("go"), RunOptions(deny=("touch",)), key="k")
        driving = asyncio.create_task(drive(legs, troupe, prompt))
        await play.streaming.wait()
        await stage.service.set_aside(S)
        await driving
        play.go.set()

        await drive(legs, troupe, prompt)

        assert tool.calls == []
