"""`bridle_run` and `bridle_resume`, with the official client of both protocol generations."""

import asyncio
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import ElicitResult

from bridle.core.ids import SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    Cancel,
    PromptQueued,
    QueueDropped,
    RunResumed,
)
from bridle.core.queries import ListSessions, Records
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.mcp_server.runs import ClientRun
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says
from tests.surfaces.mcp_server.connecting import ERAS, Era, connected, serving, text_of


def writer() -> SmallTool:
    return SmallTool("write", lambda on: f"wrote {on}", access="write")


def writing() -> Play:
    return Play(says("", call("c1", "write")), says("done"))


async def events_of(stage: Stage, session: str) -> list[Any]:
    return [record.event for record in await stage.service.ask(Records(SessionId(session)))]


@pytest.mark.parametrize("era", ERAS)
async def test_a_prompt_is_answered_with_text_and_structure(home: Path, era: Era):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        result = await client.call_tool("bridle_run", {"prompt": "hi"})
        [listed] = [one for one in await stage.service.ask(ListSessions()) if one.id != "play"]

        assert text_of(result) == "hello"
        assert not result.is_error
        assert result.structured_content == {
            "type": "result",
            "version": 1,
            "session_id": listed.id,
            "run_id": result.structured_content["run_id"],
            "outcome": "completed",
            "text": "hello",
            "reason": "",
            "turns": 1,
            "tool_calls": 0,
            "usage": {"input": 10, "output": 5, "cache_read": 0, "cache_write": 0, "reasoning": 0},
            "cost": None,
            "denied": [],
            "blame": result.structured_content["blame"],
            "structured_output": None,
            "schema_warnings": [],
            "error": None,
            "refused_by_hook": False,
        }
        assert (listed.cwd, listed.title) == (str(home.parent / "project"), "hi")
        assert server.runs.client_run == ()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "prompt: is missing"),
        ({"prompt": "hi", "promt": "hi"}, "promt: unknown field"),
        ({"prompt": 7}, "prompt: expected `str`, got `int`"),
        ({"prompt": "hi", "max_turns": -1}, "max_turns: expected `int` >= 0"),
        ({"prompt": "hi", "allow": ["bash("]}, "bash("),
        ({"prompt": "hi", "session_id": "../../etc"}, "no session '../../etc'"),
        ({"prompt": "hi", "session_id": "gone"}, "gone"),
        ({"prompt": "hi", "cwd": "/not/there"}, "cwd: '/not/there' is not a folder"),
        ({"prompt": "/no-such-skill"}, "no skill is named no-such-skill"),
        ({"prompt": ""}, "prompt: expected `str` of length >= 1"),
    ],
)
async def test_what_makes_no_sense_is_told_and_leaves_nothing(
    home: Path, arguments: dict[str, Any], said: str
):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_run", arguments)

        assert result.is_error
        assert said in text_of(result)
        assert [one.id for one in await stage.service.ask(ListSessions())] == ["play"]


