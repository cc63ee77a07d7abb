"""The file tools: Kontekst's recorded behaviour, and what they add to it."""

import asyncio
import os
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import Struct

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import ToolCall
from bridle.core.permission import Rule, judge
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.tools import EditFile, ListFiles, ReadFile, WriteFile, file_tools
from bridle.tools.file_tools import MAX_EDITS, MultiEdit
from bridle.tools.toolbox import Toolbox
from tests.tools.knowing import knowing

TOOLS = {tool.spec.name: tool for tool in file_tools()}


@pytest.fixture
def context(context: ToolContext) -> ToolContext:
    """Make every file known, as if it had just been read."""
    return knowing(context)


class Outcome(Struct, frozen=True):
    """The result of a call, or the text of its error."""

    out: str = ""
    err: str = ""


async def outcome(tool: Tool, args: dict[str, Any], context: ToolContext) -> Outcome:
    try:
        return Outcome(out=(await tool.run(args, context)).text)
    except ToolError as error:
        return Outcome(err=str(error))


# ---------------------------------------------------------------------------- recorded behaviour

OWN_FILES = (
    "a.txt aaa.txt big.txt crlf.txt deep/er/w.txt empty.txt long.txt ok9999.txt"
    " sub/.hid sub/c.go ten.txt utf.txt w.txt"
)

DEVIATIONS = {
    ("read_file", "long.txt"): (
        Outcome(
            err="bufio.Scanner: token too long"
            " (hint: line 1 is longer than 65536 bytes; with an end_line it is shown in part)"
        ),
        "a hint in words is added",
    ),
    ("read_file", "sub"): (
        Outcome(err="read <BASE>/sub: is a directory (hint: list_files shows what is in it)"),
        "a hint in words is added",
    ),
    ("read_file", "lnk/hostname"): (
        Outcome(err="lnk/hostname leads outside the working directory through a symbolic link"),
        "security: Kontekst follows links to anywhere",
    ),
    ("list_files", "**/*"): (
        Outcome(out=OWN_FILES.replace(" ", "\n")),
        "security: the link leads outside; and `**` crosses folders, as users expect",
    ),
    ("list_files", "*/*"): (Outcome(out="sub/.hid\nsub/c.go"), "security: the link leads outside"),
}


@pytest.fixture
def recorded(cwd: Path) -> Path:
    """Make the tree on which Kontekst was recorded."""
    for name, text in {
        "a.txt": "one\ntwo\nthree\n",
        "aaa.txt": "aaaa\n",
        "big.txt": "".join(f"L{number}\n" for number in range(1, 10_002)),
        "crlf.txt": "a\r\nb\r\n",
        "empty.txt": "",
        "long.txt": "x" * 70_000,
        "ok9999.txt": "".join(f"L{number}\n" for number in range(1, 10_000)),
        "sub/.hid": "",
        "sub/c.go": "",
        "ten.txt": "".join(f"L{number}\n" for number in range(1, 13)),
        "utf.txt": "héllo\n",
    }.items():
        (cwd / name).parent.mkdir(exist_ok=True)
        (cwd / name).write_bytes(text.encode())
    (cwd / "lnk").symlink_to("/etc")
    return cwd


async def shown(tool: Tool, args: dict[str, Any], context: ToolContext) -> str:
    """Return a preview as Kontekst does: nothing for a call that would fail."""
    try:
        return await tool.preview(args, context)
    except ToolError:
        return ""


async def test_the_vectors_of_calls(recorded: Path, context: ToolContext, vectors):
    tools = {tool.spec.name: tool for tool in (ReadFile(), WriteFile(100), EditFile(100), ListFiles())}
    seen = set()
    for vector in vectors("tools"):
        tool, args = tools[vector["tool"]], vector["args"]
        key = (vector["tool"], args.get("path", args.get("pattern")))
        expected = Outcome(vector["out"], vector["err"])
        if key in DEVIATIONS:
            seen.add(key)
            expected, _ = DEVIATIONS[key]
        expected = Outcome(expected.out, expected.err.replace("<BASE>", str(recorded)))

        assert await outcome(tool, args, context) == expected, vector
        assert await shown(tool, args, context) == vector["preview_after"], vector
    assert seen == set(DEVIATIONS)


ADDED_PARAMETERS = {"edit_file": ["cell"]}
"""Optional ones that Kontekst does not have."""


def test_the_vectors_of_parameters(vectors):
    for vector in vectors("tool_defs"):
        if vector["name"] in TOOLS:
            ours = without_descriptions(TOOLS[vector["name"]].spec.parameters)
            for added in ADDED_PARAMETERS.get(vector["name"], ()):
                del ours["properties"][added]
            assert ours == without_descriptions(vector["parameters"])


