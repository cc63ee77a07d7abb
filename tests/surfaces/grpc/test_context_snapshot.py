"""The window in Kontekst's numbers, for stored sessions."""

from typing import Any

from google.protobuf.json_format import MessageToDict

from bridle.core.context import CompactionPolicy
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Message, Text, ToolResult, Usage, user_message
from bridle.core.protocol import MessageAdded, ModelReplied, Rewind, SessionCreated
from bridle.core.queries import Records
from bridle.surfaces.grpc.stream import FIRST_TAIL
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.grpc.client import Run, serving

SYSTEM = {"role": "system", "tokens": 4, "source": "system"}


async def windows(run: Run) -> list[dict[str, Any]]:
    """Read a run to its end, approving all; return each window, which each turn tells twice."""
    found = []
    while (event := await run.read()) is not None:
        match kind := event.WhichOneof("event"):
            case "turn_completed" | "context_snapshot":
                found.append(MessageToDict(getattr(event, kind).context, preserving_proto_field_name=True))
            case "tools_proposed":
                for shown in event.tools_proposed.calls:
                    await run.approve(shown.call_id)
            case "completed" | "failed":
                await run.call.done_writing()
    assert found[::2] == found[1::2]
    return found[::2]


def rows(window: dict[str, Any], source: str) -> list[tuple[str, int]]:
    return [(row["role"], row["tokens"]) for row in window["messages"] if row["source"] == source]


async def stored(stage: Stage, session: str = "play") -> list[tuple[str, int]]:
    """Return roles and tokens of the session's messages."""
    folded = await read_session(stage.service, SessionId(session))
    return [(item.message.role, item.tokens) for item in folded.messages]


async def test_history_and_memory_are_counted_after_each_reply():
    play = Play(says("One."), says("", call("c1", "look")), says("Two."))
    look = SmallTool("look", lambda on: f"saw {on}")
    async with Stage(play, tools=[look]) as stage, serving(stage.service) as served:
        first = served.run()
        await first.start("Say one.", session_id="play")
        [alone] = await windows(first)
        second = served.run()
        await second.start("Say two.", session_id="play")
        with_call, last = await windows(second)
        messages = await stored(stage)
        replies = [record.event for record in await stage.service.ask(Records(stage.session))]

    usage = [event.context for event in replies if isinstance(event, ModelReplied)]
    assert rows(alone, "memory") == messages[:2]
    assert (rows(with_call, "history"), rows(with_call, "memory")) == (messages[:2], messages[2:4])
    assert (rows(last, "history"), rows(last, "memory")) == (messages[:2], messages[2:])
    assert [len(messages), last["messages"][0]] == [6, SYSTEM]
    history, memory = sum(size for _, size in messages[:2]), sum(size for _, size in messages[2:])
    total = 4 + usage[2].tools + history + memory
    del last["messages"]
    assert last == {
        "context_size": 10_000,
        "system_tokens": 4,
        "tool_tokens": usage[2].tools,
        "history_tokens": history,
        "memory_tokens": memory,
        "total_tokens": total,
        "remaining_tokens": 10_000 - total,
        "history_messages": 2,
        "memory_messages": 4,
        "total_messages": 7,
        "history_budget": 10_000 - 4 - usage[2].tools - memory,
    }
    assert usage[2].total + messages[-1][1] == total


async def test_only_messages_that_were_sent_are_listed():
    """One read does not reach back far enough, and the window is too small for most of what is there."""
    async with Stage(Play(says("Yes.")), compaction=CompactionPolicy(auto=False)) as stage:
        words = [MessageAdded(user_message(f"Number {number}."), "import", 20) for number in range(1_500)]
        created = SessionCreated(SessionId("long"), "/")
        await stage.store.append(SessionId("long"), 0, [created, *words])
        async with serving(stage.service) as served:
            run = served.run()
            await run.start("Go on.", session_id="long")
            [window] = await windows(run)

    fitting = (10_000 - 4 - 100 - rows(window, "memory")[0][1]) // 20
    assert fitting > FIRST_TAIL
    assert rows(window, "history") == [("user", 20)] * fitting
    assert (window["history_messages"], window["history_tokens"]) == (fitting, 20 * fitting)
    assert [role for role, _ in rows(window, "memory")] == ["user", "assistant"]
    assert window["total_messages"] == len(window["messages"]) == fitting + 3


async def test_results_without_their_calls_are_not_listed():
    orphan = Message("tool", (ToolResult(CallId("x"), "look", "lost"),))
    async with Stage(Play(says("Yes."), says("Yes."))) as stage:
        events = [
            SessionCreated(SessionId("odd"), "/"),
            MessageAdded(user_message("Hello."), "import", 7),
            MessageAdded(orphan, "import", 50),
            MessageAdded(Message("assistant", (Text("Hm."),)), "import", 9),
        ]
        await stage.store.append(SessionId("odd"), 0, events)
        async with serving(stage.service) as served:
            run = served.run()
            await run.start("Go on.", session_id="odd")
            [window] = await windows(run)

    assert rows(window, "history") == [("user", 7), ("assistant", 9)]
    assert (window["history_messages"], window["history_tokens"]) == (2, 16)


async def test_what_was_rewound_is_not_listed():
    play = Play(says("One."), says("Two."))
    async with Stage(play) as stage, serving(stage.service) as served:
        for words in ("1", "something much longer than that"):
            run = served.run()
            await run.start(words, session_id="play")
            await windows(run)
            if words == "1":
                first = await stored(stage)
                end = (await stage.service.ask(Records(stage.session)))[-1].seq
        await stage.service.submit(stage.session, Rewind(end, "conversation"))
        run = served.run()
        await run.start("three", session_id="play")
        [window] = await windows(run)

    assert rows(window, "history") == first


async def test_of_a_long_run_only_what_was_sent_is_listed():
    """The oldest results of the run itself had to go; its model repeats itself until that ends it."""
    calls = [says("", call(f"c{number}", "look", f"{number}")) for number in range(8)]
    look = SmallTool("look", lambda on: f"{on} " * 100)
    async with (
        Stage(Play(*calls, says("Done.")), tools=[look], window_tokens=600) as stage,
        serving(stage.service) as served,
    ):
        run = served.run()
        await run.start("Look often.", session_id="play")
        *_, last = await windows(run)
        *messages, result_of_the_last = await stored(stage)

    assert result_of_the_last[0] == "tool"
    kept = last["memory_messages"] - 1
    assert kept < len(messages) - 1
    assert rows(last, "memory") == [messages[0], *messages[-kept:]]
    assert last["memory_tokens"] == sum(size for _, size in rows(last, "memory"))


async def test_an_answer_beyond_the_window_leaves_less_than_nothing():
    play = Play(says("Much.", usage=Usage(input=10, output=20_000)))
    async with Stage(play) as stage, serving(stage.service) as served:
        run = served.run()
        await run.start("Say much.", session_id="play")
        [window] = await windows(run)

    assert window["remaining_tokens"] == 10_000 - window["total_tokens"] < -10_000
    assert "history_budget" not in window
