"""Small operations on a disk that fails at each step: a clear error, no partial state, and a retry.

python -m tests.endurance.seams

| seam | what is done |
|---|---|
| `blobs` | a blob is put |
| `claims` | a session is claimed and given back |
| `projector` | the derived files of a session are brought up to date |
| `settings` | a rule is added to the user's settings |
| `sidecar` | sessions of text files are listed |
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, get_args

from msgspec import Struct

from bridle.config.edit import add_rules
from bridle.core.errors import BridleError, StoreFull
from bridle.core.ids import SessionId
from bridle.core.protocol import SessionTitled
from bridle.stores.blobs import FileBlobs
from bridle.stores.claims import FileClaims
from bridle.stores.ephemeral import EphemeralStore
from bridle.stores.jsonl import JsonlStore
from bridle.stores.projector import SessionProjector
from tests.endurance.crash_points import Told, forked
from tests.endurance.disk import Disk, Fault
from tests.endurance.same_log import Logs
from tests.sessions.stage import FixedClock
from tests.stores.sample import S, created

FAULTS: tuple[Fault, ...] = tuple(fault for fault in get_args(Fault) if fault in ("full", "broken", "glitch"))
TEXT = b"some text " * 100


class Seam(Struct, frozen=True):
    """A piece of work, and how it looks when it is done."""

    name: str
    before: Callable[[Path], Awaitable[None]]
    work: Callable[[Path], Awaitable[None]]
    harmless: bool = False
    """Its failure is no one's business: it only saves time."""


async def _nothing(folder: Path) -> None:
    (folder / "config.toml").write_text('# mine\n[rules]\nallow = ["glob(*)"]\n')


async def _put(folder: Path) -> None:
    blobs = FileBlobs(folder / "blobs")
    assert blobs.get(blobs.put(TEXT)) == TEXT


async def _claim(folder: Path) -> None:
    claims = FileClaims(folder / "claims")
    assert await claims.claim(S)
    await claims.release(S)
    assert not await claims.is_taken(S)


async def _project(folder: Path) -> None:
    store = EphemeralStore(FixedClock())
    await store.append(S, 0, [created(), SessionTitled("one")])
    projector = SessionProjector(store, folder / "derived")
    await projector.project(S)
    await store.append(S, 2, [SessionTitled("two")])
    await projector.project(S)


async def _add_rule(folder: Path) -> None:
    add_rules(folder / "config.toml", "allow", ["grep(*)"])


async def _fill(folder: Path) -> None:
    store = JsonlStore(folder / "sessions", FixedClock())
    await store.append(SessionId("one"), 0, [created(), SessionTitled("one")])


async def _list(folder: Path) -> None:
    [summary] = await JsonlStore(folder / "sessions", FixedClock()).list()
    assert (summary.title, summary.last_seq) == ("one", 2)


SEAMS = (
    Seam("blobs", _nothing, _put),
    Seam("claims", _nothing, _claim),
    Seam("projector", _nothing, _project),
    Seam("settings", _nothing, _add_rule),
    Seam("sidecar", _fill, _list, harmless=True),
)


def attempt(seam: Seam, folder: Path, fault: Fault, at: int) -> Told:
    """Do the work on a disk that fails, then on one that is mended; returns the files that are there then."""
    told = Told()
    asyncio.run(seam.before(folder))
    old = tree(folder)
    disk = Disk(folder, fault, at)
    disk.install()
    try:
        asyncio.run(seam.work(folder))
    except BridleError as error:
        told.said.append(str(error))
        if fault == "full" and not isinstance(error, StoreFull) and seam.name != "settings":
            told.wrong.append(f"a full disk is told as {error!r}")
        if seam.harmless:
            told.wrong.append(f"it failed with {error!r}")
    disk.mend()
    if seam.name == "settings" and told.said and tree(folder).get("config.toml") != old["config.toml"]:
        told.wrong.append("the settings were changed, and that is said to have failed")
    asyncio.run(seam.work(folder))
    told.steps = disk.steps
    files = tree(folder)
    if fault == "broken":  # where nothing can be removed a draft may stay
        files = {name: text for name, text in files.items() if "/." not in f"/{name}"}
    told.logs = Logs(exact={"files": [files]})
    return told


def tree(folder: Path) -> dict[str, Any]:
    """Return all files with their contents, without locks that no process holds."""
    return {
        str(path.relative_to(folder)): path.read_bytes().decode("latin-1")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not path.name.endswith(".lock")
    }


def faults_of(seam: Seam, root: Path) -> tuple[int, list[str]]:
    """Let each step fail in each way; returns how often, and what is wrong."""
    whole = _one(seam, root / f"{seam.name}-whole", "", 0)
    wrong = list(whole.wrong)
    tried = 0
    for fault in FAULTS:
        for at in range(1, len(whole.steps) + 1):
            told = _one(seam, root / f"{seam.name}-{fault}-{at}", fault, at)
            tried += 1
            found = [*told.wrong, *told.logs.differences(whole.logs)]
            wrong += [f"{seam.name}, {fault} at {at} of {whole.steps}: {line}" for line in found]
    return tried, wrong


def _one(seam: Seam, folder: Path, fault: Fault, at: int) -> Told:
    folder.mkdir()
    told = forked(lambda: attempt(seam, folder, fault, at))
    assert told is not None
    return told


def main() -> int:
    """Try all seams; return 0 if all passed."""
    # What is imported on the way is imported here, once for all children.
    with tempfile.TemporaryDirectory(prefix="bridle-seams-") as folder:
        for seam in SEAMS:
            asyncio.run(seam.before(Path(folder)))
            asyncio.run(seam.work(Path(folder)))
    wrong: list[str] = []
    with tempfile.TemporaryDirectory(prefix="bridle-seams-") as folder:
        for seam in SEAMS:
            tried, found = faults_of(seam, Path(folder))
            print(f"{seam.name}: {tried} faults")
            wrong += found
    print(*wrong, sep=os.linesep)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
