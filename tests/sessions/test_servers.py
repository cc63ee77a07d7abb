"""What MCP servers give a run: tools found by search, prompts, model requests, notices."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest
from msgspec.json import encode

from bridle.core.budget import Limits
from bridle.core.errors import SessionNotRunning, ToolError, UsageError
from bridle.core.hook import Deny, ToolArgsPatch
from bridle.core.ids import CallId, SessionId
from bridle.core.mcp_servers import ToolOffer
from bridle.core.messages import Media, Message, Text, ToolCall, Usage, user_message
from bridle.core.permission import Rule, parse_rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import (
    ApprovalRequested,
    Cancel,
    Delta,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    Notice,
    Record,
    RunEnded,
    ToolFinished,
    ToolStarted,
)
from bridle.core.queries import PreviewContext, ServerPrompts, Servers
from bridle.core.sampling_request import SampleRequest
from bridle.core.server_views import PromptView, ServerView
from bridle.core.tool import Access, Subject, ToolSpec
from tests.patience import PATIENCE_S
from tests.sessions.stage import USAGE, Play, SmallTool, Stage, call, says
from tests.sessions.test_hooks import Listener
from tests.sessions.troupe import Troupe, spawn

PNG = "iVBORw0KGgo="
ALLOWED = (parse_rule("allow", "mcp__*"),)


class Lenders:
    """Servers with the tools of the test."""

    def __init__(self, *tools: Any, notes: tuple[str, ...] = (), instructions: str = "") -> None:
        self.offered = ToolOffer(tuple(tools), notes, instructions)
        self.ended: list[SessionId] = []
        self.is_closed = False

    async def offer(self, session: SessionId, cwd: str) -> ToolOffer:
        return self.offered

    async def expand(self, session: SessionId, cwd: str, text: str) -> tuple[Text | Media, ...] | None:
        if text == "/mcp__desk__none":
            raise UsageError("no prompt is named none")
        return (Text("Said by the desk."), Media("image/png", PNG)) if text == "/mcp__desk__say" else None

    async def views(self, cwd: str) -> tuple[ServerView, ...]:
        return (ServerView("mcp", "desk", "ready", tools=1),)

    async def prompts(self, cwd: str) -> tuple[PromptView, ...]:
        return (PromptView("mcp__desk__say"),)

    async def end_session(self, session: SessionId) -> None:
        self.ended.append(session)

    async def aclose(self) -> None:
        self.is_closed = True


def lent(name: str, answer: str = "lent") -> SmallTool:
    return SmallTool(f"mcp__desk__{name}", lambda on: f"{answer} {on}", access="execute")


def through(call_id: str, name: str, **arguments: Any) -> ToolCall:
    return ToolCall(CallId(call_id), "tool_call", {"name": name, "arguments": arguments})


def stage(play: Play, lenders: Lenders, rules: tuple[Rule, ...] = ALLOWED, **options: Any) -> Stage:
    return Stage(play, servers=lenders, rules=rules, **options)


# ---------------------------------------------------------------------------- tools


async def test_few_tools_are_offered_as_they_are():
    play = Play(says("", call("c1", "mcp__desk__ring", "bell")), says("done"))
    async with stage(play, Lenders(lent("ring"), instructions="Ring softly.")) as it:
        ended = await it.run("ring")

        assert ended.outcome == "completed"
        assert [spec.name for spec in play.requests[0].tools] == ["mcp__desk__ring"]
        assert play.requests[0].system.endswith("\n\nRing softly.")
        [finished] = [event for event in await it.log() if isinstance(event, ToolFinished)]
        assert finished.result.output == "lent bell"


async def test_many_tools_are_found_by_search_and_every_request_begins_alike():
    tools = [lent(f"tool_{n}") for n in range(3_000)]
    play = Play(
        says("", ToolCall(CallId("c1"), "tool_search", {"query": "mcp__desk__tool_77"})),
        says("", through("c2", "mcp__desk__tool_77", on="bell")),
        says("done"),
    )
    async with stage(play, Lenders(*tools), window_tokens=200_000) as it:
        ended = await it.run("ring")
        log = await it.log()

    assert ended.outcome == "completed"
    assert len(encode(play.requests[0].tools)) < 2_000
    assert {encode((one.system, one.tools)) for one in play.requests} == {
        encode((play.requests[0].system, play.requests[0].tools))
    }
    started = [event for event in log if isinstance(event, ToolStarted)]
    assert [(event.tool, event.args) for event in started] == [
        ("tool_search", {"query": "mcp__desk__tool_77"}),
        ("mcp__desk__tool_77", {"on": "bell"}),
    ]
    replied = [event for event in log if isinstance(event, ModelReplied)]
    assert replied[1].message.calls[0].name == "mcp__desk__tool_77"
    # The model hears its own words again.
    sent = play.requests[2].messages
    assert sent[3].calls == (through("c2", "mcp__desk__tool_77", on="bell"),)
    assert [part.name for part in sent[4].parts] == ["tool_call"]  # type: ignore[union-attr]
    assert tools[77].calls == ["bell"]


async def test_rules_and_hooks_know_a_found_tool_by_its_own_name():
    tools = [lent(f"tool_{n}") for n in range(300)]
    seen: list[str] = []

    def refuse(invocation: Any) -> Deny:
        seen.append(invocation.tool_call.name)
        return Deny("not this one")

    play = Play(says("", through("c1", "mcp__desk__tool_7", on="a")), says("done"))
    listener = Listener(pre_tool_execution=refuse)
    async with stage(play, Lenders(*tools), open_hooks=lambda cwd, override: listener) as it:
        await it.run("ring")
    assert seen == ["mcp__desk__tool_7"]
    assert tools[7].calls == []

    rules = (*ALLOWED, parse_rule("deny", "mcp__desk__tool_7"))
    play = Play(says("", through("c1", "mcp__desk__tool_7", on="a")), says("done"))
    async with stage(play, Lenders(*tools), rules) as it:
        await it.run("ring")
        [finished] = [event for event in await it.log() if isinstance(event, ToolFinished)]
    assert finished.denied
    assert finished.result.output == "denied by rule deny mcp__desk__tool_7"


async def test_a_found_tool_is_asked_about_by_its_own_name():
    tools = [lent(f"tool_{n}") for n in range(300)]
    play = Play(says("", through("c1", "mcp__desk__tool_7", on="a")), says("done"))
    async with stage(play, Lenders(*tools), ()) as it:
        run = await it.prompt("ring")
        asked = await it.until(ApprovalRequested)
        await it.decide("c1", "once")
        ended = await it.service.wait(it.session, run)
    assert (asked.tool, asked.args) == ("mcp__desk__tool_7", {"on": "a"})
    assert ended.outcome == "completed"
    assert tools[7].calls == ["a"]


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"name": "mcp__desk__nothing", "arguments": {}}, "no tool is named 'mcp__desk__nothing'"),
        (
            {"name": "tool_search", "arguments": {"query": "x"}},
            "tool_search cannot be called through tool_call",
        ),
        ({"arguments": {}}, "name"),
    ],
)
async def test_a_call_that_names_nothing_is_told_so(arguments: dict[str, Any], why: str):
    tools = [lent(f"tool_{n}") for n in range(300)]
    play = Play(says("", ToolCall(CallId("c1"), "tool_call", arguments)), says("done"))
    async with stage(play, Lenders(*tools)) as it:
        await it.run("ring")
        [finished] = [event for event in await it.log() if isinstance(event, ToolFinished)]
    assert finished.result.is_error
    assert why in finished.result.output


async def test_a_run_may_name_lent_tools_by_a_pattern():
    lenders = Lenders(lent("ring"), lent("knock"), SmallTool("mcp__door__open", str))
    play = Play(says("done"), says("done"), says("done"))
    async with stage(play, lenders) as it:
        await it.run("ring", tools=("mcp__desk__*",))
        await it.run("ring", without_tools=("mcp__desk__k*",))
    assert [[spec.name for spec in one.tools] for one in play.requests] == [
        ["mcp__desk__knock", "mcp__desk__ring"],
        ["mcp__desk__ring", "mcp__door__open"],
    ]


async def test_what_people_should_hear_is_shown():
    async with stage(Play(says("done")), Lenders(notes=("desk is late",))) as it:
        watching = it.service.watch(it.session)
        await anext(watching)
        await it.prompt("hello")
        heard = [item async for item in until_the_end(watching) if isinstance(item, Notice)]
    assert heard == [Notice("desk is late")]


async def test_a_look_at_the_context_takes_no_note_away():
    async with stage(Play(says("done")), Lenders(notes=("desk is late",))) as it:
        watching = it.service.watch(it.session)
        await anext(watching)
        await it.service.ask(PreviewContext(it.session))
        async with aclosing(watching), asyncio.timeout(PATIENCE_S):
            assert await anext(watching) == Notice("desk is late")


async def test_what_a_look_at_an_earlier_context_has_started_ends_with_the_session():
    lenders = Lenders(lent("ring"))
    async with stage(Play(says("done")), lenders) as it:
        await it.service.ask(PreviewContext(it.session, at=1))
        await it.service.drop_idle(0.0, 0)
    assert lenders.ended == ["play"]


async def until_the_end(
    watching: AsyncGenerator[Record | Delta, None],
) -> AsyncGenerator[Record | Delta, None]:
    async with aclosing(watching):
        async for item in watching:
            yield item
            if isinstance(item, Record) and isinstance(item.event, RunEnded):
                return


async def test_a_run_that_waits_for_servers_can_be_called_off():
    lenders = Lenders(lent("ring"))
    waits, go = asyncio.Event(), asyncio.Event()
    offered = lenders.offer

    async def slowly(session: SessionId, cwd: str) -> ToolOffer:
        waits.set()
        await go.wait()
        return await offered(session, cwd)

    lenders.offer = slowly  # type: ignore[method-assign]
    async with stage(Play(says("done")), lenders) as it:
        begun = asyncio.create_task(it.prompt("hello"))
        await waits.wait()
        await it.service.submit(it.session, Cancel())
        with pytest.raises(SessionNotRunning, match="cancelled before the run began"):
            await begun
        assert await it.log() == []
        go.set()
        assert (await it.run("hello")).outcome == "completed"


async def test_servers_end_with_sessions_and_with_the_engine():
    lenders = Lenders(lent("ring"))
    async with stage(Play(says("done")), lenders) as it:
        await it.run("hello")
        assert await it.service.ask(Servers("/")) == [ServerView("mcp", "desk", "ready", tools=1)]
        assert await it.service.ask(ServerPrompts("/")) == (PromptView("mcp__desk__say"),)
    assert lenders.ended == ["play"]
    assert lenders.is_closed


# ---------------------------------------------------------------------------- prompts


async def test_a_prompt_of_a_server_is_recorded_as_what_it_says():
    async with stage(Play(says("done")), Lenders(), facts={"images": True}) as it:
        await it.run("/mcp__desk__say")
        [added] = [event for event in await it.log() if isinstance(event, MessageAdded)]
        assert added.message == Message("user", (Text("Said by the desk."), Media("image/png", PNG)))


async def test_a_prompt_of_a_server_shows_no_secrets():
    async with stage(
        Play(says("done")), Lenders(), mask=lambda text: text.replace("desk", "***"), facts={"images": True}
    ) as it:
        await it.run("/mcp__desk__say")
        [added] = [event for event in await it.log() if isinstance(event, MessageAdded)]
        assert added.message.text == "Said by the ***."


async def test_a_model_does_not_call_a_prompt_of_a_server_by_way_of_a_sub_agent():
    task = "/mcp__desk__say"
    parts = {"go": [says("", spawn("s", task)), says("done")], task: [says("what?")]}
    async with Troupe(parts, servers=Lenders()) as troupe:
        ended = await troupe.run("go")

    assert ended.outcome == "completed"
    assert [request.messages[-1].text for request in troupe.model.requests[task]] == [task]


async def test_a_prompt_that_no_server_has_begins_nothing():
    async with stage(Play(says("done")), Lenders()) as it:
        with pytest.raises(UsageError, match="no prompt is named none"):
            await it.prompt("/mcp__desk__none")
        assert await it.log() == []
        assert (await it.run("/mcp__other")).outcome == "completed"


# ---------------------------------------------------------------------------- questions to the model


class Asking(SmallTool):
    """A tool whose server asks the model."""

    def __init__(self, **order: Any) -> None:
        super().__init__("mcp__desk__think", str, access="execute")
        self._order = order

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        assert context.sample is not None
        said = await context.sample(SampleRequest("desk", (user_message("What is up?"),), **self._order))
        return ToolOutput(f"{said.model} said {said.text} ({said.stop_reason})")


def asked() -> Play:
    """Answer the server's question like the first prompt: it has no assistant messages either."""
    return Play([says("", call("c1", "mcp__desk__think")), says("the sky")], says("done"))


