"""Several sessions in one project, in one process or two: each sees only its own changes, none waits."""

import asyncio
import json
import os
import sys
import threading
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import count, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.budget import Limits
from bridle.core.errors import SessionConflict
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Decide,
    Prompt,
    Record,
    Rewind,
    RunEnded,
    RunOptions,
    ToolFinished,
)
from bridle.core.queries import Changes, ListSessions, PlanRewind, Records
from bridle.sessions.service import SessionService
from bridle.surfaces.shared.session_calls import read_session
from tests.crash.test_shell import descendants
from tests.revisions.tree import tree_of

A, B = SessionId("a"), SessionId("b")


def bash(command: str) -> dict[str, Any]:
    return {"name": "bash", "args": {"command": command}}


def write(path: str, content: str) -> dict[str, Any]:
    return {"name": "write_file", "args": {"path": path, "content": content}}


def read(path: str) -> dict[str, Any]:
    return {"name": "read_file", "args": {"path": path}}


def edit(path: str, old: str, new: str) -> dict[str, Any]:
    return {"name": "edit_file", "args": {"path": path, "old_str": old, "new_str": new}}


class Office:
    """A project, and an engine whose model makes the calls that each prompt stands for."""

    def __init__(self, env: dict[str, str], place: Path) -> None:
        self.env = env
        self.root = place / "project"
        self.root.mkdir()
        self._script = place / "script.json"
        self._replies: list[dict[str, Any]] = []
        # What memory holds open for the whole engine is not what these tests look for.
        (Path(env["BRIDLE_HOME"]) / "config.toml").write_text("[memory]\nenabled = false\n")
        self.service: SessionService = open_service(load_settings(env, self.root), env)

    @property
    def model(self) -> str:
        return f"scripted/{self._script}"

    def means(self, prompt: str, *calls: dict[str, Any]) -> None:
        """Let a prompt stand for calls, one in each turn."""
        self._replies += [{"match": f"^{prompt}$", "calls": [call]} for call in calls]
        self._replies.append({"match": f"^{prompt}$", "text": f"{prompt} is done"})
        self._script.write_text(json.dumps({"replies": self._replies}))

    async def begin(self, session: SessionId, prompt: str, **options: Any) -> Any:
        """Start a run, in a new session if there is none yet."""
        if session not in {known.id for known in await self.service.ask(ListSessions())}:
            await self.service.create(cwd=str(self.root), session_id=session)
        options = {"mode": "yolo", "model": self.model} | options
        receipt = await self.service.submit(session, Prompt(user_message(prompt), RunOptions(**options)))
        return receipt.run_id

    async def run(self, session: SessionId, prompt: str) -> RunEnded:
        run_id = await self.begin(session, prompt)
        ended = await self.service.wait(session, run_id)
        assert ended.text == f"{prompt} is done", ended
        return ended

    async def run_elsewhere(self, session: SessionId, prompt: str) -> None:
        """Run a prompt in another process."""
        if session not in {known.id for known in await self.service.ask(ListSessions())}:
            await self.service.create(cwd=str(self.root), session_id=session)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bridle", "run", "--yolo", "--session", session),
            *("--model", self.model, prompt),
            cwd=self.root,
            env=self.env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
        )
        out, _ = await process.communicate()
        assert (process.returncode, out.decode().strip()) == (0, f"{prompt} is done")

    async def changed(self, session: SessionId) -> list[str]:
        return [change.path for change in await self.service.ask(Changes(session))]

    async def results(self, session: SessionId) -> list[str]:
        events = [record.event for record in await self.service.ask(Records(session))]
        return [event.result.output for event in events if isinstance(event, ToolFinished)]


@pytest.fixture
async def office(env: dict[str, str], tmp_path: Path) -> AsyncIterator[Office]:
    office = Office(env, tmp_path)
    yield office
    await office.service.aclose()


places = pytest.mark.parametrize("elsewhere", [False, True], ids=["one process", "two processes"])


@places
async def test_each_undo_covers_the_changes_of_its_own_session(office: Office, elsewhere: bool):
    os.mkfifo(office.root / "gate")
    office.means(
        "slow",
        bash("echo a > a; echo go > gate; read x < gate; echo a >> a; echo a > dir/a"),
        write("a2", "a\n"),
    )
    office.means(
        "quick", bash("echo b > b; mkdir -p dir; echo b > dir/b; echo b > common"), write("b2", "b\n")
    )
    office.means("last", bash("echo c >> b"))
    (office.root / "dir").mkdir()
    first = tree_of(office.root)
    slow = await office.begin(A, "slow")
    gate = await asyncio.to_thread((office.root / "gate").open)
    await asyncio.to_thread(gate.readline)
    gate.close()
    await (office.run_elsewhere if elsewhere else office.run)(B, "quick")
    await asyncio.to_thread((office.root / "gate").write_text, "go\n")
    await office.service.wait(A, slow)
    both = tree_of(office.root)

    assert await office.changed(A) == ["a", "a2", "dir/a"]
    assert await office.changed(B) == ["b", "b2", "common", "dir/b"]
    await office.service.submit(A, Rewind(1))
    ours = {name: both[name] for name in both if name not in (b"a", b"a2", b"dir/a")}
    assert tree_of(office.root) == ours
    await office.service.submit(B, Rewind(1))
    assert tree_of(office.root) == first


