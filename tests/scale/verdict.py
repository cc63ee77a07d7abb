"""Conditions that a cluster must meet after a storm, whatever was killed when.

Each function returns what is wrong, in words; nothing means that all is well.
"""

import asyncio
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from bridle.core.errors import BridleError
from bridle.core.ids import SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    MessageAdded,
    PromptQueued,
    Record,
    RunEnded,
    RunStarted,
    ToolFinished,
    ToolStarted,
)
from bridle.core.recovery import INTERRUPTED
from bridle.core.session import fold
from bridle.stores.integrity import verify
from bridle.stores.record_lines import LineStore
from tests.scale.stage import Cluster
from tests.scale.visitors import Visitor

QUIET_S = 30.0

_BUSY = """
SELECT 'session ' || id || ' is held by ' || owner FROM bridle.sessions WHERE owner <> ''
UNION ALL
SELECT 'leg ' || workflow_uuid || ' is ' || status FROM dbos.workflow_status
WHERE status IN ('PENDING', 'ENQUEUED', 'DELAYED')
"""


async def unrest(cluster: Cluster) -> list[str]:
    """Wait until no worker holds a session and no assignment waits; report what does not end in time."""
    deadline = time.monotonic() + QUIET_S
    while True:
        found = [str(row[0]) for row in await cluster.postgres.rows(_BUSY)]
        if not found or time.monotonic() > deadline:
            return found
        await asyncio.sleep(0.1)


async def faults_of(cluster: Cluster, visitors: Sequence[Visitor]) -> dict[SessionId, list[str]]:
    """Check the log of every session, including sub-agents."""
    by_session = {visitor.play.session: visitor for visitor in visitors}
    found: dict[SessionId, list[str]] = {}
    for session in await cluster.store.ids():
        records = await cluster.records(session)
        faults = [*await log_faults(cluster.store, session, records), *tool_faults(cluster.projects, records)]
        if (visitor := by_session.pop(session, None)) is not None:
            faults += promise_faults(visitor, records)
        if faults:
            found[session] = faults
    for session in by_session:
        found[session] = ["it does not exist"]
    return found


async def log_faults(store: LineStore, session: SessionId, records: Sequence[Record]) -> list[str]:
    """Return the problems in the record of a finished session."""
    audit = await verify(store, session)
    faults = [] if audit.ok else [f"does not verify: {audit.flaw}"]
    try:
        folded = fold(records)
    except BridleError as error:
        return [*faults, f"does not fold: {error}"]
    if folded.run is not None:
        faults.append("a run has not ended")
    if folded.known.queue:
        faults.append("a prompt waits that nobody takes")
    begun = [record.event.run_id for record in records if isinstance(record.event, RunStarted)]
    ended = [record.event.run_id for record in records if isinstance(record.event, RunEnded)]
    if begun != ended:
        faults.append(f"runs {begun} began, and {ended} ended")
    return faults


def tool_faults(projects: Path, records: Sequence[Record]) -> Iterator[str]:
    """Return the calls that ran twice, or whose effect differs from their record."""
    begun: Counter[str] = Counter()
    finished: dict[str, Record] = {}
    for record in records:
        match record.event:
            case ToolStarted(call_id=call, repeatable=False, tool=tool) if tool != "agent_spawn":
                begun[call] += 1
                if call in finished:
                    yield f"{call} began after it had finished"
            case ToolFinished(result=result):
                if result.call_id in finished:
                    yield f"{result.call_id} finished twice"
                finished[result.call_id] = record
            case _:
                pass
    yield from (f"{call} began {times} times" for call, times in begun.items() if times > 1)
    for call, record in finished.items():
        assert isinstance(record.event, ToolFinished)
        yield from _effect_faults(projects, call, record, record.event)


def _effect_faults(projects: Path, call: str, record: Record, finished: ToolFinished) -> Iterator[str]:
    folder = projects / call.partition("-")[0]
    is_done = not finished.result.is_error
    if finished.result.name == "bash":
        trace = folder / "effects" / call
        times = [int(line) for line in trace.read_text().split()] if trace.exists() else []
        if len(times) > 1:
            yield f"{call} ran {len(times)} times"
        if is_done and not times:
            yield f"{call} is said to have run, and did not"
        if is_done and times and times[0] > record.at:
            yield f"{call} ran {times[0] - record.at} ms after its end was recorded"
        if not is_done and times and finished.result.output != INTERRUPTED:
            yield f"{call} ran, and its result says: {finished.result.output[:200]}"
    if finished.result.name == "write_file" and is_done and (folder / f"{call}.txt").read_text() != call:
        yield f"{call} did not write what it should"


def promise_faults(visitor: Visitor, records: Sequence[Record]) -> Iterator[str]:
    """Return the promises to a client that were broken, or kept twice."""
    said = Counter(record.event.message.text for record in records if isinstance(record.event, MessageAdded))
    queued = Counter(
        record.event.message.text for record in records if isinstance(record.event, PromptQueued)
    )
    if not visitor.is_over:
        yield "its client has not seen its end"
    for text in (*visitor.play.prompts, *filter(None, [visitor.play.steer])):
        if text in visitor.taken and said[text] != 1:
            yield f'"{text}" was acknowledged, and is there {said[text]} times'
        if said[text] > 1 or queued[text] > 1:
            yield f'"{text}" is there {said[text]} times, and was queued {queued[text]} times'
    decided: Counter[str] = Counter()
    for record in records:
        match record.event:
            case ApprovalDecided(call_id=call):
                decided[call] += 1
            case ApprovalRequested(call_id=call) if decided[call]:
                yield f"{call} was asked about again after it was decided"
            case _:
                pass
    yield from (f"the answer about {call} was lost" for call in visitor.decided if not decided[call])
    yield from (f"{call} was decided {times} times" for call, times in decided.items() if times > 1)


async def left_behind(folder: Path) -> list[str]:
    """Give programs time to notice that their parent is gone; return those that have not."""
    deadline = time.monotonic() + QUIET_S
    while (found := processes_of(folder)) and time.monotonic() < deadline:  # noqa: ASYNC110  nothing tells of it
        await asyncio.sleep(0.1)
    return found


def processes_of(folder: Path) -> list[str]:
    """Return the processes that still work in a folder, or were started for it."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            environ = Path(f"/proc/{pid}/environ").read_bytes()
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            cwd = os.readlink(f"/proc/{pid}/cwd")
        except OSError:
            continue
        if os.fsencode(folder) in environ or cwd.startswith(str(folder)):
            found.append(f"{pid}: {words}")
    return found
