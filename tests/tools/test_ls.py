"""A folder as a tree: without what git ignores, opened as far as it fits."""

import asyncio
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext
from bridle.core.tool import Access, Subject
from bridle.tools.glob import Ls
from tests.tools.fake_ripgrep import fake_ripgrep, has_ended, told


def make(cwd: Path, *paths: str) -> None:
    for path in paths:
        (cwd / path).parent.mkdir(parents=True, exist_ok=True)
        (cwd / path).touch()


async def ls(context: ToolContext, **args: Any) -> str:
    return (await Ls().run(args, context)).text


TREE = ("README.md", "src/main.py", "src/core/loop.py", "src/core/deep/x.py", "docs/a.md", "docs/b.md")


async def test_a_folder_is_shown_as_a_tree(cwd: Path, context: ToolContext):
    make(cwd, *TREE)

    assert await ls(context) == (
        "README.md\ndocs/\n  a.md\n  b.md\nsrc/\n  core/\n    deep/\n      x.py\n    loop.py\n  main.py"
    )


async def test_a_subfolder_can_be_shown(cwd: Path, context: ToolContext, outside: Path):
    make(cwd, *TREE)
    (cwd / "alias").symlink_to("src/core")
    (cwd / "away").symlink_to(outside)

    assert await ls(context, path="src/core") == "deep/\n  x.py\nloop.py"
    assert await ls(context, path="alias") == "deep/\n  x.py\nloop.py"
    with pytest.raises(ToolError, match=r"README\.md is not a folder \(hint: read_file shows a file\)"):
        await ls(context, path="README.md")
    with pytest.raises(ToolError, match="nowhere: no such file or directory"):
        await ls(context, path="nowhere")
    with pytest.raises(ToolError, match="away leads outside the working directory"):
        await ls(context, path="away")


async def test_what_git_ignores_is_left_out_and_hidden_files_are_not(cwd: Path, context: ToolContext):
    make(cwd, ".git/config", "node_modules/x.js", ".github/ci.yml", "a.log", "a.py")
    (cwd / ".gitignore").write_text("node_modules\n*.log\n")

    assert await ls(context) == ".github/\n  ci.yml\n.gitignore\na.py"
    assert await ls(context, path="node_modules") == "x.js"


async def test_depth_limits_the_tree(cwd: Path, context: ToolContext):
    make(cwd, *TREE)

    assert await ls(context, depth=1) == "README.md\ndocs/ (2 files)\nsrc/ (3 files)"
    assert await ls(context, depth=2) == (
        "README.md\ndocs/\n  a.md\n  b.md\nsrc/\n  core/ (2 files)\n  main.py"
    )


async def test_folders_open_level_by_level_as_long_as_they_fit(cwd: Path, context: ToolContext):
    make(cwd, *TREE, *(f"big/{number}" for number in range(50)))

    assert await ls(context, limit=8) == (
        "README.md\nbig/ (50 files)\ndocs/\n  a.md\n  b.md\nsrc/\n  core/ (2 files)\n  main.py"
    )


async def test_a_folder_with_more_than_the_limit_is_cut(cwd: Path, context: ToolContext):
    make(cwd, *(f"{number:03}" for number in range(30)), "zzz/1")

    assert (await ls(context, limit=3)).splitlines() == ["000", "001", "002", "[28 more in this folder]"]
    assert len((await ls(context, limit=10_000_000)).splitlines()) == 32


async def test_a_tree_may_be_deeper_than_pythons_stack(cwd: Path, context: ToolContext):
    program = cwd.parent / "rg"
    program.write_text(f"#!/bin/sh\nprintf './{'d/' * 1500}x\\0'\n")
    program.chmod(0o755)

    lines = (await Ls(str(program)).run({}, context)).text.splitlines()

    assert lines[-1].strip() == "d/ (1 file)"
    assert len(lines) == 100


async def test_an_empty_folder_has_no_files(context: ToolContext):
    assert await ls(context) == "no files"


async def test_names_stay_on_one_line(cwd: Path, context: ToolContext):
    make(cwd, "a\nb", "\x1b[31m")

    assert await ls(context) == "\\x1b[31m\na\\nb"


@pytest.mark.parametrize("tool", ["ls", "read_file", "*"])
async def test_what_a_rule_denies_is_neither_shown_nor_counted(cwd: Path, context: ToolContext, tool: str):
    make(cwd, "a.py", "secrets/key", "src/b.py", "src/key.pem")
    denied = replace(context, rules=(Rule("deny", tool, "secrets/**"), Rule("deny", tool, "**/*.pem")))

    assert await ls(denied, depth=1) == "a.py\nsrc/ (1 file)\n[files protected by a rule are left out]"


async def test_a_folder_outside_needs_a_rule(cwd: Path, context: ToolContext, outside: Path):
    with pytest.raises(ToolError, match="absolute or parent paths are not allowed"):
        await ls(context, path=str(outside))
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/**"),))

    assert await ls(opened, path=str(outside)) == "secret.txt"


def test_rules_see_the_folder_and_its_target(cwd: Path, context: ToolContext):
    make(cwd, *TREE)
    (cwd / "alias").symlink_to("src")

    assert Ls().access({"path": "alias"}, context) == Access(
        "ls", "read", (Subject("path", "alias"), Subject("path", "src"))
    )
    assert Ls().access({}, context) == Access("ls", "read", (Subject("path", "."),))


async def test_a_listing_that_takes_too_long_shows_what_it_has(cwd: Path, context: ToolContext):
    program = fake_ripgrep(cwd.parent, "printf './a\\0./b\\0'")

    listing = asyncio.create_task(Ls(program, deadline_s=0.5).run({}, context))
    assert await has_ended(await told(cwd.parent)) or (await listing)

    assert (await listing).text == (
        "a\nb\n[the folder is too large: some files are missing, name one below it]"
    )


async def test_a_cancelled_listing_leaves_no_process(cwd: Path, context: ToolContext):
    listing = asyncio.create_task(Ls(fake_ripgrep(cwd.parent, "")).run({}, context))
    pid = await told(cwd.parent)

    listing.cancel()
    with suppress(asyncio.CancelledError):
        await listing

    assert await has_ended(pid)
