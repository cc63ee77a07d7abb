"""Changing files: only files the model knows, in the state it knows, and never protected ones."""

import asyncio
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import Tool, ToolContext, ToolOutput
from bridle.core.protocol import FilesSeen, SeenFile
from bridle.core.tool import Access, Subject
from bridle.tools.file_tools import EditFile, MultiEdit, WriteFile
from bridle.tools.read_file import ReadFile
from tests.tools.knowing import knowing, learn

WRITE = (WriteFile(), {"content": "new\n"})
EDIT = (EditFile(), {"old_str": "old", "new_str": "new"})
MULTI = (MultiEdit(), {"edits": [{"old_str": "old", "new_str": "new"}]})
ALL = pytest.mark.parametrize(("tool", "args"), [WRITE, EDIT, MULTI], ids=["write", "edit", "multi"])


def digest(data: bytes) -> str:
    return sha256(data).hexdigest()


async def refusal(tool: Tool, args: dict[str, Any], context: ToolContext) -> str:
    with pytest.raises(ToolError) as caught:
        await tool.run(args, context)
    return str(caught.value)


# ---------------------------------------------------------------------------- what the model knows


@ALL
async def test_a_file_that_was_not_read_is_not_changed(
    cwd: Path, context: ToolContext, tool: Tool, args: dict[str, Any]
):
    (cwd / "f").write_text("old\n")

    assert await refusal(tool, {"path": "f", **args}, context) == (
        "f exists, but you have not read it; read_file it first"
    )
    with pytest.raises(ToolError):
        await tool.preview({"path": "f", **args}, context)
    assert (cwd / "f").read_text() == "old\n"


@ALL
async def test_a_file_that_changed_since_it_was_read_is_not_changed(
    cwd: Path, context: ToolContext, tool: Tool, args: dict[str, Any]
):
    (cwd / "f").write_text("old or not\n")
    context = knowing(context, f=digest(b"old\n"))

    assert await refusal(tool, {"path": "f", **args}, context) == (
        "f was changed since you read it; read_file it again"
    )
    assert (cwd / "f").read_text() == "old or not\n"


@ALL
async def test_a_change_tells_what_is_known_now_and_what_it_did(
    cwd: Path, context: ToolContext, tool: Tool, args: dict[str, Any]
):
    (cwd / "f").write_text("old\n")
    (cwd / "lnk").symlink_to("f")
    args = {"path": "lnk", **args}
    context = knowing(context, f=digest(b"old\n"))

    preview = await tool.preview(args, context)
    output = await tool.run(args, context)

    assert replace(output, text="") == ToolOutput(
        "",
        notes=(FilesSeen((SeenFile("f", digest(b"new\n")),)),),
        diff="--- lnk\n+++ lnk\n@@ -1,1 +1,1 @@\n-old\n+new\n",
    )
    assert preview == output.diff
    assert (cwd / "f").read_text() == "new\n"


async def test_a_file_may_be_changed_again_after_a_change(cwd: Path, context: ToolContext):
    """After its own change, the model may change the file again, unless another process changed it."""
    for number in range(3):
        args = {"path": "f", "content": f"{number}\n"}
        context = learn(context, await WriteFile().run(args, context))
    edit = {"path": "f", "old_str": "2", "new_str": "3"}
    context = learn(context, await EditFile().run(edit, context))
    (cwd / "f").write_text("4\n")

    assert await refusal(WriteFile(), args, context) == "f was changed since you read it; read_file it again"


@pytest.mark.parametrize("name", ["f", "a\nb", "lnk", "ñ"])
async def test_a_file_may_be_changed_after_it_was_read(cwd: Path, context: ToolContext, name: str):
    (cwd / "lnk").symlink_to("target")
    (cwd / name).write_text("old\n")
    context = learn(context, await ReadFile().run({"path": name}, context))

    for tool, args in (EDIT, WRITE):
        context = learn(context, await tool.run({"path": name, **args}, context))

    assert (cwd / name).read_text() == "new\n"


async def test_two_sessions_cannot_make_the_same_file(cwd: Path, context: ToolContext):
    args = {"path": "f", "content": "mine\n"}
    await WriteFile().run(args, context)

    assert await refusal(WriteFile(), {**args, "content": "theirs\n"}, context) == (
        "f exists, but you have not read it; read_file it first"
    )
    assert (cwd / "f").read_text() == "mine\n"


