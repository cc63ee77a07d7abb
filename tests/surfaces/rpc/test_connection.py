"""A connection from the client's view: every method, in sequence and in parallel, and every bad end."""

import asyncio
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from bridle.core.errors import ProviderError
from bridle.core.messages import Message, Text, ToolCall, Usage, user_message
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.permission import parse_rule
from bridle.core.protocol import (
    ApprovalRequested,
    Delta,
    MessageAdded,
    Rename,
    RunEnded,
    TextDelta,
    ToolStarted,
)
from bridle.core.queries import ListSessions, Query, Records
from bridle.surfaces.rpc.connection import MAX_RUNS
from bridle.surfaces.rpc.protocol import MAX_LINE_BYTES
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.rpc.client import RpcError, Talk, talking

ADD = {"name": "add", "description": "adds", "input_schema": {"type": "object"}}


async def fails(talk: Talk, method: str, **params: Any) -> tuple[int, str]:
    """Return the number and the words of the error that a call ends with."""
    with pytest.raises(RpcError) as failed:
        await talk.call(method, **params)
    return failed.value.code, str(failed.value)


# ---------------------------------------------------------------------------- greeting, and nonsense


async def test_a_client_greets_and_hears_what_there_is():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        greeted = await talk.call("initialize")
        offered = await talk.call("capabilities/get")

        assert greeted["server_info"] == {"name": "bridle", "version": "test"}
        assert greeted["contract_version"] == "0.5.2"
        assert {"session/create", "turn/start", "turn/interrupt", "session/command"} < {*greeted["methods"]}
        assert offered["contract_version"] == {"major": 0, "minor": 5, "patch": 2}


async def test_an_input_is_a_prompt_or_steers_the_run():
    play = Play(says("I look.", call("c1", "look")), says("done"), says("again"), hold=True)
    async with (
        Stage(play, tools=[SmallTool("look", lambda text: "seen")]) as stage,
        talking(stage.service) as talk,
    ):
        sent = {"session_id": "play", "kind": "input"}
        begun = await talk.call("comms/send", **sent, body="hi")
        steered = await talk.call("comms/send", **sent, body="quickly", handling_mode="steer")
        queued = await talk.call("comms/send", **sent, body="and then", source="rpc", stream="none")
        play.go.set()
        await stage.until(RunEnded, count=2)

        assert [one["kind"] for one in (begun, steered, queued)] == ["input_accepted"] * 3
        assert all(one["interaction_id"] and not one["stream_reserved"] for one in (begun, steered, queued))
        added = [event for event in await stage.log() if isinstance(event, MessageAdded)]
        assert [(event.source, event.message.text) for event in added] == [
            ("prompt", "hi"),
            ("steer", "quickly"),
            ("prompt", "and then"),
        ]


async def test_messages_to_peers_need_comms_and_a_kind_that_there_is():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        sent = {"session_id": "play", "to": "anna"}
        off = await fails(talk, "comms/send", **sent, kind="peer_message", body="hi")
        lifecycle = await fails(talk, "comms/send", **sent, kind="peer_lifecycle")
        wrong = await fails(talk, "comms/send", **sent, kind="peer_response", status="maybe")
        unlisted = await fails(talk, "comms/peers", session_id="play")

        assert "messages between agents are off" in off[1]
        assert "messages between agents are off" in unlisted[1]
        assert (lifecycle[0], wrong[0]) == (-32020, -32602)


async def test_a_client_may_name_the_contract_when_it_greets():
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service) as talk:
        greeted = await talk.call("initialize", contract_version="0.9.6", client_info={"name": "x"})
        await talk.call("turn/start", session_id="play", prompt="hi")

        assert greeted["contract_version"] == "0.9.6"
        assert talk.events()[0]["payload"]["type"] == "run_started"
        assert await fails(talk, "initialize", contract_version="new") == (
            -32602,
            '"new" is not a version of the contract',
        )


async def test_nonsense_is_answered_and_the_next_line_is_served():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        for raw in (b"{", b"[]", b"\xff\xfe", b'{"jsonrpc":"2.0"}', b"x" * (MAX_LINE_BYTES + 1), b"  "):
            talk.say(raw)
        talk.say({"jsonrpc": "2.0", "method": "initialized"})
        talk.say({"jsonrpc": "2.0", "method": "no/such/notification", "params": 7})
        talk.say({"jsonrpc": "2.0", "id": "nobody-asked", "result": {}})

        assert (await talk.call("session/list"))["sessions"][0]["session_id"] == "play"
        errors = [one["error"]["code"] for one in talk.heard if one.get("id", 0) is None]
        assert sorted(errors) == [-32700, -32700, -32700, -32700, -32600]


