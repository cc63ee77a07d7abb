"""kill -9 while files are changed or restored: no program survives, and every change can be undone."""

import json
import os
import random
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from bridle.app import open_service
from bridle.config.settings import load_settings
from bridle.core.protocol import FilesChanged, Record, Resume, Rewind, ToolFinished
from bridle.core.queries import ListSessions, Records
from bridle.core.recovery import INTERRUPTED
from bridle.core.revision import FileChange, FileState
from bridle.core.turns import last_rewind
from bridle.sessions.service import SessionService
from tests.crash.shell_child import SESSION
from tests.patience import PATIENCE_S
from tests.revisions.tree import Tree, tree_of
from tests.surfaces.command import Bridle

HERE = Path(__file__).parent
POINTS = 8

CHANGES = """
echo new > a; rm b; mv dir moved; ln -s a link; chmod 600 c; mkdir -p x/y; echo deep > x/y/z
printf 'more\\n' >> d; mv e f; printf '\\0\\377' > binary; rm -r gone
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a small tree with everything in it that can be changed."""
    root = tmp_path / "project"
    for name in ("dir/deep", "other", "gone/with"):
        (root / name).mkdir(parents=True)
    for name in ("a", "b", "c", "d", "e", "dir/a", "dir/deep/a", "gone/with/it", "ignored.log", "held"):
        (root / name).write_text(f"{name}\n" * 50)
    (root / "dir" / "b").symlink_to("a")
    (root / ".gitignore").write_text("*.log\n")
    return root


def model(place: Path, command: str) -> str:
    """Write the script of a model that runs one command, and return its reference."""
    call = {"name": "bash", "args": {"command": command}}
    path = place / "script.json"
    path.write_text(json.dumps({"replies": [{"calls": [call]}, {"text": "done"}]}))
    return f"scripted/{path}"


@asynccontextmanager
async def opened(env: dict[str, str], project: Path) -> AsyncIterator[SessionService]:
    service = open_service(load_settings(env, project), env)
    try:
        yield service
    finally:
        await service.aclose()


def child(env: dict[str, str], *args: str) -> "subprocess.CompletedProcess[bytes]":
    """Run the process that kills itself."""
    return subprocess.run(
        [sys.executable, str(HERE / "shell_child.py"), *args],
        env=env | {"PYTHONPATH": str(HERE.parents[1])},
        stdout=subprocess.PIPE,
        check=False,
        timeout=PATIENCE_S,
    )


