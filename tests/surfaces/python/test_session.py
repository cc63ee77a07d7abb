"""What a program can do with a session besides following a run."""

import asyncio
import dataclasses
import gc
from pathlib import Path
from typing import Any

import pydantic
import pytest

import bridle
from bridle.core.messages import Usage, user_message
from bridle.core.protocol import (
    MessageAdded,
    Rewound,
    RunEnded,
    RunStarted,
    SessionCreated,
    TurnStarted,
)
from bridle.providers import Call, ScriptedProvider
from bridle.stores.ephemeral import EphemeralStore
from tests.sessions.stage import FixedClock, Play, says
from tests.surfaces.python.opened import events, opened


@dataclasses.dataclass
class Invoice:
    number: str
    total: float


class Bill(pydantic.BaseModel):
    number: str
    total: float


INVOICE = '{"number": "A-17", "total": 120}'
SCHEMA = {"type": "object", "properties": {"number": {"type": "string"}}, "required": ["number"]}


async def test_a_value_of_the_type_that_was_asked_for(tmp_path: Path):
    async with opened(Play(*[says(INVOICE)] * 3), tmp_path) as b:
        session = await b.session()
        invoice = await session.run("which one", output=Invoice)
        bill = await session.run("which one", output=Bill)
        plain = await session.run("which one", output=SCHEMA)

    assert invoice.value == Invoice("A-17", 120.0)
    assert bill.value == Bill(number="A-17", total=120)
    assert plain.value == {"number": "A-17", "total": 120}


async def test_a_value_that_does_not_fit_is_no_value(tmp_path: Path):
    async with opened(Play(*[says("none")] * 4), tmp_path) as b:
        session = await b.session()
        with pytest.raises(bridle.RunFailed, match="no answer fits the schema after 1 attempt"):
            await session.run("which one", output=Invoice, output_retries=0)
        failed = await session.run("which one", output=Invoice, output_retries=0, check=False)

    assert failed.value is None


async def test_steering_queueing_and_cancelling(tmp_path: Path):
    play = Play(says("", bridle.ToolCall(bridle.CallId("c"), "wait")), says("steered"), says("queued"))
    reached, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        """Wait."""
        reached.set()
        await go.wait()

    async with opened(play, tmp_path, tools=[wait]) as b:
        session = await b.session()
        with pytest.raises(bridle.SessionNotRunning):
            await session.cancel()
        task = asyncio.create_task(session.run("go"))
        await reached.wait()
        assert await session.is_running()
        await session.steer("to the left")
        queued = await session.queue("afterwards")
        go.set()
        assert (await task).text == "steered"
        async for item in session.watch():
            if (
                isinstance(item, bridle.Record)
                and isinstance(item.event, RunEnded)
                and item.event.text == "queued"
            ):
                break

        said = [message.text for message in await session.messages() if message.role == "user"]
        assert said == ["go", "to the left", "afterwards"]
        assert queued.item_id is not None


async def test_a_prompt_with_a_key_runs_once(tmp_path: Path):
    async with opened(Play(says("one"), says("two")), tmp_path) as b:
        session = await b.session()
        first = await session.run("go", key="k")
        again = await session.run("go", key="k")
        with pytest.raises(bridle.KeyTaken):
            await session.run("another", key="k")

    assert again == first


async def test_children_with_and_without_the_messages(tmp_path: Path):
    async with opened(Play(says("one"), says("two")), tmp_path) as b:
        session = await b.session()
        await session.run("first")
        fork, spawn = await session.fork(), await session.spawn(session_id="child", system="You are small.")

        assert [message.text for message in await fork.messages()] == ["first", "one"]
        assert await spawn.messages() == []
        assert spawn.id == "child"
        assert (await fork.run("more")).text == "two"
        assert (await spawn.run("hello")).text == "one"
        assert {(await child.state()).known.created.parent for child in (fork, spawn)} == {session.id}


async def test_going_back(tmp_path: Path):
    async with opened(Play(says("one"), says("two")), tmp_path) as b:
        session = await b.session()
        await session.run("first")
        seq = (await session.records())[-1].seq
        await session.run("second")
        plan = await session.plan_rewind(seq)
        await session.rewind(seq)

        assert [message.text for message in await session.messages()] == ["first", "one"]
        assert (plan.to_seq, plan.changes) == (seq, ())
        assert len(events(await session.records(), Rewound)) == 1
        assert await session.diff() == ""


