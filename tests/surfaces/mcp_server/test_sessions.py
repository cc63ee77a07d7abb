"""`bridle_sessions`: every action, and its refusals."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from mcp import Client

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, PromptQueued, RunEnded, SessionArchived
from bridle.surfaces.mcp_server.arguments import Action
from bridle.surfaces.mcp_server.sessions import ACTIONS, MAX_TEXT_CHARS
from bridle.surfaces.shared.export import FORMATS
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.changed import changed
from tests.surfaces.mcp_server.connecting import connected, serving, text_of


async def do(client: Client, action: str, **arguments: Any) -> Any:
    result = await client.call_tool("bridle_sessions", {"action": action, **arguments})
    assert not result.is_error, text_of(result)
    return result.structured_content


async def refused(client: Client, action: str, **arguments: Any) -> tuple[str, str]:
    result = await client.call_tool("bridle_sessions", {"action": action, **arguments})
    assert result.is_error
    return (result.meta or {})["bridle/code"], text_of(result)


def test_every_action_is_known():
    assert set(ACTIONS) == set(get_args(Action))


async def test_sessions_are_listed_page_by_page(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        for name in ("one", "two"):
            await stage.service.create(cwd="/", title=name, session_id=SessionId(name))
        everything = await do(client, "list")
        first = await do(client, "list", limit=2)
        rest = await do(client, "list", limit=2, after=first["next"])

        assert {one["id"] for one in everything["sessions"]} == {"play", "one", "two"}
        assert first["sessions"] + rest["sessions"] == everything["sessions"]
        assert "next" not in rest


async def test_messages_are_added_without_a_run_and_a_fork_takes_the_first(home: Path):
    play = Play(says("hello"), says("again"))
    async with Stage(play) as stage, serving(stage.service, home) as server, connected(server) as client:
        await stage.run("hi")
        await do(client, "push", session_id="play", text="know this")
        fork = (await do(client, "fork", session_id="play", messages=1))["session_id"]
        await client.call_tool("bridle_run", {"prompt": "and?", "session_id": "play"})

        assert [message.text for message in play.requests[1].messages] == ["hi", "hello", "know this", "and?"]
        assert (await do(client, "read", session_id=fork))["session"]["totals"]["messages"] == 1


async def test_sessions_have_labels(home: Path):
    async with (
        Stage(Play(says("hello"), says("again"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        made = await client.call_tool("bridle_run", {"prompt": "hi", "labels": {"team": "red", "old": "x"}})
        session = (made.structured_content or {})["session_id"]
        await do(client, "label", session_id=session, labels={"size": "big", "old": None})
        late = await client.call_tool(
            "bridle_run", {"prompt": "more", "session_id": session, "labels": {"team": "blue"}}
        )

        assert (await do(client, "read", session_id=session))["session"]["labels"] == {
            "team": "red",
            "size": "big",
        }
        listed = await do(client, "list", labels={"team": "red"})
        assert [one["id"] for one in listed["sessions"]] == [session]
        assert (await do(client, "list", labels={"team": "blue"}))["sessions"] == []
        assert "labels are for a new session" in text_of(late)
        assert await refused(client, "label", session_id=session) == (
            "INVALID_PARAMS",
            "label: labels is missing",
        )


async def test_a_session_is_read_in_every_form(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await stage.run("hi")
        read = (await do(client, "read", session_id="play"))["session"]
        page = await do(client, "history", session_id="play", limit=2)
        rest = await do(client, "history", session_id="play", after=page["next"])
        transcript = await do(client, "transcript", session_id="play")
        changes = await do(client, "changes", session_id="play")

        assert (read["title"], read["text"], read["outcome"], read["is_active"]) == (
            "hi",
            "hello",
            "completed",
            False,
        )
        assert [record["seq"] for record in page["records"] + rest["records"]] == list(
            range(1, read["seq"] + 1)
        )
        assert page["records"][0]["event"]["type"] == "session_created"
        assert "## User\n\nhi\n\n## Assistant\n\nhello" in transcript["text"]
        assert changes == {"action": "changes", "text": "", "changes": []}


async def test_a_session_says_what_it_did_and_would_send(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await stage.run("hi")
        context = (await do(client, "context", session_id="play"))["context"]
        earlier = (await do(client, "context", session_id="play", seq=1))["context"]
        usage = (await do(client, "usage", session_id="play"))["usage"]
        plan = await do(client, "plan_rewind", session_id="play", seq=1)
        pages = {form: await do(client, "export", session_id="play", format=form) for form in FORMATS}
        usual = await do(client, "export", session_id="play")

        assert [message["role"] for message in context["messages"]] == ["user", "assistant"]
        assert earlier["messages"] == []
        assert (usage["sessions"], usage["runs"]) == (1, {"completed": 1})
        assert plan == {
            "action": "plan_rewind",
            "text": "",
            "plan": {"to_seq": 1, "changes": [], "conflicts": [], "lost": []},
        }
        assert usual == pages["md"]
        assert json.loads(pages["json"]["text"])["session"]["id"] == "play"
        assert pages["html"]["text"].startswith("<!doctype html>")


async def test_changes_on_disk_are_shown_in_part_and_before_they_are_undone(home: Path, tmp_path: Path):
    async with (
        changed(tmp_path) as (stage, between),
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        both = await do(client, "changes", session_id="play")
        first = await do(client, "changes", session_id="play", upto=between)
        second = await do(client, "changes", session_id="play", after=between)
        plan = await do(client, "plan_rewind", session_id="play", seq=between)
        (tmp_path / "root" / "a.txt").write_text("mine\n")
        conflict = await do(client, "plan_rewind", session_id="play", seq=between)

        assert [lines(one["text"]) for one in (both, first, second)] == [
            ["+two"],
            ["+one"],
            ["-one", "+two"],
        ]
        assert [one["path"] for one in both["changes"]] == ["a.txt"]
        assert (lines(plan["text"]), plan["plan"]["conflicts"]) == (["-two", "+one"], [])
        assert conflict["text"].startswith("a.txt: changed outside the session\n")


def lines(diff: str) -> list[str]:
    """Return the lines that a diff takes out and puts in."""
    return [line for line in diff.splitlines() if line[:1] in "+-" and line[:3] not in ("+++", "---")]


async def test_a_context_that_is_too_long_is_cut(home: Path):
    async with (
        Stage(Play(says("hello")), window_tokens=10_000_000) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await stage.run("x" * MAX_TEXT_CHARS)
        [message, _] = (await do(client, "context", session_id="play"))["context"]["messages"]

        left_out = MAX_TEXT_CHARS - 16_384
        assert message["parts"][0]["text"] == "x" * 16_384 + f"… [{left_out} characters left out]"


async def test_a_run_is_steered_decided_and_cancelled(home: Path):
    model = Play(says("", call("c1", "write")), says("one"), hold=True)
    tool = SmallTool("write", lambda on: on, access="write")
    async with (
        Stage(model, tools=[tool]) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        run_id = await stage.prompt("hi")
        await model.streaming.wait()
        await do(client, "steer", session_id="play", text="be quick")
        model.go.set()
        await stage.until(ApprovalRequested)
        read = (await do(client, "read", session_id="play"))["session"]
        wrong = await refused(client, "decide", session_id="play", call_id="c7", answer="once")
        await do(client, "decide", session_id="play", call_id="c1", answer="once")
        ended = await stage.service.wait(stage.session, run_id)

        assert [asked["call_id"] for asked in read["approvals"]] == ["c1"]
        assert wrong[0] == "INVALID_PARAMS"
        assert (ended.outcome, tool.calls) == ("completed", ["a"])
        assert model.requests[-1].messages[-1].text == "be quick"
        assert (await refused(client, "cancel", session_id="play"))[0] == "SESSION_NOT_RUNNING"


async def test_a_queued_prompt_runs_next_and_asks_nobody(home: Path):
    model = Play(says("one"), says("", call("c1", "write")), hold=True)
    tool = SmallTool("write", lambda on: on, access="write")
    async with (
        Stage(model, tools=[tool]) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        idle = await refused(client, "queue", session_id="play", text="next")
        await stage.prompt("hi")
        await model.streaming.wait()
        first = await do(client, "queue", session_id="play", text="not this")
        await do(client, "drop", session_id="play", item_id=first["item_id"])
        await do(client, "queue", session_id="play", text="next")
        model.go.set()
        ended = await stage.until(RunEnded, count=2)

        assert idle[0] == "SESSION_NOT_RUNNING"
        assert first["item_id"] == (await stage.until(PromptQueued)).item_id
        assert (ended.outcome, tool.calls) == ("denied", [])


async def test_sessions_are_forked_named_put_away_and_deleted(home: Path):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        await stage.run("hi")
        fork = (await do(client, "fork", session_id="play"))["session_id"]
        await do(client, "rename", session_id=fork, text="A fork")
        await do(client, "archive", session_id="play")
        listed = await do(client, "list")
        everything = await do(client, "list", archived=True)
        await do(client, "restore", session_id="play")
        await do(client, "delete", session_id=fork)
        left = await do(client, "list")

        assert [(one["id"], one["title"]) for one in listed["sessions"]] == [(fork, "A fork")]
        assert len(everything["sessions"]) == 2
        assert [one["id"] for one in left["sessions"]] == ["play"]
        assert (await stage.until(SessionArchived, count=2)).archived is False


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"action": "read"}, "read: session_id is missing"),
        ({"action": "list", "text": "x"}, "list: text has no meaning here"),
        ({"action": "decide", "session_id": "play", "call_id": "c1"}, "decide: answer is missing"),
        ({"action": "plan_rewind", "session_id": "play"}, "plan_rewind: seq is missing"),
        ({"action": "transcript", "session_id": "play", "format": "md"}, "transcript: format has no meaning"),
        ({"action": "export", "session_id": "play", "format": "pdf"}, "format: invalid enum value 'pdf'"),
        ({"action": "usage", "session_id": "nobody"}, 'no session "nobody"'),
        ({"action": "explode"}, "action: invalid enum value 'explode'"),
        ({"action": "list", "limit": 0}, "limit: expected `int` >= 1"),
        ({"action": "list", "limit": 10_000}, "limit: expected `int` <= 200"),
        ({"action": "read", "session_id": "a/../../b"}, "no session 'a/../../b'"),
        ({"action": "reply", "session_id": "play", "call_id": "c1"}, "no question of the call 'c1' is open"),
    ],
)
async def test_what_makes_no_sense_is_refused(home: Path, arguments: dict[str, Any], said: str):
    async with (
        Stage(Play(says("hello"))) as stage,
        serving(stage.service, home) as server,
        connected(server) as client,
    ):
        result = await client.call_tool("bridle_sessions", arguments)

        assert result.is_error
        assert said in text_of(result)