async def test_of_many_sessions_that_make_one_file_at_once_only_one_does(cwd: Path, context: ToolContext):
    calls = [WriteFile().run({"path": "a/f", "content": str(number)}, context) for number in range(8)]
    results = await asyncio.gather(*calls, return_exceptions=True)

    made = [number for number, result in enumerate(results) if isinstance(result, ToolOutput)]
    assert (cwd / "a" / "f").read_text() == str(made[0])
    assert len(made) == 1
    assert [path.name for path in (cwd / "a").iterdir()] == ["f"]


async def test_of_many_edits_at_once_none_is_lost(cwd: Path, context: ToolContext):
    """Each either is in the file or was refused."""
    (cwd / "f").write_text("".join(f"<{number}>\n" for number in range(8)))
    context = knowing(context)
    calls = [
        EditFile().run({"path": "f", "old_str": f"<{number}>", "new_str": f"[{number}]"}, context)
        for number in range(8)
    ]
    results = await asyncio.gather(*calls, return_exceptions=True)

    made = [number for number, result in enumerate(results) if isinstance(result, ToolOutput)]
    assert made
    assert (cwd / "f").read_text() == "".join(
        f"[{number}]\n" if number in made else f"<{number}>\n" for number in range(8)
    )


# ---------------------------------------------------------------------------- what can be undone


@ALL
async def test_a_file_is_kept_before_it_is_changed(
    cwd: Path, context: ToolContext, tool: Tool, args: dict[str, Any]
):
    (cwd / "a").mkdir()
    (cwd / "a" / "f").write_text("old\n")
    (cwd / "lnk").symlink_to("a")
    kept: list[tuple[str, str]] = []
    context = knowing(replace(context, keep=lambda path: kept.append((path, Path(path).read_text()))))

    await tool.run({"path": "lnk/f", **args}, context)

    assert kept == [(f"{cwd}/a/f", "old\n")]


async def test_folders_are_kept_before_they_are_made(cwd: Path, context: ToolContext):
    (cwd / "a").mkdir()
    kept: list[tuple[str, bool]] = []
    context = replace(context, keep=lambda path: kept.append((path, Path(path).exists())))

    await WriteFile().run({"path": "a/b/c/f", "content": ""}, context)

    assert kept == [(f"{cwd}/a/b", False), (f"{cwd}/a/b/c", False), (f"{cwd}/a/b/c/f", False)]


async def test_what_cannot_be_kept_is_not_changed(cwd: Path, context: ToolContext):
    def keep(path: str) -> None:
        if path.endswith("f"):
            raise MemoryError(path)

    with pytest.raises(MemoryError):
        await WriteFile().run({"path": "a/b/f", "content": ""}, replace(context, keep=keep))

    assert list(cwd.iterdir()) == []


# ---------------------------------------------------------------------------- protected places


@ALL
@pytest.mark.parametrize(
    "path",
    [
        ".git/config",
        "sub/.git/hooks/pre-commit",
        ".git",
        ".bridle/config.toml",
        "lnk/config",
        ".GIT/x",
        "a/.Bridle",
    ],
)
async def test_protected_places_are_not_changed(
    cwd: Path, context: ToolContext, tool: Tool, args: dict[str, Any], path: str
):
    (cwd / ".git").mkdir()
    (cwd / ".git" / "config").write_text("old\n")
    (cwd / "lnk").symlink_to(".git")
    args, context = {"path": path, **args}, knowing(replace(context, mode="yolo"))
    named = ".git/config" if path.startswith("lnk") else path

    with pytest.raises(ToolError) as caught:
        tool.access(args, context)

    assert str(caught.value) == f"{named} is protected; ask the user to change it"
    assert await refusal(tool, args, context) == str(caught.value)
    with pytest.raises(ToolError):
        await tool.preview(args, context)
    assert (cwd / ".git" / "config").read_text() == "old\n"
    assert sorted(entry.name for entry in cwd.iterdir()) == [".git", "lnk"]


