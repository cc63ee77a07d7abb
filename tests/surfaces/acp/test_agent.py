"""The agent of an editor, tested with the client of the official package."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from acp import PROTOCOL_VERSION, RequestError, text_block
from acp.client.connection import ClientSideConnection
from acp.schema import ClientCapabilities

from bridle.core.errors import ProviderError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, Usage, user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Configure,
    Decide,
    Delete,
    Prompt,
    PromptQueued,
    RunEnded,
    RunOptions,
    RunStarted,
    SessionOptions,
)
from bridle.core.queries import ListSessions, Records
from bridle.tools.basic_tools import basic_tools
from tests.patience import PATIENCE_S
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says
from tests.surfaces.acp.editor import FORMS, Editor, editing

Env = dict[str, str]


class Desk:
    """An editor with one new session."""

    def __init__(self, stage: Stage, agent: ClientSideConnection, editor: Editor, session: str) -> None:
        self.stage = stage
        self.agent = agent
        self.editor = editor
        self.session = session

    async def prompt(self, text: str = "go") -> Any:
        """Send a prompt and return the answer."""
        return await self.agent.prompt(session_id=self.session, prompt=[text_block(text)])

    async def events(self) -> list[Any]:
        """Return the records of the session."""
        return [record.event for record in await self.stage.service.ask(Records(SessionId(self.session)))]

    async def end(self) -> RunEnded:
        """Return how the last run ended."""
        return next(event for event in reversed(await self.events()) if isinstance(event, RunEnded))


@asynccontextmanager
async def sitting(
    stage: Stage, cwd: Path, env: Env, capabilities: ClientCapabilities | None = None
) -> AsyncIterator[Desk]:
    """Open an editor with a new session."""
    async with stage, editing(stage.service, cwd, env, capabilities) as (agent, editor):
        new = await agent.new_session(cwd=str(cwd), mcp_servers=[])
        yield Desk(stage, agent, editor, new.session_id)


def writer(work: Any = lambda on: f"wrote {on}") -> SmallTool:
    return SmallTool("write", work, access="write")


async def test_it_says_what_it_can_do(tmp_path: Path, env: Env):
    async with Stage(Play()) as stage, editing(stage.service, tmp_path, env) as (agent, _):
        greeting = await agent.initialize(7)

        assert greeting.protocol_version == PROTOCOL_VERSION
        assert greeting.auth_methods == []
        assert greeting.agent_capabilities is not None
        assert greeting.agent_capabilities.model_dump(exclude_none=True) == {
            "load_session": True,
            "prompt_capabilities": {"image": True, "audio": False, "embedded_context": True},
            "mcp_capabilities": {"http": True, "sse": True, "acp": False},
            "session_capabilities": {"list": {}, "delete": {}, "fork": {}, "resume": {}, "close": {}},
            "auth": {},
        }
        assert await agent.authenticate("anything") is not None


async def test_a_prompt_is_told_in_order_and_then_answered(tmp_path: Path, env: Env):
    play = Play(says("I write.", call("c1", "write", "x")), says("Done."))
    async with sitting(Stage(play, tools=[writer()]), tmp_path, env) as desk:
        answer = await desk.prompt()

        assert answer.stop_reason == "end_turn"
        assert answer.usage.total_tokens == 30
        assert answer.field_meta["bridle"]["outcome"] == "completed"
        assert desk.editor.kinds() == [
            "agent_message_chunk",
            "tool_call",
            "usage_update",
            "tool_call_update",
            "tool_call_update",
            "agent_message_chunk",
            "usage_update",
        ]
        assert desk.editor.said() == "I write.Done."
        assert desk.editor.asked == [
            {
                "call": {
                    "toolCallId": "c1",
                    "title": "write on=x",
                    "kind": "other",
                    "status": "pending",
                    "rawInput": {"on": "x"},
                    "content": [
                        {"type": "content", "content": {"type": "text", "text": "```\nwould write x\n```"}},
                        {
                            "type": "content",
                            "content": {"type": "text", "text": "Needs approval: writes a file (mode ask)"},
                        },
                    ],
                },
                "options": [
                    ("once", "Allow", "allow_once"),
                    ("session", "Allow write(*) for this session", "allow_always"),
                    ("always", "Always allow write(*)", "allow_always"),
                    ("deny", "Reject", "reject_once"),
                    ("stop", "Reject and stop", "reject_once"),
                ],
            }
        ]
        assert (await desk.events())[1].options == RunOptions()


@pytest.mark.parametrize(
    ("chosen", "outcome", "stop_reason", "written"),
    [
        ("once", "completed", "end_turn", ["x"]),
        ("always", "completed", "end_turn", ["x"]),
        ("deny", "completed", "end_turn", []),
        ("stop", "denied", "cancelled", []),
        (None, "denied", "cancelled", []),
        ("something else", "completed", "end_turn", []),
    ],
)
async def test_the_person_decides(
    tmp_path: Path, env: Env, chosen: str | None, outcome: str, stop_reason: str, written: list[str]
):
    tool = writer()
    play = Play(says("", call("c1", "write", "x")), says("Done."))
    async with sitting(Stage(play, tools=[tool]), tmp_path, env) as desk:
        desk.editor.choose = lambda call, options: chosen

        answer = await desk.prompt()

        assert ((await desk.end()).outcome, answer.stop_reason, tool.calls) == (outcome, stop_reason, written)


async def test_an_editor_that_cannot_be_asked_stops_the_run(tmp_path: Path, env: Env):
    play = Play(says("", call("c1", "write", "x")), says("Done."))
    async with sitting(Stage(play, tools=[writer()]), tmp_path, env) as desk:

        def fail(*_: Any) -> str:
            raise RequestError.method_not_found("session/request_permission")

        desk.editor.choose = fail
        answer = await desk.prompt()

        assert answer.stop_reason == "cancelled"
        assert (await desk.end()).reason == "the editor cannot be asked"


async def test_what_somebody_else_has_answered_is_withdrawn(tmp_path: Path, env: Env):
    seen = asyncio.Event()

    async def wait(on: str) -> str:
        await seen.wait()
        return on

    play = Play(says("", call("c1", "write", "x")), says("Done."))
    tool = writer(wait)
    async with sitting(Stage(play, tools=[tool]), tmp_path, env) as desk:
        desk.editor.go.clear()
        running = asyncio.create_task(desk.prompt())
        await desk.editor.until(lambda: len(desk.editor.asked) == 1)
        await desk.stage.service.submit(SessionId(desk.session), Decide(CallId("c1"), "once"))
        await desk.editor.until(lambda: desk.editor.withdrawn == [0])
        seen.set()

        assert (await running).stop_reason == "end_turn"
        assert tool.calls == ["x"]


async def test_cancel_ends_the_run_and_what_waits(tmp_path: Path, env: Env):
    play = Play(says("one"), says("two"), hold=True)
    async with sitting(Stage(play), tmp_path, env) as desk:
        first = asyncio.create_task(desk.prompt("first"))
        await play.streaming.wait()
        second = asyncio.create_task(desk.prompt("second"))
        await _stored(desk, PromptQueued)

        await desk.agent.cancel(session_id=desk.session)

        answers = await asyncio.gather(first, second)
        assert [one.stop_reason for one in answers] == ["cancelled", "cancelled"]
        assert len([event for event in await desk.events() if isinstance(event, RunStarted)]) == 1


async def test_what_is_dismissed_by_a_cancel_is_no_refusal(tmp_path: Path, env: Env):
    play = Play(says("", call("c1", "write", "x")))
    async with sitting(Stage(play, tools=[writer()]), tmp_path, env) as desk:
        desk.editor.choose = lambda call, options: None
        desk.editor.go.clear()
        running = asyncio.create_task(desk.prompt())
        await desk.editor.until(lambda: len(desk.editor.asked) == 1)
        waiting = [asyncio.create_task(desk.prompt(f"more {number}")) for number in range(3)]
        await _stored(desk, PromptQueued, 3)

        await desk.agent.cancel(session_id=desk.session)
        desk.editor.go.set()

        answers = await asyncio.gather(running, *waiting)
        assert [one.stop_reason for one in answers] == ["cancelled"] * 4
        assert (await desk.end()).outcome == "cancelled"


async def test_a_second_prompt_waits_for_its_turn(tmp_path: Path, env: Env):
    play = Play(says("one"), says("two"), hold=True)
    async with sitting(Stage(play), tmp_path, env) as desk:
        first = asyncio.create_task(desk.prompt("first"))
        await play.streaming.wait()
        second = asyncio.create_task(desk.prompt("second"))
        await _stored(desk, PromptQueued)
        play.go.set()

        answers = await asyncio.gather(first, second)

        assert [one.stop_reason for one in answers] == ["end_turn", "end_turn"]
        assert desk.editor.said() == "onetwo"
        assert desk.editor.of("user_message_chunk") == []


async def test_a_prompt_behind_a_run_that_was_stopped_is_answered(tmp_path: Path, env: Env):
    play = Play(says("", call("c1", "write", "x")))
    async with sitting(Stage(play, tools=[writer()]), tmp_path, env) as desk:
        desk.editor.choose = lambda call, options: "stop"
        desk.editor.go.clear()
        first = asyncio.create_task(desk.prompt("first"))
        await desk.editor.until(lambda: len(desk.editor.asked) == 1)
        second = asyncio.create_task(desk.prompt("second"))
        await _stored(desk, PromptQueued)
        desk.editor.go.set()
        async with asyncio.timeout(PATIENCE_S):
            await first
            with pytest.raises(RequestError, match="the run before it was stopped"):
                await second


async def test_a_session_that_is_deleted_elsewhere_is_not_waited_for(tmp_path: Path, env: Env):
    async with sitting(Stage(Play(says("one"))), tmp_path, env) as desk:
        await desk.prompt("first")
        await desk.stage.service.submit(SessionId(desk.session), Delete())
        async with asyncio.timeout(PATIENCE_S):
            with pytest.raises(RequestError, match="no session"):
                await desk.prompt("second")


async def test_what_others_say_in_the_session_is_shown(tmp_path: Path, env: Env):
    play = Play(says("one"), says("two"))
    async with sitting(Stage(play), tmp_path, env) as desk:
        session = SessionId(desk.session)
        receipt = await desk.stage.service.submit(session, Prompt(user_message("from the terminal")))
        assert receipt.run_id is not None
        await desk.editor.until(lambda: desk.editor.said() == "one")

        assert desk.editor.said("user_message_chunk") == "from the terminal"
        await desk.prompt("and mine")
        assert desk.editor.said("user_message_chunk") == "from the terminal"


async def test_commands_of_our_own_reach_the_session(tmp_path: Path, env: Env):
    play = Play(says("", call("c1", "read")), says("Done."), hold=True)
    tool = SmallTool("read", lambda on: "text")
    async with sitting(Stage(play, tools=[tool]), tmp_path, env) as desk:
        running = asyncio.create_task(desk.prompt())
        await play.streaming.wait()
        command = {
            "type": "steer",
            "message": {"role": "user", "parts": [{"type": "text", "text": "faster"}]},
        }
        receipt = await desk.agent.ext_method(
            "bridle/command", {"sessionId": desk.session, "command": command}
        )
        play.go.set()
        await running
        rename = {"type": "rename", "title": "Tea"}
        await desk.agent.ext_method("bridle/command", {"sessionId": desk.session, "command": rename})
        found = await desk.agent.ext_method("bridle/records", {"sessionId": desk.session, "limit": 1})

        assert receipt["item_id"]
        assert desk.editor.said("user_message_chunk") == "faster"
        assert [record["event"]["type"] for record in found["records"]] == ["session_created"]
        await desk.editor.until(lambda: desk.editor.of("session_info_update") != [])
        assert desk.editor.of("session_info_update")[0]["title"] == "Tea"


async def test_a_question_is_a_form_where_there_are_forms(tmp_path: Path, env: Env):
    asked = {"question": "Which colour?", "choices": ["red", "blue"]}
    play = Play(says("", ToolCall(CallId("q"), "ask_user", asked)), says("Fine."))
    stage = Stage(play, tools=[tool for tool in basic_tools(FixedClock()) if tool.spec.name == "ask_user"])
    async with sitting(stage, tmp_path, env, FORMS) as desk:
        desk.editor.form_answer = {"action": "accept", "content": {"choice": "blue", "answer": "or green"}}

        await desk.prompt()

        [form] = desk.editor.forms
        assert (form["message"], form["sessionId"], form["toolCallId"]) == (
            "Which colour?",
            desk.session,
            "q",
        )
        assert form["requestedSchema"]["properties"]["choice"]["enum"] == ["red", "blue"]
        assert "blue" in play.requests[1].messages[-1].parts[0].output
        assert "or green" in play.requests[1].messages[-1].parts[0].output


@pytest.mark.parametrize(("chosen", "answer"), [("2", "blue"), ("no-answer", ""), ("7", "")])
async def test_a_question_is_a_choice_elsewhere(tmp_path: Path, env: Env, chosen: str, answer: str):
    asked = {"question": "Which colour?", "choices": ["red", "blue"]}
    play = Play(says("", ToolCall(CallId("q"), "ask_user", asked)), says("Fine."))
    stage = Stage(play, tools=[tool for tool in basic_tools(FixedClock()) if tool.spec.name == "ask_user"])
    async with sitting(stage, tmp_path, env) as desk:
        desk.editor.choose = lambda call, options: chosen

        await desk.prompt()

        assert [option[:2] for option in desk.editor.asked[0]["options"]] == [
            ("1", "red"),
            ("2", "blue"),
            ("no-answer", "No answer"),
        ]
        answered = next(event for event in await desk.events() if type(event).__name__ == "QuestionAnswered")
        assert answered.answers == ((answer,) if answer else ())


async def test_a_session_is_told_again_when_it_is_loaded(tmp_path: Path, env: Env):
    play = Play(says("I write.", call("c1", "write", "x")), says("Done."))
    async with sitting(Stage(play, tools=[writer()]), tmp_path, env) as desk:
        await desk.prompt("please")
        first = desk.editor.updates
        async with editing(desk.stage.service, tmp_path, env) as (agent, editor):
            await agent.load_session(cwd=str(tmp_path), session_id=desk.session, mcp_servers=[])

            shown = [one for one in editor.updates if one["sessionUpdate"] != "user_message_chunk"]
            assert editor.said("user_message_chunk") == "please"
            assert shown == first


async def test_a_run_that_goes_on_is_joined(tmp_path: Path, env: Env):
    play = Play(says("", call("c1", "write", "x")), says("Done."))
    tool = writer()
    async with Stage(play, tools=[tool], cwd=str(tmp_path)) as stage:
        await stage.prompt("go")
        await stage.until(ApprovalRequested)
        async with editing(stage.service, tmp_path, env) as (agent, editor):
            await agent.resume_session(session_id="play", cwd=str(tmp_path))
            await editor.until(lambda: editor.said() == "Done.")

            assert len(editor.asked) == 1
            assert tool.calls == ["x"]
            assert editor.kinds()[:2] == ["tool_call", "tool_call_update"]


async def test_a_run_that_was_cut_off_leaves_no_call_open(tmp_path: Path, env: Env):
    play = Play(says("", call("c1", "write", "x")))
    async with Stage(play, tools=[writer()], cwd=str(tmp_path)) as stage:
        await stage.prompt("go")
        await stage.until(ApprovalRequested)
        cut = await stage.store.read(stage.session)
    async with Stage(play, cwd=str(tmp_path)) as stage:
        await stage.store.append(stage.session, 1, [record.event for record in cut[1:]])
        async with editing(stage.service, tmp_path, env) as (agent, editor):
            await agent.load_session(session_id="play", cwd=str(tmp_path), mcp_servers=[])

            assert [one["status"] for one in editor.updates if "toolCallId" in one] == ["pending", "failed"]
            assert editor.asked == []


async def test_modes_and_choices_hold_for_the_next_prompt(tmp_path: Path, env: Env):
    tool = writer()
    play = Play(says("", call("c1", "write", "x")), says("Done."), says("Again."))
    async with sitting(Stage(play, tools=[tool]), tmp_path, env) as desk:
        await desk.agent.set_session_mode(session_id=desk.session, mode_id="accept-edits")
        await desk.prompt()
        answer = await desk.agent.set_config_option(session_id=desk.session, config_id="mode", value="plan")
        await desk.prompt()

        assert desk.editor.asked == []
        assert tool.calls == ["x"]
        runs = [event for event in await desk.events() if isinstance(event, RunStarted)]
        assert [run.mode for run in runs] == ["accept-edits", "plan"]
        assert answer is not None
        assert answer.config_options[0].current_value == "plan"
        assert desk.editor.of("current_mode_update") == [
            {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
        ]
        assert desk.editor.of("config_option_update")[0]["configOptions"][0]["currentValue"] == "accept-edits"


async def test_an_editor_shows_the_mode_that_a_session_was_made_with(tmp_path: Path, env: Env):
    async with Stage(Play(says("Done.")), cwd=str(tmp_path)) as stage:
        await stage.service.submit(stage.session, Configure(SessionOptions(mode="plan")))
        async with editing(stage.service, tmp_path, env) as (agent, _):
            loaded = await agent.load_session(session_id="play", cwd=str(tmp_path), mcp_servers=[])
            await agent.prompt(session_id="play", prompt=[text_block("go")])

        assert loaded is not None
        assert loaded.modes is not None
        assert loaded.modes.current_mode_id == "plan"
        assert [event.mode for event in await stage.log() if isinstance(event, RunStarted)] == ["plan"]


async def test_skills_are_commands(tmp_path: Path, env: Env):
    skill = tmp_path / ".agents" / "skills" / "review" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(
        "---\nname: review\ndescription: Look at it\nargument-hint: FILE\n---\nReview $ARGUMENTS well.\n"
    )
    play = Play(says("ok"))
    async with sitting(Stage(play), tmp_path, env) as desk:
        await desk.editor.until(lambda: desk.editor.updates != [])
        await desk.prompt("/review a.py")

        command = {"name": "review", "description": "Look at it", "input": {"hint": "FILE"}}
        assert desk.editor.of("available_commands_update") == [
            {"sessionUpdate": "available_commands_update", "availableCommands": [command]}
        ]
        assert "Review a.py well." in play.requests[0].messages[0].text


async def test_sessions_are_listed_forked_closed_and_put_away(tmp_path: Path, env: Env):
    play = Play(says("one"), says("two"))
    async with sitting(Stage(play), tmp_path, env) as desk:
        await desk.prompt("remember")
        fork = await desk.agent.fork_session(session_id=desk.session, cwd=str(tmp_path))
        answer = await desk.agent.prompt(session_id=fork.session_id, prompt=[text_block("more")])
        listed = await desk.agent.list_sessions(cwd=str(tmp_path))
        await desk.agent.close_session(session_id=desk.session)
        await desk.agent._conn.send_request("session/delete", {"sessionId": desk.session})

        assert answer.stop_reason == "end_turn"
        assert {one.session_id for one in listed.sessions} == {desk.session, fork.session_id}
        left = await desk.agent.list_sessions(cwd=str(tmp_path))
        assert [one.session_id for one in left.sessions] == [fork.session_id]
        with pytest.raises(RequestError, match="is not open here"):
            await desk.prompt()


async def test_closing_a_session_ends_its_run(tmp_path: Path, env: Env):
    play = Play(says("one"), hold=True)
    async with sitting(Stage(play), tmp_path, env) as desk:
        running = asyncio.create_task(desk.prompt())
        await play.streaming.wait()

        await desk.agent.close_session(session_id=desk.session)

        assert (await running).stop_reason == "cancelled"
        assert (await desk.end()).reason == "the session was closed in the editor"


async def test_what_fails_is_an_error_with_a_name(tmp_path: Path, env: Env):
    play = Play([ProviderError("no such key", kind="invalid_api_key")], mute=True)
    async with sitting(Stage(play), tmp_path, env) as desk:
        with pytest.raises(RequestError) as caught:
            await desk.prompt()

        run = next(event for event in await desk.events() if isinstance(event, RunStarted))
        assert (caught.value.code, caught.value.data) == (
            -32010,
            {"code": "PROVIDER_ERROR", "outcome": "failed", "runId": run.run_id},
        )


@pytest.mark.parametrize(
    ("params", "code", "name"),
    [
        ({"cwd": "relative", "mcpServers": []}, -32602, "INVALID_PARAMS"),
        ({"cwd": "/nowhere/at/all", "mcpServers": []}, -32602, "INVALID_PARAMS"),
        ({"cwd": "", "mcpServers": []}, -32602, "INVALID_PARAMS"),
        ({"cwd": "/\0", "mcpServers": []}, -32602, "INVALID_PARAMS"),
        ({"cwd": 5, "mcpServers": []}, -32602, "INVALID_PARAMS"),
        ({"cwd": "/"}, -32602, "INVALID_PARAMS"),
        ({"cwd": "/", "mcpServers": [{"name": "x"}]}, -32602, "INVALID_PARAMS"),
        ({"cwd": "/", "mcpServers": [], "additionalDirectories": ["/tmp"]}, -32602, "INVALID_PARAMS"),
        (
            {"cwd": "/", "mcpServers": [{"type": "acp", "name": "x", "serverId": "1"}]},
            -32602,
            "INVALID_PARAMS",
        ),
        ([], -32602, "INVALID_PARAMS"),
        ({"cwd": "/", "mcpServers": [], "_meta": {"cwd": 3, "self": 1, "session_id": "x"}}, None, ""),
    ],
)
async def test_a_session_is_begun_with_what_makes_sense(
    tmp_path: Path, env: Env, params: Any, code: int | None, name: str
):
    async with Stage(Play()) as stage, editing(stage.service, tmp_path, env) as (agent, _):
        if code is None:
            assert (await agent._conn.send_request("session/new", params))["sessionId"]
            return
        with pytest.raises(RequestError) as caught:
            await agent._conn.send_request("session/new", params)

        assert (caught.value.code, caught.value.data["code"]) == (code, name)
        assert [one.id for one in await stage.service.ask(ListSessions())] == ["play"]


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("session/prompt", {"sessionId": "x", "prompt": []}, -32002),
        ("session/load", {"sessionId": "../../etc", "cwd": "/", "mcpServers": []}, -32002),
        ("session/load", {"sessionId": "nobody", "cwd": "/", "mcpServers": []}, -32002),
        ("session/load", {"sessionId": "play", "cwd": "/tmp", "mcpServers": []}, -32602),
        ("session/delete", {"sessionId": "/"}, -32002),
        ("session/set_mode", {"sessionId": "x", "modeId": "ask"}, -32002),
        ("session/list", {"cursor": "!"}, -32602),
        ("session/nonsense", {}, -32601),
        ("_bridle/nonsense", {}, -32601),
        ("_bridle/command", {"sessionId": "play", "command": {"type": "cancel"}}, -32002),
        ("_bridle/command", {"sessionId": "play", "command": {"type": "nonsense"}}, -32602),
        ("_bridle/command", {"sessionId": "play", "command": {"type": "cancel"}, "more": 1}, -32602),
        ("_bridle/records", {"sessionId": "play", "limit": 100_000}, -32602),
        ("_bridle/records", {"sessionId": "..", "limit": 1}, -32002),
    ],
)
async def test_requests_that_make_no_sense_are_refused(
    tmp_path: Path, env: Env, method: str, params: Any, code: int
):
    async with Stage(Play()) as stage, editing(stage.service, tmp_path, env) as (agent, _):
        with pytest.raises(RequestError) as caught:
            await agent._conn.send_request(method, params)

        assert caught.value.code == code
        await agent._conn.send_notification("nobody/knows", {})
        assert await agent.list_sessions() is not None


async def test_choices_that_are_not_offered_are_refused(tmp_path: Path, env: Env):
    async with sitting(Stage(Play()), tmp_path, env) as desk:
        for config_id, value in (
            ("mode", "root"),
            ("model", "a/b"),
            ("agent", "x"),
            ("colour", "red"),
            ("mode", True),
        ):
            with pytest.raises(RequestError) as caught:
                await desk.agent.set_config_option(session_id=desk.session, config_id=config_id, value=value)
            assert caught.value.code == -32602
        with pytest.raises(RequestError):
            await desk.agent.set_session_mode(session_id=desk.session, mode_id="root")


async def test_an_editor_that_goes_away_leaves_nothing(tmp_path: Path, env: Env):
    play = Play(says("one"), hold=True)
    async with Stage(play) as stage:
        async with editing(stage.service, tmp_path, env) as (agent, _):
            new = await agent.new_session(cwd=str(tmp_path), mcp_servers=[])
            running = asyncio.create_task(agent.prompt(session_id=new.session_id, prompt=[text_block("go")]))
            await play.streaming.wait()
        with pytest.raises(ConnectionError):
            await running

        session = SessionId(new.session_id)
        assert [one.watchers for one in stage.service.live() if one.id == session] == [0]
        records = await stage.service.ask(Records(session))
        run = next(one.event for one in records if isinstance(one.event, RunStarted))
        ended = await stage.service.wait(session, run.run_id)
        assert (ended.outcome, ended.reason) == ("cancelled", "the editor went away")


async def _stored(desk: Desk, kind: type, count: int = 1) -> None:
    async with asyncio.timeout(PATIENCE_S):
        async for item in desk.stage.service.watch(SessionId(desk.session)):
            count -= isinstance(getattr(item, "event", None), kind)
            if not count:
                return


async def test_a_session_that_is_loaded_twice_at_once_is_followed_once(tmp_path: Path, env: Env):
    async with Stage(Play(says("hello"))) as stage, editing(stage.service, tmp_path, env) as (agent, editor):
        session = await stage.service.create(cwd=str(tmp_path))

        async def load() -> Any:
            return await agent.load_session(cwd=str(tmp_path), session_id=session, mcp_servers=[])

        loaded = await asyncio.gather(*(load() for _ in range(8)), return_exceptions=True)
        await agent.prompt(session_id=session, prompt=[text_block("go")])

        refused = {str(one) for one in loaded if isinstance(one, RequestError)}
        assert any(not isinstance(one, Exception) for one in loaded)
        assert refused <= {f'session "{session}" is being opened'}
        assert editor.said() == "hello"


async def test_a_prompt_is_answered_also_when_what_happens_cannot_be_told(tmp_path: Path, env: Env):
    """An editor that waits forever helps no one."""
    play = Play(says("hello", usage=Usage(input=-7, output=-7)))  # as only a broken model server says
    async with sitting(Stage(play), tmp_path, env) as desk:
        with pytest.raises(RequestError, match="could not be followed"):
            async with asyncio.timeout(PATIENCE_S):
                await desk.prompt()
