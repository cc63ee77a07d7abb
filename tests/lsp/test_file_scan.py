"""Quick scans of a project: its files, changed files, places of a word."""

import os
from pathlib import Path

import pytest

from bridle.lsp import word_search
from bridle.lsp.word_search import MAX_DEPTH, MAX_HITS, ChangeDetector, find_extensions, find_word, walk


def put(project: Path, *names: str, text: str = "") -> None:
    for name in names:
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text)


def test_a_survey_sees_what_is_near_and_not_built(project: Path):
    near, far = "/".join("abcd"[:MAX_DEPTH]), "/".join("abcdef"[: MAX_DEPTH + 1])
    put(
        project,
        "a.py",
        "b.py",
        f"{near}/c.ts",
        f"{far}/d.go",
        "node_modules/e.js",
        ".venv/f.rb",
        ".git/g.lua",
        "Makefile",
    )
    (project / "loop").symlink_to(project)
    (project / "link.rs").symlink_to(project / "a.py")

    assert find_extensions(str(project)) == {
        ".py": str(project / "a.py"),
        ".ts": str(project / near / "c.ts"),
        "": str(project / "Makefile"),
    }


def test_a_survey_of_something_huge_ends(project: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(word_search, "MAX_SURVEYED", 20)
    put(project, *(f"{number:05}.txt" for number in range(20)), "z.py")

    assert list(find_extensions(str(project))) == [".txt"]
    assert len(list(walk(str(project), most=7, depth=1))) == 7


def test_a_survey_of_nothing_is_empty(project: Path):
    assert find_extensions(str(project / "none")) == {}


def test_a_tree_notices_what_has_changed(project: Path):
    put(project, "a.py", "b.py", "c.txt", "toy.config", "deep/d.py")
    tree = ChangeDetector(str(project))

    def look() -> dict[str, str]:
        found = tree.changes({".py"}, {"toy.config"})
        return {os.path.relpath(path, project): kind for path, kind in found.items()}

    first = look()
    put(project, "a.py", "c.txt", "toy.config", text="new")
    put(project, "deep/new.py", "new.txt")
    (project / "b.py").unlink()

    assert first == {}
    assert look() == {"a.py": "changed", "toy.config": "changed", "deep/new.py": "created", "b.py": "deleted"}
    assert look() == {}


def test_a_tree_that_takes_too_long_says_nothing_wrong(project: Path, monkeypatch: pytest.MonkeyPatch):
    put(project, "a.py")
    tree = ChangeDetector(str(project))
    tree.changes({".py"}, set())
    put(project, "b.py")
    monkeypatch.setattr(word_search, "_SCAN_S", -1.0)

    assert tree.changes({".py"}, set()) == {}
    monkeypatch.undo()
    assert tree.changes({".py"}, set()) == {str(project / "b.py"): "created"}


SEARCHES = pytest.mark.parametrize(
    "path", [os.environ.get("PATH", os.defpath), "/nonexistent"], ids=["rg", "walk"]
)


@SEARCHES
async def test_a_word_is_found_where_it_stands_alone(project: Path, path: str):
    put(project, "a.py", text="word\nwords\na.word(b)\n")
    put(project, "deep/b.py", text="x = word$ + my_word + wörd\r\n# word-end\r\n")
    put(project, "c.txt", "node_modules/d.py", text="word\n")
    (project / "e.py").write_bytes(b"\xffword")

    found = await find_word("word", str(project), {".py"}, path)

    named = [(os.path.relpath(name, project), line) for name, line in found if not name.endswith("e.py")]
    assert [one for one in named if one != ("deep/b.py", 1)] == [("a.py", 1), ("a.py", 3), ("deep/b.py", 2)]


@SEARCHES
async def test_a_word_is_no_pattern(project: Path, path: str):
    put(project, "a.py", text="axb\n-e\n")

    assert await find_word("a.b", str(project), {".py"}, path) == []
    assert await find_word("-e", str(project), {".py"}, path) in ([], [(str(project / "a.py"), 2)])


@SEARCHES
async def test_hits_are_bounded(project: Path, path: str):
    for number in range(30):
        put(project, f"{number}.py", text="word\n" * 50)

    assert len(await find_word("word", str(project), {".py"}, path)) == MAX_HITS


async def test_ripgrep_of_the_project_is_not_run(project: Path):
    put(project, "a.py", text="word\n")
    put(project, "rg", text="#!/bin/sh\ntouch ran\n")
    (project / "rg").chmod(0o755)

    assert await find_word("word", str(project), {".py"}, str(project)) == [(str(project / "a.py"), 1)]
    assert not (project / "ran").exists()