async def test_unknown_methods_and_params_are_refused():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        assert await fails(talk, "mob/create") == (-32601, "Method not found: mob/create")
        code, words = await fails(talk, "session/read", session_id="play", colour=1)
        assert (code, words) == (-32602, "Invalid params: colour: unknown field")
        code, words = await fails(talk, "turn/start", session_id="play", prompt=7)
        assert (code, words[:15]) == (-32602, "Invalid params:")
        assert await fails(talk, "session/read", session_id="../x") == (
            -32602,
            "Invalid session_id: '../x'",
        )
        assert await fails(talk, "session/read", session_id="nobody") == (-32001, 'no session "nobody"')
        assert (await fails(talk, "turn/start", session_id="nobody", prompt="x"))[0] == -32001
        assert (await fails(talk, "turn/interrupt", session_id="nobody"))[0] == -32001


async def test_an_id_in_use_is_refused_without_harm_to_the_first():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, talking(stage.service) as talk:
        first = talk.ask("turn/start", session_id="play", prompt="hi")
        await play.streaming.wait()
        talk.say({"jsonrpc": "2.0", "id": first, "method": "session/list"})
        refusal = await talk.until(lambda one: "error" in one)
        play.go.set()

        assert (await talk.answer(first))["text"] == "Hello."
        assert (refusal["id"], refusal["error"]["code"]) == (None, -32600)


# ---------------------------------------------------------------------------- runs


async def test_events_come_before_the_answer_of_their_run():
    tool = SmallTool("look", lambda on: f"seen {on}")
    play = Play(says("Let me see.", call("c1", "look")), says("It is a."))
    async with Stage(play, tools=[tool]) as stage, talking(stage.service) as talk:
        result = await talk.call("session/create", prompt="hi")

        assert talk.heard[-1]["result"] == result
        assert talk.kinds() == [
            "run_started",
            "turn_started",
            "text_complete",
            "tool_call_requested",
            "tool_execution_started",
            "tool_execution_completed",
            "tool_result_received",
            "turn_completed",
            "turn_started",
            "text_complete",
            "turn_completed",
            "run_completed",
        ]
        assert (result["text"], result["turns"], result["tool_calls"]) == ("It is a.", 2, 1)
        assert result["usage"]["total_tokens"] == 30
        assert {one["params"]["session_id"] for one in talk.heard if "method" in one} == {
            result["session_id"]
        }


async def test_a_run_can_do_without_its_events():
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service) as talk:
        result = await talk.call("turn/start", session_id="play", prompt="hi", session_events=False)

        assert (result["text"], len(talk.heard)) == ("Hello.", 1)


async def test_an_interrupt_overtakes_the_run_it_is_about():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, talking(stage.service) as talk:
        run = talk.ask("turn/start", session_id="play", prompt="hi")
        await play.streaming.wait()

        assert await talk.call("turn/interrupt", session_id="play") == {"interrupted": True}
        result = await talk.answer(run)
        assert (result["outcome"], result["text"]) == ("cancelled", "Hello.")
        assert talk.events()[-1]["type"] == "run_failed"
        assert await talk.call("turn/interrupt", session_id="play") == {"interrupted": True}


class SlowApi:
    """A session API whose sessions take a while to be found."""

    def __init__(self, api: Any) -> None:
        self._api = api

    def __getattr__(self, name: str) -> Any:
        return getattr(self._api, name)

    async def ask(self, query: Query[Any]) -> Any:
        if isinstance(query, Records):
            for _ in range(100):
                await asyncio.sleep(0)
        return await self._api.ask(query)


async def test_an_interrupt_right_behind_the_request_is_not_lost():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, talking(SlowApi(stage.service)) as talk:  # type: ignore[arg-type]
        run = talk.ask("turn/start", session_id="play", prompt="hi")
        talk.ask("turn/interrupt", session_id="play")

        assert (await talk.answer(run))["outcome"] == "cancelled"


async def test_others_are_served_while_a_run_goes_on():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, talking(stage.service) as talk:
        run = talk.ask("turn/start", session_id="play", prompt="hi")
        await play.streaming.wait()

        assert (await fails(talk, "turn/start", session_id="play", prompt="x"))[0] == -32002
        assert (await talk.call("session/read", session_id="play"))["is_active"] is True
        [row] = (await talk.call("session/list"))["sessions"]
        assert (row["is_active"], row["state"]) == (True, "running")
        play.go.set()
        await talk.answer(run)
        assert (await talk.call("session/read", session_id="play"))["is_active"] is False


