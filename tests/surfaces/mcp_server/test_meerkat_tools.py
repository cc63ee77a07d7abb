"""Meerkat's own tools: their formats, and callback tools that answer between calls."""

from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from bridle.core.errors import ProviderError
from bridle.core.ids import SessionId
from bridle.core.protocol import RunEnded, ToolFinished
from bridle.core.queries import ListSessions, Records
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.mcp_server.runs import ClientRuns
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says
from tests.surfaces.mcp_server.connecting import ERAS, Era, connected, json_of, serving

SCHEMA = {"type": "object", "properties": {"on": {"type": "string"}}}
TOOLS = [{"name": "theirs", "description": "A tool of the client.", "input_schema": SCHEMA}]
WAITING = [{"type": "text", "text": "Agent is waiting for tool results"}]


def pending(*calls: tuple[str, str, str]) -> list[dict[str, Any]]:
    return [{"tool_name": name, "args": {"on": on, "tool_use_id": call_id}} for call_id, name, on in calls]


def results(**given: str) -> list[dict[str, Any]]:
    return [{"tool_use_id": call_id, "content": content} for call_id, content in given.items()]


async def resume(client: Client, session: str, **arguments: Any) -> Any:
    return json_of(await client.call_tool("meerkat_resume", {"session_id": session, **arguments}))


async def finished(stage: Stage, session: str) -> list[tuple[str, str, bool]]:
    events = [record.event for record in await stage.service.ask(Records(SessionId(session)))]
    found = [event.result for event in events if isinstance(event, ToolFinished)]
    return [(result.call_id, result.output, result.is_error) for result in found]


async def until_end(watch: AsyncGenerator[Any, None]) -> AsyncIterator[Any]:
    """Yield the end of the first run."""
    async for item in watch:
        if isinstance(getattr(item, "event", None), RunEnded):
            yield item
            return


async def test_a_plain_answer_has_the_shape_that_clients_know(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("meerkat_run", {"prompt": "hi", "stream": True, "verbose": True})
        [session] = [one.id for one in await stage.service.ask(ListSessions()) if one.id != "play"]

        assert json_of(result) == {
            "content": [{"type": "text", "text": "hello"}],
            "session_id": session,
            "turns": 1,
            "tool_calls": 0,
            "structured_output": None,
            "schema_warnings": None,
        }
        assert result.structured_content == json_of(result)


@pytest.mark.parametrize("era", ERAS)
async def test_calls_of_the_clients_tools_come_all_at_once_and_over_several_rounds(home: Path, era: Era):
    model = Play(
        says("", call("c1", "theirs", "x"), call("c2", "ours", "z"), call("c3", "theirs", "y")),
        says("", call("c4", "theirs", "again")),
        says("done"),
    )
    async with (
        Stage(model, tools=[SmallTool("ours", lambda on: f"read {on}")]) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        first = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS}))
        session = first["session_id"]
        second = await resume(client, session, tool_results=results(c1="one", c3="three"))
        failed = [{"tool_use_id": "c4", "content": "broken", "is_error": True}]
        third = await resume(client, session, prompt="mind the gap", tool_results=failed)

        assert first == {
            "content": WAITING,
            "session_id": session,
            "status": "pending_tool_call",
            "pending_tool_calls": pending(("c1", "theirs", "x"), ("c3", "theirs", "y")),
        }
        assert second["pending_tool_calls"] == pending(("c4", "theirs", "again"))
        assert third["content"] == [{"type": "text", "text": "done"}]
        assert sorted(await finished(stage, session)) == [
            ("c1", "one", False),
            ("c2", "read z", False),
            ("c3", "three", False),
            ("c4", "broken", True),
        ]
        assert model.requests[-1].messages[-1].text == "mind the gap"
        assert server.runs.client_run == ()


