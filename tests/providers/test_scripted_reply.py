"""Which scripted reply answers a request, and which values are inserted."""

import pytest

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.model import ModelRequest
from bridle.core.tool import ToolSpec
from bridle.providers.script import Call, Expect, HttpFault, Reply, Script, ScriptUsage
from bridle.providers.scripted_reply import (
    CallChunk,
    ReasoningChunk,
    ScriptedCall,
    ScriptedReply,
    ScriptPlayer,
    TextChunk,
)

TOOLS = (ToolSpec("read_file", "Read.", {"type": "object"}),)


def said(text: str) -> Message:
    return Message("assistant", (Text(text),))


def called(*ids: str) -> Message:
    return Message("assistant", tuple(ToolCall(CallId(one), "f") for one in ids))


def result(call_id: str, output: str = "out") -> Message:
    return Message("tool", (ToolResult(CallId(call_id), "f", output),))


def request(*messages: Message, system: str = "sys") -> ModelRequest:
    return ModelRequest("m", system, messages or (user_message("hi"),), TOOLS)


def play(reply: Reply, *messages: Message) -> ScriptedReply:
    return ScriptPlayer(Script((reply,), repeat=True), "s").play(request(*messages))


def texts(script: Script, *requests: ModelRequest) -> list[str]:
    return [ScriptPlayer(script, "s").play(one).text for one in requests]


def test_the_number_of_answers_so_far_is_the_number_of_the_reply():
    script = Script((Reply("one"), Reply("two"), Reply("three")))
    first = (user_message("a"),)
    second = (*first, called("x"), result("x"))
    third = (*second, said("two"), user_message("b"))

    assert texts(script, request(*third), request(*first), request(*second)) == ["three", "one", "two"]


def test_asking_further_is_an_error_that_says_what_to_do():
    player = ScriptPlayer(Script((Reply("one"),)), "demo.json")

    with pytest.raises(ProviderError) as caught:
        player.play(request(user_message("a"), said("one"), user_message("b")))
    assert caught.value.kind == "invalid_request"
    assert str(caught.value) == (
        "demo.json: the script is over: it has 1 replies and was asked for number 2 "
        '(hint: add a reply to the script, or "repeat": true)'
    )


def test_repeat_starts_again():
    script = Script((Reply("one"), Reply("two")), repeat=True)

    assert texts(script, request(user_message("a"), said("1"), said("2"), said("3"), user_message("b"))) == [
        "two"
    ]


def test_a_script_without_replies_is_over_at_once():
    with pytest.raises(ProviderError, match="0 replies"):
        texts(Script((), repeat=True), request())


def test_a_match_answers_by_the_last_user_message_and_counts_from_it():
    script = Script(
        (
            Reply("in order"),
            Reply("first", match="fix .*bug"),
            Reply("other", match="x"),
            Reply("then", match="fix .*bug"),
        )
    )
    asked = (user_message("a"), said("b"), said("c"), user_message("please fix the bug"))

    assert texts(script, request(*asked), request(*asked, called("x"), result("x")), request()) == [
        "first",
        "then",
        "in order",
    ]
    with pytest.raises(ProviderError, match=r"2 replies that match 'fix \.\*bug'"):
        texts(script, request(*asked, said("1"), said("2")))


@pytest.mark.parametrize(
    ("expect", "says"),
    [
        (Expect(user="bye"), "expected the last user message to contain 'bye', it is 'hi'"),
        (Expect(tool_result="x"), "expected the last tool result to contain 'x', it is ''"),
        (Expect(system="terse"), "expected the system prompt to contain 'terse', it is 'sys'"),
        (Expect(tools=("read_file", "bash")), "expected the tools bash, offered are: read_file"),
    ],
)
def test_a_request_that_is_not_what_was_expected_is_an_error(expect: Expect, says: str):
    with pytest.raises(ProviderError) as caught:
        play(Reply("a", expect=expect))
    assert caught.value.kind == "invalid_request"
    assert str(caught.value) == f"s: reply 1: {says}"


