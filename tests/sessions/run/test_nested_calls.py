"""Calls made by the code of a running call: judged, approved and recorded like the model's own."""

import asyncio
from collections.abc import Awaitable, Callable

from bridle.core.budget import Limits
from bridle.core.ids import CallId, RunId
from bridle.core.messages import ToolResult, user_message
from bridle.core.permission import parse_rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    KernelSaved,
    MessageAdded,
    ModelReplied,
    Resume,
    Rewind,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionCreated,
    Steer,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from bridle.core.queries import Records
from bridle.core.session import fold
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import fork_session
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says

Code = Callable[[ToolContext], Awaitable[str | ToolOutput]]


class CodeTool(SmallTool):
    """Runs a function of the test that may make calls."""

    def __init__(self, code: Code) -> None:
        super().__init__("code", lambda on: "", access="execute")
        self._code = code

    async def run(self, args, context):
        result = await self._code(context)
        return result if isinstance(result, ToolOutput) else ToolOutput(result)


def look() -> SmallTool:
    return SmallTool("look", lambda on: f"saw {on}")


def change() -> SmallTool:
    return SmallTool("change", lambda on: f"changed {on}", access="write")


ALLOW_CODE = parse_rule("allow", "code")


def tell_calls(log) -> list[tuple]:
    """Return what happened to calls, shortly."""
    told: list[tuple] = []
    for event in log:
        match event:
            case ApprovalRequested():
                told.append(("asked", event.call_id, event.parent))
            case ToolStarted():
                told.append(("started", event.call_id, event.parent))
            case ToolFinished():
                told.append(("finished", event.result.call_id, event.parent, event.result.output))
    return told


async def test_a_call_of_code_is_recorded_with_its_parent_and_is_no_message():
    async def code(context):
        first = await context.call("look", {"on": "a"})
        second = await context.call("look", {"on": "b"})
        return f"{first.output}, {second.output}"

    async with Stage(
        Play(says("", call("c", "code")), says("done")), tools=[CodeTool(code), look()], rules=[ALLOW_CODE]
    ) as stage:
        ended = await stage.run("hi")
        log = await stage.log()
        session = fold(await stage.service.ask(Records(stage.session)))

    assert ended == RunEnded(ended.run_id, "completed", "done", turns=2, tool_calls=3, usage=ended.usage)
    assert tell_calls(log) == [
        ("started", "c", None),
        ("started", "c.1", "c"),
        ("finished", "c.1", "c", "saw a"),
        ("started", "c.2", "c"),
        ("finished", "c.2", "c", "saw b"),
        ("finished", "c", None, "saw a, saw b"),
    ]
    assert [item.message.role for item in session.messages] == ["user", "assistant", "tool", "assistant"]
    assert session.messages[2].message.parts == (ToolResult(CallId("c"), "code", "saw a, saw b"),)


async def test_three_calls_at_once_are_asked_about_and_run_in_order():
    async def code(context):
        results = await asyncio.gather(*(context.call("change", {"on": on}) for on in ("x", "y", "z")))
        return ", ".join(result.output for result in results)

    async with Stage(
        Play(says("", call("c", "code")), says("done")), tools=[CodeTool(code), change()], rules=[ALLOW_CODE]
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested, 3)
        await stage.decide("c.2", "deny", "not y")
        await stage.decide("c.3", "once")
        await stage.decide("c.1", "once")
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert tell_calls(log) == [
        ("started", "c", None),
        ("asked", "c.1", "c"),
        ("asked", "c.2", "c"),
        ("asked", "c.3", "c"),
        ("finished", "c.2", "c", "denied: not y"),
        ("started", "c.1", "c"),
        ("finished", "c.1", "c", "changed x"),
        ("started", "c.3", "c"),
        ("finished", "c.3", "c", "changed z"),
        ("finished", "c", None, "changed x, denied: not y, changed z"),
    ]


async def test_a_rule_granted_for_one_call_of_code_answers_the_others():
    async def code(context):
        results = await asyncio.gather(*(context.call("change", {"on": f"src/{i}"}) for i in range(3)))
        return ", ".join(result.output for result in results)

    async with Stage(
        Play(says("", call("c", "code")), says("done")), tools=[CodeTool(code), change()], rules=[ALLOW_CODE]
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested, 3)
        await stage.decide("c.1", "session")
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert [event for event in log if isinstance(event, ApprovalDecided)] == [
        ApprovalDecided(CallId("c.1"), "session", rules=("change(src/**)",)),
        ApprovalDecided(CallId("c.2"), "once", "rule change(src/**)"),
        ApprovalDecided(CallId("c.3"), "once", "rule change(src/**)"),
    ]
    assert tell_calls(log)[-1] == ("finished", "c", None, "changed src/0, changed src/1, changed src/2")