async def test_a_server_may_ask_the_model_and_that_is_paid_for():
    play = asked()
    async with stage(play, Lenders(Asking(system="Be brief.", max_tokens=50, temperature=0.5))) as it:
        ended = await it.run("think")
        log = await it.log()
    [finished] = [event for event in log if isinstance(event, ToolFinished)]
    assert finished.result.output == "play said the sky (end_turn)"
    [sampled] = [event for event in log if isinstance(event, ModelSampled)]
    assert sampled == ModelSampled(ended.run_id, 1, CallId("c1"), "desk", USAGE, None)
    request = play.requests[1]
    assert (request.system, request.tools, request.max_output_tokens) == ("Be brief.", (), 50)
    assert request.params == {"temperature": 0.5}
    assert ended.usage == Usage(input=30, output=15)


async def test_a_tool_may_ask_the_small_model():
    small = Play(says("the sea"))
    play = Play(says("", call("c1", "mcp__desk__think")), says("done"))
    desk = Lenders(Asking(small=True))
    async with stage(play, desk, understudy=small, titles_by="scripted/understudy") as it:
        await it.run("think")
        log = await it.log()

    [finished] = [event for event in log if isinstance(event, ToolFinished)]
    assert finished.result.output == "understudy said the sea (end_turn)"
    [sampled] = [event for event in log if isinstance(event, ModelSampled)]
    assert (sampled.by, sampled.model) == ("desk", "scripted/understudy")
    assert "What is up?" in [request.messages[0].text for request in small.requests]


