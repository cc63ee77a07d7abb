"""One failure at a time, in a cluster of two workers and two gateways."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from bridle.core.errors import SessionBusy, SessionNotRunning, WorkspaceLost
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, user_message
from bridle.core.permission import Mode
from bridle.core.ports import ToolOutput
from bridle.core.protocol import (
    ApprovalRequested,
    Cancel,
    Decide,
    Event,
    MessageAdded,
    Prompt,
    PromptQueued,
    Record,
    RunEnded,
    RunOptions,
    RunResumed,
    RunStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from bridle.core.recovery import INTERRUPTED
from bridle.core.tool import ToolSpec
from bridle.stores.integrity import verify
from bridle.surfaces.daemon.cluster_service import WIRE
from bridle.surfaces.daemon.forced_exit import LOST
from bridle.surfaces.remote.client import RemoteService, say_hello
from bridle.surfaces.shared.session_calls import wait_for_run
from tests.scale.nodes import Node
from tests.scale.stage import Cluster

pytestmark = pytest.mark.asyncio(loop_scope="module")

PATIENCE_S = 60.0
DONE = {"text": "Done."}
WRITE = {
    "text": "I write.",
    "calls": [{"id": "c1", "name": "write_file", "args": {"path": "a.txt", "content": "a"}}],
}


def bash(command: str) -> dict[str, Any]:
    return {"text": "I run.", "calls": [{"id": "c1", "name": "bash", "args": {"command": command}}]}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def shared(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Cluster]:
    folder = tmp_path_factory.mktemp("failures") / "cluster"
    placement = [{"label": name, "folder": str(folder / "projects" / name)} for name in ("gpu", "local")]
    async with Cluster(folder, workers=2, gateways=2, scale={"placement": placement}) as cluster:
        yield cluster


@pytest_asyncio.fixture(loop_scope="module")
async def cluster(shared: Cluster) -> AsyncIterator[Cluster]:
    """Give the cluster as a whole; what a test has ended is started again by the next one."""
    for node in [shared[name] for name in ("w1", "w2", "g1", "g2")]:
        if not node.lives:
            await node.start()
    yield shared
    for node in shared.nodes.values():
        if node.is_frozen:
            node.thaw()
    shared.print_logs()


class Play:
    """A session, seen by a client of one gateway."""

    def __init__(
        self, cluster: Cluster, api: RemoteService, model: str, folder: Path | None, mode: Mode
    ) -> None:
        self.cluster = cluster
        self.api = api
        self.folder = folder or cluster.project()
        self.options = RunOptions(model=model, mode=mode)
        self.session = SessionId("")

    async def begin(self) -> None:
        self.session = await self.api.create(cwd=str(self.folder))
        await self.prompt()

    async def prompt(self, text: str = "go", key: str = "") -> None:
        await self.api.submit(self.session, Prompt(user_message(text), self.options, key=key))

    async def until(self, kind: type[Event], api: RemoteService | None = None) -> Record:
        async with asyncio.timeout(PATIENCE_S), aclosing((api or self.api).watch(self.session)) as items:
            async for item in items:
                if isinstance(item, Record) and isinstance(item.event, kind):
                    return item
        raise AssertionError

    async def ended(self, api: RemoteService | None = None) -> list[Record]:
        """Wait for the end of the run, see that it is a good one, and return what is stored."""
        record = await self.until(RunEnded, api)
        assert isinstance(record.event, RunEnded)
        assert (record.event.outcome, record.event.text) == ("completed", "Done.")
        assert (await verify(self.cluster.store, self.session)).ok
        return await self.cluster.records(self.session)

    async def holder(self) -> Node:
        node = await self.cluster.holder(self.session)
        assert node is not None
        return node


async def play(
    cluster: Cluster, *replies: dict[str, Any], folder: Path | None = None, mode: Mode = "yolo"
) -> Play:
    """Start a run at the first gateway."""
    begun = Play(cluster, await cluster.api(), cluster.script(*replies), folder, mode)
    await begun.begin()
    return begun


def of(kind: type[Event], records: list[Record]) -> list[Any]:
    return [record.event for record in records if isinstance(record.event, kind)]


async def until(holds: Callable[[], Any]) -> Any:
    """Wait until something is so in other processes."""
    async with asyncio.timeout(PATIENCE_S):
        while not (found := await holds()):  # noqa: ASYNC110  another process gives no event
            await asyncio.sleep(0.02)
    return found


# ---------------------------------------------------------------------------- workers


async def test_a_call_whose_worker_is_killed_is_interrupted_and_never_runs_again(cluster: Cluster):
    run = await play(cluster, bash("echo x >> ran; sleep 60"), DONE)
    await run.until(ToolStarted)
    await until(lambda: asyncio.to_thread((run.folder / "ran").exists))
    (await run.holder()).kill()

    records = await run.ended()

    assert [finished.result.output for finished in of(ToolFinished, records)] == [INTERRUPTED]
    assert [resumed.interrupted for resumed in of(RunResumed, records)] == [("c1",)]
    assert (run.folder / "ran").read_text() == "x\n"


async def test_a_model_whose_answer_died_with_a_worker_is_asked_again(cluster: Cluster):
    run = await play(cluster, {**DONE, "delay_ms": 1500})
    await run.until(TurnStarted)
    (await run.holder()).kill()

    records = await run.ended()

    assert [type(record.event) for record in records].count(RunResumed) == 1


async def test_an_approval_outlives_the_worker_that_asked(cluster: Cluster):
    run = await play(cluster, WRITE, DONE, mode="ask")
    await run.until(ApprovalRequested)
    (await run.holder()).kill()
    other = await cluster.api("g2")
    await other.submit(run.session, Decide(CallId("c1"), "once"))

    await run.ended(other)

    assert (run.folder / "a.txt").read_text() == "a"


async def test_a_worker_that_wakes_up_too_late_writes_nothing_and_ends(cluster: Cluster):
    run = await play(cluster, {**DONE, "delay_ms": 1000})
    await run.until(TurnStarted)
    frozen = await run.holder()
    frozen.freeze()
    before = await run.ended()
    frozen.thaw()

    assert await frozen.ended() == LOST
    assert await cluster.records(run.session) == before
    assert "was declared gone: it stops" in frozen.said()


async def test_a_run_that_waits_for_a_person_lets_its_worker_go(cluster: Cluster):
    run = await play(cluster, WRITE, DONE, mode="ask")
    await run.until(ApprovalRequested)

    async def is_let_go() -> bool:
        return await cluster.holder(run.session) is None

    await until(is_let_go)
    for node in cluster.workers:
        if node.lives:  # another test may have ended one
            assert run.session not in await sessions_of(cluster, node)
    await run.api.submit(run.session, Decide(CallId("c1"), "once"))
    await run.ended()


async def sessions_of(cluster: Cluster, node: Node) -> list[str]:
    """Ask a worker which sessions it has in memory; one that has ended has none."""
    asked = "SELECT address FROM bridle.workers WHERE node = %s AND NOT gone ORDER BY beat DESC LIMIT 1"

    async def address_or_end() -> Any:
        # On a busy machine its beat may be late: then it is taken for gone until the next one, or ends.
        return await cluster.postgres.rows(asked, (node.name,)) or not node.lives

    found = await until(address_or_end)
    if found is True:
        return []
    [(address,)] = found
    [(token,)] = await cluster.postgres.rows("SELECT value FROM bridle.cluster WHERE name = 'token'")
    host, _, port = str(address).rpartition(":")
    async with aclosing(
        await say_hello(*await asyncio.open_connection(host, int(port)), WIRE, str(token))
    ) as api:
        return [live.id for live in (await api.status()).sessions]


# ---------------------------------------------------------------------------- PostgreSQL


async def test_runs_wait_for_a_database_that_is_away(cluster: Cluster):
    run = await play(cluster, bash("until [ -e go ]; do sleep 0.02; done"), DONE)
    await run.until(ToolStarted)
    await asyncio.to_thread(cluster.server.kill)
    (run.folder / "go").touch()
    await asyncio.to_thread(cluster.server.start)

    records = await run.ended()

    assert [finished.result.is_error for finished in of(ToolFinished, records)] == [False]


async def test_a_node_that_finds_no_database_says_so(cluster: Cluster, tmp_path: Path):
    env = {**cluster["w1"].env, "BRIDLE_DATABASE_URL": "postgresql://x@127.0.0.1:1/x"}
    settings = cluster["w1"].settings.replace("[store]", '[store]\npatience = "100ms"')
    lost = Node("lost", ["worker"], tmp_path, env, settings)
    lost.spawn()

    assert await lost.ended() == 1
    assert re.search(r"^error: PostgreSQL 127.0.0.1:1/x.*: connection refused$", lost.said(), re.MULTILINE)


# ---------------------------------------------------------------------------- gateways


async def test_another_gateway_shows_the_rest_of_a_run(cluster: Cluster):
    run = await play(cluster, bash("until [ -e go ]; do sleep 0.02; done"), DONE)
    seen = (await run.until(ToolStarted)).seq
    cluster["g1"].kill()
    (run.folder / "go").touch()
    rest: list[Record] = []
    async with (
        asyncio.timeout(PATIENCE_S),
        aclosing((await cluster.api("g2")).watch(run.session, seen)) as items,
    ):
        async for item in items:
            if isinstance(item, Record):
                rest.append(item)
                if isinstance(item.event, RunEnded):
                    break

    assert rest == (await cluster.records(run.session))[seen:]


async def test_a_prompt_that_comes_by_two_gateways_runs_once(cluster: Cluster):
    apis = [await cluster.api("g1"), await cluster.api("g2")]
    session = await apis[0].create(cwd=str(cluster.project()))
    command = Prompt(user_message("go"), RunOptions(model=cluster.script(DONE)), key="one")

    receipts = await asyncio.gather(*(api.submit(session, command) for api in apis * 2))
    [run_id] = {receipt.run_id for receipt in receipts}
    assert run_id is not None
    await wait_for_run(apis[0], session, run_id)

    assert sorted(receipt.repeated for receipt in receipts) == [False, True, True, True]
    assert len(of(RunStarted, await cluster.records(session))) == 1


async def test_prompts_run_in_the_order_in_which_they_were_taken(cluster: Cluster):
    apis = [await cluster.api("g1"), await cluster.api("g2")]
    session = await apis[0].create(cwd=str(cluster.project()))
    options = RunOptions(model=cluster.script(*[DONE] * 50))
    commands = [Prompt(user_message(f"prompt {number}"), options) for number in range(50)]

    await asyncio.gather(*(apis[number % 2].submit(session, one) for number, one in enumerate(commands)))

    async def ended() -> list[Record]:
        records = await cluster.records(session)
        return records if len(of(RunEnded, records)) == 50 else []

    records = await until(ended)
    ran = [added.message.text for added in of(MessageAdded, records)]
    assert sorted(ran) == sorted(command.message.text for command in commands)
    assert ran == accepted(records)


def accepted(records: list[Record]) -> list[str]:
    """Return the prompts in the order in which they were queued, or begun at once."""
    taken = []
    for record in records:
        match record.event:
            case PromptQueued(message=message):
                taken.append(message.text)
            case MessageAdded(message=message, item_id=None):
                taken.append(message.text)
            case _:
                pass
    return taken


class Answering:
    """A tool of the client's own."""

    specs = (ToolSpec("where", "Says where it is.", {"type": "object", "properties": {}}),)

    async def dispatch(self, call: ToolCall) -> ToolOutput:
        return ToolOutput(f"{call.name}: at the client")


