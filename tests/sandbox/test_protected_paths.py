"""Paths on disk that the rules hide, checked against the rules themselves."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.errors import ToolError
from bridle.core.permission import Rule, rule_matches
from bridle.core.tool import Subject
from bridle.sandbox.protected_paths import (
    ProtectedPaths,
    SearchLimits,
    build_path_check,
    find_protected_paths,
)


def hide(*patterns: str) -> list[Rule]:
    return [Rule("deny", "read_file", pattern) for pattern in patterns]


def make(root: Path, *names: str) -> None:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


def find(root: Path, rules: list[Rule], home: str = "/nonexistent") -> ProtectedPaths:
    return find_protected_paths(rules, [str(root)], str(root), home=home)


def test_a_folder_is_hidden_as_a_whole_even_when_it_is_empty(root: Path):
    (root / "secrets").mkdir()

    assert find(root, hide("secrets/**")) == ProtectedPaths(hidden_folders=(f"{root}/secrets",))


def test_what_does_not_exist_is_not_hidden(root: Path):
    assert find(root, hide("secrets/**", "**/.env", "a/b/c")) == ProtectedPaths()


def test_files_are_found_at_every_depth_and_the_way_to_them_is_pinned(root: Path):
    make(root, ".env", "a/b/.env", "a/b/other", ".hidden/.env")

    assert find(root, hide("**/.env")) == ProtectedPaths(
        hidden_files=tuple(f"{root}/{name}" for name in (".env", ".hidden/.env", "a/b/.env")),
        pinned=tuple(f"{root}/{name}" for name in (".hidden", "a", "a/b")),
    )


def test_a_link_counts_for_what_it_leads_to(root: Path):
    make(root, "real/key")
    (root / "key.pem").symlink_to("real/key")

    assert find(root, hide("*.pem")) == ProtectedPaths(
        hidden_files=(f"{root}/real/key",), pinned=(f"{root}/real",)
    )


def test_other_names_of_a_hidden_file_are_hidden_as_well(root: Path):
    make(root, "a/key")
    (root / "b").mkdir()
    os.link(root / "a/key", root / "b/copy")

    assert find(root, hide("a/key")).hidden_files == (f"{root}/a/key", f"{root}/b/copy")


def test_other_names_of_files_in_a_hidden_folder_are_hidden_as_well(root: Path):
    make(root, "a/deep/key")
    (root / "b").mkdir()
    os.link(root / "a/deep/key", root / "b/copy")

    found = find(root, hide("a/**"))

    assert (found.hidden_folders, found.hidden_files) == ((f"{root}/a",), (f"{root}/b/copy",))


def test_absolute_patterns_and_those_of_the_home_hold_outside_of_the_root(root: Path, tmp_path: Path):
    make(tmp_path, "elsewhere/x.key", "home/notes/private")

    found = find(root, hide(f"{tmp_path}/elsewhere/*.key", "~/notes/**"), home=str(tmp_path / "home"))

    assert found == ProtectedPaths(
        hidden_files=(f"{tmp_path}/elsewhere/x.key",), hidden_folders=(f"{tmp_path}/home/notes",)
    )


def test_secrets_of_the_home_are_hidden_without_any_rule(root: Path, tmp_path: Path):
    make(tmp_path, "home/.ssh/id", "home/.config/gh/hosts.yml", "home/.netrc", "home/.profile")

    assert find(root, [], home=str(tmp_path / "home")) == ProtectedPaths(
        hidden_files=(f"{tmp_path}/home/.netrc",),
        hidden_folders=(f"{tmp_path}/home/.config/gh", f"{tmp_path}/home/.ssh"),
    )


def test_hooks_config_and_project_config_are_fixed(root: Path):
    make(root, ".git/config", ".git/hooks/pre-commit", ".bridle/config.toml", ".mcp.json", "src/a")

    rules = [Rule("deny", "edit_file", "src/**")]

    assert find(root, rules) == ProtectedPaths(
        fixed=tuple(
            f"{root}/{name}" for name in (".bridle", ".git/config", ".git/hooks", ".mcp.json", "src")
        ),
        pinned=(f"{root}/.git",),
    )


def test_repositories_of_submodules_and_worktrees_are_fixed(root: Path):
    inner = (".git/modules/a/b", ".git/modules/a/b/modules/c", ".git/worktrees/w")
    files = [f"{folder}/{name}" for folder in inner for name in ("HEAD", "commondir", "config")]
    make(root, ".git/hooks/x.sample", *files)

    fixed = [f"{root}/{name}" for name in (".git/hooks", *files) if not name.endswith("HEAD")]
    assert sorted(find(root, []).fixed) == sorted(fixed)


def test_a_repository_without_hooks_gets_an_empty_folder_that_is_fixed(root: Path):
    (root / ".git").mkdir()

    assert find(root, []) == ProtectedPaths(fixed=(f"{root}/.git/hooks",), pinned=(f"{root}/.git",))
    assert list((root / ".git/hooks").iterdir()) == []


def test_the_file_of_a_worktree_is_fixed(root: Path):
    make(root, ".git")

    assert find(root, []).fixed == (f"{root}/.git",)


def test_a_rule_that_hides_the_working_directory_is_refused(root: Path):
    with pytest.raises(ToolError, match="would run in it"):
        find(root, hide(str(root)))


def test_too_many_files_are_refused_rather_than_left_readable(root: Path):
    make(root, *(f"f{number}" for number in range(20)))

    with pytest.raises(ToolError, match="more than 10 files"):
        find_protected_paths(
            hide("**/.env"), [str(root)], str(root), home="/nonexistent", bounds=SearchLimits(entries=10)
        )


def test_too_many_matches_are_refused(root: Path):
    make(root, *(f"f{number}.key" for number in range(20)))

    with pytest.raises(ToolError, match="more than 10 paths"):
        find_protected_paths(
            hide("*.key"), [str(root)], str(root), home="/nonexistent", bounds=SearchLimits(paths=10)
        )


step = st.sampled_from(["a", "b", ".env", "*", "**", "a*", "?"])
pattern = st.lists(step, min_size=1, max_size=4).map("/".join)
TREE = ["a/a", "a/b/.env", "b/.env", "b/a/b/a", ".env", "ab/b", "a/ab/.env/b"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    make(root, *TREE)
    return root


@given(patterns=st.lists(pattern, min_size=1, max_size=3))
def test_a_path_is_hidden_exactly_when_a_rule_speaks_of_it(tree: Path, patterns: list[str]):
    rules = hide(*patterns)
    found = find_protected_paths(rules, [str(tree)], str(tree), home="/nonexistent")
    hidden = (*found.hidden_files, *found.hidden_folders)

    for path in tree.rglob("*"):
        name = str(path.relative_to(tree))
        said = any(rule_matches(rule, "read_file", Subject("path", name, "read")) for rule in rules)
        covered = any(str(path) == place or str(path).startswith(place + "/") for place in hidden)
        assert (name, covered) == (name, said)


RULES = [
    Rule("deny", "read_file", "secrets/**"),
    Rule("deny", "edit_file", "*.lock"),
    Rule("deny", "edit_file", "~/notes/**"),
    Rule("deny", "bash", "rm:*"),
    Rule("allow", "edit_file", "src/**"),
    Rule("deny", "bash", "domain:example.com"),
]


@pytest.mark.parametrize(
    ("path", "refused"),
    [
        ("/p/a.txt", False),
        ("/p/secrets", True),
        ("/p/secrets/new", True),
        ("/p/yarn.lock", True),
        ("/p/sub/yarn.lock", False),
        ("/home/u/notes/a", True),
        ("/p/.bridle", True),
        ("/p/.bridle/config.toml", True),
        ("/p/.bridlex", False),
        ("/p/.mcp.json", True),
        ("/p/sub/.mcp.json", False),
        ("/p/.git/hooks/pre-commit", True),
        ("/p/new/.git/hooks/pre-commit", True),
        ("/p/new/.git/hooks/pre-commit.sample", False),
        ("/p/.git/index", False),
        ("/p/.git/refs/heads/hooks/x", False),
        ("/p/.git/modules/a/b/hooks/post-checkout", True),
        ("/p/.git/commondir", True),
        ("/p/.git/commondirs", False),
        ("/p/.git/worktrees/new/commondir", False),
        ("/p/.git/modules/a/commondir", True),
        ("/p/.git/config.worktree", True),
        ("/q/secrets/x", True),
        ("/p/fixed/x", True),
        ("/p/way", True),
        ("/p/way/beside", False),
    ],
)
def test_rules_own_files_and_hooks_are_refused(path: str, refused: bool):
    unwalled = ProtectedPaths(fixed=("/p/fixed",), pinned=("/p/way",))

    assert build_path_check(RULES, ["/p", "/q"], "/p", "/home/u", unwalled)(path) is refused
