"""Runs over REST: started, awaited, approved, interrupted, and sent twice."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bridle.core.ids import SessionId
from bridle.core.protocol import ApprovalRequested, Record, RunEnded, RunStarted
from bridle.core.queries import ListSessions, Records
from bridle.sessions.service import SessionService
from bridle.surfaces.shared.session_calls import read_session
from tests.patience import PATIENCE_S
from tests.surfaces.rest.house import opened

WRITE = {"calls": [{"name": "write_file", "args": {"path": "a.txt", "content": "x"}}]}
WRITING = [{"match": "write", **WRITE}, {"match": "write", "text": "Written."}]
HANGING = [{"match": "hang", "fault": {"kind": "hang"}}, {"text": "Hello."}]


async def until(service: SessionService, session: SessionId, kind: type) -> Any:
    """Wait until an event of a kind is recorded."""
    async for item in service.watch(session, 0):
        if isinstance(item, Record) and isinstance(item.event, kind):
            return item.event
    raise AssertionError


def steady(answer: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in answer.items() if name not in ("session_id", "run_id", "usage")}


async def test_a_prompt_is_answered_when_its_run_has_ended(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, [{"text": "You said: {last_user}"}]) as house:
        first = (await house.post("/sessions", {"prompt": "one"})).json()
        body = {"session_id": first["session_id"], "prompt": "two"}
        second = await house.post(f"/sessions/{first['session_id']}/messages", body)

    assert list(first["usage"]) == [
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "cache_creation_tokens",
        "cache_read_tokens",
    ]
    said = {"turns": 1, "tool_calls": 0, "outcome": "completed"}
    assert steady(first) == {"text": "You said: one", **said}
    assert (second.status_code, steady(second.json())) == (200, {"text": "You said: two", **said})


async def test_the_session_of_the_body_is_that_of_the_path(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        session = await house.session()
        refused = await house.post(f"/sessions/{session}/messages", {"session_id": "other", "prompt": "x"})

    assert refused.status_code == 400
    assert refused.json()["error"] == f"Session ID mismatch: path={session} body=other"


async def test_nobody_approves_while_a_request_waits(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, WRITING) as house:
        answered = await house.post("/sessions", {"prompt": "write"})

    told = answered.json()
    assert (answered.status_code, told["code"], told["outcome"]) == (403, "APPROVAL_DENIED", "denied")
    assert told["detail"] == "nobody is there to approve it"
    assert told["hint"] == "to allow it, add the rule allow write_file(*)"


async def test_another_client_approves(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, WRITING) as house:
        session = await house.session()
        body = {"session_id": session, "prompt": "write", "approvals": "wait"}
        waiting = asyncio.create_task(house.post(f"/sessions/{session}/messages", body))
        asked = await until(house.service, session, ApprovalRequested)
        shown = (await house.get(f"/sessions/{session}")).json()
        decide = {"type": "decide", "call_id": asked.call_id, "answer": "once"}
        decided = await house.post(f"/sessions/{session}/commands", decide)
        answered = await waiting

    assert [one["call_id"] for one in shown["approvals"]] == [asked.call_id]
    assert (shown["is_active"], decided.status_code) == (True, 200)
    assert steady(answered.json()) == {
        "text": "Written.",
        "turns": 2,
        "tool_calls": 1,
        "outcome": "completed",
    }


async def test_an_answer_at_once_leaves_the_run_to_go_on(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, WRITING) as house:
        accepted = await house.post("/sessions", {"prompt": "write"}, prefer="wait=1, respond-async")
        session = SessionId(accepted.json()["session_id"])
        asked = await until(house.service, session, ApprovalRequested)
        decide = {"type": "decide", "call_id": asked.call_id, "answer": "once"}
        await house.post(f"/sessions/{session}/commands", decide)
        ended = await until(house.service, session, RunEnded)

    assert accepted.status_code == 202
    assert accepted.json() == {"session_id": session, "run_id": ended.run_id}
    assert accepted.headers["location"] == f"/sessions/{session}"
    assert accepted.headers["preference-applied"] == "respond-async"
    assert (ended.outcome, ended.text) == ("completed", "Written.")


async def test_a_busy_session_takes_no_message_and_can_be_interrupted(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    async with opened(home, tmp_path, env, HANGING) as house:
        session = await house.session()
        path, body = f"/sessions/{session}/messages", {"session_id": session, "prompt": "hang"}
        waiting = asyncio.create_task(house.post(path, body))
        await until(house.service, session, RunStarted)
        busy = await house.post(path, {"session_id": session, "prompt": "more"})
        interrupted = await house.http.post(f"/sessions/{session}/interrupt")
        ended = await waiting
        again = await house.http.post(f"/sessions/{session}/interrupt")

    assert (busy.status_code, busy.json()["code"]) == (409, "SESSION_BUSY")
    for answer in (interrupted, again):
        assert (answer.status_code, answer.json()) == (200, {"session_id": session, "interrupted": True})
    assert (ended.status_code, ended.json()["outcome"]) == (200, "cancelled")


async def test_a_run_without_an_answer_is_a_problem(home: Path, tmp_path: Path, env: dict[str, str]):
    fault = {"kind": "http", "reason": "invalid_request", "message": "no"}
    async with opened(home, tmp_path, env, [{"fault": fault}]) as house:
        failed = await house.post("/sessions", {"prompt": "x"})
        spent = await house.post("/sessions", {"prompt": "x", "budget_limits": {"max_tokens": 1}})

    for answer, status, code, outcome in (
        (failed, 502, "PROVIDER_ERROR", "failed"),
        (spent, 429, "BUDGET_EXHAUSTED", "budget_exhausted"),
    ):
        told = answer.json()
        assert answer.headers["content-type"] == "application/problem+json"
        assert (answer.status_code, told["status"], told["code"], told["outcome"]) == (
            status,
            status,
            code,
            outcome,
        )
        assert told["session_id"]
        assert told["run_id"]


async def test_a_limit_leaves_the_answer_so_far(home: Path, tmp_path: Path, env: dict[str, str]):
    looks = {"text": "So far so good.", "calls": [{"name": "datetime", "args": {}}]}
    async with opened(home, tmp_path, env, [looks, {"text": "never"}]) as house:
        body = {"prompt": "x", "budget_limits": {"max_tool_calls": 1}}
        spent = await house.post("/sessions", body)

    assert (spent.status_code, spent.json()["text"]) == (429, "So far so good.")


async def test_what_is_not_offered_is_refused_and_leaves_nothing(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    asked: list[tuple[dict[str, Any], int, str]] = [
        ({"host_mode": True}, 501, "host_mode is not offered here"),
        ({"verbose": True}, 501, "verbose is not offered here"),
        ({"external_tools": [{"name": "t"}]}, 501, "external_tools: not available over REST"),
        ({"preload_skills": ["nope"]}, 404, "no skill is named nope"),
        ({"moddel": "x"}, 400, "body: moddel: unknown field"),
        ({"max_tokens": "x"}, 400, "body: max_tokens: expected `int | null`, got `str`"),
        ({"cwd": "nowhere"}, 400, "cwd: 'nowhere' is not a folder"),
        ({"agent": "nobody"}, 400, 'no agent named "nobody"'),
        ({"model": "nobody/x"}, 400, 'model "nobody/x": no provider named "nobody"'),
        ({"prompt": ""}, 400, "the prompt is empty"),
        (
            {"initial_turn": "deferred", "output_schema": {"type": "string"}},
            400,
            "body: output_schema: a deferred session cannot keep it",
        ),
        (
            {"initial_turn": "deferred", "prompt": "", "shell_env": {"LANG": "C"}},
            400,
            "body: shell_env: a deferred session cannot keep it",
        ),
    ]
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        answers = [await house.post("/sessions", {"prompt": "x", **body}) for body, _, _ in asked]
        left = await house.service.ask(ListSessions(archived=True))

    assert [(one.status_code, one.json()["detail"]) for one in answers] == [
        (status, detail) for _, status, detail in asked
    ]
    assert left == []


async def test_a_deferred_session_waits_for_its_first_message(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        made = await house.post("/sessions", {"prompt": "", "initial_turn": "deferred", "title": "later"})
        session = made.json()["session_id"]
        before = await read_session(house.service, session)
        answered = await house.post(f"/sessions/{session}/messages", {"session_id": session, "prompt": "x"})

    assert (made.status_code, made.headers["location"]) == (201, f"/sessions/{session}")
    assert (before.known.title, before.messages) == ("later", [])
    assert answered.json()["text"] == "Hello."


@pytest.mark.parametrize(
    "first",
    [
        {"prompt": "x"},
        {"prompt": "x", "initial_turn": "deferred"},
        {"prompt": "", "initial_turn": "deferred"},
    ],
)
async def test_a_session_remembers_how_it_was_made_in_another_process(
    home: Path, tmp_path: Path, env: dict[str, str], first: dict[str, Any]
):
    made = {
        "system_prompt": "Be a pirate.",
        "mode": "plan",
        "max_tokens": 50,
        "enable_builtins": False,
        "enable_shell": False,
        "enable_subagents": False,
        "enable_memory": False,
    }
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        session = (await house.post("/sessions", {**first, **made})).json()["session_id"]
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        for _ in range(2):
            body = {"session_id": session, "prompt": "y", "enable_shell": True}
            assert (await house.post(f"/sessions/{session}/messages", body)).json()["text"] == "Hello."
        shown = (await house.get(f"/sessions/{session}/context")).json()
        state = (await house.get(f"/sessions/{session}")).json()
        records = await house.service.ask(Records(session))

    starts = [record.event for record in records if isinstance(record.event, RunStarted)]
    assert [message["parts"][0]["text"] for message in shown["messages"] if message["role"] == "user"] == [
        *([first["prompt"]] if first["prompt"] else []),
        "y",
        "y",
    ]
    assert {(start.mode, start.options.system) for start in starts} == {("plan", "Be a pirate.")}
    assert (state["options"]["mode"], state["options"]["system"]) == ("plan", "Be a pirate.")
    assert (shown["system"], shown["tools"]) == ("Be a pirate.", [])


async def test_a_skill_is_put_in_its_place(home: Path, tmp_path: Path, env: dict[str, str]):
    (home / "skills").mkdir()
    (home / "skills" / "greet.md").write_text("---\ndescription: x\n---\nGreet $ARGUMENTS.")
    async with opened(home, tmp_path, env, [{"text": "{last_user}"}]) as house:
        answered = await house.post("/sessions", {"prompt": "/greet Ann"})

    assert "Greet Ann." in answered.json()["text"]


# ---------------------------------------------------------------------------- sent twice


async def test_under_one_key_a_session_is_begun_once(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, [{"text": "You said: {last_user}"}]) as house:
        body = {"prompt": "one"}
        first, second = await asyncio.gather(
            house.post("/sessions", body, idempotency_key="k"),
            house.post("/sessions", body, idempotency_key="k"),
        )
        in_body = await house.post("/sessions", {**body, "idempotency_key": "k"})
        others = [
            await house.post("/sessions", other, idempotency_key="k")
            for other in (
                {"prompt": "two"},
                {"prompt": "one", "title": "t"},
                {"prompt": "one", "max_tokens": 7},
            )
        ]
        both = await house.post("/sessions", {**body, "idempotency_key": "j"}, idempotency_key="k")
        sessions = await house.service.ask(ListSessions())

    assert first.status_code == second.status_code == in_body.status_code == 200
    assert first.json() == second.json() == in_body.json()
    assert [(other.status_code, other.json()["code"]) for other in others] == [(409, "DUPLICATE_INPUT")] * 3
    assert (both.status_code, both.json()["detail"]) == (
        400,
        "header: idempotency-key: the body has another key",
    )
    assert [session.id for session in sessions] == [first.json()["session_id"]]


async def test_under_one_key_messages_and_commands_are_taken_once(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    prompt = {"type": "prompt", "message": {"role": "user", "parts": [{"type": "text", "text": "x"}]}}
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        session = await house.session()
        body = {"session_id": session, "prompt": "hi"}
        sent = [
            (await house.post(f"/sessions/{session}/messages", body, idempotency_key="m")).json()["run_id"]
            for _ in range(2)
        ]
        commands = f"/sessions/{session}/commands"
        first = (await house.post(commands, prompt, idempotency_key="c")).json()
        await house.service.wait(session, first["run_id"])
        second = (await house.post(commands, prompt, idempotency_key="c")).json()
        other = await house.post(commands, {**prompt, "key": "d"}, idempotency_key="c")
        cancel = await house.post(commands, {"type": "cancel"}, idempotency_key="c")
        runs = (await read_session(house.service, session)).known.totals.runs

    assert (sent[0], runs) == (sent[1], 2)
    assert (first["run_id"], first["repeated"]) == (second["run_id"], False)
    assert second["repeated"] is True
    assert (other.status_code, cancel.status_code) == (400, 400)


@pytest.mark.parametrize("prefer", ["", "respond-async"])
async def test_a_retry_after_a_crash_goes_on_with_the_run(
    home: Path, tmp_path: Path, env: dict[str, str], prefer: str
):
    body = {"prompt": "hang"}
    async with opened(home, tmp_path, env, HANGING) as house:
        sent = await house.post("/sessions", body, idempotency_key="k", prefer="respond-async")
        await house.service.park(0)
    session = SessionId(sent.json()["session_id"])
    async with opened(home, tmp_path, env, [{"text": "Here I am."}]) as house:
        again = await house.post("/sessions", body, idempotency_key="k", prefer=prefer)
        ended = await until(house.service, session, RunEnded)

    assert (again.status_code, again.json()["run_id"]) == (202 if prefer else 200, ended.run_id)
    assert (sent.json()["run_id"], ended.text) == (ended.run_id, "Here I am.")


async def test_a_command_sent_again_after_a_crash_goes_on_with_the_run(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    prompt = {"type": "prompt", "message": {"role": "user", "parts": [{"type": "text", "text": "hang"}]}}
    async with opened(home, tmp_path, env, HANGING) as house:
        session = await house.service.create(cwd=str(tmp_path))
        sent = await house.post(f"/sessions/{session}/commands", prompt, idempotency_key="k")
        await house.service.park(0)
    async with opened(home, tmp_path, env, [{"text": "Here I am."}]) as house, asyncio.timeout(PATIENCE_S):
        again = await house.post(f"/sessions/{session}/commands", prompt, idempotency_key="k")
        ended = await until(house.service, session, RunEnded)

    assert (sent.json()["run_id"], again.json()["repeated"]) == (ended.run_id, True)
    assert ended.text == "Here I am."


async def test_under_one_key_a_fork_is_made_once(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        session = await house.session("hi")
        path = f"/sessions/{session}/fork"
        made = [await house.post(path, {"at": 3}, idempotency_key="k") for _ in range(2)]
        other = await house.post(path, {"at": 2}, idempotency_key="k")
        fresh = await house.post(path, {})
        too_far = await house.post(path, {"at": 99})

    child = made[0].json()["session_id"]
    assert [(one.status_code, one.json()) for one in made] == [
        (201, {"session_id": child, "parent": session})
    ] * 2
    assert made[0].headers["location"] == f"/sessions/{child}"
    assert (other.status_code, other.json()["code"]) == (409, "DUPLICATE_INPUT")
    assert fresh.json()["session_id"] not in (child, session)
    assert too_far.status_code == 400


async def test_a_session_begins_with_messages_and_a_fork_takes_the_first(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        first = [{"role": "user", "content": "Know this."}, {"role": "assistant", "content": "I do."}]
        body = {"prompt": "Later.", "initial_turn": "deferred", "messages": first}
        session = (await house.post("/sessions", body)).json()["session_id"]
        message = {"role": "user", "parts": [{"type": "text", "text": "Know that."}]}
        pushed = await house.post(f"/sessions/{session}/commands", {"type": "push", "messages": [message]})
        fork = (await house.post(f"/sessions/{session}/fork", {"messages": 2})).json()["session_id"]
        texts = [
            [
                one["parts"][0]["text"]
                for one in (await house.get(f"/sessions/{each}/context")).json()["messages"]
            ]
            for each in (session, fork)
        ]
        wrong = await house.post("/sessions", {**body, "messages": [first[1]]})

    assert pushed.status_code == 200
    assert texts == [["Know this.", "I do.", "Later.", "Know that."], ["Know this.", "I do."]]
    assert wrong.status_code == 400


async def test_sessions_are_created_with_labels_and_listed_by_them(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    async with opened(home, tmp_path, env, [{"text": "Hello."}]) as house:
        body = {"prompt": "x", "initial_turn": "deferred"}
        red, blue = [
            (await house.post("/sessions", {**body, "labels": {"team": team}})).json()["session_id"]
            for team in ("red", "blue")
        ]
        change = {"type": "label", "labels": {"size": "big", "team": None}}
        await house.post(f"/sessions/{blue}/commands", change)
        found = [
            [one["id"] for one in (await house.get("/sessions", params={"label": label})).json()["sessions"]]
            for label in ("team=red", "size=big", "team=blue")
        ]
        state = (await house.get(f"/sessions/{blue}")).json()

    assert found == [[red], [blue], []]
    assert state["labels"] == {"size": "big"}
