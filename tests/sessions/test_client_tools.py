"""Tools that a client provides to a session: called like any other, removed with the client."""

import asyncio

import pytest

from bridle.core.errors import SessionNotFound, ToolError, UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.ports import ToolOutput
from bridle.core.protocol import ApprovalRequested, Cancel, Resume, ToolFinished, ToolStarted
from bridle.core.tool import Access, ToolSpec
from bridle.stores.ephemeral import EphemeralStore
from tests.patience import PATIENCE_S
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says

SCHEMA = {"type": "object", "properties": {"on": {"type": "string"}}, "required": ["on"]}


class Lender:
    """Provides one tool; its calls can wait for a signal from the test."""

    def __init__(self, name: str = "lent", *, answer: str = "lent output", waits: bool = False) -> None:
        self.specs = (ToolSpec(name, "A tool of somebody else.", SCHEMA),)
        self.calls: list[ToolCall] = []
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.go = asyncio.Event()
        self._answer = answer
        self._waits = waits

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        self.calls.append(call)
        self.begun.set()
        try:
            if self._waits:
                await self.go.wait()
            return ToolOutput(self._answer)
        finally:
            self.ended.set()


class Refuser(Lender):
    async def dispatch(self, call: ToolCall) -> ToolOutput:
        raise ToolError("not today")


def play() -> Play:
    return Play(says("", call("c1", "lent")), says("done"))


async def finished(stage: Stage) -> list[ToolResult]:
    return [event.result for event in await stage.log() if isinstance(event, ToolFinished)]


async def test_a_lent_tool_is_offered_and_called_without_being_asked_about():
    lender, model = Lender(), play()
    async with (
        Stage(model, tools=[SmallTool("own", str)]) as stage,
        stage.service.provide_tools(stage.session, lender),
    ):
        end = await stage.run("go")

        assert (end.outcome, end.text) == ("completed", "done")
        assert [spec.name for spec in model.requests[0].tools] == ["lent", "own"]
        assert lender.calls == [ToolCall(CallId("c1"), "lent", {"on": "a"})]
        assert await finished(stage) == [ToolResult(CallId("c1"), "lent", "lent output")]


async def test_a_refusal_is_a_failed_result():
    async with Stage(play()) as stage, stage.service.provide_tools(stage.session, Refuser()):
        await stage.run("go")

        assert await finished(stage) == [ToolResult(CallId("c1"), "lent", "not today", is_error=True)]


async def test_a_loan_ends_with_its_context_and_others_stay():
    model = Play(says("done"))
    async with Stage(model) as stage, stage.service.provide_tools(stage.session, Lender("first")):
        async with stage.service.provide_tools(stage.session, Lender("second")):
            pass
        await stage.run("go")

    assert [spec.name for spec in model.requests[0].tools] == ["first"]


async def test_of_two_loans_of_one_name_the_newer_is_called():
    old, new = Lender(answer="old"), Lender(answer="new")
    async with (
        Stage(play()) as stage,
        stage.service.provide_tools(stage.session, old),
        stage.service.provide_tools(stage.session, new),
    ):
        await stage.run("go")

    assert (old.calls, len(new.calls)) == ([], 1)


async def test_another_session_does_not_get_it():
    model = Play(says("done"))
    async with Stage(model) as stage:
        other = await stage.service.create(cwd="/")
        async with stage.service.provide_tools(other, Lender()):
            await stage.run("go")

    assert model.requests[0].tools == ()


async def test_it_is_left_out_where_the_run_names_its_tools():
    model = Play(says("done"))
    async with Stage(model) as stage, stage.service.provide_tools(stage.session, Lender()):
        await stage.run("go", tools=("own",))

    assert model.requests[0].tools == ()


async def test_a_cancelled_run_cancels_the_call():
    lender = Lender(waits=True)
    async with Stage(play()) as stage, stage.service.provide_tools(stage.session, lender):
        run = await stage.prompt("go")
        await lender.begun.wait()
        await stage.service.submit(stage.session, Cancel())
        end = await stage.service.wait(stage.session, run)
        await lender.ended.wait()

    assert end.outcome == "cancelled"


async def test_after_a_cut_the_call_comes_again_under_its_id():
    store = EphemeralStore(FixedClock())
    first, second = Lender(waits=True), Lender(answer="at last")
    stage = Stage(play(), store=store)
    async with stage, stage.service.provide_tools(stage.session, first):
        await stage.prompt("go")
        await stage.until(ToolStarted)
        await first.begun.wait()
        await stage.service.park(0.0)

    async with Stage(play(), store=store) as later, later.service.provide_tools(later.session, second):
        run = await later.submit_run(Resume())
        end = await later.service.wait(later.session, run)
        results = await finished(later)

    assert (end.outcome, [called.id for called in second.calls]) == ("completed", ["c1"])
    assert results == [ToolResult(CallId("c1"), "lent", "at last")]


@pytest.mark.parametrize("name", ["", "two words", "a" * 65, "ümlaut", "a.b"])
async def test_a_name_that_no_vendor_takes_is_refused(name: str):
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError, match="cannot name a tool"):
            async with stage.service.provide_tools(stage.session, Lender(name)):
                pass


async def test_a_schema_that_is_no_object_is_refused():
    lender = Lender()
    lender.specs = (ToolSpec("lent", "", {"type": "array"}),)
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError, match="must have type object"):
            async with stage.service.provide_tools(stage.session, lender):
                pass


async def test_an_unknown_session_cannot_be_lent_to():
    async with Stage(Play()) as stage:
        with pytest.raises(SessionNotFound):
            async with stage.service.provide_tools(SessionId("nobody"), Lender()):
                pass


async def test_a_lent_tool_stands_in_for_one_of_the_same_name():
    own, lender = SmallTool("lent", str), Lender()
    async with Stage(play(), tools=[own]) as stage, stage.service.provide_tools(stage.session, lender):
        await stage.run("go")

    assert (own.calls, len(lender.calls)) == ([], 1)


class Guarded(Lender):
    def access_of(self, tool: str) -> Access:
        return Access(tool, "execute")


async def test_what_says_that_it_touches_something_is_asked_about():
    lender = Guarded()
    async with Stage(play()) as stage, stage.service.provide_tools(stage.session, lender):
        run = await stage.prompt("go")
        await stage.until(ApprovalRequested)
        assert lender.calls == []
        await stage.decide("c1", "once")
        await stage.service.wait(stage.session, run)

    assert len(lender.calls) == 1


class Interrupted(Lender):
    async def dispatch(self, call: ToolCall) -> ToolOutput:
        raise asyncio.CancelledError  # as one does who awaits a task that was cancelled


async def test_a_tool_that_says_it_was_cancelled_has_failed():
    async with Stage(play()) as stage, stage.service.provide_tools(stage.session, Interrupted()):
        async with asyncio.timeout(PATIENCE_S):
            await stage.run("go")

        assert await finished(stage) == [
            ToolResult(CallId("c1"), "lent", "lent failed: CancelledError: ", is_error=True)
        ]