@places
async def test_a_file_that_another_session_edited_is_a_conflict_for_an_edit(office: Office, elsewhere: bool):
    (office.root / "f").write_text("one\ntwo\n")
    office.means("look", read("f"))
    office.means("change", read("f"), edit("f", "two", "three"))
    office.means("edit", edit("f", "one", "two"))

    await office.run(A, "look")
    await (office.run_elsewhere if elsewhere else office.run)(B, "change")
    await office.run(A, "edit")

    assert (await office.results(A))[-1] == "f was changed since you read it; read_file it again"
    assert (office.root / "f").read_text() == "one\nthree\n"


@places
async def test_a_rewind_that_would_overwrite_another_session_is_refused(office: Office, elsewhere: bool):
    (office.root / "f").write_text("one\n")
    office.means("first", bash("echo two > f; echo mine > g"))
    office.means("second", bash("echo three > f"))
    await office.run(A, "first")
    await (office.run_elsewhere if elsewhere else office.run)(B, "second")

    with pytest.raises(SessionConflict, match=r"changed outside the session: f \(hint"):
        await office.service.submit(A, Rewind(1))

    assert (office.root / "f").read_text() == "three\n"
    assert (office.root / "g").read_text() == "mine\n"
    assert await office.changed(A) == ["f", "g"]
    await office.service.submit(B, Rewind(1))
    await office.service.submit(A, Rewind(1))
    assert {path.name: path.read_text() for path in office.root.iterdir()} == {"f": "one\n"}


async def test_what_another_session_took_back_already_is_no_conflict(office: Office):
    (office.root / "f").write_text("one\n")
    office.means("first", bash("echo two > f; echo mine > g"))
    office.means("second", bash("echo one > f; rm g"))
    await office.run(A, "first")
    await office.run(B, "second")
    plan = await office.service.ask(PlanRewind(A, 1))
    await office.service.submit(A, Rewind(1))

    assert (plan.changes, plan.conflicts) == ((), ())
    assert {path.name: path.read_text() for path in office.root.iterdir()} == {"f": "one\n"}


async def test_a_session_that_waits_for_an_answer_holds_up_no_other(office: Office):
    office.means("ask", write("a", "a\n"))
    office.means("go", bash("echo b > b"), write("c", "c\n"))
    asking = await office.begin(A, "ask", mode="ask")
    async for item in office.service.watch(A):
        if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
            call_id = item.event.call_id
            break

    await office.run(B, "go")
    await office.run_elsewhere(SessionId("c"), "go")
    waiting = (await read_session(office.service, A)).run
    assert waiting is not None
    assert [request.call_id for request in waiting.pending] == [call_id]
    await office.service.submit(A, Decide(call_id, "once"))
    ended = await office.service.wait(A, asking)

    assert (ended.outcome, sorted(os.listdir(office.root))) == ("completed", ["a", "b", "c"])


@pytest.mark.slow
async def test_two_hundred_commands_leave_nothing_behind(office: Office):
    office.means("begin", bash("echo 0 > count"))
    office.means("work", *(bash(f"sleep 60 & echo {number} > count; cat count") for number in range(200)))
    await office.run(A, "begin")

    async def work() -> None:
        run = await office.begin(A, "work", limits=Limits(turns=300))
        ended = await office.service.wait(A, run)
        assert (ended.outcome, (await office.results(A))[-200:]) == ("completed", list(map(str, range(200))))

    await assert_nothing_is_left(work)


@pytest.mark.slow
async def test_fifty_sessions_leave_nothing_behind(env: dict[str, str], tmp_path: Path):
    office = Office(env, tmp_path)
    job = {"name": "bash", "args": {"command": "sleep 60", "background": True}}
    office.means("work", bash("sleep 60 & echo done"), read("f"), job)
    (office.root / "f").write_text("one\n")
    await office.run(A, "work")
    await office.service.aclose()
    names = (SessionId(f"s{number}") for number in count())

    async def work() -> None:
        before = held()
        for _ in range(5):
            office.service = open_service(load_settings(env, office.root), env)
            await asyncio.gather(*(office.run(session, "work") for session in islice(names, 10)))
            assert held().processes > before.processes
            await office.service.aclose()

    await assert_nothing_is_left(work)


class Held(NamedTuple):
    """The resources of this process, by kind."""

    descriptors: Counter[str]
    threads: Counter[str]
    tasks: int
    processes: int


def held() -> Held:
    """Look at it; the threads of the event loop's pool are few and stay."""
    threads = [thread.name for thread in threading.enumerate() if not thread.name.startswith("asyncio_")]
    return Held(
        Counter(map(_target, os.listdir("/proc/self/fd"))),
        Counter(threads),
        len(asyncio.all_tasks()),
        len(descendants(os.getpid())),
    )


def _target(number: str) -> str:
    """Return the target of a descriptor; the one of the listing itself is already closed."""
    try:
        return os.readlink(f"/proc/self/fd/{number}").partition(":")[0]
    except FileNotFoundError:
        return ""


async def assert_nothing_is_left(work: Callable[[], Awaitable[None]]) -> None:
    """Repeat until the resources are as before: on a busy machine, spare processes may start late."""
    for _ in range(3):
        before = await settled()
        await work()
        after = await back_to(before)
        if after == before:
            return
    assert after == before


async def settled() -> Held:
    """Return the resources after everything of a run that just ended has finished."""
    seen = [held()]
    while len(seen) < 500 and (len(seen) < 20 or any(one != seen[-1] for one in seen[-20:])):
        await asyncio.sleep(0.01)
        seen.append(held())
    return seen[-1]


async def back_to(before: Held) -> Held:
    """Wait briefly for stopped processes to end; return the resources then."""
    for _ in range(500):
        if held() == before:
            break
        await asyncio.sleep(0.01)
    return held()
