"""From a call to its result: a tool that fails at any point fails its call, never the run."""

import asyncio
from typing import get_args

from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolResult
from bridle.core.ports import ToolContext
from bridle.core.protocol import ApprovalRequested, ToolFinished
from bridle.core.tool import AccessClass
from bridle.sessions.dispatch import Dispatcher
from bridle.tools.toolbox import Toolbox
from tests.sessions.stage import Play, SmallTool, Stage, call, says


class Careless(SmallTool):
    """Breaks before it runs."""

    def access(self, args, context):
        if args["on"] == "access":
            raise ValueError("no such thing")
        return super().access(args, context)

    async def preview(self, args, context):
        if args["on"] == "preview":
            raise OSError("no such device")
        return "half \ud800 a character"


def careless() -> Careless:
    return Careless("change", lambda on: f"changed {on}", access="write")


async def test_a_tool_that_cannot_say_what_it_touches_is_not_run():
    tool = careless()
    async with Stage(Play(says("", call("a", "change", "access")), says("done")), tools=[tool]) as stage:
        ended = await stage.run("hi", mode="yolo")
        finished = await stage.until(ToolFinished)

    assert (ended.outcome, ended.text, tool.calls) == ("completed", "done", [])
    assert finished.result.output == "change failed: ValueError: no such thing"


async def test_a_preview_that_fails_is_a_question_without_one():
    tool = careless()
    async with Stage(Play(says("", call("a", "change", "preview")), says("done")), tools=[tool]) as stage:
        run_id = await stage.prompt("hi")
        asked = await stage.until(ApprovalRequested)
        await stage.decide("a", "once")
        ended = await stage.service.wait(stage.session, run_id)

    assert (asked.preview, ended.outcome, tool.calls) == ("", "completed", ["preview"])


async def test_half_a_character_in_a_preview_is_shown_as_an_escape():
    async with Stage(Play(says("", call("a", "change")), says("done")), tools=[careless()]) as stage:
        await stage.prompt("hi")
        asked = await stage.until(ApprovalRequested)

    assert asked.preview == "half \\ud800 a character"


def dispatcher(*tools: SmallTool, timeout_s: float = 60.0) -> Dispatcher:
    return Dispatcher(Toolbox(tools), timeout_s=timeout_s, max_output_bytes=1_000)


CONTEXT = ToolContext(SessionId("play"), "/", lambda text: None, mode="yolo")


def test_only_a_call_that_reads_may_run_again_after_a_crash():
    tools = [SmallTool(access, str, access=access) for access in get_args(AccessClass)]
    checks = [dispatcher(*tools).check(call("a", tool.spec.name), CONTEXT) for tool in tools]

    assert {checked.call.name for checked in checks if checked.repeatable} == {"read"}


async def test_a_tool_that_takes_too_long_is_stopped():
    async def hang(on: str) -> str:
        await asyncio.Event().wait()
        return on

    hung = await dispatcher(SmallTool("look", hang), timeout_s=0.01).run(call("a", "look"), CONTEXT)

    assert hung.result == ToolResult(CallId("a"), "look", "look did not finish within 0.01 s", is_error=True)


async def test_a_long_output_is_cut_to_its_size():
    long = await dispatcher(SmallTool("look", lambda on: "x" * 5_000)).run(call("a", "look"), CONTEXT)

    assert len(long.result.output.encode()) <= 1_000
    assert "of 5000 bytes left out" in long.result.output


async def test_a_tool_that_takes_too_long_is_told_apart_from_one_that_gave_up_by_itself():
    async def hang(on: str) -> str:
        if on == "gives up":
            raise TimeoutError("the server did not answer")
        await asyncio.Event().wait()
        return on

    tools = dispatcher(SmallTool("look", hang), timeout_s=0.01)

    hung = await tools.run(call("a", "look", "hangs"), CONTEXT)
    gave_up = await tools.run(call("b", "look", "gives up"), CONTEXT)

    assert hung.result.output == "look did not finish within 0.01 s"
    assert gave_up.result.output == "look failed: TimeoutError: the server did not answer"
