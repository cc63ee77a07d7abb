"""Several edits in one file: in order, all or none, each with its own result."""

import asyncio
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import ToolCall
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.file_tools import EditFile
from bridle.tools.multi_edit import MAX_EDITS, MultiEdit
from bridle.tools.toolbox import Toolbox
from tests.tools.knowing import knowing


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    """Make every file known, as if it had just been read."""
    return knowing(context)


def edit(old: str, new: str, occurrence: int | None = None) -> dict[str, Any]:
    return {"old_str": old, "new_str": new} | ({} if occurrence is None else {"occurrence": occurrence})


async def refusal(args: dict[str, Any], context: ToolContext) -> str:
    with pytest.raises(ToolError) as caught:
        await MultiEdit().run(args, context)
    return str(caught.value)


async def test_edits_are_made_in_order(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("one\n\ttwo\none\n")
    args = {"path": "f", "edits": [edit("one", "uno", 2), edit("  two\n", "  2\n  3\n"), edit("uno", "1")]}

    preview = await MultiEdit().preview(args, context)
    output = await MultiEdit().run(args, context)

    assert output.text == (
        "Made 3 edits in f\n"
        "1: ok, occurrence 2\n"
        "2: ok, 1 occurrence(s)"
        " (old_str matched line 2 only up to whitespace; new_str was fitted to the file)\n"
        "3: ok, 1 occurrence(s)"
    )
    assert (cwd / "f").read_text() == "one\n\t2\n\t3\n1\n"
    assert preview == output.diff == ("--- f\n+++ f\n@@ -1,3 +1,4 @@\n-one\n-\ttwo\n one\n+\t2\n+\t3\n+1\n")


async def test_one_edit_that_fails_stops_all_and_each_has_its_reason(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("one\ntwo\n")
    args = {
        "path": "f",
        "edits": [
            edit("one", "1"),
            edit("three", "3"),
            edit("1", "one"),
            edit("two", "x", 2),
            edit("a", "a"),
        ],
    }

    with pytest.raises(ToolError):
        await MultiEdit().preview(args, context)
    assert await refusal(args, context) == (
        "f is unchanged: 3 of 5 edits failed\n"
        "1: ok, 1 occurrence(s)\n"
        "2: old_str not found in file\n"
        "3: ok, 1 occurrence(s)\n"
        "4: occurrence 2 of old_str not found (only 1 occurrences exist)\n"
        "5: old_str and new_str are the same: nothing to change"
    )
    assert (cwd / "f").read_text() == "one\ntwo\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({}, "missing path"),
        ({"path": "f"}, "edits must be a list of 1 to 100 edits"),
        ({"path": "f", "edits": []}, "edits must be a list of 1 to 100 edits"),
        (
            {"path": "f", "edits": [edit("a", "b")] * (MAX_EDITS + 1)},
            "edits must be a list of 1 to 100 edits",
        ),
        ({"path": "f", "edits": [edit("a", "b"), "x"]}, "edit 2 is not an object with old_str and new_str"),
        ({"path": "f", "edits": [{"old_str": "a"}]}, "edit 1: missing new_str"),
        (
            {"path": "f", "edits": [edit("a", "\ud800")]},
            "edit 1: new_str is not valid Unicode: character 1 is half of a pair",
        ),
        ({"path": "g", "edits": [edit("a", "b")]}, "file does not exist: g"),
    ],
)
async def test_wrong_arguments_are_refused(
    cwd: Path, context: ToolContext, args: dict[str, Any], message: str
):
    (cwd / "f").write_text("a\n")

    assert await refusal(args, context) == message
    assert (cwd / "f").read_text() == "a\n"


async def test_a_hundred_edits_are_made(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("0\n")
    edits = [edit(f"{number}\n", f"{number + 1}\n") for number in range(MAX_EDITS)]

    await MultiEdit().run({"path": "f", "edits": edits}, context)

    assert (cwd / "f").read_text() == "100\n"


async def test_edits_that_grow_the_file_too_much_are_refused(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("x")
    edits = [edit("x", "xx")] * 30

    with pytest.raises(ToolError) as caught:
        await MultiEdit(1000).run({"path": "f", "edits": edits}, context)

    assert str(caught.value).count("result would exceed maximum file size of 1000 bytes") == 21
    assert (cwd / "f").read_text() == "x"


async def test_a_cancelled_call_changes_nothing(cwd: Path, context: ToolContext):
    text = "".join(f"line {number}\n" for number in range(300_000))
    (cwd / "f").write_text(text)
    edits = [edit(f"line {number}\n", f"new {number}\n") for number in range(MAX_EDITS)]
    task = asyncio.create_task(MultiEdit().run({"path": "f", "edits": edits}, context))
    await asyncio.sleep(0)
    task.cancel()
    started = asyncio.get_running_loop().time()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert asyncio.get_running_loop().time() - started < 0.5
    assert (cwd / "f").read_text() == text
    assert [path.name for path in cwd.iterdir()] == ["f"]


def test_the_toolbox_checks_the_arguments():
    toolbox = Toolbox([MultiEdit()])

    with pytest.raises(ToolError, match="edits"):
        toolbox.arguments(ToolCall("c", "multi_edit", {"path": "f", "edits": [{"old_str": "a"}]}))
    args = {"path": "f", "edits": [edit("a", "b", 1)]}
    assert toolbox.arguments(ToolCall("c", "multi_edit", args)) == args


def test_access_names_the_file(context: ToolContext):
    assert MultiEdit().access({"path": "./a/../f"}, context) == Access(
        "multi_edit", "write", (Subject("path", "f"),)
    )


TEXTS = st.text("ab \n\t", max_size=6)


@settings(max_examples=50)
@given(
    text=st.text("ab \n\t", max_size=30),
    edits=st.lists(st.tuples(TEXTS, TEXTS, st.integers(0, 2)), min_size=1, max_size=4),
)
def test_many_edits_are_like_one_after_the_other(text: str, edits: list[tuple[str, str, int]]):
    wanted = [edit(*one) for one in edits]
    with tempfile.TemporaryDirectory() as folder:
        context = knowing(ToolContext(SessionId("s"), folder, lambda _: None))
        for name in "fg":
            Path(folder, name).write_bytes(text.encode())

        async def one_by_one() -> None:
            for one in wanted:
                await EditFile().run({"path": "f", **one}, context)

        try:
            asyncio.run(one_by_one())
        except ToolError:
            with pytest.raises(ToolError):
                asyncio.run(MultiEdit().run({"path": "g", "edits": wanted}, context))
            assert Path(folder, "g").read_bytes() == text.encode()
        else:
            asyncio.run(MultiEdit().run({"path": "g", "edits": wanted}, context))
            assert Path(folder, "g").read_bytes() == Path(folder, "f").read_bytes()
