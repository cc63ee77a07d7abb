"""Whole traces of scripted runs, as a collector gets them over the network from the real SDK."""

import asyncio
from typing import Any

import pytest
from msgspec import json

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, Usage
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import ApprovalRequested, Cancel, Resume, ToolStarted
from bridle.core.trace import find_parent_trace, make_span_id, parse_trace
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.sessions.troupe import Troupe
from tests.telemetry.collector import Collector, Seen, collecting
from tests.telemetry.followed import Followed, copied

INCOMING = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


class CodeTool(SmallTool):
    """Code that makes a call."""

    def __init__(self) -> None:
        super().__init__("code", str)

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert context.call is not None
        return ToolOutput((await context.call("look", {"on": "b"})).output)


def looks() -> SmallTool:
    return SmallTool("look", lambda on: f"saw {on}")


async def told(collector: Collector, play: Play, *tools: SmallTool, **options: Any) -> str:
    """Run a play to its end and export all of it; return the run's id."""
    plan = options.pop("plan", {})
    followed = Followed(collector, **plan)
    async with Stage(play, tools=tools, clock=followed.clock, **followed.parts) as stage:
        return (await stage.run("go", **options)).run_id


def one(collector: Collector, name: str) -> Seen:
    [span] = collector.named(name)
    return span


async def test_a_run_with_calls_and_a_call_that_code_makes():
    play = Play(
        says("hm", call("c1", "look"), call("c2", "code"), usage=Usage(10, 5, 7, 3, 2)),
        says("done"),
    )
    async with collecting() as collector:
        run_id = await told(collector, play, looks(), CodeTool())

    assert collector.tree() == [
        [
            "invoke_agent default",
            ["chat play"],
            ["execute_tool look"],
            ["execute_tool code", ["execute_tool look"]],
            ["chat play"],
        ]
    ]
    assert {span.trace_id for span in collector.spans} == {f"{find_parent_trace(run_id).trace_id:032x}"}
    run = one(collector, "invoke_agent default")
    assert (run.span_id, run.parent_id) == (f"{make_span_id(run_id):016x}", "")
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "play",
        "gen_ai.conversation.id": "play",
        "gen_ai.agent.name": "default",
        "bridle.run.id": run_id,
        "bridle.run.outcome": "completed",
        "bridle.run.turns": 2,
        "bridle.run.tool_calls": 3,
        "gen_ai.usage.input_tokens": 30,
        "gen_ai.usage.output_tokens": 10,
        "gen_ai.usage.cache_read.input_tokens": 7,
        "gen_ai.usage.cache_creation.input_tokens": 3,
        "gen_ai.usage.reasoning.output_tokens": 2,
    }
    chat = collector.named("chat play")[0]
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "scripted",
        "gen_ai.request.model": "play",
        "gen_ai.conversation.id": "play",
        "gen_ai.agent.name": "default",
        "gen_ai.request.stream": True,
        "bridle.turn": 1,
        "gen_ai.response.finish_reasons": ["tool_call"],
        "gen_ai.usage.input_tokens": 20,
        "gen_ai.usage.output_tokens": 5,
        "gen_ai.usage.cache_read.input_tokens": 7,
        "gen_ai.usage.cache_creation.input_tokens": 3,
        "gen_ai.usage.reasoning.output_tokens": 2,
    }
    code = one(collector, "execute_tool code")
    assert code.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "code",
        "gen_ai.tool.call.id": "c2",
        "gen_ai.tool.type": "function",
        "gen_ai.conversation.id": "play",
        "gen_ai.agent.name": "default",
    }
    assert [span.kind for span in (run, chat, code)] == [1, 3, 1]
    assert run.began_ms < chat.began_ms < chat.ended_ms <= code.began_ms < code.ended_ms < run.ended_ms
    assert collector.resources[0]["service.name"] == "bridle"


