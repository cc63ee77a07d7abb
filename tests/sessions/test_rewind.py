"""Rewinds with the real service, tools, shell and sandbox: the tree of every turn returns byte for byte."""

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bridle.core.errors import SessionBusy, SessionConflict, StoreFull, UsageError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.ports import Tool, ToolContext
from bridle.core.protocol import Cancel, Delete, FilesChanged, KernelSaved, Rewind, Rewound, ToolOutputDelta
from bridle.core.queries import Changes, Describe, PlanRewind, Records
from bridle.core.revision import FileChange
from bridle.core.turns import find_turn, last_rewind, list_turns
from bridle.kernel.settings import KernelSettings
from bridle.kernel.tool import create_python_tool
from bridle.revisions.file_revisions import FileKeeper, FileRevisions
from bridle.sandbox import LocalSandbox
from bridle.stores.blobs import MemoryBlobs
from bridle.surfaces.shared.session_calls import read_session
from bridle.tools.file_tools import file_tools
from bridle.tools.shell import ShellSettings, shell_tools
from tests.revisions.tree import Tree, tree_of
from tests.sessions.stage import Play, Stage, says

NAMES = ("a", "b", "c", "dir/a", "dir/b", "dir/deep/a", "ignored.log")
FOLDERS = ("dir", "dir/deep", "new", "dir2")


SWAP = 'python3 -c \'import os; os.replace("{0}", "{1}"); open("{0}", "w").write("py")\''


class Workshop:
    """A project folder with its own engine."""

    def __init__(self, place: Path) -> None:
        self.root = place / "project"
        self.root.mkdir()
        (self.root / ".gitignore").write_text("*.log\n")
        blobs = MemoryBlobs()
        self.engine: dict[str, Any] = {
            "cwd": str(self.root),
            "blobs": blobs,
            "revisions": FileRevisions(place / "revisions", blobs),
        }
        environ = {"PATH": os.environ.get("PATH", os.defpath), "HOME": str(place)}
        sandbox = LocalSandbox(home=str(place))
        self.python = create_python_tool(
            sandbox, KernelSettings(environ=environ), blobs=blobs, key_file=place / "kernel.key"
        )
        self.tools: list[Tool] = [
            *file_tools(),
            *shell_tools(sandbox, place / "shells", settings=ShellSettings(environ=environ)),
            self.python,
        ]

    def stage(self, play: Play) -> Stage:
        return Stage(play, tools=self.tools, **self.engine)

    async def evaluate(self, stage: Stage, code: str) -> str:
        """Return what the next cell of the session would see."""
        known = (await read_session(stage.service, stage.session)).known
        context = ToolContext(
            stage.session, str(self.root), lambda text: None, mode="yolo", snapshot=known.snapshot
        )
        output = await self.python.run({"code": code}, context)
        return output.text.splitlines()[0]


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def bash(number: int, command: str) -> ToolCall:
    return ToolCall(CallId(f"c{number}"), "bash", {"command": command})


def cell(number: int, code: str) -> ToolCall:
    return ToolCall(CallId(f"c{number}"), "python", {"code": code})


def write(number: int, path: str, content: str) -> ToolCall:
    return ToolCall(CallId(f"c{number}"), "write_file", {"path": path, "content": content})


