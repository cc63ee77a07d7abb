"""A session remembers how it was made: every run starts with its options, in whichever process."""

from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.budget import Limits
from bridle.core.errors import SessionBusy, UsageError
from bridle.core.ids import SessionId
from bridle.core.messages import Message, Text, ToolCall, user_message
from bridle.core.model import Effort
from bridle.core.ports import ToolOutput
from bridle.core.protocol import (
    ApprovalRequested,
    Configure,
    Fork,
    Label,
    MessageAdded,
    Prompt,
    Push,
    Rewind,
    RunOptions,
    RunStarted,
    SessionConfigured,
    SessionOptions,
    SessionTitled,
)
from bridle.core.queries import ListSessions, PreviewContext, Records, Status
from bridle.core.session_api import ForkReceipt
from bridle.core.tool import ToolSpec
from bridle.sessions.command_checks import merge_options
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.sessions.troupe import Troupe, child_of, spawn

MADE = SessionOptions(
    mode="plan",
    deny=("look(secret/**)",),
    limits=Limits(turns=7),
    params={"temperature": 0.5},
    system="Be a pirate.",
    without_builtins=("touch",),
)
S = SessionId("made")


def tools() -> list[SmallTool]:
    return [SmallTool("look", lambda on: "seen"), SmallTool("touch", lambda on: "done", access="write")]


async def made(stage: Stage, options: SessionOptions = MADE) -> None:
    stage.session = await stage.service.create(cwd="/", session_id=S, options=options)


async def newest_start(stage: Stage) -> RunStarted:
    return [event for event in await stage.log() if isinstance(event, RunStarted)][-1]


def sent(play: Play) -> tuple[str, set[str]]:
    """Return the instructions and the tools of the newest request."""
    request = play.requests[-1]
    return request.system, {spec.name for spec in request.tools}