async def test_wrong_and_denied_calls_of_code_are_results_for_it():
    async def code(context):
        results = [
            await context.call("nothing", {}),
            await context.call("look", {}),
            await context.call("change", {"on": "secret"}),
            await context.call("code", {"on": "again"}),
        ]
        return "\n".join(result.output for result in results)

    rules = [ALLOW_CODE, parse_rule("deny", "change")]
    async with Stage(
        Play(says("", call("c", "code")), says("done")), tools=[CodeTool(code), look(), change()], rules=rules
    ) as stage:
        await stage.run("hi")
        log = await stage.log()

    assert tell_calls(log)[-1][-1].split("\n") == [
        "no tool is named 'nothing' (hint: available tools: change, code, look)",
        'look: "on" is missing, it must be a string',
        "denied by rule deny change",
        "code failed: TypeError: 'NoneType' object is not callable",
    ]


async def test_calls_of_code_count_for_the_budget():
    async def code(context):
        results = [await context.call("look", {"on": str(i)}) for i in range(3)]
        return ", ".join(result.output for result in results)

    async with Stage(
        Play(says("", call("c", "code")), says("done")), tools=[CodeTool(code), look()], rules=[ALLOW_CODE]
    ) as stage:
        await stage.run("hi", limits=Limits(tool_calls=3))
        log = await stage.log()

    assert tell_calls(log)[-1][-1] == "saw 0, saw 1, not run: the limit of 3 tool calls is reached"


async def test_code_that_ends_without_waiting_stops_its_calls():
    going = asyncio.Event()

    async def never(on):
        going.set()
        await asyncio.Event().wait()

    async def code(context):
        task = asyncio.create_task(context.call("forever", {"on": "a"}))
        await going.wait()
        task.cancel()
        await asyncio.wait([task])
        return "over"

    async with Stage(
        Play(says("", call("c", "code")), says("done")),
        tools=[CodeTool(code), SmallTool("forever", never)],
        rules=[ALLOW_CODE],
    ) as stage:
        await stage.run("hi")
        log = await stage.log()

    assert tell_calls(log) == [
        ("started", "c", None),
        ("started", "c.1", "c"),
        ("finished", "c.1", "c", "not finished: the code that called it no longer waits"),
        ("finished", "c", None, "over"),
    ]


