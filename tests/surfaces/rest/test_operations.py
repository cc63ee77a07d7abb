"""Sessions, folders and settings over REST, and the answers to invalid requests."""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct, convert, json, to_builtins

from bridle.core.errors import UsageError
from bridle.core.queries import ListSessions, Records
from bridle.core.session_api import LiveSession
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.request_parser import parse_body
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.session_calls import fork_session
from tests.surfaces.rest.house import opened

HELLO = [{"text": "Hello."}]


async def test_a_session_is_read_in_many_ways(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        session = await house.session("hi")
        base = f"/sessions/{session}"
        state = (await house.get(base)).json()
        history = (await house.get(f"{base}/history", params={"offset": 1})).json()
        context = (await house.get(f"{base}/context")).json()
        usage = (await house.get(f"{base}/usage")).json()
        diff = (await house.get(f"{base}/diff")).json()
        plan = (await house.get(f"{base}/rewind", params={"to_seq": 1})).json()

    assert {name: state[name] for name in ("session_id", "message_count", "title", "cwd", "outcome")} == {
        "session_id": session,
        "message_count": 2,
        "title": "hi",
        "cwd": str(tmp_path / "project"),
        "outcome": "completed",
    }
    assert state["created_at"][10] == "T"
    assert state["updated_at"].endswith("Z")
    assert [message["role"] for message in history["messages"]] == ["block_assistant"]
    assert [message["parts"][0]["text"] for message in context["messages"]] == ["hi", "Hello."]
    assert (usage["sessions"], usage["runs"]) == (1, {"completed": 1})
    assert diff == {"changes": [], "text": ""}
    assert plan == {"to_seq": 1, "changes": [], "conflicts": [], "lost": []}


async def test_records_come_in_pages(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        session = await house.session("hi")
        whole = [record.seq for record in await house.service.ask(Records(session))]
        seen: list[int] = []
        after: int | None = 0
        while after is not None:
            page = await house.get(f"/sessions/{session}/records", params={"after": after, "limit": 3})
            seen += [record["seq"] for record in page.json()["records"]]
            after = page.json()["next"]
        beyond = await house.get(f"/sessions/{session}/records", params={"after": 999})
        nowhere = await house.get("/sessions/nowhere/records", params={"after": 999})

    assert seen == whole
    assert (beyond.status_code, beyond.json()) == (200, {"records": [], "next": None})
    assert nowhere.status_code == 404


async def test_sessions_come_in_pages_and_can_be_looked_for(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        made = [await house.service.create(cwd=str(house.project), title=f"No {n}") for n in range(5)]
        await house.post(f"/sessions/{made[0]}/commands", {"type": "archive"})
        seen: list[str] = []
        before: str | None = ""
        while before is not None:
            page = (await house.get("/sessions", params={"limit": 2, "before": before})).json()
            seen += [session["id"] for session in page["sessions"]]
            before = page["next"]
        found = (await house.get("/sessions", params={"q": "no 3"})).json()["sessions"]
        archived = (await house.get("/sessions", params={"archived": "true"})).json()["sessions"]

    assert sorted(seen) == sorted(made[1:])
    assert [session["title"] for session in found] == ["No 3"]
    assert len(archived) == 5


async def test_sessions_are_found_by_the_one_they_come_from(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        root, other = [await house.service.create(cwd=str(house.project)) for _ in range(2)]
        child = await fork_session(house.service, root)
        grandchild = await fork_session(house.service, child)
        await fork_session(house.service, other)
        below = (await house.get("/sessions", params={"below": root})).json()["sessions"]
        nothing = (await house.get("/sessions", params={"below": grandchild})).json()["sessions"]

    assert {session["id"] for session in below} == {child, grandchild}
    assert nothing == []


@pytest.mark.parametrize(
    ("form", "media", "start"),
    [
        ("md", "text/markdown; charset=utf-8", "# hi\n"),
        ("html", "text/html; charset=utf-8", "<!doctype html>"),
        ("json", "application/json", '{\n  "version": 1'),
    ],
)
async def test_a_session_is_exported(
    home: Path, tmp_path: Path, env: dict[str, str], form: str, media: str, start: str
):
    async with opened(home, tmp_path, env, HELLO) as house:
        session = await house.session("hi")
        written = await house.get(f"/sessions/{session}/export", params={"format": form})

    assert written.headers["content-type"] == media
    assert written.text.startswith(start)


def names(stream: str) -> list[str]:
    return [line.removeprefix("event: ") for line in stream.splitlines() if line.startswith("event: ")]


async def test_a_session_is_followed_in_both_languages(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        session = await house.session("hi")
        path = f"/sessions/{session}"
        theirs = await house.get(f"{path}/events", params={"live": "false"})
        ours = await house.get(f"{path}/stream", params={"live": "false"})
        resumed = await house.get(
            f"{path}/stream", params={"live": "false", "after": "1"}, headers={"last-event-id": "5"}
        )
        resumed_theirs = await house.get(
            f"{path}/events", params={"live": "false"}, headers={"last-event-id": "5"}
        )

    assert theirs.headers["content-type"].startswith("text/event-stream")
    assert names(theirs.text) == [
        "session_loaded",
        "run_started",
        "turn_started",
        "text_complete",
        "turn_completed",
        "run_completed",
        "done",
    ]
    assert names(ours.text)[:2] == ["session_created", "run_started"]
    assert names(ours.text)[-2:] == ["run_ended", "done"]
    assert names(resumed.text) == names(ours.text)[5:]
    assert names(resumed_theirs.text) == ["session_loaded", "turn_completed", "run_completed", "done"]


async def test_a_session_is_deleted_for_good(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        session = await house.session("hi")
        gone = await house.http.delete(f"/sessions/{session}")
        again = await house.http.delete(f"/sessions/{session}")
        left = await house.service.ask(ListSessions(archived=True))

    assert (gone.status_code, gone.content) == (204, b"")
    assert (again.status_code, again.json()["code"]) == (404, "SESSION_NOT_FOUND")
    assert left == []


# ---------------------------------------------------------------------------- folders and the service


async def test_a_folder_says_what_holds_in_it(home: Path, tmp_path: Path, env: dict[str, str]):
    other = tmp_path / "other"
    (other / ".bridle" / "agents" / "helper").mkdir(parents=True)
    (other / ".bridle" / "agents" / "helper" / "agent.md").write_text("Help.")
    (home / "skills").mkdir()
    (home / "skills" / "greet.md").write_text("---\ndescription: Greets.\n---\nGreet $ARGUMENTS.")
    async with opened(home, tmp_path, env, HELLO) as house:
        await house.session("hi")
        here = [row["agent"] for row in (await house.get("/agents")).json()]
        there = [row["agent"] for row in (await house.get("/agents", params={"cwd": str(other)})).json()]
        skills = (await house.get("/skills")).json()
        rules = (await house.get("/rules", params={"agent": "planner"})).json()
        models = (await house.get("/models", params={"q": "claude-sonnet-4-5"})).json()
        servers = (await house.get("/servers")).json()
        stats = (await house.get("/stats", params={"since": "1d"})).json()
        live = (await house.get("/live")).json()

    assert "helper" in there
    assert "helper" not in here
    assert [skill["name"] for skill in skills] == ["greet"]
    assert (rules["agent"], rules["mode"], rules["rules"]) == ("planner", "plan", [])
    assert "anthropic/claude-sonnet-4-5" in [model["ref"] for model in models]
    assert servers == []
    assert (stats["sessions"], stats["left_out"]) == (1, [])
    assert [session["state"] for session in live] == ["idle"]


async def test_the_service_says_what_it_is(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        health = await house.get("/health")
        capabilities = (await house.get("/capabilities")).json()

    assert (health.text, health.headers["content-type"]) == ("ok", "text/plain; charset=utf-8")
    assert capabilities["contract_version"] == {"major": 0, "minor": 5, "patch": 2}


async def test_settings_are_changed_with_care(home: Path, tmp_path: Path, env: dict[str, str]):
    async with opened(home, tmp_path, env, HELLO) as house:
        first = await house.get("/config")
        tag = {"if-match": first.headers["etag"]}
        patched = await house.http.patch("/config", json={"limits": {"max_turns": 5}}, headers=tag)
        late = await house.http.patch("/config", json={"limits": None}, headers=tag)
        wrong = await house.http.patch("/config", json={"limits": {"max_turns": "x"}})
        foreign = await house.http.put("/config", json={}, headers={"if-match": '"abc"'})
        theirs = await house.http.patch("/config", json={"max_tokens": 9, "shell": {"program": "nu"}})
        put = await house.http.put("/config", json={"model": "openai/gpt-5"}, headers={"if-match": "*"})
        text = (home / "config.toml").read_text()

    assert patched.json() == {**first.json(), "limits": {"max_turns": 5}}
    assert theirs.json() == {**patched.json(), "max_output_tokens": 9}
    assert (theirs.headers["bridle-left-out"], patched.headers.get("bridle-left-out")) == (
        "shell.program",
        None,
    )
    assert [(one.status_code, one.json()["code"]) for one in (late, foreign)] == [
        (412, "SETTINGS_CHANGED")
    ] * 2
    assert wrong.status_code == 400
    assert "limits.max_turns must be a whole number" in wrong.json()["detail"]
    assert put.json() == {"model": "openai/gpt-5"}
    assert text == 'model = "openai/gpt-5"\n'


async def test_keys_that_are_left_out_fit_into_a_header(home: Path, tmp_path: Path, env: dict[str, str]):
    odd = ["provider.a\r\nSet-Cookie: b=c", "provider.\u0416", f"shell.program.{'x' * 10_000}"]
    async with opened(home, tmp_path, env, HELLO) as house:
        patched = await house.http.patch("/config", json=dict.fromkeys(odd, 1))

    assert patched.status_code == 200
    assert patched.headers["bridle-left-out"].startswith(
        "provider.a%0D%0ASet-Cookie%3A%20b%3Dc, provider.%D0%96"
    )
    assert len(patched.headers["bridle-left-out"]) == 2048


# ---------------------------------------------------------------------------- what makes no sense


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [
        ("GET", "/nowhere", 404, "NOT_FOUND"),
        ("GET", "/sessions/", 404, "NOT_FOUND"),
        ("GET", "/sessions/x/y", 404, "NOT_FOUND"),
        ("PUT", "/sessions", 405, "METHOD_NOT_ALLOWED"),
        ("OPTIONS", "/sessions", 405, "METHOD_NOT_ALLOWED"),
        ("GET", "/sessions/nobody", 404, "SESSION_NOT_FOUND"),
        ("GET", "/sessions/nobody/events", 404, "SESSION_NOT_FOUND"),
        ("GET", "/sessions/nobody/usage", 404, "SESSION_NOT_FOUND"),
        ("POST", "/sessions/nobody/interrupt", 404, "SESSION_NOT_FOUND"),
        ("GET", "/sessions/a..b", 400, "INVALID_PARAMS"),
        ("GET", "/sessions/%2e%2e%2fetc", 404, "NOT_FOUND"),
        ("GET", "/sessions/..%00", 400, "INVALID_PARAMS"),
        ("GET", "/sessions?limit=0", 400, "INVALID_PARAMS"),
        ("GET", "/sessions?limit=1&limit=2", 400, "INVALID_PARAMS"),
        ("GET", "/sessions?color=red", 400, "INVALID_PARAMS"),
        ("GET", "/stats?since=yesterday", 400, "INVALID_PARAMS"),
        ("GET", "/agents?cwd=relative", 400, "INVALID_PARAMS"),
        ("GET", "/agents?cwd=/a%00b", 400, "INVALID_PARAMS"),
        ("GET", "/rules?agent=../../etc", 400, "INVALID_PARAMS"),
    ],
)
async def test_every_refusal_is_a_problem_document(
    home: Path, tmp_path: Path, env: dict[str, str], method: str, path: str, status: int, code: str
):
    async with opened(home, tmp_path, env, HELLO) as house:
        refused = await house.http.request(method, path)

    assert refused.headers["content-type"] == "application/problem+json"
    assert (refused.status_code, refused.json()["status"], refused.json()["code"]) == (status, status, code)
    assert ("allow" in refused.headers) is (status == 405)


BAD_BODIES = [
    (b"", "body: is missing"),
    (b"{", "body: is not JSON: Input data was truncated"),
    (b'{"type":"rename","title":"\xff"}', "body: is not JSON:"),
    (b"[" * 100_000, "body: "),
    (b"[]", "body: expected `object`, got `array`"),
    (b'{"type":"make_coffee"}', "body: type: invalid value 'make_coffee'"),
    (b'{"type":"decide","answer":"once"}', "body: call_id: is missing"),
    (b'{"type":"rename","title":7}', "body: title: expected `str`, got `int`"),
    (b'{"type":"rename","title":"x","color":"red"}', "body: color: unknown field"),
    (
        b'{"type":"steer","message":{"role":"user","parts":[{"type":"text","text":"","color":1}]}}',
        "body: message.parts[0].color: unknown field",
    ),
]


@pytest.mark.parametrize(("body", "detail"), BAD_BODIES)
async def test_a_bad_body_is_told_by_its_field(
    home: Path, tmp_path: Path, env: dict[str, str], body: bytes, detail: str
):
    async with opened(home, tmp_path, env, HELLO) as house:
        refused = await house.http.post("/sessions/any/commands", content=body)

    assert refused.status_code == 400
    assert refused.json()["detail"].startswith(detail)


async def test_what_breaks_inside_is_not_quoted(home: Path, tmp_path: Path, env: dict[str, str]):
    def broken() -> list[LiveSession]:
        raise RuntimeError("a secret")

    async with opened(home, tmp_path, env, HELLO) as house:
        app = make_app(house.service, Folders(env, "/"), Streams(house.service), live=broken)
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            answer = await http.get("/live")

    assert (answer.status_code, answer.json()["code"]) == (500, "INTERNAL_ERROR")
    assert "secret" not in answer.text


# ---------------------------------------------------------------------------- a field too many


class Leaf(Struct, tag="leaf"):
    size: int = 0


class Twig(Struct, tag="twig"):
    leaves: tuple[Leaf, ...] = ()
    named: dict[str, Leaf] = {}
    either: Leaf | str | None = None


Branch = Leaf | Twig


LEAF = st.fixed_dictionaries({"type": st.just("leaf")}, optional={"size": st.integers(0, 9)})
TWIG = st.fixed_dictionaries(
    {"type": st.just("twig")},
    optional={
        "leaves": st.lists(LEAF, max_size=3),
        "named": st.dictionaries(st.text(max_size=3), LEAF, max_size=3),
        "either": st.none() | st.text(max_size=3) | LEAF,
    },
)


@given(LEAF | TWIG, st.randoms(use_true_random=False))
def test_one_field_too_many_is_found_wherever_it_is(value: dict[str, Any], chance: Random):
    assert to_builtins(parse_body(json.encode(value), Branch)) == to_builtins(convert(value, Branch))

    objects = [found for found in _objects(value) if "type" in found]
    chance.choice(objects)["surplus"] = 1
    with pytest.raises(UsageError, match="surplus: unknown field"):
        parse_body(json.encode(value), Branch)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
        for item in value.values():
            yield from _objects(item)
    if isinstance(value, list):
        for item in value:
            yield from _objects(item)
