"""The effect of hooks on a run: every point, every patch, every refusal."""

from collections.abc import Callable
from typing import Any

import pytest

from bridle.core.hook import (
    AssistantTextPatch,
    Deny,
    HookInvocation,
    HookOutcome,
    HookPoint,
    ModelReplyView,
    ModelRequestPatch,
    ModelRequestView,
    Patch,
    RunResultPatch,
    ToolArgsPatch,
    ToolCallView,
    ToolResultPatch,
    ToolResultView,
)
from bridle.core.messages import Message, Text, ToolCall
from bridle.core.permission import parse_rule
from bridle.core.ports import HookEvent, HookRound
from bridle.core.protocol import (
    Cancel,
    Event,
    HookCompleted,
    HookDenied,
    HookPublished,
    HookRewrote,
    HookStarted,
    ModelReplied,
    RunEnded,
    ToolFinished,
    ToolStarted,
)
from bridle.sessions.run.hook_patches import with_text
from tests.sessions.stage import USAGE, Play, SmallTool, Stage, call, says

POINTS: tuple[HookPoint, ...] = (
    "run_started",
    "pre_llm_request",
    "post_llm_response",
    "pre_tool_execution",
    "post_tool_execution",
    "turn_boundary",
    "run_completed",
    "run_failed",
)
Answer = Callable[[HookInvocation], Deny | Patch | None]


class Listener:
    """Hooks that answer with functions of the test, one a point."""

    def __init__(self, **answers: Answer) -> None:
        self.asked: list[HookInvocation] = []
        self.is_closed = False
        self.left: tuple[HookEvent, ...] = ()
        self._answers = answers
        self.points = self.judged = frozenset(answers)

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        self.asked.append(invocation)
        show(HookStarted("h", invocation.point))
        answer = self._answers[invocation.point](invocation)
        events: list[HookEvent] = [HookCompleted("h", invocation.point)]
        if isinstance(answer, Deny):
            answer = Deny(answer.message, answer.reason_code, "h", answer.payload)
            events.append(HookDenied("h", invocation.point, answer.reason_code, answer.message))
            return HookRound(HookOutcome(answer), tuple(events))
        if answer is not None:
            events.append(HookRewrote("h", invocation.point, answer))
            return HookRound(HookOutcome(patches=(answer,)), tuple(events))
        return HookRound(events=tuple(events))

    def for_child(self) -> "Listener":
        return self

    async def aclose(self) -> tuple[HookEvent, ...]:
        self.is_closed = True
        return self.left


def stage_with(listener: Listener, *replies: Any, **options: Any) -> Stage:
    play = Play(*replies) if replies else Play(says("", call("c1", "look")), says("done"))
    tools = options.pop("tools", [SmallTool("look", lambda on: f"saw {on}")])
    return Stage(play, tools=tools, open_hooks=lambda cwd, override: listener, **options)


def kinds(log: list[Event]) -> list[str]:
    return [f"{e.hook_id} {e.point}" if isinstance(e, HookCompleted) else type(e).__name__ for e in log]


async def test_every_point_is_asked_in_its_place():
    listener = Listener(**dict.fromkeys(POINTS, lambda told: None))
    async with stage_with(listener) as stage:
        await stage.run("hi")
        log = kinds(await stage.log())

    assert log == [
        "RunStarted",
        "MessageAdded",
        "h run_started",
        "TurnStarted",
        "h pre_llm_request",
        "h post_llm_response",
        "ModelReplied",
        "h pre_tool_execution",
        "ToolStarted",
        "h post_tool_execution",
        "ToolFinished",
        "TurnEnded",
        "h turn_boundary",
        "TurnStarted",
        "h pre_llm_request",
        "h post_llm_response",
        "ModelReplied",
        "TurnEnded",
        "h turn_boundary",
        "h run_completed",
        "Checkpoint",
        "RunEnded",
    ]
    assert listener.is_closed


