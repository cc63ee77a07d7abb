"""Listing as a tool: rules and paths outside; the walk's tests cover patterns."""

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.core.errors import ToolError
from bridle.core.permission import Rule
from bridle.core.ports import ToolContext, ToolOutput
from bridle.core.tool import Access, Subject
from bridle.tools.list_files import MAX_DEPTH, ListFiles, Listing, list_matching
from bridle.tools.paths import clean_path, resolve
from tests.tools.conftest import Swapping


def everything(path: str) -> bool:
    return True


def found(
    cwd: Path,
    pattern: str,
    max_files: int = 1000,
    visible: Callable[[str], bool] = everything,
    stop: threading.Event | None = None,
) -> Listing:
    return list_matching(
        clean_path(pattern),
        find=lambda path: resolve(str(cwd), path),
        visible=visible,
        max_files=max_files,
        stop=stop or threading.Event(),
    )


def make(cwd: Path, *paths: str) -> None:
    for path in paths:
        (cwd / path).parent.mkdir(parents=True, exist_ok=True)
        (cwd / path).touch()


def test_files_are_sorted_by_their_whole_path(cwd: Path):
    make(cwd, "a/b", "a.txt", "a-b", "a/.hid", "B", "é", "a/c/d", "a0")

    assert found(cwd, "**/*").files == ("B", "a-b", "a.txt", "a/.hid", "a/b", "a/c/d", "a0", "é")


def test_folders_are_not_listed(cwd: Path):
    make(cwd, "a/b")

    assert [found(cwd, pattern) for pattern in ("*", "a", "a/", ".")] == [Listing(())] * 4


def test_a_pattern_may_start_with_folders(cwd: Path):
    make(cwd, "a/b/x.py", "a/b/y", "a/x.py")

    assert found(cwd, "./a//b/../b/*.py") == Listing(("a/b/x.py",))
    assert found(cwd, "a/b/y") == Listing(("a/b/y",))
    assert found(cwd, "nowhere/**") == Listing(())
    assert found(cwd, "a/x.py/*") == Listing(())


def test_links_that_lead_outside_are_not_listed(cwd: Path, outside: Path):
    make(cwd, "f", "sub/g")
    (cwd / "lnk").symlink_to(outside)
    (cwd / "secret").symlink_to(outside / "secret.txt")
    (cwd / "sub" / "up").symlink_to("../..")
    (cwd / "dangling").symlink_to("nothing")
    (cwd / "ring").symlink_to("ring")

    for pattern in ("**/*", "**", "*/*", "*", "**/secret*", "*/*/*", "*/*/*/*"):
        assert set(found(cwd, pattern).files) <= {"f", "sub/g"}, pattern
    for pattern in ("lnk/*", "sub/up/*", "sub/up/outside/*"):
        with pytest.raises(ToolError, match="leads outside the working directory"):
            found(cwd, pattern)


def test_links_that_lead_inside_are_listed_and_crossed_by_name_only(cwd: Path):
    make(cwd, "data/f")
    (cwd / "alias").symlink_to("data")
    (cwd / "file").symlink_to("data/f")
    (cwd / "data" / "home").symlink_to("..")

    assert found(cwd, "**/*").files == ("data/f", "file")
    assert found(cwd, "alias/*").files == ("alias/f",)
    assert found(cwd, "*/*").files == ("alias/f", "data/f")
    assert found(cwd, "**/home/**").files == ("data/home/data/f", "data/home/file")


def test_a_race_of_links_never_lists_the_outside(cwd: Path, outside: Path, swapping: Swapping):
    make(cwd, "sub/f")
    answers = set()

    with swapping():
        for number in range(1000):
            with suppress(ToolError):
                answers.update(found(cwd, ("**/*", "*/*", "sub/*", "sub/**")[number % 4]).files)

    assert answers <= {"sub/f", "lnk/f"}
    assert "sub/f" in answers


def test_only_regular_files_are_listed(cwd: Path):
    make(cwd, "f")
    os.mkfifo(cwd / "fifo")

    assert found(cwd, "*") == Listing(("f",))


def test_git_is_only_listed_when_it_is_named(cwd: Path):
    make(cwd, ".git/config", ".git/refs/x", ".gitignore", "sub/.git/HEAD")

    assert found(cwd, "**/*").files == (".gitignore",)
    assert found(cwd, ".git/**").files == (".git/config", ".git/refs/x")
    assert found(cwd, "**/.git/*").files == (".git/config", "sub/.git/HEAD")


def test_a_long_list_is_cut_and_says_so(cwd: Path):
    make(cwd, *(f"{number:03}" for number in range(12)))

    assert found(cwd, "*", max_files=12).note == ""
    assert found(cwd, "*", max_files=3) == Listing(
        ("000", "001", "002"), "only the first 3 files are listed; use a narrower pattern to see the others"
    )