async def test_names_that_only_look_alike_are_not_protected(cwd: Path, context: ToolContext):
    for path in (".gitignore", ".github/x", "a.git/x", "git/.bridle.md"):
        await WriteFile().run({"path": path, "content": ""}, context)

        assert (cwd / path).exists()


# ---------------------------------------------------------------------------- outside


async def test_a_file_outside_is_changed_only_if_a_rule_of_the_tool_opens_it(
    cwd: Path, outside: Path, context: ToolContext
):
    path = str(outside / "secret.txt")
    args = {"path": path, "old_str": "secret", "new_str": "public"}
    seen = {path: digest(b"secret\n")}
    reading = replace(context, seen=seen, rules=(Rule("allow", "read_file", f"{outside}/**"),))
    editing = replace(context, seen=seen, rules=(Rule("allow", "edit_file", f"{outside}/**"),))

    assert await refusal(EditFile(), args, reading) == "absolute or parent paths are not allowed"
    assert EditFile().access(args, editing) == Access("edit_file", "write", (Subject("path", path),))
    output = await EditFile().run(args, editing)

    assert output.notes == (FilesSeen((SeenFile(path, digest(b"public\n")),)),)
    assert (outside / "secret.txt").read_text() == "public\n"


# ---------------------------------------------------------------------------- kinds of files


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"\xef\xbb\xbfone\r\nold\r\n", b"\xef\xbb\xbfone\r\nnew\r\nline\r\n"),
        (
            b"\xff\xfe" + "one\r\nold".encode("utf-16-le"),
            b"\xff\xfe" + "one\r\nnew\r\nline".encode("utf-16-le"),
        ),
        (b"\xfe\xff" + "é\nold\n".encode("utf-16-be"), b"\xfe\xff" + "é\nnew\nline\n".encode("utf-16-be")),
        (b"one\nold", b"one\nnew\nline"),
    ],
    ids=["utf-8 with mark", "utf-16-le", "utf-16-be", "no newline at the end"],
)
@pytest.mark.parametrize("tool", [EditFile(), MultiEdit()], ids=["edit", "multi"])
async def test_a_file_is_edited_in_kind(
    cwd: Path, context: ToolContext, tool: Tool, before: bytes, after: bytes
):
    (cwd / "f").write_bytes(before)
    edit = {"old_str": "old", "new_str": "new\nline"}

    await tool.run({"path": "f", **edit, "edits": [edit]}, knowing(context))

    assert (cwd / "f").read_bytes() == after


async def test_a_file_is_replaced_in_kind(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"\xff\xfe" + "a\r\n".encode("utf-16-le"))

    output = await WriteFile().run({"path": "f", "content": "b\nc\n"}, knowing(context))

    assert output.text == "Successfully wrote 14 bytes to f"
    assert (cwd / "f").read_bytes() == b"\xff\xfe" + "b\r\nc\r\n".encode("utf-16-le")


async def test_the_limit_counts_the_bytes_of_the_file(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"\xff\xfe" + "old".encode("utf-16-le"))
    context = knowing(context)

    assert await refusal(EditFile(10), {"path": "f", "old_str": "old", "new_str": "12345"}, context) == (
        "result would exceed maximum file size of 10 bytes"
    )
    assert await refusal(WriteFile(10), {"path": "f", "content": "12345"}, context) == (
        "content exceeds maximum size of 10 bytes"
    )
    assert (await WriteFile(10).run({"path": "f", "content": "1234"}, context)).text == (
        "Successfully wrote 10 bytes to f"
    )


async def test_a_file_that_is_too_large_is_not_replaced(cwd: Path, context: ToolContext):
    (cwd / "f").write_text("x" * 11)

    assert await refusal(WriteFile(10), {"path": "f", "content": ""}, knowing(context)) == (
        "f has 11 bytes; only files up to 10 bytes can be changed"
    )


async def test_a_wrong_byte_is_named(cwd: Path, context: ToolContext):
    (cwd / "f").write_bytes(b"\xff\xfeo\x00l")

    assert await refusal(EditFile(), {"path": "f", "old_str": "o", "new_str": "x"}, knowing(context)) == (
        "f is not UTF-16-LE text (byte 0x6c at offset 4) and cannot be edited"
    )