async def test_a_run_calls_tools_that_a_client_of_a_gateway_lends(cluster: Cluster):
    api = await cluster.api("g2")
    session = await api.create(cwd=str(cluster.project()))
    model = cluster.script({"calls": [{"id": "c1", "name": "where", "args": {}}]}, DONE)
    async with api.provide_tools(session, Answering()):
        options = RunOptions(model=model, allow=("*",))
        receipt = await api.submit(session, Prompt(user_message("go"), options))
        assert receipt.run_id is not None
        await wait_for_run(api, session, receipt.run_id)

    records = await cluster.records(session)
    assert [finished.result.output for finished in of(ToolFinished, records)] == ["where: at the client"]


# ---------------------------------------------------------------------------- places


async def test_a_session_waits_for_a_worker_with_its_label(cluster: Cluster):
    folder = cluster.project("gpu")
    impatient = cluster.add("g3", take_timeout="1s")
    await impatient.start()
    hasty = await cluster.api("g3")
    session = await hasty.create(cwd=str(folder))
    command = Prompt(user_message("go"), RunOptions(model=cluster.script(DONE)))
    with pytest.raises(SessionBusy, match="no worker accepted this within 1 s"):
        await hasty.submit(session, command)
    impatient.kill()

    api = await cluster.api("g1")
    waiting = asyncio.create_task(api.submit(session, command))
    await until(lambda: legs_of(cluster, session))
    await (await cluster.api("g2")).submit(session, Cancel())
    with pytest.raises(SessionNotRunning, match="cancelled before it started"):
        await waiting

    waiting = asyncio.create_task(api.submit(session, command))
    await until(lambda: legs_of(cluster, session))
    special = cluster.add("w3", labels=["gpu"], only_labels=True)
    await special.start()
    receipt = await waiting
    assert receipt.run_id is not None
    await wait_for_run(api, session, receipt.run_id)
    rows = await until(lambda: done_by(cluster, session))
    special.kill()
    assert {str(executor).rpartition("-")[0] for (executor,) in rows} == {"w3"}