def test_a_search_that_is_stopped_gives_what_it_has(cwd: Path):
    make(cwd, "f")
    stop = threading.Event()
    stop.set()

    assert found(cwd, "*", stop=stop) == Listing(
        (), "the search took too long and was ended; use a narrower pattern"
    )


def test_names_that_are_no_text_are_shown_as_escapes(cwd: Path):
    (cwd / os.fsdecode(b"latin\xe9")).touch()
    (cwd / "two\nlines").touch()
    (cwd / os.fsdecode(b"link\xff")).symlink_to("two\nlines")

    assert found(cwd, "**/*").files == ("latin\\xe9", "link\\xff", "two\\nlines")


def test_very_deep_folders_are_left_out(cwd: Path):
    """Each level holds a descriptor."""
    folder = os.open(cwd, os.O_RDONLY)
    for _ in range(MAX_DEPTH + 5):
        os.mkdir("d", dir_fd=folder)
        below = os.open("d", os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
        os.close(os.open("f", os.O_CREAT, dir_fd=folder))
    os.close(folder)
    before = len(os.listdir("/proc/self/fd"))

    listing = found(cwd, "**/f")

    assert len(listing.files) == MAX_DEPTH
    assert listing.note == f"folders more than {MAX_DEPTH} levels deep were left out"
    assert len(os.listdir("/proc/self/fd")) == before


def test_what_is_not_visible_is_not_listed_by_any_of_its_names(cwd: Path):
    make(cwd, "secrets/key", "open/f")
    (cwd / "alias").symlink_to("secrets")
    (cwd / "open" / "key").symlink_to("../secrets/key")
    (cwd / "open" / "g").symlink_to("f")

    def not_secret(path: str) -> bool:
        return not path.startswith("secrets/") and path != "open/g"

    assert found(cwd, "**/*", visible=not_secret).files == ("open/f",)
    assert found(cwd, "*/*", visible=not_secret).files == ("open/f",)
    assert found(cwd, "alias/**", visible=not_secret).files == ()
    assert found(cwd, "secrets/*", visible=not_secret).files == ()


LEFT_OUT = "[files protected by a rule are left out]"


async def test_denied_files_vanish(cwd: Path, context: ToolContext):
    (cwd / "secrets").mkdir()
    for name in ("secrets/key", "asked", "f"):
        (cwd / name).touch()
    (cwd / "link").symlink_to("secrets/key")
    (cwd / "alias").symlink_to("secrets")
    ruled = replace(
        context, rules=(Rule("deny", "read_file", "secrets/**"), Rule("ask", "read_file", "asked"))
    )

    assert await ListFiles().run({"pattern": "**"}, ruled) == ToolOutput(f"asked\nf\n{LEFT_OUT}")
    for pattern in ("secrets/*", "alias/*", "**/key", "*/*"):
        assert await ListFiles().run({"pattern": pattern}, ruled) == ToolOutput(LEFT_OUT)
    assert await ListFiles(max_files=1).run({"pattern": "*"}, ruled) == ToolOutput(
        f"asked\n[only the first 1 files are listed; use a narrower pattern to see the others]\n{LEFT_OUT}"
    )


async def test_the_outside_is_listed_where_a_rule_opens_it(cwd: Path, context: ToolContext, outside: Path):
    (cwd / "lnk").symlink_to(outside)
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/**"),))
    pattern = {"pattern": f"/{outside}/../{outside.name}/*.txt"}

    assert await ListFiles().run(pattern, opened) == ToolOutput(f"{outside}/secret.txt")
    assert await ListFiles().run({"pattern": "lnk/*"}, opened) == ToolOutput("lnk/secret.txt")
    assert ListFiles().access(pattern, opened) == Access(
        "list_files", "read", (Subject("path", f"{outside}/*.txt"),)
    )
    assert ListFiles().access({"pattern": "lnk/*"}, opened) == Access(
        "list_files", "read", (Subject("path", "lnk/*"), Subject("path", f"{outside}/*"))
    )


@pytest.mark.parametrize("pattern", ["{above}/*", "/*", "/etc/*", "../*"])
async def test_what_no_rule_opens_stays_closed(context: ToolContext, outside: Path, pattern: str):
    opened = replace(context, rules=(Rule("allow", "read_file", f"{outside}/**"),))

    args = {"pattern": pattern.format(above=outside.parent)}

    with pytest.raises(ToolError, match="absolute or parent paths are not allowed"):
        ListFiles().access(args, opened)
    with pytest.raises(ToolError, match="absolute or parent paths are not allowed"):
        await ListFiles().run(args, opened)
