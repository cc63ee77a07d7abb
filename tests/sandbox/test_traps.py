"""The scan for new files that others run: what it finds, what it ignores, and where it moves files."""

import os
import tempfile
import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from bridle.sandbox.trap_scanner import SLACK_NS, TrapScanner
from bridle.sandbox.traps import TrapCheck, Traps

EVIL = "[core]\n\tpager = x\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    path = tmp_path / "root"
    path.mkdir()
    return path


@pytest.fixture
def away(tmp_path: Path) -> Path:
    return tmp_path / "away"


@pytest.fixture
def traps(away: Path) -> Traps:
    return Traps(home="/nonexistent", away=str(away))


def repository(folder: Path, config: str = "[core]\n\tbare = false\n") -> Path:
    for name in ("objects", "refs", "hooks"):
        (folder / ".git" / name).mkdir(parents=True)
    (folder / ".git/HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".git/config").write_text(config)
    return folder / ".git"


def names(away: Path) -> list[str]:
    """Return what lies there, without the folders that only lead to it."""
    found = [path for path in away.glob("*/**/*") if path.is_file()]
    return sorted(str(path.relative_to(away)).partition("/")[2] for path in found)


def test_what_was_there_before_stays(root: Path, traps: Traps, away: Path):
    repository(root / "own", EVIL)
    (root / ".envrc").write_text("own")
    look = TrapCheck(traps, [str(root)])
    (root / "other").write_text("x")

    assert (look.finish(), names(away)) == ([], [])


def test_what_appeared_is_moved_with_all_that_is_in_it(root: Path, traps: Traps, away: Path):
    look = TrapCheck(traps, [str(root)])
    (root / "a/.husky/_").mkdir(parents=True)
    (root / "a/.husky/_/pre-commit").write_text("evil")

    [sentence] = look.finish()

    [moved] = away.glob("*/a/.husky/_/pre-commit")
    assert moved.read_text() == "evil"
    assert sentence.startswith("a/.husky would make")
    assert not (root / "a/.husky").exists()


def test_of_a_repository_only_the_harmful_part_is_moved(root: Path, traps: Traps, away: Path):
    git = repository(root / "own")
    look = TrapCheck(traps, [str(root)])
    (git / "config").write_text(EVIL)
    (git / "hooks/pre-commit").write_text("evil")

    assert len(look.finish()) == 2
    assert names(away) == ["own/.git/config", "own/.git/hooks/pre-commit"]
    assert sorted(os.listdir(git)) == ["HEAD", "hooks", "objects", "refs"]


def test_the_users_own_settings_may_change_in_harmless_ways_meanwhile(root: Path, traps: Traps, away: Path):
    git = repository(root, EVIL)
    look = TrapCheck(traps, [str(root)])
    (git / "config").write_text(EVIL + '[branch "a"]\n\tremote = origin\n')

    assert (look.finish(), names(away)) == ([], [])


def test_the_same_trap_is_found_again(root: Path, traps: Traps, away: Path):
    look = TrapCheck(traps, [str(root)])
    for count in (1, 2):
        repository(root / f"new{count}", EVIL)
        assert len(look.finish()) == 1
    (root / "new1/.git/config").write_text(EVIL)

    assert len(look.finish()) == 1
    assert look.finish() == []
    assert names(away) == ["new1/.git/config", "new1/.git/config", "new2/.git/config"]


def test_a_place_that_the_config_names_is_as_good_as_a_hook(root: Path, traps: Traps, away: Path):
    repository(root, "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../more\n")
    look = TrapCheck(traps, [str(root)])
    (root / "tools/hooks").mkdir(parents=True)
    (root / "tools/hooks/pre-commit").write_text("evil")
    (root / "more").write_text(EVIL)

    assert (len(look.finish()), names(away)) == (2, ["more", "tools/hooks/pre-commit"])


def test_what_is_there_is_named_to_be_mounted(root: Path, traps: Traps):
    git = repository(root / "own")
    (root / ".envrc").write_text("own")
    (root / "deep/.vscode").mkdir(parents=True)
    (root / "deep/.vscode/tasks.json").write_text("{}")

    found = traps.existing([str(root)])

    assert set(found) == {
        f"{root}/.envrc",
        f"{git}/config",
        f"{git}/hooks",
        f"{root}/deep/.vscode/tasks.json",
    }


def test_a_link_on_the_way_is_not_followed(root: Path, traps: Traps, away: Path, tmp_path: Path):
    """A program that still runs may create one between the check and the move."""
    (tmp_path / "users").mkdir()
    (tmp_path / "users/.envrc").write_text("own")
    (root / "a").symlink_to(tmp_path / "users")

    [sentence] = traps._move_all([f"{root}/a/.envrc"], str(root))

    assert "could not be put away" in sentence
    assert (tmp_path / "users/.envrc").read_text() == "own"


def test_names_with_control_characters_are_not_shown_as_they_are(root: Path, traps: Traps):
    look = TrapCheck(traps, [str(root)])
    (root / "a\x1b[2J\n").mkdir()
    (root / "a\x1b[2J\n/.envrc").write_text("x")

    [sentence] = look.finish()

    assert sentence.startswith("a?[2J?/.envrc would make")


def test_a_second_look_lists_only_what_has_changed(root: Path):
    for number in range(20):
        (root / f"d{number}").mkdir()
    survey = TrapScanner(str(root), [str(root)])
    survey.look()
    for path, folder in survey._folders.items():
        survey._folders[path] = replace(folder, looked_ns=2**63)  # as if the others had been long ago
    (root / "d7/.envrc").write_text("x")
    before = dict(survey._folders)

    found = survey.look()

    listed = [path for path, folder in survey._folders.items() if folder is not before[path]]
    assert (list(found.parts), listed) == ([f"{root}/d7/.envrc"], [f"{root}/d7"])


def test_the_nearest_folders_are_looked_at_first(root: Path):
    for name in ("a/b/c/d", "e", "f"):
        (root / name).mkdir(parents=True)
        (root / name / ".envrc").write_text("x")

    assert sorted(TrapScanner(str(root), [str(root)]).look(5).parts) == [
        f"{root}/e/.envrc",
        f"{root}/f/.envrc",
    ]


def test_many_are_put_away_at_once_and_told_in_short(root: Path, traps: Traps, away: Path):
    look = TrapCheck(traps, [str(root)])
    for number in range(300):
        (root / f"d{number}").mkdir()
        (root / f"d{number}/.envrc").write_text("x")

    told = look.finish()

    assert (len(told), told[-1], len(names(away))) == (11, "the same applies to 290 more files", 300)


def test_known_folders_come_before_new_ones_and_what_is_left_out_is_told(root: Path, traps: Traps):
    for name in ("a/b/c", "d"):
        (root / name).mkdir(parents=True)
    survey = TrapScanner(str(root), [str(root)])
    survey.look()
    for number in range(50):
        (root / f"junk{number}").mkdir()
    (root / "a/b/c/.envrc").write_text("x")

    found = survey.look(10)

    assert (list(found.parts), survey.is_cut) == ([f"{root}/a/b/c/.envrc"], True)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_a_folder_that_was_closed_meanwhile_is_opened(away: Path):
    """Root can read everything, so this test runs as another user."""
    with tempfile.TemporaryDirectory(dir="/tmp") as place:
        os.chown(place, 65534, 65534)
        os.chmod(place, 0o755)
        os.seteuid(65534)
        try:
            look = TrapCheck(Traps(home="/nonexistent", away=f"{place}/away"), [f"{place}"])
            os.makedirs(f"{place}/a/b")
            Path(f"{place}/a/b/.envrc").write_text("x")
            os.chmod(f"{place}/a/b", 0o311)
            os.chmod(f"{place}/a", 0o311)
            told = look.finish()
        finally:
            os.seteuid(0)

    assert [sentence.partition(" ")[0] for sentence in told] == ["a/b/.envrc"]


def prepare(folder: Path) -> None:
    """Create a repository that lacks one folder, with old dates."""
    (folder / "objects").mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "config").write_text(EVIL)