def descendants(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        for path in Path(f"/proc/{one}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, path.read_text().split())
    return found[1:]


@contextmanager
def watched(pids: list[int]) -> Iterator[list[int]]:
    """Yield a descriptor for each process, which cannot mean another one later."""
    descriptors = []
    try:
        for pid in pids:
            with suppress(ProcessLookupError):
                descriptors.append(os.pidfd_open(pid))
        yield descriptors
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def has_ended(descriptor: int) -> bool:
    return bool(select.select([descriptor], [], [], PATIENCE_S)[0])


def changes_of(records: list[Record]) -> dict[str, list[FileChange]]:
    found: dict[str, list[FileChange]] = {}
    for record in records:
        if isinstance(record.event, FilesChanged):
            for change in record.event.changes:
                found.setdefault(change.path, []).append(change)
    return found


def assert_whole(records: list[Record], tree: Tree) -> None:
    """Each change of a path begins where the one before ended: none is recorded twice and none is missing."""
    for path, changes in changes_of(records).items():
        assert all(one.after == next_one.before for one, next_one in pairwise(changes)), (path, changes)
        assert kind_of(changes[-1].after) == tree.get(path.encode(), ("nothing",))[0], path


def kind_of(state: FileState | None) -> str:
    return "nothing" if state is None else state.kind


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("sandbox", ["on", "off"])
async def test_a_command_that_was_cut_off_can_be_taken_back(
    sandbox: str, seed: int, env: dict[str, str], project: Path, home: Path, tmp_path: Path
):
    (home / "config.toml").write_text(f'[sandbox]\nmode = "{sandbox}"\n')
    os.mkfifo(project / "gate")
    shutil.copy(HERE / "storm.py", project)
    before = tree_of(project)
    gate = os.open(project / "gate", os.O_RDWR)
    ref = model(tmp_path, f"python3 storm.py {seed}")
    victim = subprocess.Popen(
        [sys.executable, "-m", "bridle", "run", "--yolo", "--model", ref, "go"],
        cwd=project,
        env=env,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    steps = random.Random(seed).randint(1, 300)
    while steps > 0:
        assert select.select([gate], [], [], PATIENCE_S)[0]
        steps -= len(os.read(gate, steps))
    with watched(descendants(victim.pid)) as left:
        victim.kill()
        victim.wait()
        assert len(left) >= 3  # what holds it, the shell and its command
        assert all(map(has_ended, left))
    os.close(gate)
    half = tree_of(project)

    assert half != before
    if seed % 2:  # the others go back without having gone on
        done = Bridle(env, project)("run", "--continue")
        assert (done.code, done.out) == (0, "done\n"), done.err
        assert "storm.py" in done.err
        assert "was interrupted: it may or may not have taken effect" in done.err
    async with opened(env, project) as service:
        [session] = await service.ask(ListSessions())
        assert session.unfinished == (seed % 2 == 0)
        await service.submit(session.id, Rewind(1))
        records = await service.ask(Records(session.id))
        assert tree_of(project) == before
        assert_whole(records, before)
        await service.submit(session.id, Rewind(last_rewind(records)))
    assert tree_of(project) == half
    [result] = [record.event.result for record in records if isinstance(record.event, ToolFinished)]
    assert (result.output, result.is_error) == (INTERRUPTED, True)


@pytest.mark.parametrize(
    "point", ["before the result is kept", "before the record", "after the record", "never"]
)
async def test_a_change_is_recorded_once_however_its_record_was_cut_off(
    point: str, env: dict[str, str], project: Path, tmp_path: Path
):
    before = tree_of(project)
    done = child(env, point, str(project), model(tmp_path, CHANGES))
    assert done.returncode == (0 if point == "never" else -signal.SIGKILL)
    after = tree_of(project)

    async with opened(env, project) as service:
        if point != "never":
            receipt = await service.submit(SESSION, Resume())
            assert receipt.run_id is not None
            await service.wait(SESSION, receipt.run_id)
        records = await service.ask(Records(SESSION))
        assert_whole(records, after)
        changes = changes_of(records)
        assert all(len(found) == 1 for found in changes.values()), changes
        results = [record.event.result for record in records if isinstance(record.event, ToolFinished)]
        assert [result.output == INTERRUPTED for result in results] == [point.startswith("before")]
        end = records[-1].seq
        await service.submit(SESSION, Rewind(1))
        assert tree_of(project) == before
        await service.submit(SESSION, Rewind(end))
    assert tree_of(project) == after


@pytest.mark.slow
async def test_a_rewind_that_was_cut_off_can_be_done_again(
    env: dict[str, str], project: Path, tmp_path: Path
):
    before = tree_of(project)
    assert child(env, "never", str(project), model(tmp_path, CHANGES)).returncode == 0
    after = tree_of(project)
    async with opened(env, project) as service:
        end = (await service.ask(Records(SESSION)))[-1].seq
    whole = child(env, "rewind:0", str(project), "1")
    assert (whole.returncode, tree_of(project)) == (0, before)
    steps = int(whole.stdout)

    for point in sorted(random.Random(steps).sample(range(1, steps + 1), POINTS)):
        async with opened(env, project) as service:
            await service.submit(SESSION, Rewind(end))
        assert tree_of(project) == after
        killed = child(env, f"rewind:{point}", str(project), "1")
        assert killed.returncode == -signal.SIGKILL, (point, steps)
        async with opened(env, project) as service:
            await service.submit(SESSION, Rewind(1))
            assert tree_of(project) == before, (point, steps)
            assert_whole(await service.ask(Records(SESSION)), before)