async def test_every_run_starts_with_the_options_of_its_session():
    play = Play(says("one"), says("two"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage)
        for _ in range(2):
            await stage.run("go")
            started = await newest_start(stage)

            assert sent(play) == ("Be a pirate.", {"look"})
            assert play.requests[-1].params == {"temperature": 0.5}
            assert (started.mode, started.limits.turns) == ("plan", 7)
            assert started.options.deny == ("look(secret/**)",)


@pytest.mark.parametrize(
    ("facts", "session", "run", "sent"),
    [
        ({}, None, None, None),
        ({"effort": "low"}, None, None, "low"),
        ({"effort": "low"}, "high", None, "high"),
        ({"reasoning": True}, "high", "none", "none"),
        ({"reasoning": False}, "high", "max", None),
    ],
)
async def test_the_most_specific_effort_is_sent(
    facts: dict[str, Any], session: Effort | None, run: Effort | None, sent: Effort | None
):
    play, understudy = Play(says("one")), Play(says("A title"))
    async with Stage(play, understudy=understudy, titles_by="scripted/understudy", facts=facts) as stage:
        await made(stage, SessionOptions(effort=session))
        await stage.run("go", effort=run)
        await stage.until(SessionTitled)

    assert play.requests[-1].effort == sent
    assert understudy.requests[-1].effort is None


async def test_the_parameters_of_the_model_are_below_those_of_the_session_and_not_in_titles():
    play, understudy = Play(says("one")), Play(says("A title"))
    facts = {"params": {"seed": 1, "provider": {"sort": "price", "only": ["a"]}, "temperature": 1.0}}
    async with Stage(play, understudy=understudy, titles_by="scripted/understudy", facts=facts) as stage:
        options = replace(MADE, params={"temperature": 0.5, "provider": {"only": ["b"]}})
        await made(stage, options)
        await stage.run("go")
        await stage.until(SessionTitled)

    merged = {"seed": 1, "provider": {"sort": "price", "only": ["b"]}, "temperature": 0.5}
    assert play.requests[-1].params == merged
    assert understudy.requests[-1].params == {}


async def test_another_process_starts_the_first_run_with_them():
    stage = Stage(Play(), tools=tools())
    async with stage:
        await made(stage)
    play = Play(says("one"))
    async with Stage(play, tools=tools(), store=stage.store) as other:
        other.session = S
        await other.run("go")

    assert sent(play) == ("Be a pirate.", {"look"})


async def test_the_preview_shows_what_is_sent():
    play = Play(says("one"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage)
        shown = await stage.service.ask(PreviewContext(S))
        await stage.run("go")

    assert (shown.system, {spec.name for spec in shown.tools}) == sent(play)


async def test_the_options_of_a_run_hold_for_it_alone():
    play = Play(says("one"), says("two"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage)
        await stage.run("go", mode="ask", system="Be short.", limits=Limits(tokens=99))
        first = await newest_start(stage)
        await stage.run("go")
        second = await newest_start(stage)

    assert (first.mode, first.limits) == ("ask", Limits(turns=7, tokens=99))
    assert (second.mode, second.limits) == ("plan", Limits(turns=7))
    assert [request.system for request in play.requests] == ["Be short.", "Be a pirate."]


@pytest.mark.parametrize(
    "wanted",
    [{"tools": ("touch",)}, {"builtins": ("look", "touch")}, {"tools": ("*",), "builtins": ("*",)}],
)
@pytest.mark.parametrize("made_with", [{"without_builtins": ("touch",)}, {"builtins": ("look",)}])
async def test_a_run_cannot_turn_on_what_its_session_turned_off(
    wanted: dict[str, Any], made_with: dict[str, Any]
):
    play = Play(says("one"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage, SessionOptions(**made_with))
        await stage.run("go", **wanted)

    assert "touch" not in sent(play)[1]


async def test_a_tool_that_is_turned_off_is_not_run():
    touch = tools()[1]
    play = Play(says("", call("c", "touch")), says("done"))
    async with Stage(play, tools=[touch]) as stage:
        await made(stage)
        await stage.run("go", mode="yolo")

    assert touch.calls == []


async def test_a_client_may_provide_its_own_tool_of_the_same_name():
    class Own:
        specs = (ToolSpec("touch", "Mine.", {"type": "object"}),)

        async def dispatch(self, call: ToolCall) -> ToolOutput:
            return ToolOutput("mine")

    play = Play(says("one"), says("two"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage, SessionOptions(builtins=("look",), without_builtins=("touch",)))
        async with stage.service.provide_tools(S, Own()):
            await stage.run("go")
        with_own = play.requests[-1].tools
        await stage.run("go")

    assert {spec.name: spec.description for spec in with_own}["touch"] == "Mine."
    assert sent(play)[1] == {"look"}


# ---------------------------------------------------------------------------- model


async def test_the_model_is_that_of_the_session_then_of_the_last_run_until_it_is_configured():
    play, understudy = Play(*map(says, "abcd")), Play(*map(says, "abcd"))
    async with Stage(play, understudy=understudy) as stage:
        await made(stage, SessionOptions(model="scripted/understudy"))
        used = []
        for model in (None, "scripted/play", None):
            await stage.run("go", model=model)
            used.append((await newest_start(stage)).model)
        await stage.service.submit(S, Configure(SessionOptions(model="scripted/understudy")))
        await stage.run("go")

        assert used == ["scripted/understudy", "scripted/play", "scripted/play"]
        assert (await newest_start(stage)).model == "scripted/understudy"


# ---------------------------------------------------------------------------- changes


async def test_configure_changes_what_is_given_and_resets_what_is_named():
    play = Play(says("one"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage)
        changes = SessionOptions(mode="ask", system="Be short.")
        await stage.service.submit(S, Configure(changes, reset=("without_builtins", "params")))
        await stage.run("go")
        facts = (await stage.service.ask(Status(S))).facts
        [configured] = [event for event in await stage.log() if isinstance(event, SessionConfigured)]

    expected = SessionOptions(mode="ask", deny=MADE.deny, limits=MADE.limits, system="Be short.")
    assert (configured.options, facts.options) == (expected, expected)
    assert sent(play) == ("Be short.", {"look", "touch"})


async def test_a_run_that_has_started_keeps_its_options():
    play = Play(says("one"), says("two"), hold=True)
    async with Stage(play, tools=tools()) as stage:
        await made(stage)
        first = await stage.prompt("go")
        await play.streaming.wait()
        await stage.service.submit(S, Configure(SessionOptions(mode="ask")))
        await stage.service.submit(S, Prompt(user_message("more")))
        play.go.set()
        await stage.service.wait(S, first)
        second = await stage.until(RunStarted, 2)
        starts = [event for event in await stage.log() if isinstance(event, RunStarted)]

    assert [event.mode for event in starts] == ["plan", "ask"]
    assert second.options.system == "Be a pirate."


async def test_a_rewind_restores_no_options():
    """What was turned off stays off."""
    async with Stage(Play(says("one")), tools=tools()) as stage:
        await made(stage, SessionOptions())
        await stage.run("go")
        await stage.service.submit(S, Configure(MADE))
        await stage.service.submit(S, Rewind(1, "conversation"))

        assert (await stage.service.ask(Status(S))).facts.options == MADE


@pytest.mark.parametrize(
    ("command", "error"),
    [
        (Configure(reset=("mood",)), 'a session has no option "mood" (hint: model, mode, allow, '),
        (Configure(SessionOptions(allow=("bash(",))), "bash("),
        (Configure(SessionOptions(limits=Limits(cost=-1.0))), "cost"),
    ],
)
async def test_a_change_that_no_run_could_start_with_is_refused(command: Configure, error: str):
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError) as caught:
            await stage.service.submit(stage.session, command)
        if not command.reset:
            with pytest.raises(UsageError):
                await stage.service.create(cwd="/", options=command.options)

        assert error in str(caught.value)
        assert await stage.log() == []


# ---------------------------------------------------------------------------- forks and sub-agents


async def test_a_fork_keeps_the_options():
    play = Play(says("one"), says("two"))
    async with Stage(play, tools=tools()) as stage:
        await made(stage, SessionOptions())
        await stage.run("go")
        await stage.service.submit(S, Configure(MADE))
        receipt = await stage.service.submit(S, Fork())
        assert isinstance(receipt, ForkReceipt)
        stage.session = receipt.session
        await stage.run("go")

    assert sent(play) == ("Be a pirate.", {"look"})


async def test_a_sub_agent_can_do_no_more_than_its_session_may_not_even_when_prompted_itself():
    parts = {
        "go": [says("", spawn("s", "count")), says("done")],
        "count": [says("three")],
        "again": [says("three")],
    }
    async with Troupe(parts, tools=tools()) as troupe:
        await troupe.service.submit(troupe.main, Configure(SessionOptions(without_builtins=("touch",))))
        await troupe.run("go")
        child = child_of("s")
        await troupe.service.submit(child, Prompt(user_message("again"), RunOptions(tools=("touch", "look"))))
        [spawned] = troupe.model.requests["count"]
        shown = await troupe.service.ask(PreviewContext(child))

    assert {spec.name for spec in spawned.tools} & {"touch", "look"} == {"look"}
    assert "touch" not in {spec.name for spec in shown.tools}


# ---------------------------------------------------------------------------- merging


@pytest.mark.parametrize(
    ("first", "changed", "both"),
    [
        (None, None, None),
        (("a",), None, ("a",)),
        (None, ("a",), ("a",)),
        (("a", "b"), ("b", "c"), ("b",)),
        (("mcp__x__*",), ("mcp__x__a", "mcp__y__a"), ("mcp__x__a",)),
        (("mcp__x__a", "b"), ("mcp__*",), ("mcp__x__a",)),
        (("a",), (), ()),
        ((), ("*",), ()),
    ],
)
def test_of_two_lists_of_tools_only_what_both_have_is_left(first: Any, changed: Any, both: Any):
    merged = merge_options(
        RunOptions(tools=first, builtins=first), RunOptions(tools=changed, builtins=changed)
    )

    assert (merged.tools, merged.builtins) == (both, both)


# ---------------------------------------------------------------------------- first messages


async def test_a_session_can_begin_with_messages():
    play = Play(says("unused"), says("two"))
    first = (user_message("Know this."), Message("assistant", (Text("I do."),)))
    async with Stage(play) as stage:
        stage.session = await stage.service.create(cwd="/", session_id=S, messages=first)
        await stage.run("Now?")
        facts = (await stage.service.ask(Status(S))).facts

    assert play.requests[0].messages == (*first, user_message("Now?"))
    assert (facts.title, facts.totals.messages) == ("Know this.", 4)


@pytest.mark.parametrize(
    "messages",
    [
        [Message("assistant", (Text("I do."),))],
        [user_message("x"), Message("assistant", (call("c", "look"),))],
        [user_message("x" * (4 * 1024 * 1024 + 1))],
        [Message("user", ())],
        [Message("system", (Text("x"),))],  # type: ignore[arg-type]
        [user_message("\ud800")],
    ],
)
async def test_messages_that_no_session_can_begin_with_are_refused(messages: list[Message]):
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError):
            await stage.service.create(cwd="/", messages=messages)


async def test_messages_are_added_between_runs_and_the_next_run_sends_them():
    play = Play(says("one"), says("two"))
    added = (Message("assistant", (Text("By the way."),)), user_message("I see."))
    async with Stage(play) as stage:
        await stage.run("go")
        await stage.service.submit(stage.session, Push(added))
        await stage.run("and now?")
        records = await stage.service.ask(Records(stage.session))

    assert play.requests[1].messages[2:] == (*added, user_message("and now?"))
    sources = [one.event.source for one in records if isinstance(one.event, MessageAdded)]
    assert sources == ["prompt", "import", "import", "prompt"]


async def test_messages_are_not_added_while_a_run_is_active():
    tool = SmallTool("look", lambda on: "seen", access="write")
    async with Stage(Play(says("", call("c", "look")), says("done")), tools=[tool]) as stage:
        await stage.prompt("go")
        await stage.until(ApprovalRequested)
        with pytest.raises(SessionBusy, match="steer reaches the active run"):
            await stage.service.submit(stage.session, Push((user_message("x"),)))


@pytest.mark.parametrize(
    "messages",
    [
        (),
        (Message("assistant", (Text("The session is empty."),)),),
        (user_message("x"), Message("tool", (Text("x"),))),
        (user_message("x"),) * 1001,
    ],
)
async def test_messages_that_cannot_be_added_are_refused(messages: tuple[Message, ...]):
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError):
            await stage.service.submit(stage.session, Push(messages))


async def test_a_fork_takes_the_first_messages():
    play = Play(says("one"), says("two"), says("three"))
    async with Stage(play) as stage:
        await stage.run("go")
        await stage.run("more")
        await stage.service.submit(stage.session, Fork(session_id=SessionId("fork"), messages=2))
        stage.session = SessionId("fork")
        await stage.run("else")

    assert [message.text for message in play.requests[2].messages] == ["go", "one", "else"]


# ---------------------------------------------------------------------------- labels


async def test_labels_are_set_one_by_one_and_listed_and_a_fork_keeps_them():
    async with Stage(Play()) as stage:
        await stage.service.create(cwd="/", session_id=S, labels={"team": "red", "old": "x"})
        await stage.service.submit(S, Label({"team": "blue", "old": None, "new": ""}))
        await stage.service.submit(S, Fork(session_id=SessionId("fork")))
        listed = {one.id: one.labels for one in await stage.service.ask(ListSessions())}
        facts = (await stage.service.ask(Status(S))).facts

    expected = {"team": "blue", "new": ""}
    assert facts.labels == expected
    assert listed == {S: expected, "fork": expected, "play": {}}


@pytest.mark.parametrize(
    "labels", [{"": "x"}, {"x" * 257: ""}, {"a": "x" * 257}, {f"{n}": "" for n in range(65)}, {"a": "\ud800"}]
)
async def test_labels_that_are_too_many_or_too_long_are_refused(labels: dict[str, str]):
    async with Stage(Play()) as stage:
        with pytest.raises(UsageError):
            await stage.service.create(cwd="/", labels=labels)
        with pytest.raises(UsageError):
            await stage.service.submit(stage.session, Label({**labels}))
