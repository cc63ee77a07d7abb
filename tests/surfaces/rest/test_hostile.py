"""The whole service on a socket, against clients that are wrong, rude, slow, foreign or gone."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.ids import SessionId
from bridle.core.protocol import RunEnded
from bridle.core.queries import ListSessions, Records
from bridle.sessions.service import SessionService
from bridle.surfaces.rest.app import make_app
from bridle.surfaces.rest.event_stream import Streams
from bridle.surfaces.rest.guard import MAX_WRONG, Guard
from bridle.surfaces.shared.folder_info import Folders
from tests.patience import PATIENCE_S
from tests.surfaces.rest.client import Line, Served, events_of, request, served, until
from tests.surfaces.rest.house import settle

TOKEN = "a-token-of-the-tests"
AUTH = {"authorization": f"Bearer {TOKEN}"}
REPLIES = [
    {"match": "^plain", "text": "Hello."},
    {"match": "^slow", "text": ["one ", "two ", "three"], "chunk_delay_ms": 30},
    {"match": "^hang", "text": "Let me", "fault": {"kind": "hang"}},
    {"match": "^write", "calls": [{"name": "write_file", "args": {"path": "new.txt", "content": "x"}}]},
]


class Service:
    """A service with its engine."""

    def __init__(self, served: Served, engine: SessionService, streams: Streams, project: Path) -> None:
        self.served = served
        self.engine = engine
        self.streams = streams
        self.project = project

    async def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> tuple[int, Any]:
        """Ask once, on a separate connection."""
        line = await self.served.dial()
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        await line.say(request(path, method, data, **AUTH | headers))
        status, answer = await line.answer()
        return status, json.loads(answer) if answer.startswith((b"{", b"[")) else answer.decode()

    async def session(self) -> SessionId:
        return await self.engine.create(cwd=str(self.project))

    def is_settled(self) -> bool:
        """Return whether the service is idle: no request, no run, no watcher."""
        busy = any(live.state != "idle" or live.watchers for live in self.engine.live())
        return not (busy or self.served.requests or self.streams.watched)

    async def settled(self) -> None:
        await until(self.is_settled)


@asynccontextmanager
async def running(home: Path, tmp_path: Path, env: dict[str, str]) -> AsyncIterator[Service]:
    project = settle(home, tmp_path, REPLIES)
    engine = open_service(load_settings(env, project), env)
    streams = Streams(engine)
    app = make_app(engine, Folders(env, str(project)), streams, live=engine.live)
    try:
        async with served(Guard(app, token=TOKEN)) as house:
            yield Service(house, engine, streams, project)
            streams.stop()
    finally:
        await engine.aclose()


@pytest.fixture
async def service(home: Path, tmp_path: Path, env: dict[str, str]) -> AsyncIterator[Service]:
    """Yield a service with a scripted model."""
    async with running(home, tmp_path, env) as one:
        yield one


def resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1024**2


# ---------------------------------------------------------------------------- too much


@pytest.mark.parametrize("is_chunked", [False, True])
async def test_a_body_of_100_mb_is_refused_and_never_held(service: Service, is_chunked: bool):
    line = await service.served.dial()
    piece, count = bytes(256 * 1024), 400
    length = {"transfer_encoding": "chunked"} if is_chunked else {"content_length": str(count * len(piece))}
    before = most = resident_mb()
    await line.say(request("/sessions", "POST", **AUTH, content_type="application/json", **length))
    for _ in range(count):
        await line.say(b"%x\r\n%b\r\n" % (len(piece), piece) if is_chunked else piece)
        most = max(most, resident_mb())
    if is_chunked:
        await line.say(b"0\r\n\r\n")
    status, body = await line.answer()

    assert (status, json.loads(body)["code"]) == (413, "TOO_LARGE")
    assert most - before < 40
    await line.say(request("/health"))
    assert await line.answer() == (200, b"ok")  # what is too much was read to its end, and dropped


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"not json",
        b'{"prompt": "\xff\xfe"}',
        b'{"prompt": "\\ud800"}',
        b'{"prompt": NaN}',
        b'{"prompt": 1}',
        b"[]",
        b"null",
        b'"text"',
        b'{"prompt": "plain", "unknown": 1}',
        b'{"prompt": "plain", "max_tokens": 1e400}',
        b'{"prompt": "plain", "max_tokens": ' + b"9" * 5_000 + b"}",
        b"[" * 100_000,
        b'{"prompt":' * 50_000,
        b"\x00\x01\x02",
    ],
    ids=lambda body: body[:24].decode("latin-1"),
)
async def test_a_body_that_makes_no_sense_is_a_problem_and_makes_no_session(service: Service, body: bytes):
    status, problem = await service.ask("/sessions", "POST", body)

    assert (status, problem["status"], problem["code"]) == (400, 400, "INVALID_PARAMS")
    assert await service.engine.ask(ListSessions()) == []


async def test_any_bytes_are_answered_without_an_error_of_ours(
    home: Path, tmp_path: Path, env: dict[str, str]
):
    async with running(home, tmp_path, env) as service:
        session = await service.session()
        seen: set[int] = set()

        async def throw(body: bytes, path: str) -> None:
            seen.add((await service.ask(path, "POST", body))[0])

        paths = ("/sessions", f"/sessions/{session}/commands", f"/sessions/{session}/fork")
        loop = asyncio.get_running_loop()

        @settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
        @given(
            st.binary(min_size=1, max_size=200).filter(lambda body: b"{}" not in body), st.sampled_from(paths)
        )
        def examples(body: bytes, path: str) -> None:
            asyncio.run_coroutine_threadsafe(throw(body, path), loop).result(PATIENCE_S)

        await asyncio.to_thread(examples)

        assert seen == {400}


TRICKS = (
    "..",
    "../../etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "%2e%2e%2f%2e%2e%2fhome",
    "a%00b",
    "%ff%fe",
    "a%0d%0ax:%20y",
    ".",
    "a" * 5_000,
    "-rf",
    "~root",
    "$HOME",
    "a;b",
    "con%5c..%5c..",
)


@pytest.mark.parametrize(
    ("method", "rest"), [("GET", ""), ("GET", "/stream"), ("DELETE", ""), ("POST", "/interrupt")]
)
async def test_tricks_in_ids_find_nothing(service: Service, method: str, rest: str):
    await service.engine.ask(ListSessions())  # what is made at first use is there
    before = sorted(service.project.parent.rglob("*"))

    for name in TRICKS:
        status, problem = await service.ask(f"/sessions/{name}{rest}", method)

        assert (name, status) in ((name, 400), (name, 404))
        assert problem["status"] == status
    assert sorted(service.project.parent.rglob("*")) == before


# ---------------------------------------------------------------------------- who is it


async def test_wrong_tokens_are_held_up_and_the_right_one_works_meanwhile(service: Service):
    wrong = [(await service.ask("/sessions", authorization="Bearer wrong"))[0] for _ in range(MAX_WRONG + 1)]

    assert wrong == [401] * MAX_WRONG + [429]
    assert (await service.ask("/sessions"))[0] == 200


async def test_a_foreign_name_and_a_foreign_page_get_nothing(service: Service):
    rebound, problem = await service.ask("/sessions", host="evil.example")
    page, _ = await service.ask("/sessions", "POST", {"prompt": "plain"}, origin="http://evil.example")
    form, _ = await service.ask("/sessions", "POST", b"prompt=plain", content_type="text/plain")

    assert (rebound, page, form, problem["code"]) == (421, 403, 415, "HOST_REFUSED")
    assert await service.engine.ask(ListSessions()) == []


# ---------------------------------------------------------------------------- gone


async def test_a_client_may_leave_after_each_byte_of_its_request(service: Service):
    whole = request("/sessions", "POST", b'{"prompt": "plain"}', **AUTH)
    for cut in (0, 1, 20, len(whole) // 2, len(whole) - 18, len(whole) - 1):
        line = await service.served.dial()
        await line.say(whole[:cut])
        await line.aclose()
    await service.settled()

    assert await service.engine.ask(ListSessions()) == []


async def test_a_run_whose_client_has_left_goes_on_to_its_end_and_leaves_nothing(service: Service):
    line = await service.served.dial()
    await line.say(request("/sessions", "POST", b'{"prompt": "slow"}', **AUTH))
    await until(lambda: any(live.state == "running" for live in service.engine.live()))
    await line.aclose()
    await service.settled()

    [summary] = await service.engine.ask(ListSessions())
    ended = (await service.engine.ask(Records(summary.id)))[-1].event
    assert isinstance(ended, RunEnded)
    assert (ended.outcome, ended.text) == ("completed", "one two three")


async def test_an_approval_that_nobody_can_give_ends_the_run_also_when_its_client_has_left(service: Service):
    line = await service.served.dial()
    await line.say(request("/sessions", "POST", b'{"prompt": "write"}', **AUTH))
    await until(lambda: bool(service.engine.live()))
    await line.aclose()
    await service.settled()

    [summary] = await service.engine.ask(ListSessions())
    ended = (await service.engine.ask(Records(summary.id)))[-1].event
    assert isinstance(ended, RunEnded)
    assert ended.outcome == "denied"
    assert not (service.project / "new.txt").exists()


async def watching(service: Service, path: str, *wanted: str) -> Line:
    """Open a stream and read until an event has come."""
    line = await service.served.dial()
    await line.say(request(path, **AUTH))
    status, headers = await line.head()
    assert (status, headers["content-type"]) == (200, "text/event-stream; charset=utf-8")
    seen = b""
    async with asyncio.timeout(PATIENCE_S):
        while not all(b"event: " + name.encode() in seen for name in wanted):
            seen += await line.reader.read(65536)
    return line


@pytest.mark.parametrize("way", ["stream?after=0", "events"])
async def test_clients_of_a_stream_may_leave_at_any_time(service: Service, way: str):
    session = await service.session()
    path = f"/sessions/{session}/{way}"
    first = "session_loaded" if way == "events" else "session_created"
    early = await watching(service, path, first)
    await early.aclose()
    await service.settled()
    during = await watching(service, path, first)
    prompt = {"role": "user", "parts": [{"type": "text", "text": "hang"}]}
    status, _ = await service.ask(
        f"/sessions/{session}/commands", "POST", {"type": "prompt", "message": prompt}
    )
    seen = b""
    async with asyncio.timeout(PATIENCE_S):
        while b"event: text_delta" not in seen:
            seen += await during.reader.read(65536)
    half = await service.served.dial()
    await half.say(request(path, **AUTH)[:-2])
    for line in (during, half):
        await line.aclose()
    assert status == 200
    assert (await service.ask(f"/sessions/{session}/interrupt", "POST"))[0] == 200
    await service.settled()
    assert isinstance((await service.engine.ask(Records(session)))[-1].event, RunEnded)


async def test_a_stream_over_a_socket_ends_with_a_last_word(service: Service):
    session = await service.session()
    line = await watching(service, f"/sessions/{session}/stream", "session_created")
    service.streams.stop()
    async with asyncio.timeout(PATIENCE_S):
        rest = await line.reader.readuntil(b"0\r\n\r\n")

    assert events_of(rest.split(b"\r\n")[1]) == [("", "done", "{}")]
    await service.settled()