async def test_a_run_without_its_answer_is_an_error_with_what_there_is():
    play = Play([ProviderError("no such model", kind="model_not_found")])
    async with Stage(play) as stage, talking(stage.service) as talk:
        with pytest.raises(RpcError, match="no such model") as failed:
            await talk.call("turn/start", session_id="play", prompt="hi")

        assert (failed.value.code, failed.value.data["name"]) == (-32010, "PROVIDER_ERROR")
        assert failed.value.data["result"]["outcome"] == "failed"
        assert talk.kinds()[-1] == "run_failed"


async def test_a_budget_that_is_used_up_is_an_error():
    tool = SmallTool("look", lambda on: on)
    play = Play(says("", call("c1", "look")), says("x"))
    async with Stage(play, tools=[tool]) as stage, talking(stage.service) as talk:
        code, _ = await fails(
            talk, "turn/start", session_id="play", prompt="hi", budget_limits={"max_tool_calls": 0}
        )

        assert code == -32011


async def test_what_a_session_was_created_with_holds_for_its_later_runs():
    play = Play(says("one"), says("two"))
    async with Stage(play) as stage, talking(stage.service) as talk:
        created = await talk.call("session/create", prompt="a", system_prompt="Be brief.", max_tokens=50)
        await talk.call("turn/start", session_id=created["session_id"], prompt="b")

        assert [request.system for request in play.requests] == ["Be brief.", "Be brief."]
        assert [request.max_output_tokens for request in play.requests] == [50, 50]


async def test_the_first_run_can_be_put_off():
    play = Play(says("Hello."))
    async with Stage(play) as stage, talking(stage.service) as talk:
        created = await talk.call(
            "session/create", prompt="Know this.", system_prompt="Be brief.", initial_turn="deferred"
        )
        assert play.requests == []
        result = await talk.call("turn/start", session_id=created["session_id"], prompt="Now?")

        assert list(created) == ["session_id"]
        assert (result["text"], play.requests[0].system) == ("Hello.", "Be brief.")
        assert play.requests[0].messages == (user_message("Know this."), user_message("Now?"))


@pytest.mark.parametrize("initial_turn", ["run_immediately", "deferred"])
async def test_another_process_starts_runs_with_what_a_session_was_created_with(initial_turn: str):
    first, second = Play(says("one"), says("two")), Play(says("one"), says("two"))
    made = {"system_prompt": "Be brief.", "max_tokens": 50, "mode": "plan", "enable_builtins": False}
    read_file = [SmallTool("read_file", str)]
    async with Stage(first, tools=read_file) as stage, talking(stage.service) as talk:
        created = await talk.call("session/create", prompt="a", initial_turn=initial_turn, **made)
    async with Stage(second, tools=read_file, store=stage.store) as other, talking(other.service) as talk:
        await talk.call("turn/start", session_id=created["session_id"], prompt="b")
        shown = await talk.call("session/context", session_id=created["session_id"])

    [request] = second.requests
    assert [message.text for message in request.messages if message.role == "user"] == ["a", "b"]
    assert (request.system, request.max_output_tokens, request.tools) == ("Be brief.", 50, ())
    assert (shown["system"], shown["tools"]) == ("Be brief.", [])


async def test_a_session_begins_with_messages_and_a_fork_takes_the_first():
    play = Play(says("Hello."), says("Again."))
    async with Stage(play) as stage, talking(stage.service) as talk:
        first = [{"role": "user", "content": "Know this."}, {"role": "assistant", "content": "I do."}]
        made = await talk.call("session/create", prompt="And?", model="scripted/play", messages=first)
        fork = await talk.call("session/fork", session_id=made["session_id"], messages=2)
        await talk.call("turn/start", session_id=fork["session_id"], prompt="What?")

        texts = [[message.text for message in request.messages] for request in play.requests]
        assert texts == [["Know this.", "I do.", "And?"], ["Know this.", "I do.", "What?"]]


async def test_sessions_are_listed_by_their_labels():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        made = {
            "prompt": "x",
            "model": "scripted/play",
            "initial_turn": "deferred",
            "labels": {"team": "red"},
        }
        session = (await talk.call("session/create", **made))["session_id"]
        found = await talk.call("session/list", labels={"team": "red"})
        others = await talk.call("session/list", labels={"team": "blue"})
        read = await talk.call("session/read", session_id=session)

        assert [(one["session_id"], one["labels"]) for one in found["sessions"]] == [
            (session, {"team": "red"})
        ]
        assert others["sessions"] == []
        assert read["labels"] == {"team": "red"}


