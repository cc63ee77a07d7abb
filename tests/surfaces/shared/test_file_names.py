"""Completing files by a part of their path."""

import os
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.surfaces.shared.file_names import KEPT_S, MAX_LIMIT, FileFinder, FoundFiles, rank_paths

PATHS = (
    "src/rest/guard.py",
    "src/rest/",
    "src/",
    "docs/guard.md",
    "docs/",
    "tests/test_guard.py",
    "tests/",
    "a b.txt",
)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path in ("src/app.py", "src/web/page.py", ".hidden/note.md", "dist/out.js", "node/x.js"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    (tmp_path / ".gitignore").write_text("dist/\nnode\n")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").touch()
    return tmp_path


async def test_files_and_folders_are_found_but_not_what_git_ignores(project: Path):
    found = await FileFinder().find(str(project))

    assert set(found.paths) == {
        *(".gitignore", ".hidden/", ".hidden/note.md", "src/", "src/app.py", "src/web/", "src/web/page.py"),
    }
    assert not found.more


async def test_names_that_no_terminal_shows_are_left_out(tmp_path: Path):
    for name in (b"plain.txt", b"\xff.txt", b"new\nline", b"esc\x1b[31m", "bidi\u202egnp.exe".encode()):
        (tmp_path / os.fsdecode(name)).touch()

    assert await FileFinder().find(str(tmp_path)) == FoundFiles(("plain.txt",))


async def test_links_are_not_followed(project: Path, tmp_path_factory: pytest.TempPathFactory):
    outside = tmp_path_factory.mktemp("outside")
    (outside / "secret.txt").touch()
    (project / "link").symlink_to(outside)
    (project / "loop").symlink_to(project)

    assert not [path for path in (await FileFinder().find(str(project), "", 200)).paths if "secret" in path]
    assert (await FileFinder().find(str(project), "../outside")).paths == ()


async def test_only_so_many_are_returned(project: Path):
    names = FileFinder()

    some = await names.find(str(project), "", 2)
    assert (len(some.paths), some.more) == (2, True)
    assert len((await names.find(str(project), "", -5)).paths) == 1
    assert len((await names.find(str(project), "", 10 * MAX_LIMIT)).paths) == 7


async def test_a_folder_is_looked_at_again_after_a_while(project: Path):
    now = 0.0
    names = FileFinder(lambda: now)
    await names.find(str(project))
    (project / "fresh.py").touch()

    assert (await names.find(str(project), "fresh")).paths == ()
    now += KEPT_S + 1
    assert (await names.find(str(project), "fresh")).paths == ("fresh.py",)


async def test_a_folder_that_is_gone_is_said(tmp_path: Path):
    with pytest.raises(ToolError):
        await FileFinder().find(str(tmp_path / "gone"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("guard", ["docs/guard.md", "src/rest/guard.py", "tests/test_guard.py"]),
        ("GUARD", ["docs/guard.md", "src/rest/guard.py", "tests/test_guard.py"]),
        ("test", ["tests/", "tests/test_guard.py"]),
        ("src/", ["src/", "src/rest/", "src/rest/guard.py"]),
        ("srgd", ["src/rest/guard.py"]),
        ("ab", ["a b.txt"]),
        ("a b", ["a b.txt"]),
        ("zzz", []),
        ("[", []),
        ("^", []),
        ("\\", []),
        ("", ["src/", "docs/", "tests/"]),
    ],
)
def test_the_best_come_first(text: str, expected: list[str]):
    assert rank_paths(PATHS, text, 3) == expected


@given(st.text(max_size=20), st.lists(st.text(alphabet="ab/^]-\\. ", max_size=12), max_size=20))
def test_what_is_found_has_the_letters_in_their_order(text: str, paths: list[str]):
    wanted = "".join(text.lower().split())

    def fits(path: str) -> bool:
        letters = iter(path.lower())
        return all(one in letters for one in wanted)

    assert sorted(rank_paths(paths, text, 100)) == sorted(filter(fits, paths))


def test_names_that_are_made_to_be_slow_are_not():
    paths = ["a" * 250 + f"/{n}" for n in range(2_000)]

    began = time.process_time()
    assert rank_paths(paths, "a" * 150 + "b", 20) == []
    assert time.process_time() - began < 5


async def test_a_search_leaves_no_process_behind(project: Path):
    await FileFinder().find(str(project))

    children = subprocess.run(
        ["ps", "--ppid", str(os.getpid()), "-o", "comm="], capture_output=True, text=True, check=False
    )
    assert "rg" not in children.stdout.split()
