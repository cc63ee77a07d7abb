"""What paths resolve to."""

import os
import subprocess
from pathlib import Path

import pytest

from bridle.core.errors import ToolError
from bridle.tools.commands import path_resolver
from bridle.tools.commands.path_resolver import PathResolver


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    for name in ("a/b/c.txt", "a/.hidden", "a/d.txt", "e.txt"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / "inner").symlink_to("a/b")
    (root / "outer").symlink_to(tmp_path)
    return root


@pytest.mark.parametrize(
    ("path", "cwd", "expected"),
    [
        ("e.txt", "", ["e.txt"]),
        ("./a/..//e.txt", "", ["e.txt"]),
        ("c.txt", "a/b", ["a/b/c.txt"]),
        ("../d.txt", "a/b", ["a/d.txt"]),
        (".", "", ["."]),
        ("..", "a", ["."]),
        ("inner/c.txt", "", ["inner/c.txt", "a/b/c.txt"]),
        ("inner/../d.txt", "", ["d.txt", "a/d.txt"]),
        ("outer/x", "", ["outer/x", "TMP/x"]),
        ("../x", "", ["TMP/x"]),
        ("/etc/hosts", "", ["/etc/hosts"]),
        ("//etc//hosts", "", ["/etc/hosts"]),
        ("/proc/self/cwd/e.txt", "", ["e.txt"]),
        ("/proc/12/task/3/cwd/../e.txt", "a", ["e.txt"]),
        ("/proc/self/root/proc/self/cwd/e.txt", "", ["e.txt"]),
        ("../../../../../../../../../proc/self/cwd/e.txt", "", ["e.txt"]),
        ("new/file", "", ["new/file"]),
        ("x" * 5000, "", []),
        ("a\0b", "", []),
    ],
)
def test_a_path_is_named_for_the_rules(root: Path, path: str, cwd: str, expected: list[str]):
    names = PathResolver(str(root)).names(path, str(root / cwd))

    assert [name.replace(str(root.parent), "TMP") for name in names] == expected


def test_a_root_behind_a_link_is_still_the_root(root: Path, tmp_path: Path):
    link = tmp_path / "link"
    link.symlink_to(root)

    assert PathResolver(str(link)).names("a/d.txt", str(link)) == ["a/d.txt"]


def test_a_name_that_is_no_text_can_be_stored(root: Path):
    (root / os.fsdecode(b"x\xff")).touch()
    here = PathResolver(str(root))

    (match,) = here.matches("x*", str(root))
    assert here.names(match, str(root)) == ["x\\xff"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a/b", True),
        (".", True),
        ("/usr/include", True),
        ("/dev/null", True),
        ("/usrlocal", False),
        ("/etc/x", False),
    ],
)
def test_what_may_be_read_without_a_question(name: str, expected: bool):
    assert PathResolver("/work").is_open(name) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*", ["a", "e.txt", "inner", "outer"]),
        ("*.txt", ["e.txt"]),
        ("a/*", ["a/b", "a/d.txt"]),
        ("a/.*", ["a/.hidden"]),
        ("*/c.txt", ["inner/c.txt"]),
        ("a/*/c.txt", ["a/b/c.txt"]),
        ("a/**", ["a/b", "a/d.txt"]),
        ("[ae]*", ["a", "e.txt"]),
        ("[!a]*", ["e.txt", "inner", "outer"]),
        ("?.txt", ["e.txt"]),
        ("\\*", []),
        ("nothing*", []),
    ],
)
def test_a_pattern_matches_what_bash_would_match(root: Path, pattern: str, expected: list[str]):
    assert sorted(PathResolver(str(root)).matches(pattern, str(root))) == expected


@pytest.mark.parametrize("pattern", ["[[:alpha:]]", "[", "a[", "x" * 5000 + "*"])
def test_an_odd_pattern_is_an_error(root: Path, pattern: str):
    with pytest.raises(ToolError):
        PathResolver(str(root)).matches(pattern, str(root))


def test_patterns_look_at_so_many_names_and_no_more(root: Path):
    here = PathResolver(str(root))

    names = len(list(root.iterdir())) + 1
    for _ in range(path_resolver.MAX_ENTRIES // names):
        here.matches("nothing*", str(root))

    with pytest.raises(ToolError, match="too many files"):
        here.matches("nothing*", str(root))


def test_a_folder_is_one_that_exists(root: Path):
    here = PathResolver(str(root))

    assert [here.folder(path, str(root)) for path in ("a", "a/../a/b", "e.txt", "new", "x" * 5000)] == [
        str(root / "a"),
        str(root / "a/b"),
        None,
        None,
        None,
    ]


def test_git_in_another_place_than_the_roots_repository_is_noticed(root: Path):
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "a/b/.git").mkdir()
    (root / "way").symlink_to(root / "a")
    here = PathResolver(str(root))

    assert [here.find_git_risk(str(root / cwd)) for cwd in ("", "a", "a/b", "../x", "way")] == [
        "",
        "",
        "a/b belongs to a separate repository",
        "it runs outside the working directory",
        "it runs outside the working directory",
    ]


def test_a_root_that_looks_like_a_bare_repository_is_noticed(root: Path):
    here = PathResolver(str(root))
    before = here.find_git_risk(str(root))
    (root / "HEAD").touch()
    (root / "objects").mkdir()

    assert (before, here.find_git_risk(str(root))) == ("", f"{root} is a bare repository")