async def test_a_session_whose_first_prompt_is_refused_is_not_left_behind():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        code, words = await fails(talk, "session/create", prompt="hi", output_schema={"type": 7})

        assert code == -32602
        assert "schema" in words
        assert [one.id for one in await stage.service.ask(ListSessions())] == ["play"]


async def test_a_key_makes_a_prompt_safe_to_send_again():
    play = Play(says("Hello."))
    async with Stage(play) as stage, talking(stage.service) as talk:
        asked = {"session_id": "play", "prompt": "hi", "idempotency_key": "k"}
        first = await talk.call("turn/start", **asked)
        again = await talk.call("turn/start", **asked)

        assert (again["run_id"], len(play.requests)) == (first["run_id"], 1)
        assert (await fails(talk, "turn/start", **{**asked, "prompt": "other"}))[0] == -32004


async def test_a_key_makes_a_new_session_safe_to_ask_for_again():
    play = Play(says("Hello."))
    async with Stage(play) as stage:
        asked = {"prompt": "hi", "cwd": "/", "idempotency_key": "k"}
        async with talking(stage.service) as talk:
            first = await talk.call("session/create", **asked)
        async with talking(stage.service) as talk:
            again = await talk.call("session/create", **asked)
            other = await fails(talk, "session/create", **{**asked, "prompt": "other"})
        there = {one.id for one in await stage.service.ask(ListSessions())}

    assert (again["session_id"], again["run_id"]) == (first["session_id"], first["run_id"])
    assert (other[0], len(play.requests), there) == (-32004, 1, {"play", first["session_id"]})


async def test_there_is_an_end_to_the_runs_of_one_client():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, talking(stage.service) as talk:
        runs = [talk.ask("session/create", prompt=str(number)) for number in range(MAX_RUNS)]
        assert await fails(talk, "session/create", prompt="x") == (
            -32603,
            f"Max sessions reached ({MAX_RUNS}/{MAX_RUNS})",
        )
        assert (await fails(talk, "turn/start", session_id="play", prompt="x"))[0] == -32603
        play.go.set()
        for run in runs:
            await talk.answer(run)


# ---------------------------------------------------------------------------- approvals


GUARDED = [parse_rule("ask", "touch")]


def guarded() -> tuple[SmallTool, Play]:
    tool = SmallTool("touch", lambda on: "touched", access="write")
    return tool, Play(says("", call("c1", "touch", "file")), says("Done."))


async def test_nobody_answers_for_a_client_that_cannot():
    tool, play = guarded()
    async with Stage(play, tools=[tool]) as stage, talking(stage.service) as talk:
        with pytest.raises(RpcError, match="nobody is there to approve it") as refused:
            await talk.call("turn/start", session_id="play", prompt="hi", mode="ask")

    data = refused.value.data
    assert (refused.value.code, data["name"], tool.calls) == (-32013, "APPROVAL_DENIED", [])
    assert data["hint"] == "to allow it, add the rule allow touch(*)"
    assert [one["tool"] for one in data["result"]["denied"]] == ["touch"]


async def test_a_client_that_can_is_asked_and_answers():
    tool, play = guarded()
    async with Stage(play, tools=[tool], rules=GUARDED) as stage, talking(stage.service) as talk:
        await talk.call("initialize", capabilities={"approvals": True})
        run = talk.ask("turn/start", session_id="play", prompt="hi")
        asked = await talk.told("session/approval")
        decide = {"type": "decide", "call_id": asked["approval"]["call_id"], "answer": "once"}
        await talk.call("session/command", session_id="play", command=decide)

        assert (await talk.answer(run))["text"] == "Done."
        assert (asked["session_id"], asked["approval"]["tool"], tool.calls) == ("play", "touch", ["file"])


# ---------------------------------------------------------------------------- tools of the client


