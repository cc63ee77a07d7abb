"""The repository that git would find, and settings in it that make a reading command need approval."""

import os
import subprocess
from pathlib import Path

import pytest

from bridle.tools.commands.git_repository import Repository, find_git_risk, find_repository


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=me", "-c", "user.email=me@example.com", "-c", "protocol.file.allow=always")
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}
    subprocess.run(["git", *who, *words], cwd=folder, env=environ, check=True, capture_output=True)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = tmp_path / "top"
    (path / "src/deep").mkdir(parents=True)
    git(path, "init", "-q")
    git(path, "commit", "-q", "--allow-empty", "-m", "first")
    return path


def surprise(folder: Path) -> str:
    found = find_repository(str(folder))
    assert found is not None
    return find_git_risk(found)


def test_it_is_found_from_every_folder_below(top: Path):
    expected = Repository(str(top), f"{top}/.git", f"{top}/.git")

    assert [find_repository(str(top / name)) for name in ("", "src", "src/deep")] == [expected] * 3
    assert find_git_risk(expected) == ""


def test_clones_worktrees_and_submodules_are_plain(top: Path, tmp_path: Path):
    git(tmp_path, "clone", "-q", str(top), "clone")
    git(top, "worktree", "add", "-q", str(tmp_path / "tree"))
    git(top, "submodule", "add", "-q", str(tmp_path / "clone"), "part")

    assert [surprise(folder) for folder in (tmp_path / "clone", tmp_path / "tree", top / "part", top)] == [
        ""
    ] * 4


@pytest.mark.parametrize(
    ("settings", "key"),
    [
        ("[core]\n\tfsmonitor = ./evil", "core.fsmonitor"),
        ("[CORE]\n\tFsMonitor", "core.fsmonitor"),
        ("[core] fsmonitor = ./evil", "?"),
        ("[core]fsmonitor=./evil # x", "?"),
        ("[core]\n\tbare = true", "core.bare"),
        ("[core]\n\tbare", "core.bare"),
        ("[core]\n\tworktree = /", "core.worktree"),
        ('[diff "x"]\n\ttextconv = ./evil', "diff.x.textconv"),
        ('[diff "x"]\n\trenames = ./evil', "diff.x.renames"),
        ("[diff]\n\texternal = ./evil", "diff.external"),
        ("[diff.x]\n\ttextconv = ./evil", "diff.x.textconv"),
        ('[filter "x"]\n\tclean = ./evil', "filter.x.clean"),
        ("[include]\n\tpath = ../x", "include.path"),
        ('[includeIf "gitdir:/"]\n\tpath = ../x', "includeif.gitdir:/.path"),
        ('[remote "o"]\n\tpromisor = true', "remote.o.promisor"),
        ('[remote "o"]\n\tuploadpack = ./evil', "remote.o.uploadpack"),
        ("[gpg]\n\tprogram = ./evil", "gpg.program"),
        ('[submodule "x"]\n\tignore = none', "submodule.x.ignore"),
        ("[pager]\n\tlog = ./evil", "pager.log"),
        ("[format]\n\tpretty = %G?", "format.pretty"),
        ("[core]\n\tabbrev = 7 \\\n", "?"),
        ("[core\n\tabbrev = 7", "?"),
        ("fsmonitor = ./evil", "?"),
        ("\ufeff[core]\n\tfsmonitor = ./evil", "core.fsmonitor"),
    ],
)
def test_a_key_that_is_not_listed_is_named(top: Path, settings: str, key: str):
    is_first = settings.startswith(("fsmonitor", "\ufeff"))
    plain = "" if is_first else "[user]\n\tname = me\n"
    (top / ".git/config").write_text(plain + settings + "\n")

    unclear = "its git config has a line that cannot be read"
    assert surprise(top) == (unclear if key == "?" else f"its git config sets {key}")


def test_a_config_that_cannot_be_read_is_a_surprise(top: Path):
    (top / ".git/config").write_text("# " + "x" * 300_000)

    assert surprise(top) == "its git config cannot be read"


def test_a_second_config_counts_too(top: Path):
    (top / ".git/config.worktree").write_text("[core]\n\tfsmonitor = ./evil\n")

    assert surprise(top) == "its git config sets core.fsmonitor"


def test_the_config_of_a_worktree_is_that_of_its_repository(top: Path, tmp_path: Path):
    git(top, "worktree", "add", "-q", str(tmp_path / "tree"))
    with (top / ".git/config").open("a") as file:
        file.write("[core]\n\tfsmonitor = ./evil\n")

    assert surprise(tmp_path / "tree") == "its git config sets core.fsmonitor"


@pytest.mark.parametrize("how", ["file", "relative file", "worktree of it", "commondir", "own config"])
def test_a_folder_cannot_name_the_repository_of_another(top: Path, tmp_path: Path, how: str):
    git(top, "worktree", "add", "-q", str(tmp_path / "tree"))
    evil = tmp_path / "evil"
    evil.mkdir()
    match how:
        case "file":
            (evil / ".git").write_text(f"gitdir: {top}/.git\n")
        case "relative file":
            (evil / ".git").write_text("gitdir: ../top/.git\n")
        case "worktree of it":
            (evil / ".git").write_text(f"gitdir: {top}/.git/worktrees/tree\n")
        case "commondir":
            git(evil, "init", "-q")
            (evil / ".git/commondir").write_text(f"{top}/.git\n")
        case _:
            git(tmp_path, "init", "-q", "--separate-git-dir", str(tmp_path / "apart"), "evil")
            (tmp_path / "apart/gitdir").write_text(f"{evil}/.git\n")
            (tmp_path / "apart/commondir").write_text(f"{top}/.git\n")

    assert surprise(evil) == "its .git points to a repository that does not list it"


def test_git_is_not_led_into_submodules(top: Path):
    (top / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\turl = ../x\n')
    plain = surprise(top)
    (top / ".gitmodules").write_text('[submodule "x"]\n\tpath = x\n\tignore = none\n')

    assert (plain, surprise(top)) == ("", "its .gitmodules makes git look into submodules")


@pytest.mark.parametrize("name", ["config", "objects", "HEAD", "refs"])
def test_a_part_that_is_a_link_is_named(top: Path, tmp_path: Path, name: str):
    (top / ".git" / name).rename(tmp_path / "away")
    (top / ".git" / name).symlink_to(tmp_path / "away")

    assert surprise(top) == f"{name} in its .git is a link"


def test_a_repository_that_is_a_link_borrowed_bare_or_broken(top: Path, tmp_path: Path):
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked/.git").symlink_to(top / ".git")
    git(tmp_path, "init", "-q", "--bare", "bare")
    (tmp_path / "empty/.git").mkdir(parents=True)
    git(tmp_path, "clone", "-q", "--shared", str(top), "borrowed")

    assert [surprise(tmp_path / name) for name in ("linked", "bare", "empty", "borrowed")] == [
        ".git is a link",
        f"{tmp_path}/bare is a bare repository",
        "its .git is incomplete, so git may use another one",
        "its .git uses objects from elsewhere",
    ]


def test_a_folder_without_one(tmp_path: Path):
    found = find_repository(str(tmp_path))

    assert found is None or not found.top.startswith(str(tmp_path))