async def test_a_hook_is_told_what_happens():
    listener = Listener(**dict.fromkeys(POINTS, lambda told: None))
    async with stage_with(listener) as stage:
        await stage.run("hi")

    told = {}
    for asked in listener.asked:
        told.setdefault(asked.point, asked)
    base = {"session_id": "play", "cwd": "/", "agent": "default"}
    assert told["run_started"] == HookInvocation("run_started", prompt="hi", **base)
    assert told["pre_llm_request"] == HookInvocation(
        "pre_llm_request", turn_number=1, llm_request=ModelRequestView(100, 1), **base
    )
    assert told["post_llm_response"] == HookInvocation(
        "post_llm_response",
        turn_number=1,
        llm_response=ModelReplyView("", ("look",), "tool_use", USAGE),
        **base,
    )
    assert told["pre_tool_execution"] == HookInvocation(
        "pre_tool_execution", turn_number=1, tool_call=ToolCallView("c1", "look", {"on": "a"}), **base
    )
    assert told["post_tool_execution"] == HookInvocation(
        "post_tool_execution",
        turn_number=1,
        tool_call=ToolCallView("c1", "look", {"on": "a"}),
        tool_result=ToolResultView("c1", "look", "saw a", is_error=False),
        **base,
    )
    assert told["turn_boundary"] == HookInvocation("turn_boundary", turn_number=1, **base)
    assert told["run_completed"] == HookInvocation("run_completed", turn_number=2, text="done", **base)


@pytest.mark.parametrize(
    "point", ["run_started", "pre_llm_request", "post_llm_response", "turn_boundary", "run_completed"]
)
async def test_a_refusal_ends_the_run_and_says_why(point: HookPoint):
    listener = Listener(**{point: lambda told: Deny("not today", "safety_violation")})
    async with stage_with(listener, says("done")) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    assert (ended.outcome, ended.reason) == ("denied", "hook h refused (safety_violation): not today")
    assert HookDenied("h", point, "safety_violation", "not today") in log
    assert isinstance(log[-1], RunEnded)
    assert "done" not in ended.text or point == "turn_boundary"


async def test_a_refused_request_is_not_sent_and_a_refused_run_makes_none():
    for point in ("run_started", "pre_llm_request"):
        play = Play(says("done"))
        listener = Listener(**{point: lambda told: Deny("no")})
        async with Stage(play, open_hooks=lambda cwd, override, heard=listener: heard) as stage:
            ended = await stage.run("hi")
        assert (play.requests, ended.turns, ended.outcome) == ([], 0, "denied")


async def test_a_refused_reply_is_paid_for_and_withheld():
    listener = Listener(post_llm_response=lambda told: Deny("secret"))
    async with stage_with(listener, says("the password is x", call("c1", "look"))) as stage:
        ended = await stage.run("hi")
        [replied] = [e for e in await stage.log() if isinstance(e, ModelReplied)]

    assert replied.message.text == "[withheld: hook h refused (policy_violation): secret]"
    assert (replied.message.calls, replied.usage, ended.usage) == ((), USAGE, USAGE)


async def test_a_refused_call_does_not_run_and_the_model_reads_why():
    tool = SmallTool("look", lambda on: "seen")
    listener = Listener(pre_tool_execution=lambda told: Deny("no", payload={"ask": "bob"}))
    async with stage_with(listener, tools=[tool]) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    [finished] = [e for e in log if isinstance(e, ToolFinished)]
    assert finished.result.output == (
        '{"error":"hook_denied","reason_code":"policy_violation","message":"no","hook_id":"h",'
        '"payload":{"ask":"bob"}}'
    )
    assert (finished.result.is_error, finished.denied, tool.calls, ended.outcome) == (
        True,
        True,
        [],
        "completed",
    )
    assert not any(isinstance(e, ToolStarted) for e in log)


async def test_a_refused_result_is_withheld_from_the_model():
    listener = Listener(post_tool_execution=lambda told: Deny("leaks"))
    async with stage_with(listener) as stage:
        await stage.run("hi")
        [finished] = [e for e in await stage.log() if isinstance(e, ToolFinished)]

    assert "saw a" not in finished.result.output
    assert finished.result.output.startswith('{"error":"hook_denied"')
    assert finished.result.is_error


async def test_other_arguments_are_judged_checked_and_used():
    tool = SmallTool("look", lambda on: f"saw {on}")
    listener = Listener(pre_tool_execution=lambda told: ToolArgsPatch({"on": "b"}))
    async with stage_with(listener, tools=[tool]) as stage:
        await stage.run("hi")
        log = await stage.log()

    assert tool.calls == ["b"]
    assert [e.args for e in log if isinstance(e, ToolStarted)] == [{"on": "b"}]


