"""What a call can request besides running: a lasting answer, a user's answer, a changed fact."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from bridle.core.errors import ConfigError, ToolError, UsageError
from bridle.core.ids import CallId
from bridle.core.messages import Media, ToolResult
from bridle.core.permission import parse_rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Cancel,
    FilesSeen,
    Notice,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    RunStarted,
    SeenFile,
    Todo,
    TodosChanged,
    ToolFinished,
)
from bridle.core.tool import Access, Subject
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import Play, SmallTool, Stage, call, says


def change() -> SmallTool:
    return SmallTool("change", lambda on: f"changed {on}", access="write")


class Asker(SmallTool):
    """Asks the user and returns the answers."""

    async def run(self, args, context):
        assert context.ask is not None
        answers = await context.ask(Question(args["on"], ("red", "blue")))
        return ToolOutput(f"they said {answers}")


async def test_always_holds_for_the_session_and_is_remembered():
    remembered: list[Sequence[str]] = []
    play = Play(says("", call("a", "change", "src/x")), says("", call("b", "change", "src/y")), says("done"))
    async with Stage(play, tools=[change()], remember=remembered.append) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("a", "always")
        ended = await stage.service.wait(stage.session, run_id)
        decided = [event for event in await stage.log() if isinstance(event, ApprovalDecided)]

    assert ended.outcome == "completed"
    assert decided == [ApprovalDecided(CallId("a"), "always", rules=("change(src/**)",))]
    assert remembered == [("change(src/**)",)]


async def test_settings_that_cannot_be_written_are_said_and_the_run_goes_on():
    def refuse(rules: Sequence[str]) -> None:
        raise ConfigError("config.toml cannot be written")

    play = Play(says("", call("a", "change", "src/x")), says("done"))
    async with Stage(play, tools=[change()], remember=refuse) as stage:
        watching = asyncio.create_task(first_notice(stage))
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("a", "always")
        ended = await stage.service.wait(stage.session, run_id)
        notice = await watching

    assert ended.outcome == "completed"
    assert notice == Notice("the rule applies to this session only: config.toml cannot be written")


async def first_notice(stage: Stage) -> Notice:
    async for item in stage.service.watch(stage.session):
        if isinstance(item, Notice):
            return item
    raise AssertionError("the watch ended")


async def test_a_question_rests_until_it_is_answered():
    play = Play(says("", call("a", "ask", "Which colour?")), says("done"))
    async with Stage(play, tools=[Asker("ask", str)]) as stage:
        run_id = await stage.prompt("hi")
        asked = await stage.until(QuestionAsked)
        await stage.service.submit(stage.session, Reply(CallId("other"), ("green",)))
        await stage.service.submit(stage.session, Reply(CallId("a"), ("blue",)))
        await stage.service.submit(stage.session, Reply(CallId("a"), ("too late",)))
        await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert asked == QuestionAsked(CallId("a"), Question("Which colour?", ("red", "blue")))
    assert [event for event in log if isinstance(event, QuestionAnswered)] == [
        QuestionAnswered(CallId("a"), ("blue",))
    ]
    [result] = play.requests[1].messages[-1].parts
    assert result == ToolResult(CallId("a"), "ask", "they said ('blue',)")


async def test_a_question_ends_with_its_run():
    play = Play(says("", call("a", "ask", "Which colour?")), says("done"))
    async with Stage(play, tools=[Asker("ask", str)]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(QuestionAsked)
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)

    assert ended.outcome == "cancelled"


async def test_the_time_an_answer_takes_is_not_the_tools():
    play = Play(says("", call("a", "ask", "Which colour?")), says("done"))
    async with Stage(play, tools=[Asker("ask", str)], tool_timeout_s=1.0) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(QuestionAsked)
        await asyncio.sleep(1.2)  # longer than the tool may take
        await stage.service.submit(stage.session, Reply(CallId("a"), ("red",)))
        await stage.service.wait(stage.session, run_id)

    [result] = play.requests[1].messages[-1].parts
    assert result.output == "they said ('red',)"


class Notes(SmallTool):
    """Returns facts with its result, and shows the facts it gets."""

    async def run(self, args, context):
        seen = FilesSeen((SeenFile("a.py", args["on"]),))
        todos = TodosChanged((*context.todos, Todo(args["on"])))
        picture = Media("image/png", "AAAA")
        return ToolOutput(f"{dict(context.seen)}", media=(picture,), notes=(seen, todos), diff="-a\n+b\n")


async def test_facts_of_a_tool_are_recorded_with_its_result_and_lent_to_the_next():
    play = Play(says("", call("a", "note", "one")), says("", call("b", "note", "two")), says("done"))
    async with Stage(play, tools=[Notes("note", str)]) as stage:
        await stage.run("hi")
        log = await stage.log()
        facts = (await read_session(stage.service, stage.session)).known

    finished = [event for event in log if isinstance(event, ToolFinished)]
    assert [(event.result.output, event.diff) for event in finished] == [
        ("{}", "-a\n+b\n"),
        ("{'a.py': 'one'}", "-a\n+b\n"),
    ]
    assert finished[0].result.media == (Media("image/png", "AAAA"),)
    assert (facts.seen, facts.todos) == ({"a.py": "two"}, (Todo("one"), Todo("two")))


async def test_secrets_are_masked_in_results_previews_and_diffs():
    class Leak(SmallTool):
        async def run(self, args, context):
            context.emit("live hunter2")
            return ToolOutput("key hunter2", diff="+hunter2\n")

        async def preview(self, args, context):
            return "would show hunter2"

    play = Play(says("", call("a", "leak", "x")), says("done"))
    tool = Leak("leak", str, access="write")
    async with Stage(play, tools=[tool], mask=lambda text: text.replace("hunter2", "***")) as stage:
        run_id = await stage.prompt("hi")
        asked = await stage.until(ApprovalRequested)
        await stage.decide("a", "once")
        await stage.service.wait(stage.session, run_id)
        finished = await stage.until(ToolFinished)

    assert asked.preview == "would show ***"
    assert (finished.result.output, finished.diff) == ("key ***", "+***\n")


async def test_what_does_not_fit_can_be_read_from_the_blobs():
    kept: dict[str, bytes] = {}

    class Blobs:
        def put(self, data: bytes) -> str:
            kept["0" * 64] = data
            return "0" * 64

        def get(self, digest: str) -> bytes:
            return kept[digest]

    text = "".join(f"line {number}\n" for number in range(20_000))
    play = Play(says("", call("a", "look", "x")), says("done"))
    async with Stage(play, tools=[SmallTool("look", lambda on: text)], blobs=Blobs()) as stage:
        await stage.run("hi")
        finished = await stage.until(ToolFinished)

    assert kept == {"0" * 64: text.encode()}
    assert f'read_file with path "blob:{"0" * 64}" shows all of it' in finished.result.output
    assert len(finished.result.output.encode()) <= 64 * 1024


async def test_nobody_is_asked_about_a_call_that_would_fail_anyway():
    class Hopeless(SmallTool):
        async def preview(self, args, context):
            raise ToolError("x was changed since you read it")

    play = Play(says("", call("a", "change", "x")), says("done"))
    tool = Hopeless("change", str, access="write")
    async with Stage(play, tools=[tool]) as stage:
        ended = await stage.run("hi")
        log = await stage.log()

    assert (ended.outcome, tool.calls) == ("completed", [])
    assert not any(isinstance(event, ApprovalRequested) for event in log)
    [result] = play.requests[1].messages[-1].parts
    assert result == ToolResult(CallId("a"), "change", "x was changed since you read it", is_error=True)


ASKED = "runs code (mode ask); make the call again, on its own"


class Door(SmallTool):
    """Only reads while the door is shut."""

    is_open: Access | None = None

    def access(self, args, context):
        return self.is_open or super().access(args, context)


@pytest.mark.parametrize(
    ("opened", "refusal"),
    [
        (
            Access("enter", "execute"),
            f"not run: after the calls before it, it needs approval: {ASKED}",
        ),
        (Access("enter", "read", (Subject("path", "secret"),)), "denied by rule deny enter(secret)"),
    ],
)
async def test_a_call_that_another_one_gave_a_new_meaning_does_not_run(opened: Access, refusal: str):
    door = Door("enter", lambda on: f"entered {on}")

    def swing(on: str) -> str:
        door.is_open = opened
        return "open"

    key = SmallTool("turn", swing, access="write")
    play = Play(says("", call("a", "turn", "key"), call("b", "enter", "hall")), says("done"))
    rules = [parse_rule("allow", "turn"), parse_rule("deny", "enter(secret)")]
    async with Stage(play, tools=[key, door], rules=rules) as stage:
        ended = await stage.run("hi")

    assert (ended.outcome, door.calls) == ("completed", [])
    assert play.requests[1].messages[-1].parts == (
        ToolResult(CallId("a"), "turn", "open"),
        ToolResult(CallId("b"), "enter", refusal, is_error=True),
    )


async def test_a_call_that_the_user_has_seen_runs_whatever_came_before_it():
    door = Door("enter", lambda on: f"entered {on}")
    door.is_open = Access("enter", "execute")
    play = Play(says("", call("a", "enter", "hall")), says("done"))
    async with Stage(play, tools=[door]) as stage:
        run_id = await stage.prompt("hi")
        await stage.until(ApprovalRequested)
        await stage.decide("a", "once")
        await stage.service.wait(stage.session, run_id)

    assert door.calls == ["hall"]


async def test_a_run_may_have_every_call_approved_whatever_rules_allow():
    play = Play(says("", call("a", "look"), call("b", "change")), says("done"))
    tools = [SmallTool("look", lambda on: f"saw {on}"), change()]
    async with Stage(play, tools=tools, rules=[parse_rule("allow", "change")]) as stage:
        run_id = await stage.prompt("hi", approve_each=True)
        await stage.until(ApprovalRequested, 2)
        await stage.decide("a", "session")
        await stage.decide("b", "once")
        ended = await stage.service.wait(stage.session, run_id)
        decided = [event for event in await stage.log() if isinstance(event, ApprovalDecided)]

    assert (ended.outcome, ended.text) == ("completed", "done")
    assert [(event.call_id, event.answer) for event in decided] == [("a", "session"), ("b", "once")]


async def test_with_every_call_approved_a_denial_ends_the_run_after_its_turn():
    play = Play(says("", call("a", "change", "x"), call("b", "change", "y")), says("never said"))
    async with Stage(play, tools=[change()]) as stage:
        run_id = await stage.prompt("hi", approve_each=True)
        await stage.until(ApprovalRequested, 2)
        await stage.decide("a", "deny")
        await stage.decide("b", "once")
        ended = await stage.service.wait(stage.session, run_id)
        results = [event.result.output for event in await stage.log() if isinstance(event, ToolFinished)]

    assert (ended.outcome, ended.text, ended.turns) == ("completed", "", 1)
    assert results == ["denied: user denied", "changed y"]


async def test_with_every_call_approved_nobody_is_asked_about_a_skill_or_a_call_that_would_fail():
    class Hopeless(SmallTool):
        async def preview(self, args: dict[str, Any], context: ToolContext) -> str:
            raise ToolError("read the file first")

    play = Play(says("", call("a", "edit"), call("b", "skill", "deploy")), says("done"))
    tools = [Hopeless("edit", str, access="write"), SmallTool("skill", lambda on: f"how to {on}")]
    async with Stage(play, tools=tools) as stage:
        run_id = await stage.prompt("hi", approve_each=True)
        ended = await stage.service.wait(stage.session, run_id)
        events = await stage.log()

    results = [event.result.output for event in events if isinstance(event, ToolFinished)]
    assert (ended.outcome, ended.text, results) == (
        "completed",
        "done",
        ["read the file first", "how to deploy"],
    )
    assert not [event for event in events if isinstance(event, ApprovalRequested)]


async def test_with_every_call_approved_also_one_that_cannot_run_waits_for_its_answer():
    play = Play(says("", call("a", "nothing"), call("b", "change")), says("never said"))
    async with Stage(play, tools=[change()], rules=[parse_rule("deny", "change")]) as stage:
        run_id = await stage.prompt("hi", approve_each=True)
        await stage.until(ApprovalRequested, 2)
        await stage.decide("a", "once")
        await stage.decide("b", "deny", "no")
        ended = await stage.service.wait(stage.session, run_id)
        results = [event.result.output for event in await stage.log() if isinstance(event, ToolFinished)]

    assert (ended.outcome, ended.turns) == ("completed", 1)
    assert sorted(results) == ["denied: no", "no tool is named 'nothing' (hint: available tools: change)"]


async def test_variables_are_lent_to_tools_and_not_recorded():
    seen: list[dict[str, str]] = []

    class Looker(SmallTool):
        async def run(self, args, context):
            seen.append(dict(context.env))
            return ToolOutput("looked")

    play = Play(says("", call("a", "look")), says("done"))
    async with Stage(play, tools=[Looker("look", lambda on: "")]) as stage:
        await stage.run("hi", env={"PATH": "/venv/bin:/bin"})
        [started] = [event for event in await stage.log() if isinstance(event, RunStarted)]
        with pytest.raises(UsageError, match="the variable 'LD_PRELOAD' cannot be passed to programs"):
            await stage.prompt("hi", env={"LD_PRELOAD": "/evil.so"})

    assert seen == [{"PATH": "/venv/bin:/bin"}]
    assert started.options.env == {}


class Judged(SmallTool):
    """Counts how often it is asked what a call would touch."""

    def __init__(self) -> None:
        super().__init__("judged", lambda on: f"did {on}", access="write")
        self.asked: list[str] = []

    def access(self, args, context):
        self.asked.append(args["on"])
        return super().access(args, context)


async def test_a_call_is_judged_again_only_if_something_came_between():
    play = Play(says("", call("a", "judged", "a"), call("b", "judged", "b")), says("done"))
    tool = Judged()
    async with Stage(play, tools=[tool]) as stage:
        await stage.run("hi", mode="yolo")

    assert (tool.asked, tool.calls) == (["a", "b", "b"], ["a", "b"])
