"""Places where git and other programs find code to run, for every repository that matters."""

from pathlib import Path

import pytest

from bridle.sandbox.trap_scanner import find_hook_paths

HOME = "/nonexistent"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


def make(folder: Path, config: str = "") -> Path:
    for name in ("objects", "refs"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(config)
    return folder


def found(root: Path, *repositories: Path, home: str = HOME) -> list[str]:
    places = find_hook_paths(str(root), map(str, repositories), home)
    names = {str(Path(place).relative_to(root)) for place in places}
    return sorted(name for name in names if ".git/" not in name)


def test_the_own_repository_and_those_around_count(root: Path):
    make(root.parent / ".git", "[core]\n\thooksPath = root/above\n")
    make(root / ".git", "[core]\n\thooksPath = own\n[include]\n\tpath = ../more\n")

    assert found(root) == ["above", "more", "own"]


def test_a_worktree_reads_the_config_that_it_shares(root: Path, tmp_path: Path):
    make(tmp_path / "main/.git", "[core]\n\thooksPath = hk\n")
    inner = tmp_path / "main/.git/worktrees/w"
    inner.mkdir(parents=True)
    (inner / "commondir").write_text("../..\n")
    (root / ".git").write_text(f"gitdir: {inner}\n")

    assert found(root) == ["hk"]


def test_hooks_of_a_bare_repository_are_looked_for_in_itself(root: Path):
    assert found(root, make(root / "b", "[core]\n\thooksPath = hk\n")) == ["b/hk"]


def test_what_is_included_may_include_more(root: Path):
    make(root / ".git", "[include]\n\tpath = ../one\n")
    (root / "one").write_text("[include]\n\tpath = two\n")
    (root / "two").write_text("[include]\n\tpath = one\n[core]\n\thooksPath = hk\n")

    assert found(root) == ["hk", "one", "two"]


def test_a_link_counts_with_what_it_leads_to(root: Path):
    (root / "real").mkdir()
    (root / "hk").symlink_to("real")
    make(root / ".git", "[core]\n\thooksPath = hk\n")

    assert found(root) == ["hk", "real"]


def test_of_the_root_itself_only_hooks_count(root: Path):
    make(root / ".git", "[core]\n\thooksPath = .\n")

    assert "pre-commit" in found(root)
    assert "" not in found(root)


def test_the_config_of_the_user_holds_for_every_repository(root: Path, tmp_path: Path):
    (tmp_path / ".gitconfig").write_text("[core]\n\thooksPath = hk\n")
    make(root / ".git")

    assert found(root, make(root / "n/.git"), home=str(tmp_path)) == ["hk", "n/hk"]


def test_start_files_count_where_the_home_is(root: Path):
    assert ".bashrc" in found(root, home=str(root))
    assert "u/.config/git" in found(root, home=str(root / "u"))
    assert found(root) == []