async def test_an_error_has_a_name_for_programs(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_resume", {"session_id": "gone", "prompt": "hi"})

        assert (result.meta or {}) == {"bridle/code": "SESSION_NOT_FOUND"}


async def test_a_session_goes_on_with_a_prompt(home: Path):
    model = Play(says("one"), says("two"), says("three"))
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        first = await client.call_tool("bridle_run", {"prompt": "1"})
        session = first.structured_content["session_id"]
        second = await client.call_tool("bridle_resume", {"session_id": session, "prompt": "2"})
        third = await client.call_tool("bridle_run", {"session_id": session, "prompt": "3"})

        assert [text_of(one) for one in (first, second, third)] == ["one", "two", "three"]
        assert [message.text for message in model.requests[-1].messages] == ["1", "one", "2", "two", "3"]


async def test_options_reach_the_run(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        arguments = {
            "prompt": "hi",
            "mode": "plan",
            "allow": ["read"],
            "deny": ["write(~/secret)"],
            "system": "Be brief.",
            "max_turns": 3,
            "max_tokens": 1000,
            "max_cost": 0.5,
        }
        result = await client.call_tool("bridle_run", arguments)
        started = (await events_of(stage, result.structured_content["session_id"]))[1]

        options = started.options
        assert (started.mode, started.limits.turns, started.limits.tokens) == ("plan", 3, 1000)
        assert (options.allow, options.system, options.limits.cost) == (("read",), "Be brief.", 0.5)
        assert options.deny == (f"write({home.parent}/secret)",)


async def test_a_prompt_that_is_sent_again_under_its_key_is_not_run_again(home: Path):
    model = Play(says("one"), says("two"))
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        arguments = {"prompt": "hi", "session_id": "play", "key": "k1"}
        first = await client.call_tool("bridle_run", arguments)
        again = await client.call_tool("bridle_run", arguments)

        assert again.structured_content == first.structured_content
        assert len(model.requests) == 1


async def test_a_run_that_was_cut_off_goes_on_without_a_prompt(home: Path):
    clock = FixedClock()
    store = EphemeralStore(clock)
    cut = Play(says("hello"), hold=True)
    stage = Stage(cut, store=store, clock=clock)
    async with stage:
        await stage.prompt("hi")
        await cut.streaming.wait()
        await stage.service.park(0.0)
    async with (
        Stage(Play(says("hello")), store=store, clock=clock) as again,
        serving(again.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_resume", {"session_id": "play"})

        assert text_of(result) == "hello"
        assert [event.run_id for event in await again.log() if isinstance(event, RunResumed)] == [
            result.structured_content["run_id"]
        ]


async def test_without_a_prompt_and_without_a_cut_run_there_is_nothing_to_do(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_resume", {"session_id": "play"})

        assert result.is_error
        assert (result.meta or {}) == {"bridle/code": "SESSION_NOT_RUNNING"}


async def test_a_busy_session_refuses_a_second_run(home: Path):
    model = Play(says("hello"), says("more"), hold=True)
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await stage.prompt("hi")
        await model.streaming.wait()
        result = await client.call_tool("bridle_run", {"prompt": "2", "session_id": "play"})

        assert (result.meta or {}) == {"bridle/code": "SESSION_BUSY"}
        model.go.set()


async def test_a_prompt_can_wait_in_the_queue(home: Path):
    model = Play(says("one"), says("two"), hold=True)
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await stage.prompt("hi")
        await model.streaming.wait()
        model.go.set()
        arguments = {"prompt": "2", "session_id": "play", "if_busy": "queue"}

        assert text_of(await client.call_tool("bridle_run", arguments)) == "two"


# ---------------------------------------------------------------------------- approvals


@pytest.mark.parametrize("era", ERAS)
async def test_where_nobody_can_be_asked_the_result_names_the_rule(home: Path, era: Era):
    tool = writer()
    async with (
        Stage(writing(), tools=[tool]) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        result = await client.call_tool("bridle_run", {"prompt": "hi"})
        rules = result.structured_content["denied"][0]["rules"]
        allowed = await client.call_tool("bridle_run", {"prompt": "hi", "allow": rules})

        assert result.is_error
        assert result.structured_content["outcome"] == "denied"
        assert f"To allow it, run it again with allow: {rules[0]}" in text_of(result)
        assert text_of(allowed) == "done"
        assert tool.calls == ["a"]


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("form", "decided", "outcome", "calls"),
    [
        (ElicitResult(action="accept", content={"answer": "once"}), ("once", ""), "completed", ["a"]),
        (ElicitResult(action="accept", content={"answer": "session"}), ("session", ""), "completed", ["a"]),
        (
            ElicitResult(action="accept", content={"answer": "deny", "reason": "not now"}),
            ("deny", "not now"),
            "completed",
            [],
        ),
        (ElicitResult(action="decline"), ("deny", ""), "completed", []),
        (
            ElicitResult(action="cancel"),
            ("stop", "the question was closed without an answer"),
            "denied",
            [],
        ),
        (ElicitResult(action="accept", content={"answer": "sure"}), ("deny", ""), "completed", []),
    ],
)
async def test_a_client_that_shows_forms_is_asked(
    home: Path, era: Era, form: ElicitResult, decided: tuple[str, str], outcome: str, calls: list[str]
):
    tool = writer()
    shown: list[Any] = []

    async def fill_in(context: Any, params: Any) -> ElicitResult:
        shown.append(params)
        return form

    async with (
        Stage(writing(), tools=[tool]) as stage,
        serving(stage.service, home) as server,
        connected(server, era, elicitation_callback=fill_in) as client,
    ):
        result = await client.call_tool("bridle_run", {"prompt": "hi"})
        log = await events_of(stage, result.structured_content["session_id"])

        [asked] = shown
        assert asked.message.startswith("Bridle wants to use write: on=a\n\n")
        assert "would write a" in asked.message
        assert asked.requested_schema["properties"]["answer"]["enum"] == [
            "once",
            "session",
            "always",
            "deny",
            "stop",
        ]
        [event] = [event for event in log if isinstance(event, ApprovalDecided)]
        assert ((event.answer, event.reason), result.structured_content["outcome"]) == (decided, outcome)
        assert tool.calls == calls


async def test_an_answer_with_a_token_that_nobody_gave_out_finds_no_run(home: Path):
    async with (
        Stage(writing(), tools=[writer()]) as stage,
        serving(stage.service, home) as server,
        connected(server, "2026-07-28", elicitation_callback=no_form) as client,
    ):
        result = await client.session.call_tool(
            "bridle_run", {"prompt": "hi"}, request_state="guessed", input_responses={}
        )

        assert result.is_error
        assert "no longer waits" in text_of(result)
        assert [one.id for one in await stage.service.ask(ListSessions())] == ["play"]


async def test_a_run_that_asks_between_two_calls_waits_and_can_be_decided_by_others(home: Path):
    tool = writer()
    async with (
        Stage(writing(), tools=[tool]) as stage,
        serving(stage.service, home) as server,
        connected(server, "2026-07-28", elicitation_callback=no_form) as client,
    ):
        first = await client.session.call_tool("bridle_run", {"prompt": "hi"}, allow_input_required=True)
        [client_run] = server.runs.client_run
        arguments = {"action": "decide", "session_id": client_run.session, "call_id": "c1", "answer": "once"}
        await client.call_tool("bridle_sessions", arguments)
        again = await client.session.call_tool(
            "bridle_run",
            {"prompt": "hi"},
            request_state=first.request_state,
            input_responses={},
            allow_input_required=True,
        )

        assert (list(first.input_requests), first.request_state) == (["c1"], client_run.token)
        assert text_of(again) == "done"
        assert (tool.calls, server.runs.client_run) == (["a"], ())


async def no_form(context: Any, params: Any) -> ElicitResult:
    raise AssertionError("nobody is asked here")


# ---------------------------------------------------------------------------- while it continues


@pytest.mark.parametrize("era", ERAS)
async def test_progress_is_told_to_those_who_want_it(home: Path, era: Era):
    told: list[tuple[float, str | None]] = []

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    model = Play(says("Let me see.", call("c1", "read", "x")), says("done"))
    async with (
        Stage(model, tools=[SmallTool("read", str)]) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        await client.call_tool("bridle_run", {"prompt": "hi"}, progress_callback=tell)

        assert [message for _, message in told] == [
            "turn 1",
            "Let me see.",
            "read on=x",
            "read is done",
            "turn 2",
            "done",
        ]
        assert [progress for progress, _ in told] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("era", ERAS)
async def test_a_cancelled_call_cancels_its_run(home: Path, era: Era):
    model = Play(says("hello"), hold=True)
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server, era) as client,
    ):
        async with anyio.create_task_group() as group:
            group.start_soon(client.call_tool, "bridle_run", {"prompt": "hi"})
            await model.streaming.wait()
            [client_run] = server.runs.client_run
            group.cancel_scope.cancel()
        ended = await stage.service.wait(client_run.session, client_run.run_id)

        assert (ended.outcome, ended.reason) == ("cancelled", "the client cancelled the call")


async def test_a_cancelled_call_takes_its_prompt_out_of_the_queue_and_leaves_the_run_of_others(home: Path):
    model = Play(says("one"), hold=True)
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        run_id = await stage.prompt("hi")
        await model.streaming.wait()
        async with anyio.create_task_group() as group:
            arguments = {"prompt": "2", "session_id": "play", "if_busy": "queue"}
            group.start_soon(client.call_tool, "bridle_run", arguments)
            await stage.until(PromptQueued)
            group.cancel_scope.cancel()
        await stage.until(QueueDropped)
        model.go.set()

        assert (await stage.service.wait(stage.session, run_id)).outcome == "completed"
        assert (await read_session(stage.service, stage.session)).known.queue == ()


async def test_a_client_that_goes_away_cancels_runs_of_this_process(home: Path):
    model = Play(says("hello"), hold=True)
    async with Stage(model) as stage:
        client_run = await leave(stage.service, model, home)
        ended = await stage.service.wait(client_run.session, client_run.run_id)

        assert ended.outcome == "cancelled"


class Elsewhere:
    """A session API whose runs continue without this process."""

    is_remote = True

    def __init__(self, stage: Stage) -> None:
        self._service = stage.service

    def __getattr__(self, name: str) -> Any:
        return getattr(self._service, name)


async def test_a_client_that_goes_away_leaves_its_runs_to_the_daemon(home: Path):
    model = Play(says("hello"), hold=True)
    async with Stage(model) as stage:
        client_run = await leave(Elsewhere(stage), model, home)
        model.go.set()
        ended = await stage.service.wait(client_run.session, client_run.run_id)

        assert (ended.outcome, ended.text) == ("completed", "hello")


async def leave(api: Any, model: Play, home: Path) -> ClientRun:
    """Start a run, and go away while the model speaks."""
    async with (
        serving(api, home) as server,
        anyio.create_task_group() as group,
        connected(server) as client,
    ):
        group.start_soon(lost_call, client)
        await model.streaming.wait()
        [client_run] = server.runs.client_run
        server.runs.is_leaving = True
    return client_run


async def lost_call(client: Any) -> None:
    with pytest.raises(Exception, match="closed"):
        await client.call_tool("bridle_run", {"prompt": "hi"})


async def test_a_run_that_somebody_else_cancels_is_told(home: Path):
    model = Play(says("hello"), hold=True)
    async with (
        Stage(model) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        running = asyncio.create_task(client.call_tool("bridle_run", {"prompt": "hi", "session_id": "play"}))
        await model.streaming.wait()
        await stage.service.submit(stage.session, Cancel("enough"))
        result = await running

        assert result.is_error
        assert "The run ended cancelled: enough" in text_of(result)