def wait_for_the_clock() -> None:
    start = time.time_ns()
    while time.time_ns() - start < 2 * SLACK_NS:
        pass


MANY = 300
"""More folders than are looked at when a program starts."""


@pytest.mark.parametrize("folders", [0, MANY])
def test_what_was_there_under_another_name_is_fresh(root: Path, traps: Traps, away: Path, folders: int):
    for number in range(folders):
        (root / f"a{number}/b").mkdir(parents=True)
    far = root / "far/away/from/here"
    prepare(far / "x")
    prepare(far / "g")
    (far / "tpl").mkdir()
    (far / "tpl/tasks.json").write_text("{}")
    (far / ".zed").mkdir()
    (far / ".zed/tasks.json").write_text("own")
    wait_for_the_clock()
    look = TrapCheck(traps, [str(root)])

    (far / "x/refs").mkdir()
    (far / "g/refs").mkdir()
    (far / "g").rename(far / ".git")
    (far / "tpl").rename(far / ".vscode")
    told = look.finish()

    place = "far/away/from/here"
    assert names(away) == [f"{place}/.git/config", f"{place}/.vscode/tasks.json", f"{place}/x/HEAD"], told


def test_the_home_of_bridle_is_not_searched(root: Path, away: Path):
    traps = Traps(home=str(root), away=str(away), hidden=[str(root / ".bridle")])
    look = TrapCheck(traps, [str(root)])
    (root / ".bridle").mkdir()
    (root / ".bridle/blob").write_text("x")
    (root / ".bashrc").write_text("evil")

    assert (len(look.finish()), names(away)) == (1, [".bashrc"])


def test_what_becomes_a_repository_again_is_put_away_again(root: Path, traps: Traps, away: Path):
    prepare(root / "x")
    wait_for_the_clock()
    look = TrapCheck(traps, [str(root)])
    (root / "x/refs").mkdir()
    first = look.finish()
    (root / "x/HEAD").write_text("ref: refs/heads/main\n")

    assert (len(first), len(look.finish()), look.finish()) == (1, 1, [])
    assert names(away) == ["x/HEAD", "x/HEAD"]
    assert (root / "x/config").exists()