names = st.sampled_from(NAMES)
folders = st.sampled_from(FOLDERS)
contents = st.sampled_from(["", "one\n", "two\nlines\n", "\\0\\377binary"])
commands = st.one_of(
    st.builds("mkdir -p $(dirname {0}) && printf '{1}' > {0}".format, names, contents),
    st.builds("printf '{1}' >> {0}".format, names, contents),
    st.builds("rm -rf {}".format, names | folders),
    st.builds("mv {} {}".format, names | folders, names | folders),
    st.builds("cp -r {} {}".format, names | folders, names | folders),
    st.builds("ln -sfn {} {}".format, names, names),
    st.builds("ln -f {} {}".format, names, names),
    st.builds("chmod {1} {0}".format, names | folders, st.sampled_from(["700", "644", "u+x"])),
    st.builds("mkdir -p {}".format, folders),
    st.builds("rmdir {}".format, folders),
    st.builds("truncate -s 1 {}".format, names),
    st.builds("sed -i s/o/0/ {}".format, names),
    st.builds(SWAP.format, names, names),
)
paths = names | folders
CELLS: list[tuple[str, Any]] = [
    (
        "import os\nos.makedirs(os.path.dirname({0!r}) or '.', exist_ok=True)\nopen({0!r}, 'w').write({1!r})",
        contents,
    ),
    ("open({0!r}, 'ab').write({1!r}.encode())", contents),
    ("import pathlib; pathlib.Path({0!r}).write_bytes(bytes(range(256)))", None),
    ("import os; os.remove({0!r})", None),
    ("import os; os.rename({0!r}, {1!r})", paths),
    ("import os; os.replace({0!r}, {1!r})", names),
    ("import os; os.chmod({0!r}, {1})", st.sampled_from([0o600, 0o755, 0o400])),
    ("import os; os.fchmod(os.open({0!r}, 0), 0o640)", None),
    ("import os; os.symlink({0!r}, {1!r})", names),
    ("import os; os.link({0!r}, {1!r})", names),
    ("import os; os.truncate({0!r}, {1})", st.sampled_from([0, 1, 5000])),
    ("import os; os.ftruncate(os.open({0!r}, os.O_RDWR), 2)", None),
    ("import mmap\nwith open({0!r}, 'r+b') as file: mmap.mmap(file.fileno(), 0)[0:1] = b'#'", None),
    ("import ctypes; ctypes.CDLL(None).rename({0!r}.encode(), {1!r}.encode())", names),
    ("import os; os.mkdir({0!r}); os.rmdir({1!r})", folders),
    ("import shutil; shutil.move({0!r}, {1!r})", paths),
    ("import shutil; shutil.copy2({0!r}, {1!r})", names),
    ("import shutil; shutil.rmtree({1!r})", folders),
    ("import shutil; shutil.copytree('dir', {1!r}, symlinks=True, dirs_exist_ok=True)", folders),
    (
        "import sqlite3\nwith sqlite3.connect({0!r} + '.db') as db: db.execute('create table t{1} (a)')",
        st.integers(0, 2),
    ),
    ("import zipfile\nwith zipfile.ZipFile({0!r} + '.zip', 'a') as made: made.writestr({1!r}, 'x')", names),
    ("import tempfile; tempfile.NamedTemporaryFile(dir='.', prefix='made', delete=False).write(b'x')", None),
    ("import subprocess; subprocess.run(['sh', '-c', 'echo child >> {0}; mv {0} {1}'])", names),
    ("import os\nif not os.fork(): open({0!r}, 'w').write('fork'); os._exit(0)\nos.wait()", None),
    ("import threading; t = threading.Thread(target=open, args=({0!r}, 'w')); t.start(); t.join()", None),
    ("held = open({0!r}, 'r+'); import os; print(os.read(held.fileno(), 1))", None),
    ("held.write('late'); held.flush()", None),
    ("import os; shared = __import__('mmap').mmap(os.open({0!r}, os.O_RDWR), 0)", None),
    ("shared[0:1] = b'@'", None),
    ("await write_file({0!r}, {1!r})", contents),
    ("print(await bash('echo nested >> {0}'))", None),
]
cells = st.one_of(
    *(st.builds(code.format, names, more if more is not None else st.none()) for code, more in CELLS)
)
steps = st.one_of(
    st.builds(lambda command: ("bash", command), commands),
    st.builds(lambda path, content: ("write", path, content), names, st.sampled_from(["x\n", "y\n"])),
    st.builds(lambda code: ("cell", code), cells),
)


def as_call(number: int, step: tuple[str, ...]) -> ToolCall:
    match step:
        case ("bash", command):
            return bash(number, command)
        case ("cell", code):
            return cell(number, f"mark = {number}\n{code}")
        case (_, path, content):
            return write(number, path, content)
    raise AssertionError(step)


