"""Git settings that are harmless, and parts of a repository that are not."""

from pathlib import Path

import pytest

from bridle.sandbox.git_repository import (
    harmful_link,
    harmful_parts,
    harmful_settings,
    is_layout,
    named_places,
    read_settings,
)

HARMLESS = [
    "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n",
    '[remote "origin"]\n\turl = https://example.com/x.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n',
    '[remote "origin"]\n\turl = git@example.com:x/y.git\n',
    '[branch "main"]\n\tremote = origin\n\tmerge = refs/heads/main\n',
    '[submodule "a/b"]\n\tactive = true\n\turl = ../b.git\n',
    "# a comment\n; another\n\n[user]\n\tname = A B\n\temail = a@b\n",
    "[CORE]\n\tBare = false\n",
    "[extensions]\n\tobjectformat = sha256\n\tpartialclone = origin\n",
    "[core]\r\n\tbare = false\r\n",
    "[core]\n\tworktree = ../work\n",
]
HARMFUL = [
    "[core]\n\tfsmonitor = x\n",
    "[core]\n\thooksPath = x\n",
    "[CoRe]\n\tFSMonitor = x\n",
    "[core] fsmonitor = x\n",
    "[core]\n\tbare = \\\n\tfsmonitor = x\n",
    "\ufeff[core]\n\tpager = x\n",
    "[core]\n\teditor\n",
    "[include]\n\tpath = x\n",
    '[includeIf "gitdir:/"]\n\tpath = x\n',
    "[alias]\n\tst = !x\n",
    '[filter "a"]\n\tclean = x\n',
    '[diff "a"]\n\ttextconv = x\n',
    "[diff]\n\texternal = x\n",
    "[credential]\n\thelper = x\n",
    "[gpg]\n\tprogram = x\n",
    '[url "x"]\n\tinsteadOf = y\n',
    "[protocol]\n\tallow = always\n",
    '[remote "o"]\n\turl = ext::sh -c x\n',
    '[remote "o"]\n\turl = "ext::sh -c x"\n',
    '[remote "o"]\n\turl = --upload-pack=x\n',
    '[remote "o"]\n\tuploadpack = x\n',
    '[remote "o"]\n\tvcs = x\n',
    '[submodule "a"]\n\tupdate = !x\n',
    '[branch "a"]\n\tremote = ext::x\n',
    "[core]\n\tworktree = ../..\n",
    "[core]\n\tworktree = /etc\n",
    "[core]\n\tsshCommand = x\n",
    "fsmonitor = x\n",
    "[core\n\tbare = x\n",
    '[core "x"]\n\tbare = true\n',
]


@pytest.mark.parametrize("text", HARMLESS)
def test_what_git_itself_writes_is_harmless(text: str):
    assert harmful_settings(text, "/p/sub/.git", ["/p"]) == []


@pytest.mark.parametrize("text", HARMFUL)
def test_whatever_is_not_known_to_be_harmless_is_not(text: str):
    assert len(harmful_settings(text, "/p/.git", ["/p"])) >= 1


def test_a_line_that_cannot_be_read_has_no_name():
    assert list(read_settings("[a]\nb = 1\n[c] d = 2\n")) == [("a.b", "1"), ("", "[c] d = 2")]


def test_places_that_a_config_names_are_found():
    text = '[core]\n\thooksPath = .husky/_\n[include]\n\tpath = more\n[includeIf "x"]\n\tpath = "~/own"\n'

    assert list(named_places(text, "/p/.git", "/p", "/home/u")) == [
        "/p/.husky/_",
        "/p/.git/more",
        "/home/u/own",
    ]


def make(folder: Path, **files: str) -> Path:
    for name in ("objects", "refs", "hooks"):
        (folder / name).mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text("[core]\n\tbare = false\n")
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def test_a_repository_as_git_makes_it_has_no_harmful_part(tmp_path: Path):
    git = make(tmp_path / ".git")
    (git / "hooks/pre-commit.sample").write_text("")
    make(git / "modules/a/b")
    make(git / "worktrees/w", commondir="../..\n")

    assert list(harmful_parts(str(git), [str(tmp_path)])) == []


@pytest.mark.parametrize(
    "part",
    [
        "config.worktree",
        "commondir",
        "hooks/pre-commit",
        "modules/a/hooks/x",
        "modules/a/config",
        "worktrees/w/commondir",
    ],
)
def test_each_harmful_part_is_named(tmp_path: Path, part: str):
    git = make(tmp_path / ".git")
    make(git / "modules/a")
    make(git / "worktrees/w")
    (git / part).write_text("[core]\n\tpager = x\n")

    assert [path for path, _ in harmful_parts(str(git), [str(tmp_path)])] == [f"{git}/{part}"]


def test_a_config_that_is_a_link_is_harmful(tmp_path: Path):
    git = make(tmp_path / ".git")
    (git / "config").unlink()
    (git / "config").symlink_to("elsewhere")

    assert [path for path, _ in harmful_parts(str(git), [str(tmp_path)])] == [f"{git}/config"]


@pytest.mark.parametrize(
    ("text", "is_harmful"),
    [
        ("gitdir: ../.git/modules/a\n", False),
        ("gitdir: ../evil\n", True),
        ("gitdir: ../nothing\n", True),
        ("gitdir: /etc\n", True),
        ("nonsense", True),
    ],
)
def test_a_file_leads_to_a_harmless_repository_or_not(tmp_path: Path, text: str, is_harmful: bool):
    make(tmp_path / ".git/modules/a")
    make(tmp_path / "evil", config="[core]\n\tpager = x\n")
    (tmp_path / "a").mkdir()
    (tmp_path / "a/.git").write_text(text)

    assert harmful_link(str(tmp_path / "a/.git"), [str(tmp_path)]) is is_harmful


@pytest.mark.parametrize(
    ("names", "is_one"),
    [
        ("HEAD objects refs", True),
        ("HEAD commondir", True),
        ("HEAD refs config", False),
        ("objects refs config", False),
        ("head OBJECTS refs", True),
    ],
)
def test_a_folder_is_a_repository_by_what_is_in_it(names: str, is_one: bool):
    assert is_layout(names.split()) is is_one
