"""What the sandbox and undo add: to starting a program, to changing files, and to a turn in a large tree."""

import asyncio
import os
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from measure import report

from bridle.core.ids import CallId, SessionId
from bridle.core.ports import Keeper, ProcessSpec, ToolContext
from bridle.revisions.files import FileRevisions
from bridle.sandbox import LocalSandbox
from bridle.stores.blobs import FileBlobs
from bridle.tools.shell import ShellSettings, shell_tools

SESSION = SessionId("bench")
ROUNDS = 50
FILES = 50_000
BAR_START = 2.5
BAR_TURN_MS = 300.0

Row = tuple[str, float, float]


def main() -> list[Row]:
    """Compare with a plain child process, and a turn in a large tree with the same turn in an empty one."""
    return report(asyncio.run(_measure()))


async def _measure() -> list[Row]:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        sandbox = LocalSandbox(home=place)
        blobs = FileBlobs(home / "blobs")
        revisions = FileRevisions(home / "revisions", blobs)
        try:
            starts = await _starts(home, sandbox, revisions.keeper(SESSION, place))
            turns = await _turns(home, sandbox, revisions)
        finally:
            await sandbox.end_session(SESSION)
    return [starts, turns]


async def _starts(home: Path, sandbox: LocalSandbox, keeper: Keeper) -> Row:
    """Start `bash -c true` plainly and under guard, with undo on."""
    (home / "work").mkdir()
    cwd = str(home / "work")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    spec = ProcessSpec(
        ("bash", "-c", "true"),
        cwd,
        dict(os.environ),
        nowhere,
        writable=(cwd,),
        keep=keeper.keep,
        max_processes=500,
    )

    async def plain() -> None:
        child = await asyncio.create_subprocess_exec(
            "bash", "-c", "true", cwd=cwd, stdin=asyncio.subprocess.DEVNULL, stdout=nowhere, stderr=nowhere
        )
        assert await child.wait() == 0

    async def guarded() -> None:
        assert await (await sandbox.start(spec, SESSION)).wait() == 0

    await guarded()  # the first one makes the cell
    bare_s, guarded_s = await _medians(plain, guarded)
    print(f"bash -c true: {guarded_s * 1e3:.2f} ms in the sandbox, {bare_s * 1e3:.2f} ms plain")
    return "sandboxed bash -c true / plain", guarded_s / bare_s, BAR_START


async def _turns(home: Path, sandbox: LocalSandbox, revisions: FileRevisions) -> Row:
    """Run a command that changes one file and record the change, in a small tree and in a large one."""
    small, large = home / "small", home / "large"
    small.mkdir()
    for folder in range(FILES // 100):
        (large / f"d{folder:03}").mkdir(parents=True)
        for number in range(100):
            (large / f"d{folder:03}" / f"f{number:02}").write_bytes(b"x")

    def turn(cwd: Path, session: SessionId) -> Callable[[], Awaitable[None]]:
        keeper = revisions.keeper(session, str(cwd))
        [bash, *_] = shell_tools(sandbox, home / "shells", settings=ShellSettings(environ=dict(os.environ)))
        context = ToolContext(session, str(cwd), lambda _: None, CallId("c"), mode="yolo", keep=keeper.keep)
        args = {"command": "echo $RANDOM >> changed"}

        async def run() -> None:
            bash.access(args, context)
            await bash.run(args, context)
            changes = await asyncio.to_thread(keeper.collect)
            await asyncio.to_thread(keeper.confirm)
            assert {change.path for change in changes} == {"changed"}

        return run

    in_small, in_large = turn(small, SessionId("small")), turn(large, SessionId("large"))
    await in_small()
    await in_large()
    small_s, large_s = await _medians(in_small, in_large, rounds=15)
    await sandbox.end_session(SessionId("small"))
    await sandbox.end_session(SessionId("large"))
    print(
        f"a turn with a command: {large_s * 1e3:.1f} ms among {FILES:,} files, {small_s * 1e3:.1f} ms alone"
    )
    return f"ms that {FILES:,} files add to a turn with a command", (large_s - small_s) * 1e3, BAR_TURN_MS


async def _medians(*works: Callable[[], Awaitable[None]], rounds: int = ROUNDS) -> list[float]:
    """Time several things in turn, so that noise meets them alike."""
    times: list[list[float]] = [[] for _ in works]
    for _ in range(rounds):
        for slot, work in zip(times, works, strict=True):
            started = time.perf_counter()
            await work()
            slot.append(time.perf_counter() - started)
    return [statistics.median(slot) for slot in times]


if __name__ == "__main__":
    main()