async def test_naming_putting_away_and_deleting(tmp_path: Path):
    async with opened(Play(says("one")), tmp_path) as b:
        session = await b.session(title="first")
        await session.rename("better")
        await session.archive()
        assert await b.sessions() == []
        [summary] = await b.sessions(archived=True)
        assert (summary.title, summary.id) == ("better", session.id)
        await session.archive(archived=False)
        await session.delete()
        assert await b.sessions(archived=True) == []


async def test_approvals_may_be_decided_from_elsewhere(tmp_path: Path):
    @bridle.tool(access="execute")
    def fire() -> str:
        """Fire."""
        return "fired"

    provider = ScriptedProvider.of(Call("fire"), "{last_tool_result}", Call("fire"), "{last_tool_result}")
    async with opened(provider, tmp_path, tools=[fire], approve=lambda asked: None) as b:
        session = await b.session()
        answers = []
        async with session.stream("go") as run:
            async for item in run:
                match item:
                    case bridle.Record(event=bridle.ApprovalRequested(call_id=call_id)):
                        await session.decide(call_id, "session")
                        answers.append(call_id)
        again = await session.run("go")

    assert run.result.text == again.text == "fired"
    assert len(answers) == 1


async def test_a_run_that_was_cut_off_goes_on(tmp_path: Path):
    run, store = bridle.RunId("r"), EphemeralStore(FixedClock())
    created = SessionCreated(bridle.SessionId("s"), str(tmp_path))
    asked = MessageAdded(user_message("go"))
    await store.append(
        created.session_id, 0, [created, RunStarted(run, "play/a"), asked, TurnStarted(run, 1)]
    )

    async with opened(Play(says("x")), tmp_path, store=store) as b:
        session = await b.session("s")
        result = await session.resume()
        with pytest.raises(bridle.SessionNotRunning):
            await session.resume()

    assert (result.text, result.run_id) == ("x", run)


@pytest.mark.parametrize(
    "options",
    [
        {"mode": "none"},
        {"code": "yes"},
        {"until": 5},
        {"output_retries": "3"},
        {"limits": bridle.Limits(turns="1")},
    ],  # type: ignore[arg-type]
)
async def test_what_no_one_could_read_again_is_not_stored(tmp_path: Path, options: Any):
    """A program without types said it, and its session would have been lost."""
    store = EphemeralStore(FixedClock())
    async with opened(ScriptedProvider.of("one", "two"), tmp_path, store=store) as b:
        session = await b.session()
        with pytest.raises(bridle.UsageError, match="the command is invalid"):
            await session.run("x", **options)
        with pytest.raises(bridle.UsageError, match="the command is invalid"):
            await session.rename(5)  # type: ignore[arg-type]
        with pytest.raises(bridle.UsageError, match="title is a text"):
            await b.session(title=5)  # type: ignore[arg-type]

        if options.keys() <= {"mode", "code", "limits"}:
            with pytest.raises(bridle.UsageError, match="the options of the session are invalid"):
                await b.session(**options)

        assert [type(record.event) for record in await session.records()] == [SessionCreated]
        assert len(await b.sessions()) == 1
        assert (await session.run("x")).text == "one"


async def test_what_the_next_turn_sends_what_was_used_and_the_whole_as_a_document(tmp_path: Path):
    async with opened(Play(says("one")), tmp_path) as b:
        session = await b.session(title="Diary")
        await session.run("first")
        context, used = await session.context(), await session.usage()
        documents = [await session.export(), await session.export("json"), await session.export("html")]
        with pytest.raises(bridle.UsageError, match="there is no format 'pdf'"):
            await session.export("pdf")  # type: ignore[arg-type]

        assert [message.text for message in context.messages] == ["first", "one"]
        assert (context.model, (await session.context(1)).messages) == ("play/a", ())
        assert (used.sessions, used.runs, used.total.turns) == (1, {"completed": 1}, 1)
        assert [text.partition("\n")[0] for text in documents] == ["# Diary", "{", "<!doctype html>"]
        await session.delete()
        with pytest.raises(bridle.SessionNotFound):
            await session.usage()


