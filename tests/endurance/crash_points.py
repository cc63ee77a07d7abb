"""The play is stopped at each of its disk steps and resumed, and must reach the same end.

python -m tests.endurance.crash_points KIND [FAULT[:EVERY] …] [--first 1]

One process that never starts a thread or a loop forks two children for each step: one that ends there, and
one that finds what was left. With a fault that does not end the process the first child continues, mends the
disk and takes the play up itself, as a daemon would.
"""

import argparse
import asyncio
import gc
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import get_args

import msgspec
from msgspec import Struct

from bridle.app import open_claims, open_store
from bridle.config.settings import load_settings
from bridle.core.errors import BridleError
from bridle.core.messages import ToolResult
from bridle.core.protocol import ModelReplied, Rewind, RunEnded, ToolFinished
from bridle.core.session import fold
from bridle.stores.integrity import fsck, verify
from tests.endurance.crash_play import MAIN, RunAborted, environ_of, open_play, play, set_up
from tests.endurance.disk import DEAD, Disk, Fault
from tests.endurance.same_log import Logs, Records, logs_of

ENDS = ("die", "tear")
"""Faults that end the process."""
SAME = (*ENDS, "slow")
"""Faults after which the log is the same as without them."""
UNDOABLE = "cannot be undone"


class Told(Struct):
    """The report of a child."""

    steps: list[str] = []
    logs: Logs = Logs()
    wrong: list[str] = []
    said: list[str] = []
    """Errors that the user saw."""


class Tally(Struct):
    """The results of all points."""

    steps: int = 0
    """Of the play."""
    points: int = 0
    """Of them, those that were tried."""
    resumed: int = 0
    """Points after which a run was resumed."""
    lost: int = 0
    """Calls that were cut off, or that the disk has failed."""
    told: int = 0
    """Points at which the user saw an error."""
    wrong: list[str] = []