async def test_a_client_does_what_its_tools_are_called_for():
    play = Play(says("", ToolCall("c1", "add", {"a": 1, "b": 2})), says("Done."), says("Again."))  # type: ignore[arg-type]
    async with Stage(play) as stage, talking(stage.service) as talk:
        talk.tools["add"] = lambda args: {
            "result": {"content": str(args["a"] + args["b"]), "is_error": False}
        }
        assert await talk.call("tools/register", tools=[ADD]) == {"registered": 1}
        result = await talk.call("turn/start", session_id="play", prompt="hi")

        asked = await talk.told("tool/execute")
        assert (result["text"], result["tool_calls"]) == ("Done.", 1)
        assert asked == {
            "session_id": "play",
            "tool_use_id": "c1",
            "name": "add",
            "arguments": {"a": 1, "b": 2},
        }
        assert [spec.name for spec in play.requests[0].tools] == ["add"]
        [completed] = [one for one in talk.events() if one["type"] == "tool_execution_completed"]
        assert (completed["result"], completed["is_error"]) == ("3", False)


@pytest.mark.parametrize(
    ("answer", "text", "is_error"),
    [
        ({"result": "bare"}, "bare", False),
        ({"result": {"content": "no", "is_error": True}}, "no", True),
        (
            {"result": {"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}},
            "a\nb",
            False,
        ),
        ({"error": {"code": 1, "message": "broke"}}, "broke", True),
        ({"result": {"content": 7}}, "the client's answer is invalid: Expected", True),
        ({"result": [1]}, "the client's answer is invalid: Expected", True),
    ],
)
async def test_whatever_a_client_answers_becomes_a_result(answer: Any, text: str, is_error: bool):
    play = Play(says("", ToolCall("c1", "add", {})), says("Done."))  # type: ignore[arg-type]
    async with Stage(play) as stage, talking(stage.service) as talk:
        talk.tools["add"] = lambda args: answer
        await talk.call("tools/register", tools=[ADD])
        await talk.call("turn/start", session_id="play", prompt="hi")

        [completed] = [one for one in talk.events() if one["type"] == "tool_execution_completed"]
        assert (completed["result"][: len(text)], completed["is_error"]) == (text, is_error)


async def test_tools_can_be_for_one_session_alone():
    play = Play(says("one"), says("two"))
    async with Stage(play) as stage, talking(stage.service) as talk:
        await talk.call("session/create", prompt="a", external_tools=[ADD])
        await talk.call("turn/start", session_id="play", prompt="b")

        assert [[spec.name for spec in request.tools] for request in play.requests] == [["add"], []]


@pytest.mark.parametrize(
    ("tools", "says_what"),
    [
        ([{**ADD, "name": f"t{number}"} for number in range(129)], "a client can have 128 tools"),
        ([{**ADD, "input_schema": {"x": "y" * 300_000}}], "too long"),
    ],
)
async def test_tools_have_bounds(tools: list[Any], says_what: str):
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        code, words = await fails(talk, "tools/register", tools=tools)

        assert code == -32602
        assert says_what in words


async def test_a_tool_fails_when_its_client_goes():
    play = Play(says("", ToolCall("c1", "add", {})), says("Done."))  # type: ignore[arg-type]
    async with Stage(play) as stage:
        async with talking(stage.service, keeps_runs=True) as talk:
            talk.tools["add"] = lambda args: None
            await talk.call("tools/register", tools=[ADD])
            talk.ask("turn/start", session_id="play", prompt="hi")
            await talk.told("tool/execute")
            talk.vanish()
        ended = await stage.until(RunEnded)

        assert (ended.outcome, ended.text) == ("completed", "Done.")
        assert "the client that provides this tool is gone" in str(play.requests[-1].messages[-1])
        await stage.run("again")
        assert play.requests[-1].tools == ()


# ---------------------------------------------------------------------------- sessions


async def test_sessions_are_listed_read_and_put_away():
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service) as talk:
        await talk.call("turn/start", session_id="play", prompt="hi")
        info = await talk.call("session/read", session_id="play")
        listed = await talk.call("session/list", limit=1)

        assert listed["sessions"][0] == {
            "session_id": "play",
            "created_at": 1,
            "updated_at": 1,
            "message_count": 2,
            "total_tokens": 15,
            "is_active": False,
            "state": "idle",
            "title": "hi",
            "cwd": "/",
            "labels": {},
        }
        assert (info["model"], info["provider"], info["last_assistant_text"]) == (
            "play",
            "scripted",
            "Hello.",
        )
        assert await talk.call("session/archive", session_id="play") == {"archived": True}
        assert (await talk.call("session/list"))["sessions"] == []
        assert len((await talk.call("session/list", archived=True))["sessions"]) == 1


async def test_a_list_comes_in_pages():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        for number in range(4):
            await stage.service.create(cwd="/", title=str(number))
        pages = [await talk.call("session/list", limit=3, offset=offset) for offset in (0, 3, 9)]

        assert [(len(page["sessions"]), page["has_more"]) for page in pages] == [
            (3, True),
            (2, False),
            (0, False),
        ]


async def test_what_was_said_can_be_read():
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service) as talk:
        await talk.call("turn/start", session_id="play", prompt="hi")
        page = await talk.call("session/history", session_id="play", offset=1)

        assert [message["blocks"] for message in page["messages"]] == [
            [{"block_type": "text", "data": {"text": "Hello."}}]
        ]
        assert (page["message_count"], page["has_more"]) == (2, False)


