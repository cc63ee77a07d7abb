"""kill -9 of the daemon between two cells: no program survives, and the run resumes with its variables."""

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalRequested,
    Decide,
    Prompt,
    Record,
    Resume,
    RunOptions,
    ToolFinished,
    ToolStarted,
    TurnEnded,
)
from bridle.core.queries import IsRunning, Records
from bridle.surfaces.remote.client import RemoteService
from bridle.surfaces.shared.session_calls import read_session, wait_for_run
from tests.surfaces.daemon.process import DaemonProcess, descendants, until_gone

FIRST = """I write three files.
```python
answer = 41
results = await asyncio.gather(*(write_file(path=f"{name}.txt", content=name) for name in "abc"))
len(results)
```"""
SECOND = "```python\nprint(answer + 1, len(results))\n```"
SLOW_MS = 1500  # what the model takes for its second answer: time enough to be killed in


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[DaemonProcess]:
    daemon = DaemonProcess(tmp_path / "home", {"PATH": os.environ["PATH"], "HOME": str(tmp_path)})
    yield daemon
    daemon.close()


async def test_a_run_that_gathers_under_approval_survives_the_death_of_the_daemon(
    daemon: DaemonProcess, tmp_path: Path
):
    project = tmp_path / "project"
    project.mkdir()
    script = tmp_path / "script.json"
    replies = [{"text": FIRST}, {"text": SECOND, "delay_ms": SLOW_MS}, {"text": "All is there."}]
    script.write_text(json.dumps({"replies": replies}))
    options = RunOptions(model=f"scripted/{script}", code=True, allow=("python",))

    await daemon.start()
    async with daemon.reached() as client:
        session = await client.create(cwd=str(project))
        receipt = await client.submit(session, Prompt(user_message("go"), options))
        asked: list[ApprovalRequested] = []
        async for item in client.watch(session):
            if isinstance(item, Record) and isinstance(item.event, ApprovalRequested):
                asked.append(item.event)
            if len(asked) == 3:
                break
        [parent] = {request.parent for request in asked}
        for request in reversed(asked):
            await client.submit(session, Decide(request.call_id, "once"))
        await _until(client, session, TurnEnded)
    left = descendants(daemon.pid)
    assert left, "a kernel is alive"
    daemon.kill()
    await until_gone(left)

    await daemon.start()
    async with daemon.reached() as client:
        assert not await client.ask(IsRunning(session))
        assert (await read_session(client, session)).run is not None
        receipt = await client.submit(session, Resume())
        assert receipt.run_id is not None
        ended = await wait_for_run(client, session, receipt.run_id)
        events = [record.event for record in await client.ask(Records(session))]
    assert daemon.ask_to_end() == 0

    assert (ended.outcome, ended.text) == ("completed", "All is there.")
    started = [(event.call_id, event.parent) for event in events if isinstance(event, ToolStarted)]
    assert started == [
        (parent, None),
        *((CallId(f"{parent}.{number}"), parent) for number in (1, 2, 3)),
        ("call_2_1", None),
    ]
    results = {event.result.call_id: event.result for event in events if isinstance(event, ToolFinished)}
    assert results[parent].output == "3"
    assert results[CallId("call_2_1")].output.split("\n") == [
        "42 3",
        "[a new kernel, with the variables of the last one]",
    ]
    assert {path.name: path.read_text() for path in project.iterdir()} == {
        "a.txt": "a",
        "b.txt": "b",
        "c.txt": "c",
    }


async def _until(client: RemoteService, session, kind: type) -> None:
    async for item in client.watch(session):
        if isinstance(item, Record) and isinstance(item.event, kind):
            return