async def test_what_was_said_is_told_only_if_wanted_and_without_secrets():
    play = Play(says("it is hush", call("c1", "look", "hush")), says("x" * 9_000))
    wanted = {"content": True, "mask": lambda text: text.replace("hush", "***")}
    async with collecting() as collector:
        await told(collector, play, looks(), plan=wanted)

    run, chat = one(collector, "invoke_agent default"), collector.named("chat play")[0]
    tool = one(collector, "execute_tool look")
    assert json.decode(run.attributes["gen_ai.input.messages"]) == [
        {"role": "user", "parts": [{"type": "text", "content": "go"}]}
    ]
    [answer] = json.decode(run.attributes["gen_ai.output.messages"])
    assert len(answer["parts"][0]["content"]) == 8_193
    assert json.decode(chat.attributes["gen_ai.output.messages"]) == [
        {
            "role": "assistant",
            "parts": [
                {"type": "text", "content": "it is ***"},
                {"type": "tool_call", "id": "c1", "name": "look", "arguments": '{"on":"***"}'},
            ],
            "finish_reason": "tool_call",
        }
    ]
    assert tool.attributes["gen_ai.tool.call.arguments"] == '{"on":"***"}'
    assert tool.attributes["gen_ai.tool.call.result"] == "saw ***"


async def test_what_failed_says_so():
    def fail(on: str) -> Exception:
        return ValueError(on)

    late = ProviderError("away", kind="server_overloaded")
    play = Play([late, says("", call("c1", "broken"), call("c2", "nothing"))], says("done"))
    async with collecting() as collector:
        await told(collector, play, SmallTool("broken", fail))

    assert [(span.name, span.is_error, span.attributes.get("error.type")) for span in collector.spans] == [
        ("chat play", True, "server_overloaded"),
        ("chat play", False, None),
        ("execute_tool broken", True, "tool_error"),
        ("chat play", False, None),
        ("invoke_agent default", False, None),
    ]
    assert collector.spans[0].span_id != collector.spans[1].span_id


async def test_a_run_that_fails():
    gone = ProviderError("no", kind="authentication_failed")
    async with collecting() as collector:
        await told(collector, Play([gone]))

    assert [(span.name, span.is_error, span.attributes["error.type"]) for span in collector.spans] == [
        ("chat play", True, "authentication_failed"),
        ("invoke_agent default", True, "authentication_failed"),
    ]


async def test_a_run_that_is_cancelled_is_no_error():
    async with collecting() as collector:
        followed, play = Followed(collector), Play(says("half"), hold=True)
        async with Stage(play, clock=followed.clock, **followed.parts) as stage:
            run_id = await stage.prompt("go")
            await play.streaming.wait()
            await stage.service.submit(stage.session, Cancel())
            await stage.service.wait(stage.session, run_id)

    found = [
        (span.name, span.is_error, span.attributes["error.type"], span.attributes.get("bridle.run.outcome"))
        for span in collector.spans
    ]
    assert found == [
        ("chat play", False, "cancelled", None),
        ("invoke_agent default", False, "cancelled", "cancelled"),
    ]


async def test_a_sub_agents_run_is_below_the_call_that_asked_for_it():
    spawn = ToolCall(CallId("s"), "agent_spawn", {"prompt": "count"})
    async with collecting() as collector:
        followed = Followed(collector)
        parts = {"go": [says("", spawn), says("two")], "count": [says("1, 2")]}
        async with Troupe(parts, **followed.parts) as troupe:
            await troupe.run("go")

    assert collector.tree() == [
        [
            "invoke_agent default",
            ["chat play"],
            ["execute_tool agent_spawn", ["invoke_agent default", ["chat play"]]],
            ["chat play"],
        ]
    ]
    assert len({span.trace_id for span in collector.spans}) == 1
    assert len({span.attributes["gen_ai.conversation.id"] for span in collector.spans}) == 2


async def test_a_run_goes_on_in_the_trace_that_was_named_to_it():
    async with collecting() as collector:
        await told(collector, Play(says("done")), trace=INCOMING)

    run, chat = one(collector, "invoke_agent default"), one(collector, "chat play")
    assert (run.trace_id, run.parent_id) == (INCOMING[3:35], INCOMING[36:52])
    assert (chat.trace_id, chat.parent_id) == (run.trace_id, run.span_id)


async def test_a_trace_that_nobody_keeps_is_not_told():
    async with collecting() as collector:
        await told(collector, Play(says("done")), trace=INCOMING[:-1] + "0")

    assert collector.spans == []


