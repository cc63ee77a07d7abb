"""The scripted model in process."""

import asyncio
from contextlib import aclosing
from pathlib import Path

import pytest

from bridle.core.errors import ConfigError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.core.model import Model, Price
from bridle.core.protocol import TextDelta
from bridle.providers import Call, HangFault, HttpFault, Reply, Script, ScriptedProvider
from bridle.providers.script import ScriptPrice
from tests.providers.conversation import Outcome, ask, request

EXAMPLES = Path(__file__).parents[2] / "examples" / "scripts"


def test_replies_may_be_given_as_values():
    call = ToolCall(CallId("a"), "f", {"x": 1})
    broken = ToolCall(CallId("b"), "g", invalid="{")

    provider = ScriptedProvider.of(
        "hi", call, ["look", broken, Call("h")], HttpFault(429), Reply(reasoning="hm")
    )

    assert provider.script == Script(
        (
            Reply("hi"),
            Reply(calls=(Call("f", {"x": 1}, "a"),)),
            Reply("look", calls=(Call("g", "{", "b"), Call("h"))),
            Reply(fault=HttpFault(429)),
            Reply(reasoning="hm"),
        )
    )


async def test_another_process_continues_at_the_right_reply():
    """A crash loses nothing: the place in the script is in the request, not in the provider."""
    call = ToolCall(CallId("a"), "f")
    messages = (
        user_message("go"),
        Message("assistant", (call,)),
        Message("tool", (ToolResult(CallId("a"), "f", "interrupted"),)),
    )

    outcome = await ask(ScriptedProvider.of(call, "so {last_tool_result}"), request(*messages))

    assert outcome.shown == [("text", "so interrupted")]


async def test_a_wait_can_be_cancelled():
    provider = ScriptedProvider.of(Reply("a", fault=HangFault(after=0)))
    task = asyncio.create_task(ask(provider))
    await asyncio.sleep(0)

    task.cancel()
    done, _ = await asyncio.wait([task], timeout=1)

    assert [task.cancelled() for task in done] == [True]


async def test_a_long_answer_lets_others_run():
    provider = ScriptedProvider.of("word " * 1_000)
    turns = 0

    async def count() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    counting = asyncio.create_task(count())
    await ask(provider)
    counting.cancel()

    assert turns > 10


async def test_a_stream_may_be_left_early():
    async with aclosing(ScriptedProvider.of("one two").stream(request())) as stream:
        assert await anext(stream) == TextDelta("one")


async def test_what_was_asked_is_kept():
    provider = ScriptedProvider.of("a", repeat=True)
    asked = [request(user_message(text)) for text in ("x", "y")]

    for one in asked:
        await ask(provider, one)

    assert list(provider.requests) == asked


def test_a_script_states_the_facts_of_its_model():
    script = Script((), window_tokens=100, max_output_tokens=10, price=ScriptPrice(1.0, 2.0))

    assert ScriptedProvider(script).model("x") == Model("scripted", "x", 100, 10, ScriptPrice(1.0, 2.0))
    assert isinstance(script.price, Price)


def test_a_file_that_is_no_script_is_an_error(tmp_path: Path):
    (tmp_path / "a.json").write_text("[]")

    with pytest.raises(ConfigError, match=r"a\.json"):
        ScriptedProvider.load(tmp_path / "a.json")


async def test_the_hello_example_answers_anything():
    provider = ScriptedProvider.load(EXAMPLES / "hello.json")
    later = (user_message("a"), Message("assistant", (Text("b"),)), user_message("and now?"))

    assert await ask(provider, request(*later)) == Outcome(
        [("text", "Hello from the scripted model. You said: and now?")],
        (await ask(provider, request(*later))).reply,
    )
