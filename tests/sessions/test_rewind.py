"""Going back over the real service, tools, shell and sandbox: every turn's tree comes back byte for byte."""

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
from bridle.core.ports import Tool
from bridle.core.protocol import Cancel, FilesChanged, Rewind, Rewound, ToolOutputDelta
from bridle.core.revision import FileChange
from bridle.revisions.files import FileRevisions
from bridle.revisions.keeper import FileKeeper
from bridle.sandbox import LocalSandbox
from bridle.sessions.rewind import find_turn, last_rewind
from bridle.stores.blobs import MemoryBlobs
from bridle.tools.files import file_tools
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
        self.tools: list[Tool] = [
            *file_tools(),
            *shell_tools(sandbox, place / "shells", settings=ShellSettings(environ=environ)),
        ]

    def stage(self, play: Play) -> Stage:
        return Stage(play, tools=self.tools, **self.engine)


@pytest.fixture
def workshop(tmp_path: Path) -> Workshop:
    return Workshop(tmp_path)


def bash(number: int, command: str) -> ToolCall:
    return ToolCall(CallId(f"c{number}"), "bash", {"command": command})


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
steps = st.one_of(
    st.builds(lambda command: ("bash", command), commands),
    st.builds(lambda path, content: ("write", path, content), names, st.sampled_from(["x\n", "y\n"])),
)


def as_call(number: int, step: tuple[str, ...]) -> ToolCall:
    return bash(number, step[1]) if step[0] == "bash" else write(number, step[1], step[2])


@pytest.mark.slow
@pytest.mark.timeout(180)
@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.lists(steps, min_size=1, max_size=3), min_size=1, max_size=5), st.randoms())
def test_every_turn_comes_back_byte_for_byte(turns: list[list[tuple[str, ...]]], random: Any):
    with tempfile.TemporaryDirectory() as place:
        asyncio.run(play_and_go_back(Workshop(Path(place)), turns, random))


async def play_and_go_back(workshop: Workshop, turns: list[list[tuple[str, ...]]], random: Any) -> None:
    number = 0
    replies = []
    for turn in turns:
        calls = []
        for step in turn:
            calls.append(as_call(number, step))
            number += 1
        replies.append(says("", *calls))
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
        known = await stage.service.turns(stage.session)
        assert [turn.number for turn in known] == list(range(len(turns) + 2))
        targets = list(range(len(turns) + 1))
        random.shuffle(targets)
        for target in targets:
            await stage.service.submit(stage.session, Rewind(known[target].seq))
            assert tree_of(workshop.root) == trees[target], (target, turns)
            undone = last_rewind(await stage.service.records(stage.session))
            await stage.service.submit(stage.session, Rewind(undone))
            assert tree_of(workshop.root) == trees[-1], (target, turns)


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
        [_, first, *_] = await stage.service.turns(stage.session)
        plan = await stage.service.plan_rewind(stage.session, first.seq)
        await stage.service.submit(stage.session, Rewind(first.seq))
        session = await stage.service.read(stage.session)
        log = await stage.log()

    assert [change.path for change in plan.changes] == ["a", "b"]
    assert (plan.conflicts, plan.lost) == ((), ())
    assert sorted(path.name for path in workshop.root.iterdir()) == [".gitignore", "a"]
    assert [item.message.role for item in session.messages] == ["user", "assistant", "tool"]
    assert log[-1] == Rewound(first.seq)
    assert isinstance(log[-2], FilesChanged)
    assert log[-2].rewind


async def test_what_somebody_else_changed_is_a_conflict_until_forced(workshop: Workshop):
    play = Play(says("", bash(1, "echo one > a")), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        (workshop.root / "a").write_text("mine\n")
        with pytest.raises(SessionConflict, match="changed by somebody else since: a"):
            await stage.service.submit(stage.session, Rewind(1))
        assert (workshop.root / "a").read_text() == "mine\n"
        before = (await stage.service.read(stage.session)).seq
        await stage.service.submit(stage.session, Rewind(1, force=True))
        assert not (workshop.root / "a").exists()
        await stage.service.submit(stage.session, Rewind(before))

    assert (workshop.root / "a").read_text() == "mine\n"


async def test_only_the_conversation_or_only_the_files(workshop: Workshop):
    play = Play(says("", bash(1, "echo one > a")), says("done"))
    async with workshop.stage(play) as stage:
        await stage.run("go", mode="yolo")
        await stage.service.submit(stage.session, Rewind(1, "conversation"))
        talk = await stage.service.read(stage.session)
        assert (len(talk.messages), (workshop.root / "a").exists()) == (0, True)
        await stage.service.submit(stage.session, Rewind(last_rewind(await stage.service.records("play"))))
        await stage.service.submit(stage.session, Rewind(1, "files"))
        talk = await stage.service.read(stage.session)

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
        records = await stage.service.records(stage.session)
        with pytest.raises(UsageError, match="there are turns 0 to 1, not 2"):
            find_turn(records, 2)
        with pytest.raises(UsageError, match="nothing was rewound"):
            last_rewind(records)
        with pytest.raises(UsageError, match="has events 1 to"):
            await stage.service.submit(stage.session, Rewind(1_000))


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
        turns = await stage.service.turns(stage.session)
        plan = await stage.service.plan_rewind(stage.session, 1)
        again = await stage.service.plan_rewind(stage.session, turns[1].seq)
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
        changes = await stage.service.changes(stage.session)
        text = await stage.service.describe(changes)

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
            found = [change.path for change in await stage.service.changes(stage.session)]
        else:
            found = [change.path for change in (await stage.service.plan_rewind(stage.session, 1)).changes]
        kinds = await stage.kinds()

    assert (found, kinds.count("FilesChanged")) == (["a"], 1)


class Stubborn(FileRevisions):
    """Keeps files, but does something else when it hears that changes are recorded."""

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
        await stage.service.delete(stage.session)

    assert not list((tmp_path / "revisions").glob("*"))