async def test_old_clients_get_long_answers_and_histories_in_lines_they_can_read():
    play = Play(says("x" * 50_000), says("y" * 100_000))
    async with Stage(play, window_tokens=1_000_000) as stage, talking(stage.service) as talk:
        await talk.call("turn/start", session_id="play", prompt="a")
        result = await talk.call("turn/start", session_id="play", prompt="b" * 40_000)
        pages, offset = [], 0
        while not pages or pages[-1]["has_more"]:
            pages.append(await talk.call("session/history", session_id="play", offset=offset))
            offset += len(pages[-1]["messages"])

        assert max(len(json.dumps(message)) for message in talk.heard) <= 60_000
        assert result["text"].endswith("characters left out]")
        fragments = "".join(one["delta"] for one in talk.events() if one["type"] == "text_delta")
        assert fragments == "x" * 50_000 + "y" * 100_000
        assert [len(page["messages"]) for page in pages] == [2, 1, 1]
    stored = [record.event for record in await stage.service.ask(Records(stage.session))]
    assert [event.text for event in stored if isinstance(event, RunEnded)] == ["x" * 50_000, "y" * 100_000]


async def test_our_own_methods_reach_everything_else(env: dict[str, str]):
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service, "/", env) as talk:
        prompt = {"type": "prompt", "message": {"role": "user", "parts": [{"type": "text", "text": "hi"}]}}
        receipt = await talk.call("session/command", session_id="play", command=prompt)
        await stage.until(RunEnded)
        await talk.call("session/command", session_id="play", command={"type": "rename", "title": "T"})
        child = (await talk.call("session/fork", session_id="play"))["session_id"]
        records = await talk.call("session/records", session_id="play", after=1, limit=2)

        assert receipt["run_id"]
        assert (await talk.call("session/read", session_id=child))["last_assistant_text"] == "Hello."
        assert [record["event"]["type"] for record in records["records"]] == ["run_started", "message_added"]
        assert records["has_more"] is True
        assert (await fails(talk, "session/command", session_id="play", command={"type": "dance"}))[
            0
        ] == -32602


async def test_a_session_can_be_watched_in_meerkats_words_and_in_ours():
    async with Stage(Play(says("one"), says("two"))) as stage, talking(stage.service) as talk:
        await stage.run("before")
        stream = await talk.call("session/stream_open", session_id="play")
        watch = await talk.call("session/watch", session_id="play", after=0)
        await stage.run("after")
        ended = await talk.until(
            lambda one: (
                one.get("method") == "session/stream_event"
                and one["params"]["event"]["payload"]["type"] == "run_completed"
            )
        )
        await talk.until(
            lambda one: (
                one.get("method") == "session/record"
                and one["params"].get("record", {}).get("event", {}).get("text") == "two"
            )
        )
        closed = [await talk.call("session/stream_close", stream_id=stream["stream_id"]) for _ in range(2)]
        await talk.call("session/stream_close", stream_id=watch["stream_id"])

        assert (stream["opened"], ended["params"]["stream_id"]) == (True, stream["stream_id"])
        first = next(one for one in talk.events("session/stream_event"))
        assert first["payload"] == {"type": "run_started", "session_id": "play", "prompt": "after"}
        assert [one["already_closed"] for one in closed] == [False, True]
        told = [one["params"] for one in talk.heard if one.get("method") == "session/record"]
        seqs = [one["record"]["seq"] for one in told if "record" in one]
        assert seqs == list(range(1, len(seqs) + 1))
        assert {"type": "text_delta", "text": "two"} in [one.get("delta") for one in told]
        assert [live.watchers for live in stage.service.live()] == [0]
        assert (await fails(talk, "session/watch", session_id="nobody"))[0] == -32001
        assert (await fails(talk, "session/stream_open", session_id="nobody"))[0] == -32001


# ---------------------------------------------------------------------------- settings and skills