async def test_other_arguments_cannot_get_around_a_rule():
    tool = SmallTool("look", lambda on: f"saw {on}")
    listener = Listener(pre_tool_execution=lambda told: ToolArgsPatch({"on": "secret"}))
    rules = [parse_rule("deny", "look(secret)")]
    async with stage_with(listener, tools=[tool], rules=rules) as stage:
        await stage.run("hi")
        [finished] = [e for e in await stage.log() if isinstance(e, ToolFinished)]

    assert (tool.calls, finished.denied) == ([], True)


async def test_arguments_that_do_not_fit_are_an_error_of_the_call():
    tool = SmallTool("look", lambda on: f"saw {on}")
    listener = Listener(pre_tool_execution=lambda told: ToolArgsPatch({"what": 1}))
    async with stage_with(listener, tools=[tool]) as stage:
        await stage.run("hi")
        [finished] = [e for e in await stage.log() if isinstance(e, ToolFinished)]

    assert (tool.calls, finished.result.is_error) == ([], True)


async def test_a_rewritten_result_is_what_the_model_gets():
    listener = Listener(post_tool_execution=lambda told: ToolResultPatch("***", is_error=True))
    async with stage_with(listener) as stage:
        await stage.run("hi")
        [finished] = [e for e in await stage.log() if isinstance(e, ToolFinished)]

    assert (finished.result.output, finished.result.is_error) == ("***", True)


async def test_a_rewritten_reply_is_what_is_recorded():
    listener = Listener(post_llm_response=lambda told: AssistantTextPatch("better"))
    async with stage_with(listener, says("worse")) as stage:
        ended = await stage.run("hi")

    assert (ended.text, ended.outcome) == ("better", "completed")


async def test_a_rewritten_request_is_what_is_sent_and_never_more_than_was_paid_for():
    play = Play(says("done"))
    patch = ModelRequestPatch(max_tokens=7, temperature=0.5, provider_params={"top_k": 3})
    listener = Listener(pre_llm_request=lambda told: patch)
    async with Stage(play, open_hooks=lambda cwd, override: listener) as stage:
        await stage.run("hi")
        listener._answers["pre_llm_request"] = lambda told: ModelRequestPatch(max_tokens=10_000)
        play._replies.append([says("again")])
        await stage.run("more")

    assert [request.max_output_tokens for request in play.requests] == [7, 100]
    assert play.requests[0].params == {"temperature": 0.5, "top_k": 3}


async def test_a_rewritten_result_of_the_run_is_its_text():
    listener = Listener(run_completed=lambda told: RunResultPatch(f"<{told.text}>"))
    async with stage_with(listener, says("done")) as stage:
        ended = await stage.run("hi")

    assert (ended.text, ended.outcome) == ("<done>", "completed")


async def test_a_run_that_fails_is_told_to_run_failed_whose_refusal_changes_nothing():
    listener = Listener(run_failed=lambda told: Deny("never"), run_completed=lambda told: None)
    gate = SmallTool("look", lambda on: "x", access="write")
    async with stage_with(listener, says("", call("c1", "look")), tools=[gate]) as stage:
        run_id = await stage.prompt("hi", mode="ask")
        await stage.service.submit(stage.session, Cancel("enough"))
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.reason) == ("cancelled", "enough")
    assert [(told.point, told.error) for told in listener.asked] == [("run_failed", "enough")]


async def test_what_background_hooks_leave_is_recorded_before_the_end():
    listener = Listener(run_started=lambda told: None)
    listener.left = (HookPublished("late", "post_llm_response", AssistantTextPatch("x"), 1),)
    async with stage_with(listener, says("done")) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    assert [type(e).__name__ for e in log[-3:]] == ["HookPublished", "Checkpoint", "RunEnded"]
    assert ended.text == "done"


def parts(*items: str | ToolCall) -> Message:
    return Message("assistant", tuple(Text(item) if isinstance(item, str) else item for item in items))


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        (parts("a"), "b", parts("b")),
        (parts("a", call("c", "look"), "b"), "ax", parts("a", call("c", "look"), "x")),
        (parts("a", call("c", "look"), "b"), "x", parts("x", call("c", "look"))),
        (parts("a", call("c", "look"), "b"), "abc", parts("a", call("c", "look"), "b", "c")),
        (parts("a", call("c", "look"), "b"), "a", parts("a", call("c", "look"))),
        (parts(call("c", "look")), "x", parts(call("c", "look"), "x")),
    ],
)
def test_new_words_leave_what_they_share_in_its_place(before: Message, text: str, after: Message):
    assert with_text(before, text) == after