def test_a_request_that_is_what_was_expected_is_answered():
    expect = Expect("hi", "42", "sys", ("read_file",))

    assert (
        play(Reply("a", expect=expect), user_message("oh, hi"), called("x"), result("x", "it is 42")).text
        == "a"
    )


@pytest.mark.parametrize(
    ("messages", "says"),
    [
        ([result("a")], "a result for 'a', which no call"),
        ([called("a"), user_message("x")], "no result for the call 'a'"),
        ([called("a"), said("x")], "no result for the call 'a'"),
        ([called("a", "b"), result("b")], "no result for the call 'a'"),
        ([called("a"), result("a"), result("a")], "a result for 'a'"),
    ],
)
def test_calls_and_results_must_pair_as_every_vendor_wants_it(messages: list[Message], says: str):
    with pytest.raises(ProviderError, match=says):
        play(Reply("a"), user_message("hi"), *messages)


def test_duplicate_ids_pair_one_to_one():
    assert play(Reply("a"), user_message("hi"), called("x", "x"), result("x"), result("x")).text == "a"


def test_a_reply_may_quote_the_request():
    reply = Reply(
        text="{last_user}|{last_tool_result}|{tool_results}|{model}|{unknown}",
        reasoning=("{last_user}", "{model}"),
        calls=(
            Call("f", {"a": ["{last_user}", 1], "{last_user}": {"b": "{model}"}}),
            Call("g", "{last_user}"),
        ),
    )

    scene = play(reply, user_message("say {model}"), called("x", "y"), result("x", "one"), result("y", "two"))

    assert scene.text == "say {model}|two|one\ntwo|m|{unknown}"
    assert scene.reasoning == "say {model}m"
    assert [call.args for call in scene.calls] == [
        '{"a":["say {model}",1],"{last_user}":{"b":"m"}}',
        "say {model}",
    ]


def test_a_scene_is_cut_into_chunks():
    reply = Reply(
        text=" two  words\n",
        reasoning=("a b", "c"),
        calls=(
            Call("f", {"path": "a long path"}),
            Call("g"),
            Call("h", ("{", "}"), "own"),
            Call("i", "", ""),
        ),
    )

    scene = play(reply)

    assert scene.chunks == (
        ReasoningChunk("a b"),
        ReasoningChunk("c"),
        TextChunk(" two"),
        TextChunk("  words"),
        TextChunk("\n"),
        CallChunk(0, "", first=True, last=False),
        CallChunk(0, '{"path":"a long ', first=False, last=False),
        CallChunk(0, 'path"}', first=False, last=True),
        CallChunk(1, "", first=True, last=False),
        CallChunk(1, "{}", first=False, last=True),
        CallChunk(2, "", first=True, last=False),
        CallChunk(2, "{", first=False, last=False),
        CallChunk(2, "}", first=False, last=True),
        CallChunk(3, "", first=True, last=True),
    )
    assert scene.calls == (
        ScriptedCall("call_0_0", "f", '{"path":"a long path"}'),
        ScriptedCall("call_0_1", "g", "{}"),
        ScriptedCall("own", "h", "{}"),
        ScriptedCall("", "i", ""),
    )
    assert scene.stop_reason == "tool_use"


def test_usage_is_the_scripts_own_or_an_estimate():
    assert play(Reply("a", usage=ScriptUsage(1, 2, 3, 4, 5))).usage == Usage(1, 2, 3, 4, 5)

    estimate = play(Reply("some words", reasoning="hm")).usage

    assert estimate == Usage(input=6, output=4, reasoning=1)


def test_a_fault_passes_after_it_came_so_often():
    player = ScriptPlayer(
        Script((Reply("a", fault=HttpFault(429, times=2)), Reply("b", fault=HttpFault(500)))), "s"
    )
    second = request(user_message("hi"), said("a"), user_message("more"))

    assert [player.play(request()).fault is None for _ in range(4)] == [False, False, True, True]
    assert player.play(request(user_message("another session"))).fault is not None
    assert [player.play(second).fault is None for _ in range(3)] == [False, False, False]
