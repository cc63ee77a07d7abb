"""Other external faults: connections, names, clocks, logs; docs/endurance.md lists all of them."""

import asyncio
import re
import socket
import struct
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from bridle.core.budget import Limits
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.ports import Store
from bridle.core.protocol import Prompt, Resume, RunOptions
from bridle.core.queries import ListSessions
from bridle.providers.openai import OpenAIProvider
from bridle.stores.integrity import verify
from bridle.stores.jsonl import JsonlStore
from bridle.stores.sqlite import SqliteStore
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.providers.conversation import Outcome, ask, request
from tests.providers.raw_server import sse
from tests.sessions.stage import FixedClock, Play, SmallTool, Stage, call, says
from tests.surfaces.command import Bridle
from tests.surfaces.daemon.process import DaemonProcess

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "endurance.md"
DAY_MS = 86_400_000

# ---------------------------------------------------------------------------- the disk


def test_every_step_of_small_work_on_the_disk_may_fail():
    """Blobs, claims, derived files, settings: an error that says so, nothing half, and then it works."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.endurance.seams"], cwd=ROOT, capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert len(re.findall(r": \d+ faults", done.stdout)) == 5


# ---------------------------------------------------------------------------- connections

ANSWER = sse(
    b'{"choices":[{"delta":{"content":"Hel"}}]}',
    b'{"choices":[{"delta":{"content":"lo."}}]}',
    b'{"choices":[{"delta":{},"finish_reason":"stop"}]}',
    b"[DONE]",
)
SAID_ALL = ANSWER.index(b'"stop"}')  # what is cut before this is no answer


@asynccontextmanager
async def cutting() -> AsyncIterator[tuple[str, list[int]]]:
    """Serve the answer up to a byte, which the test sets, and break the connection there."""
    cut = [0]

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            await reader.readexactly(int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]))
            writer.write(ANSWER[: cut[0]])
            await writer.drain()
        if cut[0] % 2:  # a reset; the others are an orderly end
            linger = struct.pack("ii", 1, 0)
            writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", cut
    finally:
        server.close()
        await server.wait_closed()


async def test_a_connection_that_breaks_at_any_byte_of_an_answer_gives_no_half_answer():
    async with cutting() as (url, cut):
        provider = OpenAIProvider.at("server", url)
        outcomes: list[Outcome] = []
        for cut[0] in range(len(ANSWER) + 1):
            outcomes.append(await ask(provider, request()))
        await provider.aclose()

    early, whole = outcomes[:SAID_ALL], outcomes[-1]
    assert whole.reply is not None
    assert whole.reply.message.text == "Hello."
    assert {(one.reply, one.error) for one in early} == {(None, "connection_reset")}
    assert all(one.reply == whole.reply or one.error is not None for one in outcomes)


def test_a_host_that_nobody_knows_is_said(env: dict[str, str], home: Path, tmp_path: Path):
    (home / "config.toml").write_text(
        '[providers.far]\nkind = "openai"\nbase_url = "http://model.invalid/v1"\n'
        '[retry]\nmax_retries = 1\ninitial_delay = "1ms"\n'
    )

    done = Bridle(env, tmp_path)("run", "--model", "far/one", "hello")

    assert (done.code, done.out) == (1, "")
    assert "the host is not found" in done.err
    assert "hint: check the network" in done.err
    assert "Traceback" not in done.err


# ---------------------------------------------------------------------------- clocks


class Pendulum(FixedClock):
    """Jumps a day forward and two days back, by turns."""

    def __init__(self) -> None:
        super().__init__()
        self._jumps = 0

    def now_ms(self) -> int:
        self._jumps += 1
        return 10 * DAY_MS + (DAY_MS if self._jumps % 2 else -DAY_MS)


@pytest.fixture(params=["sqlite", "jsonl"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    clock = Pendulum()
    if request.param == "sqlite":
        return SqliteStore(tmp_path / "bridle.db", clock)
    return JsonlStore(tmp_path / "sessions", clock)


async def test_a_clock_that_jumps_by_days_ends_no_run_and_breaks_no_record(store: Store):
    """A time limit uses a monotonic clock, also for a resumed run."""
    limits = Limits(duration_s=60.0)
    play = Play(says("", call("a", "look")), says("one"), says("two"), hold=True)
    tools = [SmallTool("look", lambda on: "seen")]
    async with Stage(play, store=store, tools=tools, clock=Pendulum()) as stage:
        await stage.submit_run(Prompt(user_message("go"), RunOptions(limits=limits)))
        await play.streaming.wait()
        await stage.service.park(0)
    play.go.set()
    async with Stage(play, store=store, tools=tools, clock=FixedClock(8 * DAY_MS)) as stage:
        ended = await stage.service.wait(stage.session, await stage.submit_run(Resume()))
        later = await stage.service.wait(stage.session, await stage.prompt("go on"))
        listed = [summary.id for summary in await stage.service.ask(ListSessions())]
        audit = await verify(store, SessionId("play"))  # type: ignore[arg-type]

    assert (ended.outcome, later.outcome, later.text) == ("completed", "completed", "two")
    assert (audit.ok, listed) == (True, ["play"])


# ---------------------------------------------------------------------------- logs


async def test_a_daemon_whose_log_has_no_room_serves_as_before(env: dict[str, str], home: Path):
    (home / "logs").mkdir()
    (home / "logs" / "daemon.log").symlink_to("/dev/full")
    daemon = DaemonProcess(home, env)
    try:
        await daemon.start()
        async with daemon.reached() as client:
            session = await client.create(cwd=str(home))
            options = RunOptions(model="scripted/demo")
            receipt = await client.submit(session, Prompt(user_message("hello"), options))
            assert receipt.run_id is not None
            ended = await wait_for_run(client, session, receipt.run_id)

        assert ended.outcome == "completed"
        daemon.ask_to_end()
    finally:
        daemon.close()


# ---------------------------------------------------------------------------- the table


def named_tests() -> Iterator[tuple[str, str]]:
    return iter(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE.read_text()))


def test_the_page_names_tests_that_exist():
    missing = [
        f"{path}::{name}"
        for path, name in named_tests()
        if not (ROOT / path).exists() or f"def {name}(" not in (ROOT / path).read_text()
    ]

    assert missing == []
    assert len(set(named_tests())) > 50


def test_every_test_of_this_file_is_in_the_page():
    ours = re.findall(r"^(?:async )?def (test_\w+)", Path(__file__).read_text(), re.MULTILINE)
    named = {name for _, name in named_tests()}

    assert [name for name in ours if name not in named and not name.endswith(("_exist", "_page"))] == []