@pytest.mark.slow
@settings(max_examples=24, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=5), st.randoms())
def test_every_turn_comes_back_byte_for_byte(turns: list[list[tuple[str, ...]]], random: Any):
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(play_and_go_back(Workshop(Path(place)), turns, random))


async def play_and_go_back(workshop: Workshop, turns: list[list[tuple[str, ...]]], random: Any) -> None:
    number = 0
    replies = []
    marks = [-1]
    for turn in turns:
        calls = []
        for step in turn:
            calls.append(as_call(number, step))
            number += 1
        replies.append(says("", *calls))
        marks.append(max((int(one.id[1:]) for one in calls if one.name == "python"), default=marks[-1]))
    marks.append(marks[-1])
    trees: list[Tree] = [tree_of(workshop.root)]

    class Watcher(Play):
        """Looks at the tree whenever the model is asked: then a turn has just ended."""

        async def stream(self, request):
            if len(request.messages) > 1:
                trees.append(tree_of(workshop.root))
            async for item in super().stream(request):
                yield item

    async with workshop.stage(Watcher(*replies, says("done"))) as stage:
        ended = await stage.run("go", mode="yolo")
        assert ended.outcome == "completed", ended
        trees.append(tree_of(workshop.root))
        known = list_turns(await stage.service.ask(Records(stage.session)))
        assert [turn.number for turn in known] == list(range(len(turns) + 2))
        targets = list(range(len(turns) + 1))
        random.shuffle(targets)
        for target in targets:
            await stage.service.submit(stage.session, Rewind(known[target].seq))
            assert tree_of(workshop.root) == trees[target], (target, turns)
            assert await workshop.evaluate(stage, "globals().get('mark', -1)") == str(marks[target])
            undone = last_rewind(await stage.service.ask(Records(stage.session)))
            await stage.service.submit(stage.session, Rewind(undone))
            assert tree_of(workshop.root) == trees[-1], (target, turns)
            assert await workshop.evaluate(stage, "globals().get('mark', -1)") == str(marks[-1])


# ---------------------------------------------------------------------------- by hand


async def test_conversation_and_files_go_back_together(workshop: Workshop):
    play = Play(
        says("", bash(1, "echo one > a")),
        says("", bash(2, "rm a; echo two > b")),
        says("done"),
        says("again"),
    )
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        [_, first, *_] = list_turns(await stage.service.ask(Records(stage.session)))
        plan = await stage.service.ask(PlanRewind(stage.session, first.seq))
        await stage.service.submit(stage.session, Rewind(first.seq))
        session = await read_session(stage.service, stage.session)
        log = await stage.log()

    assert [change.path for change in plan.changes] == ["a", "b"]
    assert (plan.conflicts, plan.lost) == ((), ())
    assert sorted(path.name for path in workshop.root.iterdir()) == [".gitignore", "a"]
    assert [item.message.role for item in session.messages] == ["user", "assistant", "tool"]
    assert log[-1] == Rewound(first.seq)
    assert isinstance(log[-2], FilesChanged)
    assert log[-2].rewind