async def test_settings_are_read_and_changed(env: dict[str, str], tmp_path: Path):
    async with Stage(Play()) as stage, talking(stage.service, str(tmp_path), env) as talk:
        before = await talk.call("config/get")
        after = await talk.call(
            "config/patch",
            patch={"limits": {"max_turns": 7}},
            expected_generation=before["generation"],
        )
        stale = await fails(talk, "config/set", config={}, expected_generation=before["generation"])
        raw = await talk.call("config/set", limits={"max_turns": 8})

        assert (before["config"], after["config"]) == ({}, {"limits": {"max_turns": 7}})
        assert (stale[0], raw["config"]) == (-32602, {"limits": {"max_turns": 8}})
        assert (await fails(talk, "config/patch", patch={"nonsense": 1}))[0] == -32602
        assert (await fails(talk, "config/patch", patch={}, more=1))[0] == -32602
        assert (await talk.call("config/get"))["config"] == {"limits": {"max_turns": 8}}


async def test_the_oldest_clients_get_settings_without_a_wrapping(env: dict[str, str], tmp_path: Path):
    async with Stage(Play()) as stage, talking(stage.service, str(tmp_path), env, contract="0.3.4") as talk:
        assert await talk.call("config/get") == {}
        assert await talk.call("config/set", model="openai/a") == {"ok": True}
        assert await talk.call("config/patch", agent="coder") == {"model": "openai/a", "agent": "coder"}


async def test_skills_are_listed_used_and_missed(env: dict[str, str], tmp_path: Path):
    folder = tmp_path / ".bridle" / "skills"
    folder.mkdir(parents=True)
    (folder / "review.md").write_text("---\nname: review\ndescription: looks\n---\nLook at $ARGUMENTS.\n")
    play = Play(says("one"), says("two"))
    async with Stage(play, cwd=str(tmp_path)) as stage, talking(stage.service, str(tmp_path), env) as talk:
        listed = await talk.call("skills/list")
        asked = {"session_id": "play", "prompt": "now", "skill_refs": [{"skill_name": "review"}]}
        await talk.call("turn/start", **asked)
        await talk.call("turn/start", session_id="play", prompt="/review a.py")
        missed = await fails(talk, "turn/start", **{**asked, "skill_refs": ["revue"]})

        assert [one["name"] for one in listed["skills"]] == ["review"]
        assert play.requests[0].messages[-1].text.endswith("Look at .now")
        assert play.requests[1].messages[-1].text.endswith("Look at a.py.")
        assert [one["skills"] for one in talk.events() if one["type"] == "skills_resolved"] == [
            ["review"],
            ["review"],
        ]
        assert missed == (-32021, "no skill is named revue")
        assert talk.events()[-1]["type"] == "skill_resolution_failed"


# ---------------------------------------------------------------------------- ends


async def test_what_was_asked_is_answered_when_the_input_ends():
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        asked = [talk.ask("session/list") for _ in range(200)]
        talk.hang_up()
        await talk.end()

        assert [one["id"] for one in talk.heard] == asked


async def test_runs_of_this_process_are_cancelled_when_the_input_ends():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage, talking(stage.service) as talk:
        run = talk.ask("turn/start", session_id="play", prompt="hi")
        await play.streaming.wait()
        talk.hang_up()

        assert (await talk.answer(run))["outcome"] == "cancelled"
        await talk.end()


async def test_runs_of_another_process_are_left_to_it():
    play = Play(says("Hello."), hold=True)
    async with Stage(play) as stage:
        async with talking(stage.service, keeps_runs=True) as talk:
            run = talk.ask("turn/start", session_id="play", prompt="hi")
            await play.streaming.wait()
            talk.hang_up()
            with pytest.raises(RpcError, match="the input ended before the run") as left:
                await talk.answer(run)
            await talk.end()
        assert left.value.code == -32005
        assert [(live.state, live.watchers) for live in stage.service.live()] == [("running", 0)]
        play.go.set()

        assert (await stage.until(RunEnded)).outcome == "completed"


@pytest.mark.parametrize("step", ["at once", "asked", "streaming", "tool", "approval", "watching"])
async def test_a_client_that_vanishes_leaves_nothing_behind(step: str):
    tool = SmallTool("touch", lambda on: "touched", access="write")
    play = Play(says("Hm.", call("c1", "touch")), says("Done."), hold=step == "streaming")
    rules = [parse_rule("ask" if step == "approval" else "allow", "touch")]
    before = len(asyncio.all_tasks())
    async with Stage(play, tools=[tool], rules=rules) as stage:
        async with talking(stage.service) as talk:
            await talk.call("initialize", capabilities={"approvals": True})
            if step == "watching":
                await talk.call("session/watch", session_id="play")
                await talk.call("session/stream_open", session_id="play")
            if step != "at once":
                talk.ask("turn/start", session_id="play", prompt="hi")
            if step == "streaming":
                await play.streaming.wait()
            elif step == "approval":
                await stage.until(ApprovalRequested)
            elif step == "tool":
                await stage.until(ToolStarted)
            talk.vanish()

        assert all(live.watchers == 0 for live in stage.service.live())
        assert all(live.state == "idle" for live in stage.service.live())
    assert len(asyncio.all_tasks()) == before


