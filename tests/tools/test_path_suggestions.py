"""Suggestions for mistyped names."""

import os
from pathlib import Path

from bridle.tools.path_suggestions import similar_paths
from bridle.tools.paths import resolve


def near(cwd: Path, path: str, *hidden: str) -> list[str]:
    return similar_paths(resolve(str(cwd), path), lambda found: found not in hidden)


def make(cwd: Path, *paths: str) -> None:
    for path in paths:
        (cwd / path).parent.mkdir(parents=True, exist_ok=True)
        (cwd / path).touch()


def test_a_name_is_compared_with_those_beside_it(cwd: Path):
    make(cwd, "src/parser.py", "src/parsers.py", "src/lexer.py", "README.md")

    assert near(cwd, "src/parsr.py") == ["src/parser.py", "src/parsers.py"]
    assert near(cwd, "readme.md") == ["README.md"]
    assert near(cwd, "src/unrelated") == []


def test_a_folder_may_be_misspelt(cwd: Path):
    make(cwd, "source/deep/parser.py")

    assert near(cwd, "sources/deep/parser.py") == ["source/deep/parser.py"]


def test_the_same_name_elsewhere_is_found(cwd: Path):
    make(cwd, "a/utils.py", "a/b/utils.py", ".git/utils.py", "node_modules/utils.py")
    (cwd / "ring").symlink_to(".")

    assert near(cwd, "utils.py") == ["a/utils.py", "a/b/utils.py"]
    assert near(cwd, "src/utils.py") == ["a/utils.py", "a/b/utils.py"]


def test_three_are_enough_and_only_files_count(cwd: Path):
    make(cwd, *(f"name{number}" for number in range(9)))
    (cwd / "name").mkdir()
    os.mkfifo(cwd / "namee")

    assert len(near(cwd, "namex")) == 3
    assert not {"name", "namee"} & set(near(cwd, "namex"))


def test_what_is_hidden_is_not_suggested(cwd: Path):
    make(cwd, "secret.txt", "sub/secrets.txt")

    assert near(cwd, "secrets.txt", "secret.txt", "sub/secrets.txt") == []


def test_links_are_not_followed(cwd: Path, outside: Path):
    (cwd / "lnk").symlink_to(outside)
    (cwd / "secret").symlink_to(outside / "secret.txt")

    assert near(cwd, "secret.txt") == []
