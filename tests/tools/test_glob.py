"""Finding files by name: newest first, limited, and nothing that a rule hides."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.tools.glob import Glob
from tests.tools.conftest import Swapping
from tests.tools.fake_ripgrep import fake_ripgrep, has_ended, told

LEFT_OUT = "[files protected by a rule are left out]"


def make(cwd: Path, *paths: str) -> None:
    """Make files of which each is newer than the one before."""
    for number, path in enumerate(paths):
        (cwd / path).parent.mkdir(parents=True, exist_ok=True)
        (cwd / path).touch()
        os.utime(cwd / path, (1_000_000 + number, 1_000_000 + number))


async def glob(context: ToolContext, pattern: str, **args: Any) -> str:
    return (await Glob().run({"pattern": pattern, **args}, context)).text


async def refusal(context: ToolContext, pattern: str, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await Glob().run({"pattern": pattern, **args}, context)
    return str(caught.value)


async def test_the_file_that_was_changed_last_comes_first(cwd: Path, context: ToolContext):
    make(cwd, "old.py", "src/middle.py", "new.py", "other.txt")

    assert await Glob().run({"pattern": "*.py"}, context) == ToolOutput("new.py\nsrc/middle.py\nold.py")


async def test_files_of_one_time_are_sorted_by_path(cwd: Path, context: ToolContext):
    for name in "bca":
        (cwd / name).touch()
        os.utime(cwd / name, (1, 1))

    assert await glob(context, "*") == "a\nb\nc"


TREE = ("a.py", "src/b.py", "src/deep/c.py", "src/deep/d.ts", "src/deep/e.tsx", "docs/[x].md", "docs/é.md")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.py", "a.py src/b.py src/deep/c.py"),
        ("./*.py", "a.py"),
        ("src/*.py", "src/b.py"),
        ("src/**/*.py", "src/b.py src/deep/c.py"),
        ("**/*.{ts,tsx}", "src/deep/d.ts src/deep/e.tsx"),
        ("{src,docs}/*", "docs/[x].md docs/é.md src/b.py"),
        ("src/", "src/b.py src/deep/c.py src/deep/d.ts src/deep/e.tsx"),
        ("src/deep/../b.py", "src/b.py"),
        ("**/deep/[cd].*", "src/deep/c.py src/deep/d.ts"),
        ("\\[x].md", "docs/[x].md"),
        ("?.md", "docs/é.md"),
        ("a.py", "a.py"),
        ("b.py", "src/b.py"),
        ("*/b.py", "src/b.py"),
        ("nowhere/*", ""),
        ("a.py/*", ""),
        ("*.PY", ""),
        ("--files", ""),
        ("-e", ""),
        ("!*", ""),
    ],
)
async def test_a_pattern_finds(cwd: Path, context: ToolContext, pattern: str, found: str):
    make(cwd, *TREE)

    text = await glob(context, pattern)

    assert " ".join(sorted(text.splitlines(), key=str.encode)) == (found or "no files match")


async def test_a_folder_can_be_searched(cwd: Path, context: ToolContext):
    make(cwd, *TREE)
    (cwd / "alias").symlink_to("src")

    assert await glob(context, "*.py", path="src") == "src/deep/c.py\nsrc/b.py"
    assert await glob(context, "./*.py", path="alias") == "src/b.py"
    assert await glob(context, "alias/*.py") == "src/b.py"
    assert await refusal(context, "*", path="nowhere") == f"open {cwd}/nowhere: no such file or directory"
    assert await refusal(context, "*", path="a.py") == (
        "a.py is not a folder (hint: put file names into the pattern)"
    )


async def test_hidden_files_are_found_and_ignored_ones_are_not(cwd: Path, context: ToolContext):
    make(
        cwd,
        ".git/config",
        "sub/.git/config",
        "node_modules/x.js",
        "debug.log",
        ".github/ci.yml",
        ".gitignore",
    )
    (cwd / ".gitignore").write_text("node_modules\n*.log\n")

    assert set((await glob(context, "**")).splitlines()) == {".gitignore", ".github/ci.yml"}
    assert await glob(context, "*.log") == "no files match"
    assert await glob(context, "node_modules/**") == "node_modules/x.js"
    assert await glob(context, ".git/*") == ".git/config"


async def test_a_long_list_is_cut_and_says_so(cwd: Path, context: ToolContext):
    make(cwd, "a", "b", "c")

    assert await glob(context, "*", limit=2) == (
        "c\nb\n[more than 2 files; use a narrower pattern to see the others]"
    )
    assert await glob(context, "*", limit=3) == "c\nb\na"
    assert (await glob(context, "*", limit=-1)).startswith("c\n[")


async def test_a_very_long_list_is_sorted_by_path(cwd: Path, context: ToolContext):
    make(cwd, "a", "b", "c")

    assert await Glob(max_dated=3).run({"pattern": "*"}, context) == ToolOutput("c\nb\na")
    assert await Glob(max_dated=2).run({"pattern": "*", "limit": 2}, context) == ToolOutput(
        "a\nb\n[more than 2 files; use a narrower pattern to see the others]\n"
        "[too many files match to sort by date: these are sorted by path]"
    )


async def test_only_regular_files_inside_are_found(cwd: Path, context: ToolContext, outside: Path):
    make(cwd, "f")
    os.mkfifo(cwd / "fifo")
    (cwd / "loop").symlink_to("loop")
    (cwd / "ring").symlink_to(".")
    (cwd / "lnk").symlink_to(outside)
    (cwd / "file").symlink_to(outside / "secret.txt")

    for pattern in ("**", "*", "**/secret*", "*/*"):
        assert await glob(context, pattern) in ("f", "no files match")
    for pattern in ("lnk/*", "lnk/../lnk/**"):
        assert await refusal(context, pattern) == (
            "lnk leads outside the working directory through a symbolic link"
        )
    for pattern in ("../*", f"{outside}/*", "/etc/*", "/*"):
        assert await refusal(context, pattern) == "absolute or parent paths are not allowed"


async def test_names_that_are_no_text_are_shown_as_escapes(cwd: Path, context: ToolContext):
    make(cwd, os.fsdecode(b"latin\xe9"), "two\nlines")

    assert await glob(context, "*") == "two\\nlines\nlatin\\xe9"


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("[", "syntax error in pattern"),
        ("src/[a", "syntax error in pattern"),
        ("{a,b}" * 7, "the braces of the pattern expand to more than 64 patterns"),
        ("a\0", "a pattern must have 1 to 4096 characters without NUL"),
        ("x" * 4097, "a pattern must have 1 to 4096 characters without NUL"),
        ("", "a pattern must have 1 to 4096 characters without NUL"),
    ],
)
async def test_a_bad_pattern_is_explained(context: ToolContext, pattern: str, message: str):
    assert await refusal(context, pattern) == message


async def test_a_race_of_links_never_shows_the_outside(
    cwd: Path, context: ToolContext, outside: Path, swapping: Swapping
):
    make(cwd, "sub/f")
    answers: set[str] = set()

    with swapping():
        for number in range(40):
            with suppress(ToolError):
                answers.update((await glob(context, ("**", "sub/*")[number % 2])).splitlines())

    assert answers <= {"sub/f", "lnk/f", "no files match"}


async def test_denied_names_are_left_out_whatever_is_asked(cwd: Path, context: ToolContext):
    make(cwd, "secrets/key", "asked", "f")
    ruled = replace(
        context, rules=(Rule("deny", "read_file", "secrets/**"), Rule("ask", "read_file", "asked"))
    )

    assert await glob(ruled, "**") == f"f\nasked\n{LEFT_OUT}"
    assert await glob(ruled, "**/key", limit=1) == f"no files match\n{LEFT_OUT}"
    assert await glob(ruled, "**/nothing") == f"no files match\n{LEFT_OUT}"
    assert await glob(ruled, "nowhere/*") == f"no files match\n{LEFT_OUT}"
    assert await glob(ruled, "*", limit=1) == (
        f"f\n[more than 1 files; use a narrower pattern to see the others]\n{LEFT_OUT}"
    )


async def test_the_outside_is_searched_where_a_rule_opens_it(cwd: Path, context: ToolContext, outside: Path):
    opened = replace(context, rules=(Rule("allow", "glob", f"{outside}/**"),))

    for args in (
        {"pattern": "*", "path": str(outside)},
        {"pattern": f"{outside}/*"},
        {"pattern": f"../{outside.name}/*.txt"},
    ):
        assert await Glob().run(args, opened) == ToolOutput(f"{outside}/secret.txt")
    assert await refusal(opened, f"{outside.parent}/*") == "absolute or parent paths are not allowed"


def test_access_names_the_folder(cwd: Path, context: ToolContext):
    (cwd / "data").mkdir()
    (cwd / "alias").symlink_to("data")

    assert [
        Glob().access({"pattern": pattern}, context) for pattern in ("*.py", "./data/**/x", "alias/*")
    ] == [
        Access("glob", "read", (Subject("path", "."),)),
        Access("glob", "read", (Subject("path", "data"),)),
        Access("glob", "read", (Subject("path", "alias"), Subject("path", "data"))),
    ]


async def test_a_cancelled_search_ends_ripgrep(context: ToolContext, tmp_path: Path):
    task = asyncio.create_task(Glob(fake_ripgrep(tmp_path, "")).run({"pattern": "x"}, context))
    pid = await told(tmp_path)

    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task

    assert await has_ended(pid)


async def test_a_search_that_takes_too_long_gives_what_it_has(
    cwd: Path, context: ToolContext, tmp_path: Path
):
    make(cwd, "f")
    program = fake_ripgrep(tmp_path, r"printf './f\0'")
    task = asyncio.create_task(Glob(program, deadline_s=0.5).run({"pattern": "*"}, context))
    await told(tmp_path)

    assert await task == ToolOutput(
        "f\n[the search was ended before all files were seen; search a smaller folder]"
    )


async def test_it_only_reads_and_is_described(context: ToolContext):
    assert Glob().parallel
    assert await Glob().preview({"pattern": "x"}, context) == ""
    assert 100 < len(Glob().spec.description) < 600
    assert Glob().spec.parameters["required"] == ["pattern"]