async def test_without_a_small_model_the_run_s_own_is_asked():
    async with stage(asked(), Lenders(Asking(small=True))) as it:
        await it.run("think")
        [sampled] = [event for event in await it.log() if isinstance(event, ModelSampled)]
    assert sampled.model == ""


async def test_a_question_of_a_server_keeps_to_the_limits_of_the_run():
    async with stage(asked(), Lenders(Asking(max_tokens=100))) as it:
        ended = await it.run("think", limits=Limits(tokens=110))
        [finished] = [event for event in await it.log() if isinstance(event, ToolFinished)]
    assert finished.result.is_error
    assert "more than is left of the tokens limit" in finished.result.output
    assert ended.outcome in ("completed", "budget_exhausted")


async def test_a_question_that_is_too_long_is_refused():
    long = Asking(system="x" * 200_000)
    async with stage(asked(), Lenders(long)) as it:
        await it.run("think")
        [finished] = [event for event in await it.log() if isinstance(event, ToolFinished)]
    assert "does not fit into the window" in finished.result.output


async def test_hooks_judge_the_questions_of_servers():
    turns: list[int] = []

    def second(invocation: Any) -> Deny | None:
        turns.append(1)
        return Deny("no more") if len(turns) == 2 else None

    listener = Listener(pre_llm_request=second)
    async with stage(asked(), Lenders(Asking()), open_hooks=lambda cwd, override: listener) as it:
        await it.run("think")
        log = await it.log()
    [finished] = [event for event in log if isinstance(event, ToolFinished)]
    assert finished.result.output == "hook h refused (policy_violation): no more"
    assert not [event for event in log if isinstance(event, ModelSampled)]