async def done_by(cluster: Cluster, session: SessionId) -> list[Any]:
    """Return who has done assignments of a session."""
    return await cluster.postgres.rows(
        "SELECT executor_id FROM dbos.workflow_status WHERE status = 'SUCCESS' AND workflow_uuid LIKE %s",
        (f"{session}:%",),
    )


async def legs_of(cluster: Cluster, session: SessionId) -> list[Any]:
    """Return the assignments of a session that no worker has started."""
    return await cluster.postgres.rows(
        "SELECT 1 FROM dbos.workflow_status WHERE status = 'ENQUEUED' AND workflow_uuid LIKE %s",
        (f"{session}:%",),
    )


async def test_a_session_whose_machine_is_gone_says_so(cluster: Cluster):
    own = cluster.add("w4", labels=["local"], only_labels=True, workspaces="local")
    await own.start()
    run = await play(cluster, DONE, DONE, folder=cluster.project("local"))
    await run.ended()
    own.kill()

    async def is_gone() -> list[Any]:
        return await cluster.postgres.rows("SELECT 1 FROM bridle.workers WHERE node = 'w4' AND gone")

    await until(is_gone)
    await asyncio.sleep(1.1)  # what a gateway knows about workers is a second old
    with pytest.raises(WorkspaceLost, match="works in a folder on the machine w4, which has no worker"):
        await run.prompt("again")

    await own.start()
    await asyncio.sleep(1.1)
    await run.prompt("and again")
    own.kill()