async def test_a_connection_that_is_broken_off_leaves_nothing_behind():
    before = asyncio.all_tasks()
    async with Stage(Play()) as stage, talking(stage.service) as talk:
        await talk.call("session/watch", session_id="play")
        await talk.call("session/command", session_id="play", command={"type": "rename", "title": "T"})
        await talk.told("session/record")
        assert [live.watchers for live in stage.service.live()] == [1]
        talk.serving.cancel()
        await asyncio.wait([talk.serving])

        assert [live.watchers for live in stage.service.live()] == [0]
    assert asyncio.all_tasks() == before


class Flood:
    """A model that says very much at once."""

    def __init__(self, size: int) -> None:
        self.is_over = asyncio.Event()
        self._size = size

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        for number in range(self._size):
            yield TextDelta(f"{number:0100d} ")
            if not number % 100:
                await asyncio.sleep(0)
        self.is_over.set()
        yield ModelReply(Message("assistant", (Text("Done."),)), "end_turn", Usage())

    async def aclose(self) -> None:
        pass


async def test_a_client_that_does_not_read_holds_nobody_up_and_is_told_what_it_missed():
    flood = Flood(20_000)
    async with Stage(flood) as stage, talking(stage.service) as talk:
        talk.stop_reading()
        run = talk.ask("turn/start", session_id="play", prompt="hi")
        ended = await stage.until(RunEnded)
        assert ended.outcome == "completed"
        talk.go_on_reading()

        assert (await talk.answer(run))["text"] == "Done."
        kinds = talk.kinds()
        assert "stream_truncated" in kinds
        assert kinds[-1] == "run_completed"
        assert len(talk.events()) < 20_000


async def test_a_client_that_asks_and_does_not_read_is_not_served_without_end():
    async with Stage(Play()) as stage:
        await stage.service.submit(stage.session, Rename("x" * 30_000))
        async with talking(stage.service) as talk:
            talk.stop_reading()
            asked = [talk.ask("session/records", session_id="play") for _ in range(2_000)]
            await asyncio.sleep(0.05)
            talk.go_on_reading()

            assert all([(await talk.answer(id_))["records"] for id_ in asked])
            assert len(talk.heard) == len(asked)


async def test_what_broke_is_not_told_in_detail(caplog: pytest.LogCaptureFixture):
    async with Stage(Play()) as stage:

        async def broken(query: Query[Any]) -> Any:
            raise RuntimeError("password=secret")

        stage.service.ask = broken  # type: ignore[method-assign]
        async with talking(stage.service) as talk:
            assert await fails(talk, "session/list") == (-32603, "Internal error")

    assert "session/list failed: RuntimeError" in caplog.text


async def test_a_prompt_of_blocks_reaches_the_model():
    play = Play(says("Hello."))
    async with Stage(play) as stage, talking(stage.service) as talk:
        await talk.call("turn/start", session_id="play", prompt=[{"type": "text", "text": "hi"}])
        empty = await fails(talk, "turn/start", session_id="play", prompt="")

        assert play.requests[0].messages == (user_message("hi"),)
        assert empty == (-32602, "the prompt is empty")


@pytest.mark.parametrize("tool", [{"name": "a b"}, {"name": "a", "input_schema": {"type": "array"}}])
async def test_what_cannot_be_a_tool_is_refused_at_once_and_runs_go_on(tool: dict[str, Any]):
    async with Stage(Play(says("Hello."))) as stage, talking(stage.service) as talk:
        code, _ = await fails(talk, "tools/register", tools=[ADD, tool])
        answered = await talk.call("turn/start", session_id="play", prompt="hi")

        assert (code, answered["text"]) == (-32602, "Hello.")


async def test_a_refusal_is_no_longer_than_its_reader_reads():
    async with Stage(Play()) as stage, talking(stage.service, contract="0.5.2") as talk:
        _, words = await fails(talk, "turn/start", session_id="play", prompt="hi", mode="x" * 5_000_000)

        assert len(words) < 64 * 1024