async def test_a_tool_of_the_client_stands_in_for_one_of_ours(home: Path):
    tools = [{"name": "read_file", "description": "Reads files of the client."}]
    model = Play(says("done"))
    async with (
        Stage(model, tools=[SmallTool("read_file", str)]) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await client.call_tool("meerkat_run", {"prompt": "hi", "tools": tools})

    assert [spec.description for spec in model.requests[0].tools] == ["Reads files of the client."]


async def test_built_in_tools_are_there_only_if_they_are_wanted(home: Path):
    model = Play(says("hello"))
    tools = [SmallTool(name, str) for name in ("read_file", "bash", "agent_spawn")]
    async with (
        Stage(model, tools=tools) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        for builtins in (
            {},
            {"enable_builtins": True},
            {"enable_builtins": True, "builtin_config": {"enable_shell": True}},
        ):
            await client.call_tool("meerkat_run", {"prompt": "hi", **builtins})

        assert [{tool.name for tool in request.tools} for request in model.requests] == [
            set(),
            {"read_file", "agent_spawn"},
            {"read_file", "bash", "agent_spawn"},
        ]


async def test_a_continued_session_is_as_it_was_made(home: Path):
    model = Play(says("one"), says("two"), says("three"))
    tools = [SmallTool(name, str) for name in ("read_file", "bash")]
    own = [{"name": "read_file", "description": "Reads files of the client."}]
    async with (
        Stage(model, tools=tools) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        made = {"prompt": "hi", "system_prompt": "Be brief.", "max_tokens": 50, "tools": own}
        session = json_of(await client.call_tool("meerkat_run", made))["session_id"]
        for wanted in ({}, {"enable_builtins": True, "builtin_config": {"enable_shell": True}}):
            await client.call_tool("meerkat_resume", {"session_id": session, "prompt": "go on", **wanted})

    sent = [(request.system, request.max_output_tokens) for request in model.requests]
    assert sent == [("Be brief.", 50)] * 3
    assert [len(request.tools) for request in model.requests] == [1, 0, 0]


async def test_a_continued_session_has_the_tools_it_was_made_with_unless_they_are_turned_off(home: Path):
    model = Play(says("one"), says("two"), says("three"), says("four"))
    tools = [SmallTool(name, str) for name in ("read_file", "bash")]
    shell = {"enable_builtins": True, "builtin_config": {"enable_shell": True}}
    async with (
        Stage(model, tools=tools) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        session = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", **shell}))["session_id"]
        for wanted in ({}, {"builtin_config": {}}, {"enable_builtins": False}):
            await client.call_tool("meerkat_resume", {"session_id": session, "prompt": "go on", **wanted})

    shown = [{tool.name for tool in request.tools} for request in model.requests]
    assert shown == [{"read_file", "bash"}, {"read_file", "bash"}, {"read_file"}, set()]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"tool_results": results(c9="x")}, "no call 'c9' waits for a result (hint: waiting: c1, c2)"),
        ({"tool_results": results(c1="x")}, "tool_results: there is none for c2"),
        ({"prompt": "go on"}, "tool_results: there is none for c1, c2"),
        ({"tool_results": [*results(c1="x"), *results(c1="y")]}, "a tool_use_id occurs twice"),
        ({"tool_results": [{"tool_use_id": "c1"}]}, "tool_results[0].content: is missing"),
        ({"tool_results": results(c1="x"), "tool_result": []}, "tool_result: unknown field"),
    ],
)
async def test_results_that_do_not_fit_are_refused_and_the_run_goes_on_waiting(
    home: Path, arguments: dict[str, Any], said: str
):
    model = Play(says("", call("c1", "theirs"), call("c2", "theirs")), says("done"))
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        first = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS}))
        with pytest.raises(MCPError) as refused:
            await resume(client, first["session_id"], **arguments)
        done = await resume(client, first["session_id"], tool_results=results(c1="x", c2="y"))

        assert said in refused.value.message
        assert (refused.value.code, refused.value.data) == (-32602, {"code": "INVALID_PARAMS"})
        assert done["content"] == [{"type": "text", "text": "done"}]


@pytest.mark.parametrize(
    ("arguments", "code", "name", "said"),
    [
        ({"session_id": "gone", "prompt": "hi"}, -32603, "SESSION_NOT_FOUND", "gone"),
        ({"session_id": "play"}, -32602, "INVALID_PARAMS", "nothing to continue with"),
        (
            {"session_id": "play", "tool_results": results(c1="x")},
            -32602,
            "INVALID_PARAMS",
            "does not wait for results",
        ),
        ({"prompt": "hi"}, -32602, "INVALID_PARAMS", "session_id: is missing"),
        ({"session_id": "play", "prompt": "hi", "host_mode": True}, -32603, "CAPABILITY_UNAVAILABLE", "host"),
    ],
)
async def test_failures_are_errors_of_the_protocol(
    home: Path, arguments: dict[str, Any], code: int, name: str, said: str
):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        with pytest.raises(MCPError) as refused:
            await client.call_tool("meerkat_resume", arguments)

        assert (refused.value.code, refused.value.data) == (code, {"code": name})
        assert said in refused.value.message