def without_descriptions(schema: dict[str, Any]) -> dict[str, Any]:
    properties = {name: {"type": value["type"]} for name, value in schema["properties"].items()}
    return {**schema, "properties": properties}


# ---------------------------------------------------------------------------- what rules and models see


def test_every_tool_is_described():
    assert sorted(TOOLS) == ["edit_file", "list_files", "multi_edit", "read_file", "write_file"]
    for tool in TOOLS.values():
        assert 80 < len(tool.spec.description) < 600
        assert tool.spec == tool.spec


def test_only_readers_run_beside_others():
    assert {name for name, tool in TOOLS.items() if tool.parallel} == {"list_files", "read_file"}


def test_access_names_the_path(context: ToolContext):
    path = {"path": "./src//x/../a.py"}

    assert [TOOLS[name].access(path, context) for name in ("read_file", "write_file", "edit_file")] == [
        Access("read_file", "read", (Subject("path", "src/a.py"),)),
        Access("write_file", "write", (Subject("path", "src/a.py"),)),
        Access("edit_file", "write", (Subject("path", "src/a.py"),)),
    ]
    assert TOOLS["list_files"].access({"pattern": "./src/**"}, context) == Access(
        "list_files", "read", (Subject("path", "src/**"),)
    )


def test_a_link_is_no_way_around_a_rule(cwd: Path, context: ToolContext):
    (cwd / "secrets").mkdir()
    (cwd / "key").symlink_to("secrets/key")
    (cwd / "alias").symlink_to("secrets")

    accesses = [
        TOOLS["read_file"].access({"path": "key"}, context),
        TOOLS["list_files"].access({"pattern": "alias/*"}, context),
    ]

    assert accesses == [
        Access("read_file", "read", (Subject("path", "key"), Subject("path", "secrets/key"))),
        Access("list_files", "read", (Subject("path", "alias/*"), Subject("path", "secrets/*"))),
    ]
    deny = [Rule("deny", "*", "secrets/**")]
    assert [judge(access, deny, "yolo").action for access in accesses] == ["deny", "deny"]


@pytest.mark.parametrize(
    ("tool", "args", "message"),
    [
        ("read_file", {}, "missing path"),
        ("write_file", {"path": "/etc/x"}, "absolute or parent paths are not allowed"),
        ("edit_file", {"path": "lnk/x"}, "lnk/x leads outside the working directory through a symbolic link"),
        ("list_files", {"pattern": "../*"}, "absolute or parent paths are not allowed"),
        (
            "list_files",
            {"pattern": "lnk/*"},
            "lnk leads outside the working directory through a symbolic link",
        ),
    ],
)
def test_access_refuses_what_lies_outside(
    cwd: Path, context: ToolContext, tool: str, args: dict[str, Any], message: str
):
    (cwd / "lnk").symlink_to("/etc")

    with pytest.raises(ToolError) as caught:
        TOOLS[tool].access(args, context)

    assert str(caught.value) == message


# ---------------------------------------------------------------------------- reading


async def test_a_binary_file_is_not_read(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"\x89PNG\0\0")

    assert await outcome(ReadFile(), {"path": "f"}, context) == Outcome(
        err="f is a binary file; only text can be read"
    )


async def test_a_part_of_a_file_larger_than_the_limit_is_read(cwd: Path, context: ToolContext):
    with (cwd / "f").open("wb") as file:
        file.truncate(0)
        for _ in range(40):
            file.write(b"0123456789abcde\n" * 65_536)

    assert await outcome(
        ReadFile(), {"path": "f", "start_line": 2_000_000, "end_line": 2_000_001}, context
    ) == (Outcome(out="2000000: 0123456789abcde\n2000001: 0123456789abcde"))


