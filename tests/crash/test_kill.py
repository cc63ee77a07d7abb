"""kill -9 at random moments: nothing shown is lost or duplicated, and no finished tool runs twice."""

import os
import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from bridle.core.protocol import ModelReplied, Record, RunEnded, RunResumed, ToolFinished, ToolStarted
from bridle.core.recovery import INTERRUPTED
from bridle.core.session import fold
from bridle.stores.integrity import verify
from tests.crash.actor_child import SESSION, TURNS, open_store

CHILD = Path(__file__).with_name("actor_child.py")
MAX_KILLS = 60


def start(kind: str, directory: Path) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    env = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(
        [sys.executable, str(CHILD), kind, str(directory)],
        stdout=subprocess.PIPE,
        env=env | {"PYTHONPATH": str(root)},
    )


def run_and_kill(kind: str, directory: Path, after_lines: int) -> tuple[dict[int, str], bool]:
    """Let a child run until it has shown some records, kill it; return what it showed, and if it ended."""
    child = start(kind, directory)
    assert child.stdout is not None
    seen: dict[int, str] = {}
    for line in child.stdout:
        seq, digest = line.split()
        seen[int(seq)] = digest.decode()
        if len(seen) == after_lines:
            child.send_signal(signal.SIGKILL)
            break
    rest = child.stdout.read()  # shown before the kill, and so acknowledged too
    for line in rest.splitlines(keepends=True):
        if line.endswith(b"\n"):
            seq, digest = line.split()
            seen[int(seq)] = digest.decode()
    child.stdout.close()
    return seen, child.wait() == 0


async def stored(kind: str, directory: Path) -> list[Record]:
    store = open_store(kind, directory)
    records = await store.read(SESSION)
    report = await verify(store, SESSION)
    await store.aclose()
    assert report.ok, report
    return records


@pytest.mark.parametrize(("kind", "seed"), [("sqlite", 1), ("jsonl", 2)])
async def test_a_run_survives_any_number_of_kills(kind, seed, tmp_path):
    chance = random.Random(seed)
    records: list[Record] = []
    kills = 0
    for _ in range(MAX_KILLS):
        seen, ended = run_and_kill(kind, tmp_path, len(records) + chance.randint(2, 30))
        records = await stored(kind, tmp_path)
        assert {r.seq: r.hash for r in records if r.seq in seen} == seen, "an acknowledged record is gone"
        assert [r.seq for r in records] == list(range(1, len(records) + 1))
        if ended:
            break
        kills += 1

    events = [record.event for record in records]
    notes = Counter((tmp_path / "notes.txt").read_text().split())
    finished = Counter(e.result.call_id for e in events if isinstance(e, ToolFinished))
    lost = {
        e.result.call_id for e in events if isinstance(e, ToolFinished) and e.result.output == INTERRUPTED
    }
    calls = [call.id for e in events if isinstance(e, ModelReplied) for call in e.message.calls]
    resumed = [e for e in events if isinstance(e, RunResumed)]
    assert isinstance(events[-1], RunEnded)
    assert (events[-1].outcome, events[-1].text) == ("completed", "all done")
    assert kills >= 3
    assert len(resumed) >= 3
    assert sorted(finished.items()) == [(call_id, 1) for call_id in sorted(calls)]
    assert len(calls) == TURNS * 3
    for call_id in calls:
        if call_id.startswith("write"):
            assert notes[call_id] <= 1, f"{call_id} took effect twice"
            assert notes[call_id] == 1 or call_id in lost
        else:
            starts = sum(isinstance(e, ToolStarted) and e.call_id == call_id for e in events)
            assert 1 <= notes[call_id] <= starts
    assert {call_id for e in resumed for call_id in e.interrupted} == lost
    assert len(fold(records).messages) == 2 + 2 * TURNS