async def test_only_a_share_of_the_traces_is_told_and_then_all_of_each(monkeypatch: pytest.MonkeyPatch):
    """The standard variables decide that, in every process alike."""
    monkeypatch.setenv("OTEL_TRACES_SAMPLER", "parentbased_traceidratio")
    monkeypatch.setenv("OTEL_TRACES_SAMPLER_ARG", "0.5")
    async with collecting() as collector:
        followed = Followed(collector)
        play = Play(*(says(str(turn)) for turn in range(12)))
        async with Stage(play, clock=followed.clock, **followed.parts) as stage:
            runs = [(await stage.run("go")).run_id for _ in range(12)]

    kept = {
        f"{find_parent_trace(run).trace_id:032x}"
        for run in runs
        if find_parent_trace(run).trace_id % 2**64 < 2**63
    }
    assert 0 < len(kept) < 12
    assert sorted(span.trace_id for span in collector.spans) == sorted([*kept, *kept])


async def test_a_run_of_a_process_that_died_goes_on_in_its_trace():
    """The first process exports finished spans, the second the others: together they form one tree."""
    never = asyncio.Event()

    async def hang(on: str) -> str:
        await never.wait()
        return on

    play = Play(says("", call("c1", "look")), says("", call("c2", "slow")), says("done"))
    async with collecting() as collector:
        first = Followed(collector)
        tools = [looks(), SmallTool("slow", hang)]
        async with Stage(play, tools=tools, clock=first.clock, **first.parts) as stage:
            run_id = await stage.prompt("go", trace=INCOMING)
            await stage.until(ToolStarted, 2)
            left = await copied(first.inner, stage.session)
            await first.telemetry.aclose()
            before = {span.span_id for span in collector.spans}
        second = Followed(collector, left)
        tools = [looks(), SmallTool("slow", lambda on: "quick")]
        async with Stage(play, tools=tools, clock=second.clock, **second.parts) as stage:
            assert await stage.submit_run(Resume()) == run_id
            await stage.service.wait(stage.session, run_id)

    assert collector.tree() == [
        [
            "invoke_agent default",
            ["chat play"],
            ["execute_tool look"],
            ["chat play"],
            ["execute_tool slow"],
            ["chat play"],
        ]
    ]
    assert len(before) == 3
    assert len({span.span_id for span in collector.spans}) == 6
    run = one(collector, "invoke_agent default")
    assert (run.trace_id, run.span_id, run.attributes["gen_ai.agent.name"]) == (
        INCOMING[3:35],
        f"{make_span_id(run_id):016x}",
        "default",
    )


async def test_a_wait_for_a_person_is_seen_also_if_another_process_gets_the_answer():
    changes = SmallTool("change", lambda on: "changed", access="write")
    play = Play(says("", call("c1", "change")), says("done"))
    async with collecting() as collector:
        first = Followed(collector)
        async with Stage(play, tools=[changes], clock=first.clock, **first.parts) as stage:
            run_id = await stage.prompt("go")
            await stage.until(ApprovalRequested)
            left = await copied(first.inner, stage.session)
            await first.telemetry.aclose()
        second = Followed(collector, left)
        async with Stage(play, tools=[changes], clock=second.clock, **second.parts) as stage:
            await stage.submit_run(Resume())
            await stage.decide("c1", "once")
            await stage.service.wait(stage.session, run_id)

    wait = one(collector, "wait_for_answer change")
    assert wait.attributes == {
        "gen_ai.tool.name": "change",
        "gen_ai.tool.call.id": "c1",
        "bridle.answer": "once",
    }
    assert wait.ended_ms <= one(collector, "execute_tool change").began_ms


async def test_programs_are_told_where_they_are():
    seen: list[str] = []

    class Program(SmallTool):
        async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
            seen.append(context.env["TRACEPARENT"])
            return ToolOutput("ok")

    async with collecting() as collector:
        await told(collector, Play(says("", call("c1", "bash")), says("ok")), Program("bash", str))
        off = Followed(collector, traces=False)

    span = one(collector, "execute_tool bash")
    place = parse_trace(seen[0])
    assert place is not None
    assert (f"{place.trace_id:032x}", f"{place.span_id:016x}") == (span.trace_id, span.span_id)
    assert off.telemetry.environment(SessionId("play"), CallId("c1")) == {}
    await off.telemetry.aclose()