async def test_a_question_of_code_that_has_ended_is_withdrawn():
    async def code(context):
        task = asyncio.create_task(context.call("change", {"on": "a"}))
        await asked.wait()
        task.cancel()
        await asyncio.wait([task])
        return "over"

    asked = asyncio.Event()
    async with Stage(
        Play(says("", call("c", "code")), says("done")), tools=[CodeTool(code), change()], rules=[ALLOW_CODE]
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        asked.set()
        await stage.until(ToolFinished)
        await stage.decide("c.1", "once")
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert tell_calls(log) == [
        ("started", "c", None),
        ("asked", "c.1", "c"),
        ("finished", "c.1", "c", "not finished: the code that called it no longer waits"),
        ("finished", "c", None, "over"),
    ]


async def test_what_code_has_ended_before_it_could_be_shown_is_not_asked_about():
    class Shy(SmallTool):
        """Is shown only after the code has given up on it."""

        async def preview(self, args, context):
            shown.set()
            await over.wait()
            return ""

    async def code(context):
        task = asyncio.create_task(context.call("change", {"on": "a"}))
        await shown.wait()
        task.cancel()
        await asyncio.wait([task])
        over.set()
        return (await context.call("tell", {"on": "b"})).output

    shown, over = asyncio.Event(), asyncio.Event()
    async with Stage(
        Play(says("", call("c", "code")), says("done")),
        tools=[CodeTool(code), Shy("change", str, access="write"), SmallTool("tell", str, access="write")],
        rules=[ALLOW_CODE],
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("c.2", "once")
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert tell_calls(log) == [
        ("started", "c", None),
        ("finished", "c.1", "c", "not finished: the code that called it no longer waits"),
        ("asked", "c.2", "c"),
        ("started", "c.2", "c"),
        ("finished", "c.2", "c", "b"),
        ("finished", "c", None, "b"),
    ]


async def test_questions_come_in_the_order_of_the_calls_however_long_it_takes_to_show_them():
    class Slow(SmallTool):
        """Is shown later than those after it."""

        async def preview(self, args, context):
            for _ in range(50):
                await asyncio.sleep(0)
            return ""

    async def code(context):
        await asyncio.gather(context.call("slow", {"on": "a"}), context.call("change", {"on": "b"}))
        return "over"

    async with Stage(
        Play(says("", call("c", "code")), says("done")),
        tools=[CodeTool(code), Slow("slow", str, access="write"), change()],
        rules=[ALLOW_CODE],
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested, 2)
        await stage.decide("c.1", "deny")
        await stage.decide("c.2", "deny")
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert [told[:2] for told in tell_calls(log) if told[0] == "asked"] == [
        ("asked", "c.1"),
        ("asked", "c.2"),
    ]


async def test_cancelling_the_run_ends_code_and_its_calls():
    async def code(context):
        return (await context.call("change", {"on": "a"})).output

    async with Stage(
        Play(says("", call("c", "code"))), tools=[CodeTool(code), change()], rules=[ALLOW_CODE]
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert ended.outcome == "cancelled"
    assert tell_calls(log) == [
        ("started", "c", None),
        ("asked", "c.1", "c"),
        ("finished", "c", None, "not finished: the run ended (cancelled)"),
    ]


async def test_the_time_of_a_call_and_of_its_approval_is_not_the_codes():
    async def code(context):
        return (await context.call("change", {"on": "a"})).output

    async with Stage(
        Play(says("", call("c", "code")), says("done")),
        tools=[CodeTool(code), change()],
        rules=[ALLOW_CODE],
        tool_timeout_s=1.0,
    ) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await asyncio.sleep(1.2)  # longer than the limit of the tool
        await stage.decide("c.1", "once")
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert tell_calls(log)[-1] == ("finished", "c", None, "changed a")


async def test_an_answer_of_code_ends_the_run():
    async def code(context):
        return ToolOutput("printed", answer="It is 42.")

    async with Stage(Play(says("", call("c", "code"))), tools=[CodeTool(code)], rules=[ALLOW_CODE]) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    assert (ended.outcome, ended.text, ended.turns) == ("completed", "It is 42.", 1)
    [finished] = [event for event in log if isinstance(event, ToolFinished)]
    assert finished.answer == "It is 42."


async def test_steering_goes_before_an_answer_of_code():
    async def code(context):
        reached.set()
        await go.wait()
        return ToolOutput("printed", answer="It is 42.")

    reached, go = asyncio.Event(), asyncio.Event()
    play = Play(says("", call("c", "code")), says("no, 43"))
    async with Stage(play, tools=[CodeTool(code)], rules=[ALLOW_CODE]) as stage:
        run_id = await stage.prompt("hi")
        await reached.wait()
        await stage.service.submit(stage.session, Steer(user_message("sure?")))
        go.set()
        ended = await stage.service.wait(stage.session, run_id)

    assert (ended.outcome, ended.text, ended.turns) == ("completed", "no, 43", 2)


async def test_after_a_crash_the_calls_of_lost_code_are_closed_with_it():
    clock = FixedClock()
    store = EphemeralStore(clock)
    session = Stage(Play(), store=store, clock=clock).session
    reply = says("", call("c", "code"))
    async with Stage(Play(reply), tools=[look()], store=store, clock=clock) as stage:
        records = await stage.service.ask(Records(session))
        run = RunId("run")
        await store.append(
            session,
            records[-1].seq,
            [
                RunStarted(run, "scripted/play"),
                MessageAdded(user_message("hi")),
                TurnStarted(run, 1),
                ModelReplied(run, 1, reply.message, "tool_use", reply.usage),
                ToolStarted(CallId("c"), "code", {"on": "a"}),
                ToolStarted(CallId("c.1"), "look", {"on": "a"}, repeatable=True, parent=CallId("c")),
            ],
        )

    async with Stage(
        Play(reply, says("checked")), tools=[CodeTool(_unused), look()], store=store, clock=clock
    ) as stage:
        ended = await stage.service.wait(session, await stage.submit_run(Resume()))
        log = await stage.log()

    assert ended.text == "checked"
    assert [event.interrupted for event in log if isinstance(event, RunResumed)] == [("c", "c.1")]
    lost = [(what, call_id, parent) for what, call_id, parent, _ in tell_calls(log)[2:]]
    assert lost == [("finished", "c", None), ("finished", "c.1", "c")]


async def _unused(context):
    raise AssertionError("lost code must not run again")


async def test_what_the_kernel_held_goes_back_with_the_conversation():
    saved = iter(("one", "two"))
    seen: list[str] = []

    async def code(context):
        seen.append(context.snapshot)
        return ToolOutput("ok", notes=(KernelSaved(next(saved)),))

    play = Play(says("", call("c", "code")), says("first"), says("", call("d", "code")), says("second"))
    async with Stage(play, tools=[CodeTool(code)], rules=[ALLOW_CODE]) as stage:
        await stage.run("hi")
        after_first = (await stage.service.ask(Records(stage.session)))[-1].seq
        await stage.run("again")
        assert fold(await stage.service.ask(Records(stage.session))).known.snapshot == "two"
        await stage.service.submit(stage.session, Rewind(after_first))
        assert fold(await stage.service.ask(Records(stage.session))).known.snapshot == "one"
        await stage.service.submit(stage.session, Rewind(1))
        assert fold(await stage.service.ask(Records(stage.session))).known.snapshot == ""
        child = await fork_session(stage.service, stage.session, after_first)
        records = await stage.service.ask(Records(child))

    assert seen == ["", "one"]
    assert isinstance(records[0].event, SessionCreated)
    assert records[-1].event == KernelSaved("one")