def forked(work: Callable[[], Told]) -> Told | None:
    """Do work in a child; None when the child ended at its step."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            data = msgspec.json.encode(work())
        except BaseException as error:  # noqa: BLE001  told to the parent
            data = msgspec.json.encode(Told(wrong=[f"{type(error).__name__}: {error}"]))
        with open(writing, "wb") as pipe:
            pipe.write(data)
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as pipe:
        data = pipe.read()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code == DEAD:
        return None
    return msgspec.json.decode(data, type=Told) if data else Told(wrong=[f"the child ended with {code}"])


# ------------------------------------------------------------------ in the children


def counted(folder: Path) -> Told:
    """Play on a disk without faults; returns its steps and its logs."""
    disk = Disk(folder)
    disk.install()
    logs = asyncio.run(play(folder))
    return Told(disk.steps, logs_of(logs, folder))


def ended(folder: Path, fault: Fault, at: int) -> Told:
    """Play on a disk that ends the process at a step; returns only if there is no such step."""
    Disk(folder, fault, at).install()
    asyncio.run(play(folder))
    return Told()


def failed(folder: Path, fault: Fault, at: int) -> Told:
    """Play on a disk that fails from a step on; then it is mended, and the same process continues."""
    disk = Disk(folder, fault, at)
    disk.install()
    said: list[str] = []
    try:
        asyncio.run(play(folder))
    except (BridleError, RunAborted) as error:
        said.append(str(error))
    disk.mend()
    told = asyncio.run(_checked(folder))
    told.said = said
    return told


def taken_up(folder: Path) -> Told:
    """Play to the end from what was left, and look at everything."""
    return asyncio.run(_checked(folder))


async def _checked(folder: Path) -> Told:
    logs = await play(folder)
    told = Told(logs=logs_of(logs, folder))
    told.wrong += _effects(folder, logs)
    told.wrong += await _store_flaws(folder)
    for name, records in logs.items():
        if fold(records).run is not None:
            told.wrong.append(f"{name}: its run has not ended")
    told.wrong += _promises(logs)
    if not any(UNDOABLE in result.output for result in _results(logs)):
        told.wrong += await _undo(folder)
    return told


def _results(logs: Records) -> list[ToolResult]:
    events = (record.event for log in logs.values() for record in log)
    return [event.result for event in events if isinstance(event, ToolFinished)]


def _promises(logs: Records) -> list[str]:
    """Return calls without a result or with several, and the difference from the expected end."""
    events = [record.event for log in logs.values() for record in log]
    calls = [call.id for event in events if isinstance(event, ModelReplied) for call in event.message.calls]
    given = Counter(result.call_id for result in _results(logs))
    wrong = [f"{call} has {given[call]} results" for call in calls if given[call] != 1]
    last = logs["main"][-1].event
    if not isinstance(last, RunEnded) or (last.outcome, last.text) != ("completed", "The end."):
        wrong.append(f"it ended with {last}")
    return wrong


def _effects(folder: Path, logs: Records) -> list[str]:
    """Compare what tools have left behind with what is recorded of them."""
    notes = Counter((folder / "notes").read_text().split())
    wrong = []
    for result in _results(logs):
        if result.name == "note":
            on = {"c5": "first", "k2": "second", "c8": "third"}[result.call_id]
            least = 0 if result.is_error else 1
            if not least <= notes[on] <= 1:
                wrong.append(f"{result.call_id} ran {notes[on]} times: {result.output[:40]}")
    return wrong


async def _store_flaws(folder: Path) -> list[str]:
    settings = load_settings(environ_of(folder), folder / "project")
    store, claims = open_store(settings), open_claims(settings)
    wrong = []
    try:
        await fsck(store, repair=True)
        wrong += [f"fsck: {flaw}" for flaw in await fsck(store)]
        for session in await store.ids():
            audit = await verify(store, session)
            if not audit.ok:
                wrong.append(f"{session}: {audit.flaw}")
            if await claims.is_taken(session):
                wrong.append(f"{session} is still claimed")
    finally:
        await store.aclose()
    return wrong


async def _undo(folder: Path) -> list[str]:
    """Go back to the beginning: the project is then as it was."""
    api = open_play(folder)
    try:
        await api.submit(MAIN, Rewind(1, force=True))
    finally:
        await api.aclose()
    # A file that was being written is swept up by the next call that writes there, a minute later.
    files = [path for path in (folder / "project").iterdir() if not path.match(".bridle*")]
    found = {path.name: path.read_text()[:4] for path in files}
    return [] if found == {"a.txt": "one\n"} else [f"after going back there is {found}"]


# ------------------------------------------------------------------ in the parent


class Walk:
    """Goes through the steps that the play takes in one kind of store."""

    def __init__(self, kind: str, root: Path) -> None:
        self._kind = kind
        self._root = root
        self._numbers = count()
        # What is imported on the way is imported here, once for all children.
        asyncio.run(_checked(self._folder()))
        assert threading.active_count() == 1
        whole = self._folder()
        reference = forked(lambda: counted(whole))
        assert reference is not None
        assert not reference.wrong, reference.wrong
        self._reference = reference

    def go(self, fault: Fault, every: int = 1, first: int = 1) -> Tally:
        """Let each of the chosen steps fail; returns what went wrong, and how much was tried."""
        steps = self._reference.steps
        if fault == "tear":  # only what has bytes can be half done
            numbers = [at for at, step in enumerate(steps, 1) if step.startswith("write ")]
        else:
            numbers = list(range(1, len(steps) + 1))
        if fault == "slow":  # all of them are
            every = len(steps)
        tally = Tally(steps=len(steps))
        for at in numbers[first - 1 :: every]:
            told = _one(self._folder(), fault, at)
            wrong = told.wrong
            if fault in SAME and not wrong:
                wrong = told.logs.differences(self._reference.logs)
            tally.points += 1
            tally.resumed += bool(told.logs.resumed)
            tally.lost += len(told.logs.lost)
            tally.told += bool(told.said)
            tally.wrong += [f"{fault} at step {at} ({steps[at - 1]}): {line}" for line in wrong]
        return tally

    def _folder(self) -> Path:
        folder = self._root / f"{next(self._numbers):04}"
        folder.mkdir()
        set_up(folder, self._kind)
        return folder


def _one(folder: Path, fault: Fault, at: int) -> Told:
    """Let one step fail, and see what comes of it."""
    if fault in ENDS:
        early = forked(lambda: ended(folder, fault, at))
        if early is not None and early.wrong:
            return early
        found = forked(lambda: taken_up(folder))
    else:
        found = forked(lambda: failed(folder, fault, at))
    assert found is not None
    return found


def _quick_disk() -> str | None:
    """Return a folder in memory: writes stay in order there too, and need no wait."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def walk(kind: str, faults: Mapping[Fault, int], first: int = 1) -> dict[Fault, Tally]:
    """Go through every n-th step of each fault, beginning with the given one."""
    with tempfile.TemporaryDirectory(prefix="bridle-points-", dir=_quick_disk()) as root:
        walk = Walk(kind, Path(root))
        return {fault: walk.go(fault, every, first) for fault, every in faults.items()}


def main(words: Sequence[str]) -> int:
    """Walk through the points; 0 when all went well."""
    parser = argparse.ArgumentParser(prog="crash_points", description=__doc__)
    parser.add_argument("kind", choices=("sqlite", "jsonl"))
    parser.add_argument("faults", nargs="*", help="die, die:10 for every tenth step; all if none is named")
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args(words)
    faults = {fault: 1 for fault in get_args(Fault) if fault}
    if args.faults:
        faults = {fault: int(every or 1) for fault, _, every in (one.partition(":") for one in args.faults)}
    gc.freeze()
    tallies = walk(args.kind, faults, args.first)
    print(msgspec.json.encode(tallies).decode())
    return int(any(tally.wrong for tally in tallies.values()))


if __name__ == "__main__":
    with suppress(BrokenPipeError):
        sys.exit(main(sys.argv[1:]))