async def test_a_name_that_no_tool_has_starts_no_run(tmp_path: Path):
    def look() -> str:
        """Look."""
        return "seen"

    def own() -> str:
        """Own."""
        return "mine"

    play = Play(says("one"), says("two"))
    async with opened(play, tmp_path, tools=[look], builtins=["grep", "glob"]) as b:
        session = await b.session(tools=[own])
        with pytest.raises(bridle.UsageError, match=r"builtins: .*'red_file' \(hint: did you mean read_file"):
            await session.run("go", builtins=["red_file"])
        with pytest.raises(bridle.UsageError, match=r"without_tools: .*'loook' \(hint: did you mean look"):
            await session.queue("go", without_tools=["loook"])
        assert len(await session.records()) == 1
        await session.run("go", builtins=["grep", "mcp__none__*"], without_tools=["look", "own"])
        await session.run("go", builtins=["own"])

    assert [[spec.name for spec in request.tools] for request in play.requests] == [
        ["grep"],
        ["look", "own"],
    ]


async def test_a_stream_keeps_the_tools_of_a_session_that_nobody_holds(tmp_path: Path):
    def own() -> str:
        """Own."""
        return "mine"

    async with opened(ScriptedProvider.of(Call("own"), "{last_tool_result}"), tmp_path) as b:
        run = (await b.session(tools=[own])).stream("go")
        gc.collect()
        await asyncio.sleep(0)

        assert (await run.wait()).text == "mine"


async def test_a_queued_prompt_keeps_the_tools_of_a_session_that_nobody_holds(tmp_path: Path):
    reached, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        """Wait."""
        reached.set()
        await go.wait()

    def own() -> str:
        """Own."""
        return "mine"

    replies = (Call("wait"), "waited", Call("own"), "{last_tool_result}")
    async with opened(ScriptedProvider.of(*replies), tmp_path, tools=[wait]) as b:
        session = await b.session("s")
        await session.queue("wait")
        await reached.wait()
        await (await b.session("s", tools=[own])).queue("go")
        gc.collect()
        await asyncio.sleep(0)
        go.set()
        texts = []
        async for item in session.watch():
            if isinstance(item, bridle.Record) and isinstance(item.event, RunEnded):
                texts.append(item.event.text)
            if len(texts) == 2:
                break

    assert texts == ["waited", "mine"]


# ---------------------------------------------------------------------------- options


@pytest.mark.parametrize("is_forked", [False, True])
async def test_a_session_is_as_it_was_made_for_a_program_that_only_knows_its_id(
    tmp_path: Path, is_forked: bool
):
    store = EphemeralStore(FixedClock())
    made: Any = {"system": "Be a pirate.", "builtins": ["grep", "bash"], "without_tools": ["bash"]}
    async with opened(Play(says("one")), tmp_path, store=store, builtins=True) as b:
        session = await b.session(**({} if is_forked else made))
        if is_forked:
            session = await session.spawn(**made)
    play = Play(says("one"), says("two"))
    async with opened(play, tmp_path, store=store, builtins=True) as b:
        again = await b.session(session.id)
        await again.run("go")
        shown = await again.context()
        await again.configure(system="Be short.", reset=["builtins"])
        await again.run("go")

    [first, second] = play.requests
    assert (first.system, [spec.name for spec in first.tools]) == ("Be a pirate.", ["grep"])
    assert (shown.system, shown.tools) == (first.system, first.tools)
    assert second.system == "Be short."
    assert {"grep", "read_file"} < {spec.name for spec in second.tools}
    assert "bash" not in {spec.name for spec in second.tools}


async def test_the_program_has_its_own_tools_whatever_built_in_ones_are_turned_off(tmp_path: Path):
    def look() -> str:
        """Look."""
        return "seen"

    play = Play(says("one"))
    async with opened(play, tmp_path, tools=[look], builtins=False) as b:
        await (await b.session()).run("go")

    assert [spec.name for spec in play.requests[0].tools] == ["look"]


async def test_what_belongs_to_one_run_is_no_option_of_a_session(tmp_path: Path):
    async with opened(ScriptedProvider.of("one"), tmp_path) as b:
        session = await b.session()
        with pytest.raises(bridle.UsageError, match=r"until is not an option of a session"):
            await session.configure(until="true")


