"""How a judged command is confined."""

from pathlib import Path

import pytest

from bridle.core.tool import Access, Subject
from bridle.tools.shell.confinement import Confinement, confine
from tests.tools.commands.test_git_repository import git

READS = Subject("command", "ls -l", "read")


def access(*commands: str, doubt: str = "", unproven: str = "") -> Access:
    subjects = tuple(Subject("command", command, "read") for command in commands)
    return Access("bash", "execute", subjects, doubt, unproven)


@pytest.mark.parametrize(
    ("judged", "expected"),
    [
        (access("ls -l"), True),
        (access("ls", "cat x"), True),
        (access("ls", doubt="x"), False),
        (access("ls", unproven="x"), False),
        (access(), False),
        (Access("bash", "execute", (READS, Subject("command", "make", "execute"))), False),
        (Access("bash", "execute", (READS, Subject("path", "f", "write", "write_file"))), False),
        (Access("bash", "execute", (READS, Subject("domain", "x.example", "network"))), False),
    ],
)
def test_only_what_was_proven_to_read_runs_where_nothing_can_be_changed(
    tmp_path: Path, judged: Access, expected: bool
):
    assert confine(judged, str(tmp_path), "/nonexistent").reads_only == expected


def test_git_sees_its_settings_and_a_repository_above(tmp_path: Path):
    top, home = tmp_path / "top", tmp_path / "home"
    (top / "src").mkdir(parents=True)
    home.mkdir()
    (home / ".gitconfig").touch()
    git(top, "init", "-q")

    assert confine(access("git status"), str(top / "src"), str(home)) == Confinement(
        reads_only=True, shown=(f"{home}/.gitconfig", str(top), f"{top}/.git"), uses_git=True, moves=False
    )
    (top / ".git/commondir").write_text("/elsewhere\n")
    assert confine(access("git status"), str(top / "src"), str(home)).shown == (f"{home}/.gitconfig",)
    assert confine(access("ls"), str(top / "src"), str(home)).shown == ()


@pytest.mark.parametrize(("line", "moves"), [("ls", False), ("cd sub", True), ("pushd sub", True)])
def test_only_a_line_that_changes_folders_may_end_elsewhere(tmp_path: Path, line: str, moves: bool):
    assert confine(access(line), str(tmp_path), "/nonexistent").moves == moves


def test_a_home_that_is_a_repository_is_not_shown(tmp_path: Path):
    home = tmp_path / "home"
    (home / "work").mkdir(parents=True)
    git(home, "init", "-q")

    assert confine(access("git status"), str(home / "work"), str(home)).shown == ()


def test_git_gets_settings_that_no_repository_can_change(tmp_path: Path):
    environ = {
        "LANG": "C.UTF-8",
        "GIT_DIR": "x",
        "GIT_EXTERNAL_DIFF": "x",
        "GIT_PAGER": "cat",
        "TMPDIR": "/x",
    }
    reading = confine(access("timeout 5 git log", "git log"), str(tmp_path), "/nonexistent").environment(
        environ
    )
    given = {
        reading[f"GIT_CONFIG_KEY_{n}"]: reading[f"GIT_CONFIG_VALUE_{n}"]
        for n in range(int(reading["GIT_CONFIG_COUNT"]))
    }

    assert given["core.fsmonitor"] == "false"
    assert given["core.hooksPath"] == "/dev/null"
    assert {"GIT_DIR", "GIT_EXTERNAL_DIFF", "TMPDIR"}.isdisjoint(reading)
    assert reading["GIT_PAGER"] == "cat"


def test_what_git_config_shows_is_not_ours(tmp_path: Path):
    reading = confine(access("git config --list"), str(tmp_path), "/nonexistent").environment({})

    assert "GIT_CONFIG_COUNT" not in reading


@pytest.mark.parametrize(
    ("locale", "forced"), [({"LANG": "ja_JP.SJIS"}, True), ({"LC_ALL": "en_US.utf8"}, False), ({}, True)]
)
def test_bash_reads_text_as_the_judge_did(tmp_path: Path, locale: dict[str, str], forced: bool):
    reading = Confinement(reads_only=True).environment(locale)

    assert (reading.get("LC_ALL") == "C.UTF-8") == forced


def test_a_command_that_was_asked_about_keeps_its_environment():
    environ = {"GIT_DIR": "x", "LANG": "ja_JP.SJIS", "TMPDIR": "/x"}

    assert Confinement().environment(environ) == environ
