"""Every situation of a Run stream, with a client compiled from the published tables."""

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

import grpc
import pytest

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall, ToolResult, Usage
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.permission import parse_rule
from bridle.core.ports import Provider, ToolContext, ToolOutput
from bridle.core.protocol import (
    ApprovalRequested,
    Delta,
    Question,
    ReasoningDelta,
    RunEnded,
    TextDelta,
)
from tests.sessions.stage import Cast, Play, SmallTool, Stage, call, says
from tests.surfaces.grpc.client import serving
from tests.surfaces.grpc.words import (
    RUN,
    RUN_IN_PLAY,
    SESSION,
    SNAPSHOT,
    STARTED,
    STARTED_IN_PLAY,
    TOOLS_COMPLETED,
    broke,
    completed,
    look,
    proposed,
    ran,
    refused,
    results,
    turn,
)


class Thinker:
    """A provider that streams thoughts and words in pieces."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        for piece in (ReasoningDelta("Let "), ReasoningDelta("me."), TextDelta("He"), TextDelta("llo")):
            yield piece
        reply = Message("assistant", (Reasoning("Let me."), Text("Hello")))
        yield ModelReply(reply, "end_turn", Usage(input=10, output=4))

    async def aclose(self) -> None:
        pass


class Stuck:
    """A tool's work that never ends by itself."""

    def __init__(self) -> None:
        self.began = asyncio.Event()
        self.ended = asyncio.Event()

    async def __call__(self, on: str) -> str:
        self.began.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.ended.set()
        return "never"


class Slow(Cast):
    """Models that take their time."""

    def __init__(self, provider: Provider) -> None:
        super().__init__(provider, window_tokens=10_000)
        self.resolving = asyncio.Event()
        self.go = asyncio.Event()

    async def resolve(self, ref: str) -> Any:
        self.resolving.set()
        await self.go.wait()
        return await super().resolve(ref)


class Shy(SmallTool):
    """A tool that takes its time to show what it would do to anything but `a`."""

    def __init__(self) -> None:
        super().__init__("look", str)
        self.go = asyncio.Event()

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        if args["on"] != "a":
            await self.go.wait()
        return await super().preview(args, context)


class Curious(SmallTool):
    """A tool that asks the user something."""

    def __init__(self) -> None:
        super().__init__("ask", str)
        self.heard: list[tuple[str, ...]] = []

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert context.ask is not None
        self.heard.append(await context.ask(Question("Which?")))
        return ToolOutput("nobody answered")


# ---------------------------------------------------------------------------- order