# ---------------------------------------------------------------------------- calls that must be foreseen


class Renaming:
    """A tool that must look around before it knows what it would change."""

    parallel = False
    spec = ToolSpec("rename", "Renames.", {"type": "object", "properties": {"on": {"type": "string"}}})

    def __init__(self) -> None:
        self.known: dict[CallId, str] = {}
        self.ran: list[str] = []

    async def foresee(self, args: dict[str, Any], context: ToolContext) -> None:
        if args["on"] == "nothing":
            raise ToolError("there is nothing of that name")
        self.known[context.call_id] = args["on"]

    def access(self, args: dict[str, Any], context: ToolContext) -> Access:
        return Access("rename", "write", (Subject("path", f"src/{self.known[context.call_id]}.py"),))

    async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
        return f"would rename {self.known[context.call_id]}"

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        self.ran.append(self.known[context.call_id])
        return ToolOutput("renamed")


async def test_rules_speak_of_what_was_foreseen():
    tool, rules = (
        Renaming(),
        (parse_rule("allow", "rename(src/a.py)"), parse_rule("deny", "edit_file(src/b.py)")),
    )
    play = Play(
        says("", call("c1", "rename", "a"), call("c2", "rename", "b"), call("c3", "rename", "nothing")),
        says("done"),
    )
    async with Stage(play, tools=[tool], rules=rules) as it:
        ended = await it.run("go")
        results = [event.result.output for event in await it.log() if isinstance(event, ToolFinished)]
    assert ended.outcome == "completed"
    assert tool.ran == ["a"]
    assert sorted(results) == [
        "denied by rule deny edit_file(src/b.py)",
        "renamed",
        "there is nothing of that name",
    ]


async def test_what_was_foreseen_is_shown_when_it_is_asked_about():
    tool = Renaming()
    play = Play(says("", call("c1", "rename", "a")), says("done"))
    async with Stage(play, tools=[tool]) as it:
        run = await it.prompt("go")
        asked = await it.until(ApprovalRequested)
        await it.decide("c1", "session")
        ended: RunEnded = await it.service.wait(it.session, run)
    assert asked.preview == "would rename a"
    assert asked.suggestions == ("rename(src/**)",)
    assert ended.outcome == "completed"


async def test_hooks_change_a_call_before_it_is_foreseen():
    tool = Renaming()
    listener = Listener(pre_tool_execution=lambda invocation: ToolArgsPatch({"on": "b"}))
    play = Play(says("", call("c1", "rename", "a")), says("done"))
    rules = (parse_rule("allow", "rename"),)
    async with Stage(play, tools=[tool], rules=rules, open_hooks=lambda cwd, override: listener) as it:
        await it.run("go")
    assert tool.ran == ["b"]
