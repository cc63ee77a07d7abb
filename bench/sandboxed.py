"""Cost of the sandbox and undo: for a start, against bubblewrap alone, and for a turn in a large tree."""

import asyncio
import itertools
import os
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from measure import report, rounds
from rows import Line, Row, figure, ours

from bridle.core.ids import CallId, SessionId
from bridle.core.permission import Mode
from bridle.core.ports import FileTracker, ProcessSpec, ToolContext
from bridle.revisions.file_revisions import FileRevisions
from bridle.sandbox import LocalSandbox
from bridle.stores.blobs import FileBlobs
from bridle.tools.shell import Bash, ShellSettings, shell_tools

SESSION = SessionId("bench")
ROUNDS = 50
TURNS = 15
FILES = 50_000
BAR_START = 2.5
BAR_WALLS = 1.0
BAR_TURN_MS = 300.0
BAR_FIRST_LS = 1.3
FIRST = 15

BUBBLEWRAP = (
    *("bwrap", "--unshare-all", "--die-with-parent", "--new-session"),
    *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp"),
)

Work = Callable[[], Awaitable[None]]


def main() -> list[Line]:
    """Compare plain, bubblewrap's and Bridle's starts, and turns in a large and in an empty tree."""
    return report(asyncio.run(_measure()))


async def _measure() -> list[Line]:
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        sandbox = LocalSandbox(home=place)
        blobs = FileBlobs(home / "blobs")
        revisions = FileRevisions(home / "revisions", blobs)
        try:
            starts = await _starts(home, sandbox, revisions.keeper(SESSION, place))
            first = await _first_ls(home, sandbox)
            turns = await _turns(home, sandbox, revisions)
        finally:
            await sandbox.end_session(SESSION)
    return [*starts, first, turns]


async def _starts(home: Path, sandbox: LocalSandbox, keeper: FileTracker) -> list[Line]:
    """Start `bash -c true` directly, in bubblewrap alone, and in Bridle's sandbox with undo on."""
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

    def bare(*before: str) -> Work:
        async def run() -> None:
            child = await asyncio.create_subprocess_exec(
                *(*before, "bash", "-c", "true"),
                cwd=cwd,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=nowhere,
                stderr=nowhere,
            )
            assert await child.wait() == 0

        return run

    async def guarded() -> None:
        assert await (await sandbox.start(spec, SESSION)).wait() == 0

    await guarded()  # the first one starts the sandbox
    works = [guarded, bare()]
    if shutil.which("bwrap"):
        works.append(bare(*BUBBLEWRAP, "--bind", cwd, cwd, "--chdir", cwd))
    in_sandbox, plain, *walled = await _in_turns(works, rounds(ROUNDS))
    our = ours(in_sandbox, scale=1e3, how="in the session's running sandbox, undo on")
    start = Row("sandboxed.start", "bash -c true", "ms", our, (figure("plain", plain, scale=1e3),), BAR_START)
    if not walled:
        return [start]
    alone = figure("bubblewrap alone", walled[0], scale=1e3, how="new namespaces for each program")
    return [start, Row("sandboxed.walls", "bash -c true in a sandbox", "ms", our, (alone,), BAR_WALLS)]


async def _first_ls(home: Path, sandbox: LocalSandbox) -> Line:
    """Run the first `ls` of a session in the reading sandbox, and one that may change files."""
    cwd = str(home / "work")
    numbers = itertools.count()

    def first(command: str, mode: Mode) -> Work:
        [bash, *_] = shell_tools(sandbox, home / "shells", settings=ShellSettings(environ=dict(os.environ)))
        assert isinstance(bash, Bash)
        args = {"command": command}

        async def run() -> None:
            session = SessionId(f"first-{next(numbers)}")
            context = ToolContext(session, cwd, lambda _: None, CallId("c"), mode=mode, keep=lambda _: None)
            await bash.foresee(args, context)
            assert not (await bash.run(args, context)).is_error
            await bash.end_session(session)

        return run

    reading, writing = await _in_turns([first("ls", "ask"), first("ls; :", "yolo")], rounds(FIRST))
    our = ours(reading, scale=1e3, how="in the reading sandbox, started for it")
    other = figure("an ls that may write", writing, scale=1e3)
    return Row("sandboxed.first_ls", "the first ls of a session", "ms", our, (other,), BAR_FIRST_LS)


async def _turns(home: Path, sandbox: LocalSandbox, revisions: FileRevisions) -> Line:
    """Run a command that changes one file, and record the change, in a small and in a large tree."""
    small, large = home / "small", home / "large"
    small.mkdir()
    for folder in range(FILES // 100):
        (large / f"d{folder:03}").mkdir(parents=True)
        for number in range(100):
            (large / f"d{folder:03}" / f"f{number:02}").write_bytes(b"x")

    def turn(cwd: Path, session: SessionId) -> Work:
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
    alone, among = await _in_turns([in_small, in_large], rounds(TURNS))
    await sandbox.end_session(SessionId("small"))
    await sandbox.end_session(SessionId("large"))
    added = ours([large_s - small_s for small_s, large_s in zip(alone, among, strict=True)], scale=1e3)
    what = f"time that {FILES:,} files add to a turn with a command"
    return Row("sandboxed.turn", what, "ms", added, bar=BAR_TURN_MS)


async def _in_turns(works: Sequence[Work], times: int) -> list[list[float]]:
    """Time several actions in turn, so that noise affects all equally."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(times):
        for slot, work in zip(found, works, strict=True):
            started = time.perf_counter()
            await work()
            slot.append(time.perf_counter() - started)
    return found


if __name__ == "__main__":
    main()