async def test_a_run_that_fails_is_an_error_with_its_session(home: Path):
    broken = ProviderError("the model is away", kind="invalid_request")
    async with (
        Stage(Play([broken])) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        with pytest.raises(MCPError) as failed:
            await client.call_tool("meerkat_run", {"prompt": "hi"})
        [session] = [one.id for one in await stage.service.ask(ListSessions()) if one.id != "play"]

        assert failed.value.data == {"code": "PROVIDER_ERROR", "session_id": session}
        assert (failed.value.code, failed.value.message) == (-32603, "the model is away")


async def test_a_run_that_waits_survives_a_restart(home: Path):
    clock = FixedClock()
    store = EphemeralStore(clock)
    replies = (
        says("", call("c1", "theirs", "x"), call("c2", "theirs", "y")),
        says("", call("c3", "theirs", "z")),
        says("done"),
    )
    async with Stage(Play(*replies), store=store, clock=clock) as stage:
        async with serving(stage.service, home) as server, connected(server) as client:
            first = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS}))
        await stage.service.park(0.0)
    session = first["session_id"]
    model = Play(*replies)
    async with (
        Stage(model, store=store, clock=clock) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        with pytest.raises(MCPError, match="there is none for c2"):
            await resume(client, session, tools=TOOLS, tool_results=results(c1="one"))
        given = results(c1="one", c2="two")
        second = await resume(client, session, prompt="and now", tools=TOOLS, tool_results=given)
        third = await resume(client, session, tool_results=results(c3="three"))

        assert second["pending_tool_calls"] == pending(("c3", "theirs", "z"))
        assert third["content"] == [{"type": "text", "text": "done"}]
        assert await finished(stage, session) == [
            ("c1", "one", False),
            ("c2", "two", False),
            ("c3", "three", False),
        ]
        assert model.requests[0].messages[-1].text == "and now"
        [offered] = model.requests[0].tools
        assert (offered.name, offered.parameters) == ("theirs", SCHEMA)


async def test_after_a_restart_a_tool_that_is_waited_for_is_known_by_its_call(home: Path):
    clock = FixedClock()
    store = EphemeralStore(clock)
    replies = (says("", call("c1", "theirs", "x")), says("done"))
    async with Stage(Play(*replies), store=store, clock=clock) as stage:
        async with serving(stage.service, home) as server, connected(server) as client:
            first = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS}))
        await stage.service.park(0.0)
    async with (
        Stage(Play(*replies), store=store, clock=clock) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        session = first["session_id"]
        waiting = await resume(client, session)
        done = await resume(client, session, tool_results=results(c1="one"))

        assert waiting["pending_tool_calls"] == pending(("c1", "theirs", "x"))
        assert done["content"] == [{"type": "text", "text": "done"}]


async def test_a_run_that_waits_too_long_is_cancelled(home: Path):
    async with (
        Stage(Play(says("", call("c1", "theirs")), says("done"))) as stage,
        serving(stage.service, home, ClientRuns(stage.service, rest_s=0.0)) as server,
        connected(server) as client,
    ):
        first = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS}))
        session = SessionId(first["session_id"])
        watch = stage.service.watch(session)
        [ended] = [item.event async for item in until_end(watch)]

        assert (ended.outcome, ended.reason) == ("cancelled", "no answer arrived for 0 hours")


async def test_the_number_of_waiting_runs_is_bounded(home: Path):
    async with (
        Stage(Play(says("", call("c1", "theirs")), says("done"))) as stage,
        serving(stage.service, home, ClientRuns(stage.service, most=1)) as server,
        connected(server) as client,
    ):
        await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS})
        with pytest.raises(MCPError, match="1 runs are active or waiting for their clients") as refused:
            await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS})

        assert refused.value.data == {"code": "SESSION_BUSY"}
        assert len(await stage.service.ask(ListSessions())) == 2


async def test_a_waiting_run_can_be_cancelled(home: Path):
    async with (
        Stage(Play(says("", call("c1", "theirs")), says("done"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        first = json_of(await client.call_tool("meerkat_run", {"prompt": "hi", "tools": TOOLS}))
        session = first["session_id"]
        [client_run] = server.runs.client_run
        await client.call_tool("bridle_sessions", {"action": "cancel", "session_id": session})
        ended: RunEnded = await stage.service.wait(SessionId(session), client_run.run_id)
        with pytest.raises(MCPError, match="does not wait for results"):
            await resume(client, session, tool_results=results(c1="x"))

        assert ended.outcome == "cancelled"


async def test_capabilities_are_listed(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        told = json_of(await client.call_tool("meerkat_capabilities", {}))

        assert {"id", "description", "status"} == set(told["capabilities"][0])