MAP_ALONE = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
file = os.open('a', os.O_RDWR)
held = libc.mmap(None, 10, 3, 1, file, ctypes.c_long(0))
os.close(file)
"""
OPENED = {
    "descriptor": ("held = open('a', 'r+')", "held.write('late'); held.flush()"),
    "raw descriptor": ("import os; held = os.open('a', os.O_WRONLY)", "os.write(held, b'late')"),
    "mapping": (
        "import mmap\nwith open('a', 'r+b') as f: held = mmap.mmap(f.fileno(), 0)",
        "held[0:4] = b'late'",
    ),
    "mapping alone": (MAP_ALONE, "ctypes.memmove(held, b'late', 4)"),
    "child": (
        "import subprocess as s; held = s.Popen(['dd', 'of=a', 'conv=notrunc', 'status=none'], stdin=-1)",
        "held.communicate(b'late')",
    ),
}


@pytest.mark.parametrize("way", OPENED)
async def test_what_a_cell_writes_where_an_earlier_one_has_opened_is_undone(workshop: Workshop, way: str):
    """A kernel and its open files outlive a turn, so some changes belong to no call."""
    (workshop.root / "a").write_text("0123456789")
    first, second = OPENED[way]
    play = Play(says("", cell(1, first)), says("", cell(2, second)), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        changed = (workshop.root / "a").read_text()
        [_, opened, *_] = list_turns(await stage.service.ask(Records(stage.session)))
        await stage.service.submit(stage.session, Rewind(opened.seq))

    assert (changed, (workshop.root / "a").read_text()) == ("late456789", "0123456789")


async def test_what_a_cell_has_not_written_yet_does_not_come_after_going_back(workshop: Workshop):
    (workshop.root / "a").write_text("old")
    play = Play(says("", cell(1, "held = open('a', 'w'); held.write('late')")), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        await stage.service.submit(stage.session, Rewind(1))
        seen = await workshop.evaluate(
            stage, "'held' in globals()"
        )  # what was held is closed, and so written

    assert (seen, (workshop.root / "a").read_text()) == ("False", "old")


async def test_the_kernel_goes_back_with_the_conversation(workshop: Workshop):
    play = Play(
        says("", cell(1, "x = [1]")),
        says("", cell(2, "x.append(2); y = 'later'")),
        says("", cell(3, "del x")),
        says("done"),
    )
    names = "(globals().get('x'), globals().get('y'))"
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        log = await stage.log()
        kept = [event.snapshot for event in log if isinstance(event, KernelSaved)]
        turns = list_turns(await stage.service.ask(Records(stage.session)))
        found = []
        for turn in (turns[2], turns[0], turns[1]):
            await stage.service.submit(stage.session, Rewind(turn.seq))
            [*_, rewound] = await stage.log()
            assert isinstance(rewound, Rewound)
            found.append(kept.index(rewound.snapshot) if rewound.snapshot else None)
            found.append(await workshop.evaluate(stage, names))
            undone = last_rewind(await stage.service.ask(Records(stage.session)))
            await stage.service.submit(stage.session, Rewind(undone))
            found.append(await workshop.evaluate(stage, names))

    now = "(None, 'later')"
    assert len(kept) == 3
    assert found == [1, "([1, 2], 'later')", now, None, "(None, None)", now, 0, "([1], None)", now]


async def test_the_kernel_stays_when_only_the_files_go_back(workshop: Workshop):
    play = Play(says("", cell(1, "x = 1; open('a', 'w').write('one')")), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        await stage.service.submit(stage.session, Rewind(1, "files"))
        seen = await workshop.evaluate(stage, "x")

    assert (seen, (workshop.root / "a").exists()) == ("1", False)


async def test_what_somebody_else_changed_is_a_conflict_until_forced(workshop: Workshop):
    play = Play(says("", bash(1, "echo one > a")), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        (workshop.root / "a").write_text("mine\n")
        with pytest.raises(SessionConflict, match="changed outside the session: a"):
            await stage.service.submit(stage.session, Rewind(1))
        assert (workshop.root / "a").read_text() == "mine\n"
        before = (await read_session(stage.service, stage.session)).seq
        await stage.service.submit(stage.session, Rewind(1, force=True))
        assert not (workshop.root / "a").exists()
        await stage.service.submit(stage.session, Rewind(before))

    assert (workshop.root / "a").read_text() == "mine\n"


async def test_only_the_conversation_or_only_the_files(workshop: Workshop):
    play = Play(says("", bash(1, "echo one > a")), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        await stage.service.submit(stage.session, Rewind(1, "conversation"))
        talk = await read_session(stage.service, stage.session)
        assert (len(talk.messages), (workshop.root / "a").exists()) == (0, True)
        await stage.service.submit(
            stage.session, Rewind(last_rewind(await stage.service.ask(Records("play"))))
        )
        await stage.service.submit(stage.session, Rewind(1, "files"))
        talk = await read_session(stage.service, stage.session)

    assert (len(talk.messages), (workshop.root / "a").exists()) == (4, False)


async def test_after_going_back_the_run_goes_on_from_there(workshop: Workshop):
    play = Play(says("", bash(1, "echo one > a")), says("wrong"), says("right"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        await stage.service.submit(stage.session, Rewind(1))
        ended = await stage.run("go on", mode="yolo")

    assert ended.outcome == "completed"
    assert [message.text for message in play.requests[-1].messages if message.role == "user"] == ["go on"]


async def test_a_running_session_does_not_go_back(workshop: Workshop):
    play = Play(says("one"), hold=True)
    async with workshop.stage(play) as stage:
        await stage.prompt("go")
        await play.streaming.wait()
        with pytest.raises(SessionBusy):
            await stage.service.submit(stage.session, Rewind(1))
        play.go.set()


async def test_turns_and_rewinds_that_are_not_there(workshop: Workshop):
    async with workshop.stage(Play(says("one"))) as stage:
        await stage.run("go")
        records = await stage.service.ask(Records(stage.session))
        with pytest.raises(UsageError, match="the session has turns 0 to 1, not 2"):
            find_turn(records, 2)
        with pytest.raises(UsageError, match="no rewind to undo"):
            last_rewind(records)
        with pytest.raises(UsageError, match="has events 1 to"):
            await stage.service.submit(stage.session, Rewind(1_000))
        with pytest.raises(UsageError, match="has events 1 to"):
            await stage.service.ask(PlanRewind(stage.session, 1_000))


async def test_what_a_background_job_changes_later_is_undone_too(workshop: Workshop):
    late = "mkfifo gate; { read x < gate; echo late > b; } & wait"
    play = Play(
        says("", ToolCall(CallId("c1"), "bash", {"command": late, "background": True})),
        says("", bash(2, "echo go > gate; while ! test -s b; do :; done; rm gate")),
        says("done"),
        says("more"),
    )
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        assert (workshop.root / "b").read_text() == "late\n"
        await stage.service.submit(stage.session, Rewind(1))

    assert [path.name for path in workshop.root.iterdir()] == [".gitignore"]


async def test_what_a_cancelled_call_has_changed_belongs_to_its_turn(workshop: Workshop):
    play = Play(says("", bash(1, "echo one > a; echo ready; sleep 60")), says("done"))
    async with workshop.stage(play) as stage:
        run_id = await stage.prompt("go", mode="yolo")
        async for item in stage.service.watch(stage.session):
            if isinstance(item, ToolOutputDelta):
                break
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)
        turns = list_turns(await stage.service.ask(Records(stage.session)))
        plan = await stage.service.ask(PlanRewind(stage.session, 1))
        again = await stage.service.ask(PlanRewind(stage.session, turns[1].seq))
        await stage.run("go on")
        changes = [event for event in await stage.log() if isinstance(event, FilesChanged)]

    [result] = play.requests[1].messages[2].parts
    assert isinstance(result, ToolResult)
    assert result.output == "not finished: the run ended (cancelled); the last it had printed was:\nready"
    assert (ended.outcome, [turn.files for turn in turns]) == ("cancelled", [0, 1])
    assert [(change.path, change.after) for change in plan.changes] == [("a", None)]
    assert again.changes == ()
    assert [change.path for event in changes for change in event.changes] == ["a"]


async def test_what_a_crash_cut_off_is_recorded_with_the_next_run(workshop: Workshop):
    revisions = workshop.engine["revisions"]
    async with workshop.stage(Play(says("one"), says("two"))) as stage:
        await stage.run("go")
        revisions.keeper(stage.session, str(workshop.root)).keep(str(workshop.root / "a"))
        (workshop.root / "a").write_text("half\n")  # by a call whose end was never recorded
        await stage.run("go on")
        changes = await stage.service.ask(Changes(stage.session))
        text = await stage.service.ask(Describe(changes))

    assert [(change.path, change.before) for change in changes] == [("a", None)]
    assert text == "--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+half\n"


@pytest.mark.parametrize("way", ["changes", "plan"])
async def test_what_a_crash_cut_off_is_shown_before_it_is_taken_back(workshop: Workshop, way: str):
    revisions = workshop.engine["revisions"]
    async with workshop.stage(Play(says("one"))) as stage:
        await stage.run("go")
        revisions.keeper(stage.session, str(workshop.root)).keep(str(workshop.root / "a"))
        (workshop.root / "a").write_text("half\n")
        if way == "changes":
            found = [change.path for change in await stage.service.ask(Changes(stage.session))]
        else:
            found = [
                change.path for change in (await stage.service.ask(PlanRewind(stage.session, 1))).changes
            ]
        kinds = await stage.kinds()

    assert (found, kinds.count("FilesChanged")) == (["a"], 1)


class Stubborn(FileRevisions):
    """Saves files, but runs a callback when changes are recorded."""

    def __init__(self, folder: Path, on_confirm: Callable[[], None]) -> None:
        super().__init__(folder, MemoryBlobs())
        self._on_confirm = on_confirm

    def keeper(self, session: SessionId, cwd: str) -> FileKeeper:
        keeper = super().keeper(session, cwd)
        confirm, collect = keeper.confirm, keeper.collect
        has_result = False

        def collected(*, is_over: bool = False) -> tuple[FileChange, ...]:
            nonlocal has_result
            found = collect(is_over=is_over)
            has_result = bool(found)
            return found

        def confirmed() -> None:
            if has_result:
                self._on_confirm()
            confirm()

        if "confirm" not in vars(keeper):
            vars(keeper).update(confirm=confirmed, collect=collected)
        return keeper


async def test_each_change_is_recorded_once_also_on_a_full_disk(workshop: Workshop, tmp_path: Path):
    def refuse() -> None:
        raise StoreFull("no space is left")

    workshop.engine["revisions"] = Stubborn(tmp_path / "revisions", refuse)
    play = Play(says("", write(1, "a", "1\n")), says("", write(2, "b", "2\n")), says("done"))
    async with workshop.stage(play) as stage:
        ended = await stage.run("go", mode="yolo")
        log = await stage.log()

    paths = [change.path for event in log if isinstance(event, FilesChanged) for change in event.changes]
    assert (ended.outcome, paths) == ("completed", ["a", "b"])


async def test_a_prompt_right_after_a_cancelled_run_starts(workshop: Workshop, tmp_path: Path):
    is_free = threading.Event()
    workshop.engine["revisions"] = Stubborn(tmp_path / "revisions", lambda: bool(is_free.wait(10)))
    play = Play(says("", bash(1, "echo one > a; echo ready; sleep 60")), says("done"))
    async with workshop.stage(play) as stage:
        first = await stage.prompt("go", mode="yolo")
        async for item in stage.service.watch(stage.session):
            if isinstance(item, ToolOutputDelta):
                break
        await stage.service.submit(stage.session, Cancel())
        await stage.service.wait(stage.session, first)
        second = asyncio.create_task(stage.prompt("go on"))
        for _ in range(100):
            await asyncio.sleep(0)
        is_free.set()
        ended = await stage.service.wait(stage.session, await second)

    assert ended.outcome == "completed"


async def test_a_deleted_session_leaves_nothing_aside(workshop: Workshop, tmp_path: Path):
    async with workshop.stage(Play(says("", bash(1, "echo one > a")), says("done"))) as stage:
        await stage.run("go", mode="yolo")
        await stage.service.submit(stage.session, Delete())

    assert not list((tmp_path / "revisions").glob("*"))


async def test_a_run_in_another_folder_is_undone_there(tmp_path: Path):
    workshop = Workshop(tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.txt").write_text("old")
    calls = [
        ToolCall(CallId("r"), "read_file", {"path": "x.txt"}),
        ToolCall(CallId("w"), "write_file", {"path": "x.txt", "content": "new"}),
    ]
    async with workshop.stage(Play(*(says("", one) for one in calls), says("done"))) as stage:
        await stage.run("hi", mode="yolo", cwd=str(other))
        changed = (other / "x.txt").read_text()
        await stage.service.submit(stage.session, Rewind(1))

    assert (changed, (other / "x.txt").read_text()) == ("new", "old")