async def test_a_whole_number_may_be_written_as_a_float(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("a\nb\nc\n")

    assert await outcome(ReadFile(), {"path": "f", "start_line": 2.0, "end_line": 2.0}, context) == (
        Outcome(out="2: b")
    )
    assert await outcome(ReadFile(), {"path": "f", "start_line": True, "end_line": 1.5}, context) == (
        Outcome(out="1: a\n2: b\n3: c")
    )


async def test_a_line_number_below_one_is_the_first_line(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("a\n")

    assert await outcome(ReadFile(), {"path": "f", "start_line": -3}, context) == Outcome(out="1: a")


async def test_a_fifo_does_not_block(cwd: Path, context: ToolContext):
    os.mkfifo(cwd / "f")

    for tool, args in (
        (ReadFile(), {}),
        (WriteFile(), {"content": "x"}),
        (EditFile(), {"old_str": "a", "new_str": "b"}),
    ):
        assert await outcome(tool, {"path": "f", **args}, context) == Outcome(err="f is a FIFO, not a file")
        assert await shown(tool, {"path": "f", **args}, context) == ""


async def test_a_path_is_shown_on_one_line(cwd: Path, context: ToolContext):
    """A file name must not be able to look like lines of a diff."""
    args = {"path": "a\n+++ b", "content": "x\n"}

    assert await WriteFile().preview(args, context) == ("--- /dev/null\n+++ a\\n+++ b\n@@ -0,0 +1,1 @@\n+x\n")
    assert await outcome(WriteFile(), args, context) == Outcome(out="Successfully wrote 2 bytes to a\\n+++ b")


async def test_unicode_names_work_everywhere(cwd: Path, context: ToolContext):
    path = {"path": "日本/ñ é.txt"}

    assert await outcome(WriteFile(), {**path, "content": "ß\n"}, context) == (
        Outcome(out="Successfully wrote 3 bytes to 日本/ñ é.txt")
    )
    assert await outcome(EditFile(), {**path, "old_str": "ß", "new_str": "ẞ"}, context) == (
        Outcome(out="Replaced 1 occurrence(s) in 日本/ñ é.txt")
    )
    assert await outcome(ReadFile(), path, context) == Outcome(out="1: ẞ")
    assert await outcome(ListFiles(), {"pattern": "**/ñ*"}, context) == Outcome(out="日本/ñ é.txt")


async def test_half_characters_are_refused(cwd: Path, context: ToolContext):
    for args, key in (
        ({"path": "a\ud800", "content": ""}, "path"),
        ({"path": "a", "content": "b\ud800"}, "content"),
    ):
        assert await outcome(WriteFile(), args, context) == (
            Outcome(err=f"{key} is not valid Unicode: character 2 is half of a pair")
        )


async def test_a_name_that_is_too_long_is_refused(cwd: Path, context: ToolContext):
    name = "x" * 300

    assert await outcome(ReadFile(), {"path": name}, context) == Outcome(
        err=f"open {cwd}/{name}: file name too long"
    )
    assert await outcome(WriteFile(), {"path": f"{name}/f", "content": ""}, context) == Outcome(
        err=f"failed to create directory: mkdir {cwd}/{name}: file name too long"
    )


async def test_a_missing_working_directory_is_an_error(cwd: Path, context: ToolContext):
    cwd.rmdir()

    assert await outcome(ReadFile(), {"path": "f"}, context) == Outcome(
        err=f"open {cwd}/f: no such file or directory"
    )
    assert await outcome(WriteFile(), {"path": "f", "content": ""}, context) == Outcome(
        err=f"open {cwd}/f: no such file or directory"
    )
    assert await outcome(ListFiles(), {"pattern": "*"}, context) == Outcome(out="")


# ---------------------------------------------------------------------------- editing


async def test_an_edit_keeps_bom_line_endings_and_mode(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\nthree\r\n")
    (cwd / "f").chmod(0o755)
    args = {"path": "f", "old_str": "one\ntwo", "new_str": "1\n2\n2b"}

    preview = await EditFile().preview(args, context)
    result = await outcome(EditFile(), args, context)

    assert preview == "--- f\n+++ f\n@@ -1,3 +1,4 @@\n-one\r\n-two\r\n+1\r\n+2\r\n+2b\r\n three\r\n"
    assert result == Outcome(out="Replaced 1 occurrence(s) in f")
    assert (cwd / "f").read_bytes() == b"\xef\xbb\xbf1\r\n2\r\n2b\r\nthree\r\n"
    assert (cwd / "f").stat().st_mode & 0o777 == 0o755


async def test_a_file_that_is_not_utf8_is_not_edited(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"caf\xe9 one")
    args = {"path": "f", "old_str": "one", "new_str": "two"}

    with pytest.raises(ToolError):
        await EditFile().preview(args, context)
    assert await outcome(EditFile(), args, context) == Outcome(
        err="f is not UTF-8 text (byte 0xe9 at offset 3) and cannot be edited"
    )
    assert (cwd / "f").read_bytes() == b"caf\xe9 one"


async def test_a_file_that_is_too_large_is_not_edited(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("x" * 101)

    assert await outcome(EditFile(100), {"path": "f", "old_str": "x", "new_str": ""}, context) == Outcome(
        err="f has 101 bytes; only files up to 100 bytes can be changed"
    )


async def test_an_edit_that_would_explode_is_refused_before_it_does(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("x" * 5_000_000)
    args = {"path": "f", "old_str": "", "new_str": "y" * 1_000_000}

    with pytest.raises(ToolError):
        await EditFile().preview(args, context)
    assert await outcome(EditFile(), args, context) == Outcome(
        err="result would exceed maximum file size of 10485760 bytes"
    )


async def test_a_large_file_is_edited_and_previewed(cwd: Path, context: ToolContext):
    line = "0123456789abcde\n"
    (cwd / "f").write_text(line * 600_000 + "last\n")
    args = {"path": "f", "old_str": "last", "new_str": "the end"}

    assert await EditFile().preview(args, context) == (
        f"--- f\n+++ f\n@@ -599998,4 +599998,4 @@\n {line} {line} {line}-last\n+the end\n"
    )
    assert await outcome(EditFile(), args, context) == Outcome(out="Replaced 1 occurrence(s) in f")
    assert (cwd / "f").read_text() == line * 600_000 + "the end\n"


async def test_an_edit_through_a_link_changes_its_target(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("old")
    (cwd / "lnk").symlink_to("f")

    assert await outcome(EditFile(), {"path": "lnk", "old_str": "old", "new_str": "new"}, context) == (
        Outcome(out="Replaced 1 occurrence(s) in lnk")
    )
    assert (cwd / "lnk").is_symlink()
    assert (cwd / "f").read_text() == "new"


# ---------------------------------------------------------------------------- writing


async def test_a_preview_of_a_file_that_cannot_be_compared_says_so(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"\xff\xff")

    assert await WriteFile().preview({"path": "f", "content": "x"}, context) == (
        "f: all 2 bytes, which cannot be compared as text, are replaced\n"
    )


async def test_a_long_preview_is_cut(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("old\n" * 60_000)

    preview = await WriteFile().preview({"path": "f", "content": "new\n" * 60_000}, context)

    assert len(preview) <= 200_000
    assert preview.startswith("--- f\n+++ f\n@@ -1,60000 +1,60000 @@\n-old\n")
    assert " bytes left out here; too long for a preview]\n" in preview
    assert preview.endswith("+new\n")


async def test_a_cancelled_write_leaves_no_half_file(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("old")
    new = "new" * 1_000_000
    for _ in range(20):
        task = asyncio.create_task(WriteFile().run({"path": "f", "content": new}, context))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

        assert (cwd / "f").read_text() in ("old", new)
        assert [path.name for path in cwd.iterdir()] == ["f"]


KILLED = """
    import asyncio, hashlib, pathlib, sys
    from bridle.core.ports import ToolContext
    from bridle.tools.file_tools import EditFile
    digest = hashlib.sha256(pathlib.Path(sys.argv[1], "f").read_bytes()).hexdigest()
    async def edit():
        global digest
        for number in range(1_000_000):
            args = {"path": "f", "old_str": f"<{number}>", "new_str": f"<{number + 1}>"}
            output = await EditFile().run(args, ToolContext("s", sys.argv[1], print, seen={"f": digest}))
            digest = output.notes[0].files[0].digest
            print(number + 1, flush=True)
    asyncio.run(edit())
"""


async def test_a_killed_edit_leaves_the_old_or_the_new_file(cwd: Path):
    for _ in range(4):
        (cwd / "f").write_text("<0>\n" * 20_000)
        with subprocess.Popen(
            [sys.executable, "-c", textwrap.dedent(KILLED), cwd], stdout=subprocess.PIPE, text=True
        ) as editor:
            assert editor.stdout is not None
            editor.stdout.readline()
            editor.kill()

        text = (cwd / "f").read_text()
        assert text == text[: text.index("\n") + 1] * 20_000


# ---------------------------------------------------------------------------- listing


async def test_a_list_that_is_cut_ends_with_a_note(cwd: Path, context: ToolContext):
    for name in "abc":
        (cwd / name).touch()

    assert await ListFiles(max_files=2).run({"pattern": "*"}, context) == ToolOutput(
        "a\nb\n[only the first 2 files are listed; use a narrower pattern to see the others]"
    )


async def test_a_long_search_ends_at_its_deadline(cwd: Path, context: ToolContext):
    """Links make a tree without end; a pattern of many stars would look through it for years."""
    for name in "abcdefgh":
        (cwd / name).symlink_to(".")

    output = await ListFiles(deadline_s=0.1).run({"pattern": "*/" * 30 + "x"}, context)

    assert output == ToolOutput("[the search took too long and was ended; use a narrower pattern]")


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