async def test_a_turn_with_calls_is_told_in_order():
    play = Play(says("I look.", call("c1", "look"), call("c2", "look", "b")), says("Done."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look around")
        first = await run.until("tools_proposed")
        await run.approve("c2")
        await run.approve("c1")
        rest = await run.until("completed")
        after, code = await run.end()

    assert first == [STARTED, *turn("I look."), proposed(("c1", "a"), ("c2", "b"))]
    assert sorted(rest[:4], key=str) == sorted([*ran("c1", "saw a"), *ran("c2", "saw b")], key=str)
    assert [kind for kind, _ in rest[:4]] == ["tool_started", "tool_completed"] * 2
    assert rest[4:] == [TOOLS_COMPLETED, *turn("Done."), completed("Done.")]
    assert (after, code) == ([], grpc.StatusCode.OK)


async def test_tokens_and_thoughts_come_as_they_are_made():
    async with Stage(Thinker()) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        told = await run.until("completed")

    assert told == [
        STARTED,
        ("reasoning", {"text": "Let "}),
        ("reasoning", {"text": "me."}),
        ("token", {"text": "He"}),
        ("token", {"text": "llo"}),
        ("turn_completed", {"content": "Hello", "reasoning": "Let me."}),
        SNAPSHOT,
        ("completed", {"run_id": RUN, "content": "Hello", "reasoning": "Let me."}),
    ]


async def test_a_run_is_announced_before_the_model_says_anything():
    play = Play(says("", call("c1", "look")), says("Done."), hold=True)
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        first = await run.next()
        play.go.set()
        rest = await run.until("tools_proposed")

    assert [first, *rest] == [STARTED, ("turn_completed", {}), SNAPSHOT, proposed(("c1", "a"))]


async def test_a_token_is_sent_before_the_reply_is_whole():
    play = Play(says("Wait for it."), hold=True)
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        before = await run.until("token")
        play.go.set()
        rest = await run.until("completed")

    assert before + rest == [STARTED, *turn("Wait for it."), completed("Wait for it.")]


async def test_calls_that_run_beside_each_other_are_told_one_after_the_other():
    """The first to begin is the last to end."""
    second_ended = asyncio.Event()

    async def work(on: str) -> str:
        if on == "a":
            await second_ended.wait()
        else:
            second_ended.set()
        return f"saw {on}"

    play = Play(says("", call("c1", "look"), call("c2", "look", "b")), says("Done."))
    async with Stage(play, tools=[look(work)]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        await run.until("tools_proposed")
        await run.approve("c1")
        await run.approve("c2")
        told = await run.until("tools_completed")

    assert told == [*ran("c1", "saw a"), *ran("c2", "saw b"), TOOLS_COMPLETED]


async def test_arguments_are_compact_with_sorted_keys():
    args = {"on": "ü", "b": [1, {"z": None, "a": True}], "A": 1.5}
    schema = {"type": "object", "properties": {"on": {"type": "string"}}}
    tool = look()
    tool.spec = type(tool.spec)("look", "Looks.", schema)
    play = Play(says("", ToolCall(CallId("c1"), "look", args)), says("Done."))
    async with Stage(play, tools=[tool]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        told = await run.until("tools_proposed")

    [shown] = told[-1][1]["calls"]
    assert shown["arguments_json"] == '{"A":1.5,"b":[1,{"a":true,"z":null}],"on":"ü"}'


async def test_calls_without_an_id_or_with_a_taken_one_get_their_own():
    play = Play(says("", call("", "look"), call("x", "look"), call("x", "look", "b")), says("Done."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        calls = (await run.until("tools_proposed"))[-1][1]["calls"]
        for shown in calls:
            await run.approve(shown["call_id"])
        told = await run.until("completed")

    assert [shown["arguments_json"] for shown in calls] == ['{"on":"a"}', '{"on":"a"}', '{"on":"b"}']
    assert len({shown["call_id"] for shown in calls}) == 3
    assert [kind for kind, _ in told].count("tool_completed") == 3


# ---------------------------------------------------------------------------- decisions


@pytest.mark.parametrize(
    ("reason", "stored"),
    [
        ("not that one", "denied: not that one"),
        ("", "denied: user denied"),
        ("no" * 50_000, f"denied: {'no' * 2_000}"),
    ],
    ids=["why", "no why", "too much"],
)
async def test_a_denied_call_is_not_told_and_ends_the_run_with_nothing(reason: str, stored: str):
    play = Play(says("I look.", call("c1", "look"), call("c2", "look", "b")), says("Never said."))
    tool = look()
    async with Stage(play, tools=[tool]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        await run.until("tools_proposed")
        await run.deny("c1", reason)
        await run.approve("c2")
        told = await run.until("completed", "cancelled", "failed")
        found = await results(stage, SESSION)

    assert told == [*ran("c2", "saw b"), TOOLS_COMPLETED, completed("")]
    assert found == [
        ToolResult(CallId("c1"), "look", stored, is_error=True),
        ToolResult(CallId("c2"), "look", "saw b"),
    ]
    assert tool.calls == ["b"]
    assert len(play.requests) == 1


async def test_unknown_calls_and_second_thoughts_are_ignored():
    play = Play(says("", call("c1", "look")), says("Done."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.approve("c1")  # nothing is started yet
        await run.start("look")
        await run.until("tools_proposed")
        await run.approve("nobody")
        await run.deny("../c1", "x")
        await run.approve("c1")
        await run.deny("c1", "too late")
        told = await run.until("completed")
        await run.approve("c1")  # and now it is over
        await run.cancel()
        after, code = await run.end()

    assert told == [*ran("c1", "saw a"), TOOLS_COMPLETED, *turn("Done."), completed("Done.")]
    assert (after, code) == ([], grpc.StatusCode.OK)


async def test_an_approval_before_the_proposal_counts_for_nothing():
    """A client cannot have seen the call, although the engine already asks for approval."""
    tool = Shy()
    play = Play(says("", call("c1", "look"), call("c2", "look", "b")), says("Done."))
    async with Stage(play, tools=[tool]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look", session_id="play")
        await stage.until(ApprovalRequested)
        await run.approve("c1")
        await run.start("again")  # answered once the approval was read
        before = await run.until("failed")
        tool.go.set()
        first = await run.next()
        await run.deny("c1")
        await run.deny("c2")
        told = await run.until("completed")

    assert [kind for kind, _ in before] == ["started", "turn_completed", "context_snapshot", "failed"]
    assert first == proposed(("c1", "a"), ("c2", "b"))
    assert told == [TOOLS_COMPLETED, completed("", RUN_IN_PLAY)]
    assert tool.calls == []


async def test_an_approval_can_come_from_elsewhere():
    play = Play(says("", call("c1", "look")), says("Done."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look", session_id="play")
        await run.until("tools_proposed")
        await stage.decide("c1", "once")
        told = await run.until("completed")

    assert told == [*ran("c1", "saw a"), TOOLS_COMPLETED, *turn("Done."), completed("Done.", RUN_IN_PLAY)]


async def test_who_stops_a_run_elsewhere_cancels_it_here():
    play = Play(says("", call("c1", "look")), says("Done."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look", session_id="play")
        await run.until("tools_proposed")
        await stage.decide("c1", "stop")
        told = await run.until("completed", "cancelled", "failed")

    assert told == [("cancelled", {"run_id": RUN_IN_PLAY})]


async def test_by_rules_only_what_they_ask_about_is_proposed():
    play = Play(
        says("", call("c1", "look"), call("c2", "change", "b"), call("c3", "look", "secret")),
        says("Done."),
    )
    tools = [look(), SmallTool("change", lambda on: f"changed {on}", access="write")]
    rules = [parse_rule("deny", "look(secret)")]
    async with (
        Stage(play, tools=tools, rules=rules) as stage,
        serving(stage.service, approvals="rules") as served,
    ):
        run = served.run()
        await run.start("look")
        before = await run.until("tools_proposed")
        await run.deny("c2", "leave it")
        rest = await run.until("completed")

    in_between = [event for event in before if event not in (STARTED, SNAPSHOT)][1:-1]
    assert in_between + rest[:-7] == ran("c1", "saw a")
    assert before[-1] == proposed(("c2", "b"), name="change")
    assert rest[-7:] == [
        *broke("c3", "denied by rule deny look(secret)"),
        TOOLS_COMPLETED,
        *turn("Done."),
        completed("Done."),
    ]


# ---------------------------------------------------------------------------- failures


async def test_a_tool_that_fails_is_told_and_the_run_goes_on():
    play = Play(says("", call("c1", "look")), says("Oh."))
    tool = look(lambda on: ValueError(f"no {on} here"))
    async with Stage(play, tools=[tool]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        await run.until("tools_proposed")
        await run.approve("c1")
        told = await run.until("completed")

    assert told == [*broke("c1", "no a here"), TOOLS_COMPLETED, *turn("Oh."), completed("Oh.")]


async def test_an_unknown_tool_and_broken_arguments_are_proposed_and_fail():
    broken = ToolCall(CallId("c2"), "look", {}, invalid='{"on": ')
    play = Play(says("", call("c1", "nothing"), broken, call("c3", "look")), says("Oh."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        first = await run.until("tools_proposed")
        for call_id in ("c1", "c2", "c3"):
            await run.approve(call_id)
        told = await run.until("completed")
        found = await results(stage, SESSION)

    shown = [(one["call_id"], one["arguments_json"]) for one in first[-1][1]["calls"]]
    assert shown == [("c1", '{"on":"a"}'), ("c2", "{}"), ("c3", '{"on":"a"}')]
    assert told == [
        *ran("c3", "saw a"),
        *broke("c1", found[0].output),
        *broke("c2", found[1].output),
        TOOLS_COMPLETED,
        *turn("Oh."),
        completed("Oh."),
    ]
    assert found[0].output.startswith("no tool is named") or "nothing" in found[0].output


async def test_only_an_unknown_tool_is_proposed_too():
    play = Play(says("", call("c1", "nothing")), says("Oh."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        await run.until("tools_proposed")
        await run.approve("c1")
        told = await run.until("completed")
        [found] = await results(stage, SESSION)

    assert told == [*broke("c1", found.output), TOOLS_COMPLETED, *turn("Oh."), completed("Oh.")]


async def test_a_model_that_fails_ends_the_run():
    play = Play([ProviderError("the key is wrong", kind="authentication_failed")])
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        told = await run.until("completed", "failed")

    assert told == [
        STARTED,
        ("token", {"text": "half of "}),
        ("failed", {"run_id": RUN, "error": "the key is wrong"}),
    ]


# ---------------------------------------------------------------------------- cancelling


async def test_a_run_that_waits_for_an_answer_is_cancelled():
    play = Play(says("I look.", call("c1", "look"), call("c2", "look", "b")))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        await run.until("tools_proposed")
        await run.cancel()
        told = [await run.next()]
        after, code = await run.end()

    assert told == [("cancelled", {"run_id": RUN})]
    assert (after, code) == ([], grpc.StatusCode.OK)


async def test_a_model_call_is_cancelled_at_once():
    play = Play(says("Half of"), hold=True)
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        await run.until("token")
        began = time.monotonic()
        await run.cancel()
        told = [await run.next()]
        took_s = time.monotonic() - began

    assert told == [("cancelled", {"run_id": RUN})]
    assert took_s < 8


async def test_a_tool_is_cancelled_at_once():
    stuck = Stuck()
    play = Play(says("", call("c1", "look"), call("c2", "look", "b")))
    async with Stage(play, tools=[look(stuck)]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look")
        await run.until("tools_proposed")
        await run.approve("c1")
        await stuck.began.wait()
        began = time.monotonic()
        await run.cancel()
        told = await run.until("cancelled")
        took_s = time.monotonic() - began

    assert told == [
        *broke("c1", "not finished: the run ended (cancelled)"),
        ("cancelled", {"run_id": RUN}),
    ]
    assert stuck.ended.is_set()
    assert took_s < 8


async def test_what_is_cancelled_while_it_starts_ends_when_it_has():
    models = Slow(Play(says("Hello."), hold=True))
    async with Stage(Play(), models=models) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        await models.resolving.wait()
        await run.cancel()
        await run.start("again")
        first = await run.next()
        models.go.set()
        told = await run.until("cancelled", "completed")

    assert first == refused("run already started")
    assert [event for event in told if event[0] != "token"] == [STARTED, ("cancelled", {"run_id": RUN})]


async def test_a_cancel_after_the_end_is_not_for_the_next_run_of_the_session():
    play = Play(says("One."), says("Two."))
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("1", session_id="play")
        await run.until("completed")
        held = Play(says("One."), says("Two."), hold=True)
        stage.service._engine.models.providers["play"] = held
        await stage.prompt("2")
        await held.streaming.wait()
        await run.cancel()
        await run.start("3")  # answered once the cancel was read
        refusal = await run.next()
        held.go.set()
        ended = await stage.until(RunEnded, count=2)

    assert refusal == refused("run already started")
    assert (ended.outcome, ended.text) == ("completed", "Two.")


async def test_a_cancel_with_no_run_does_nothing():
    async with Stage(Play(says("Hello."))) as stage, serving(stage.service) as served:
        run = served.run()
        await run.cancel()
        await run.start("hello")
        told = await run.until("completed", "cancelled")

    assert told == [STARTED, *turn("Hello."), completed("Hello.")]


# ---------------------------------------------------------------------------- the end of the stream


async def test_half_a_close_ends_the_stream_at_once_and_the_run_goes_on():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello", session_id="play")
        await run.until("token")
        after, code = await run.end()
        play.go.set()
        ended = await stage.until(RunEnded)

    assert (after, code) == ([], grpc.StatusCode.OK)
    assert (ended.outcome, ended.text) == ("completed", "Hello.")


async def test_who_closes_right_after_the_start_hears_that_it_started():
    async with Stage(Play(says("Hello."), hold=True)) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello", session_id="play")
        after, code = await run.end()
        stage.service._engine.models.providers["play"].go.set()
        ended = await stage.until(RunEnded)

    assert (after[0], code) == (STARTED_IN_PLAY, grpc.StatusCode.OK)
    assert ended.outcome == "completed"


async def test_a_client_that_vanishes_leaves_its_run_to_be_answered_by_another():
    play = Play(says("", call("c1", "look")), says("Done."))
    async with Stage(play, tools=[look()]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("look", session_id="play")
        await run.until("tools_proposed")
        run.call.cancel()
        await asyncio.wait([task for task in asyncio.all_tasks() if "RunStream" in repr(task)])
        watchers = stage.service._bus.watchers(stage.session)
        await stage.decide("c1", "once")
        ended = await stage.until(RunEnded)

    assert watchers == 0
    assert (ended.outcome, ended.text) == ("completed", "Done.")


async def test_a_second_start_is_refused_while_it_runs_and_after():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        await run.until("token")
        await run.start("again")
        during = await run.next()
        play.go.set()
        told = await run.until("completed")
        await run.start("and again")
        afterwards = await run.next()

    assert (during, afterwards) == (refused("run already started"), refused("run already started"))
    assert told == [*turn("Hello.")[1:], completed("Hello.")]


async def test_a_question_of_a_tool_is_answered_by_nobody():
    """The protocol has no message for it, and a run that waits forever helps no one."""
    tool = Curious()
    play = Play(says("", call("c1", "ask")), says("Then not."))
    async with Stage(play, tools=[tool]) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("hello")
        await run.until("tools_proposed")
        await run.approve("c1")
        told = await run.until("completed")

    assert tool.heard == [()]
    assert told[:2] == ran("c1", "nobody answered")