async def test_a_session_begins_with_messages_and_takes_more_of_them(tmp_path: Path):
    play = Play(says("one"), says("two"), says("three"))
    async with opened(play, tmp_path) as b:
        session = await b.session(
            messages=["Know this.", bridle.Message("assistant", (bridle.Text("I do."),))]
        )
        await session.push("Know that, too.")
        await session.run("And?")
        fork = await session.fork(messages=2)
        await fork.run("What?")
        child = await session.spawn(messages=["Only this."])
        await child.run("Who?")
        with pytest.raises(bridle.UsageError, match="messages are a list"):
            await b.session(messages="no list")

    texts = [[message.text for message in request.messages] for request in play.requests]
    assert texts == [
        ["Know this.", "I do.", "Know that, too.", "And?"],
        ["Know this.", "I do.", "What?"],
        ["Only this.", "Who?"],
    ]


async def test_a_session_has_labels(tmp_path: Path):
    async with opened(ScriptedProvider.of("one"), tmp_path) as b:
        session = await b.session(labels={"team": "red", "old": "x"})
        await session.label({"old": None, "size": "big"})

        assert [one.labels for one in await b.sessions()] == [{"team": "red", "size": "big"}]


# ---------------------------------------------------------------------------- shares of a budget


USED = Usage(input=200, output=100)
SPENDING: dict[str, Any] = {"system": "Be brief.", "limits": bridle.Limits(tokens=1300, tool_calls=9)}


def spending(turns: int) -> Play:
    return Play(*(says("ok", usage=USED) for _ in range(turns)))


async def left(session: bridle.Session) -> int | None:
    assert session.budget is not None
    return (await session.budget.limits()).tokens


async def test_children_share_what_the_last_run_has_left(tmp_path: Path):
    async with opened(spending(1), tmp_path, **SPENDING) as b:
        session = await b.session()
        await session.run("go")
        fixed = await session.fork(budget="fixed:200")
        part = await session.fork(budget="proportional:1/4")
        calls = await session.spawn(budget=bridle.Limits(tool_calls=2))
        equal = [await session.spawn(budget="equal:4") for _ in range(2)]
        rest = await session.spawn(budget="remaining")

        assert [await left(one) for one in (fixed, part, *equal, rest)] == [200, 250, 250, 250, 50]
        assert calls.budget is not None
        assert (await calls.budget.limits()).tool_calls == 2
        await part.aclose()
        assert [await left(one) for one in (*equal, rest)] == [250, 250, 300]
        grandchild = await fixed.fork(budget="proportional:1/2")
        assert [await left(one) for one in (fixed, grandchild)] == [100, 100]


async def test_all_runs_of_a_child_together_spend_no_more_than_its_share(tmp_path: Path):
    async with opened(spending(3), tmp_path, **SPENDING) as b:
        session = await b.session()
        await session.run("go")
        child = await session.fork(budget="fixed:700")
        await child.run("one")
        await (await b.session(child.id)).run("two")  # another client, with limits of its own

        assert await left(child) == 100
        with pytest.raises(bridle.RunLimited, match="more than are left"):
            await child.run("three")
        limits = [
            one.event.limits.tokens for one in await child.records() if isinstance(one.event, RunStarted)
        ]
        assert limits == [700, 1300, 100]


@pytest.mark.parametrize(
    ("budget", "message"),
    [
        ("half", "budget cannot be 'half'"),
        ("equal:0", "budget cannot be 'equal:0'"),
        ("proportional:3/1", "proportional:3/1 is not a part"),
        ("proportional:1/0", "proportional:1/0 is not a part"),
        ("proportional:./.", r"proportional:./. is not a part"),
        (bridle.Limits(tokens=-1), "tokens: -1 is not a valid limit"),
    ],
)
async def test_a_share_that_is_none_is_refused_and_no_session_is_left_behind(
    tmp_path: Path, budget: Any, message: str
):
    async with opened(spending(0), tmp_path, **SPENDING) as b:
        session = await b.session()
        with pytest.raises(bridle.UsageError, match=message):
            await session.fork(budget=budget)

        assert len(await b.sessions()) == 1


async def test_without_limits_there_is_nothing_to_share_but_amounts(tmp_path: Path):
    async with opened(spending(0), tmp_path) as b:
        session = await b.session()
        with pytest.raises(bridle.UsageError, match="no limits to share"):
            await session.fork(budget="equal:2")

        assert await left(await session.fork(budget="fixed:20")) == 20
        assert await left(await session.fork(budget="remaining")) is None
