"""What can be completed, and how."""

from pathlib import Path

import pytest

from bridle.core.session_api import SessionApi
from bridle.surfaces.tui.completion import Completer, Completion, Fragment, fragment_at
from bridle.surfaces.tui.session_link import NotConnected


@pytest.mark.parametrize(
    ("before", "found"),
    [
        ("", None),
        ("@", Fragment("file", 0, "")),
        ("look at @src/a", Fragment("file", 8, "src/a")),
        ("(@a", Fragment("file", 1, "a")),
        ("me@example.com", None),
        ("@a b", None),
        ("/", Fragment("name", 0, "")),
        ("/rev", Fragment("name", 0, "rev")),
        ("/mcp:x.y", Fragment("name", 0, "mcp:x.y")),
        ("/review src", None),
        ("/review @s", Fragment("file", 8, "s")),
        ("a /b", None),
        ("/usr/bin", None),
    ],
)
def test_what_stands_before_the_cursor(before: str, found: Fragment | None):
    assert fragment_at(before, is_first_line=True) == found


def test_names_stand_on_the_first_line_only():
    assert fragment_at("/rev", is_first_line=False) is None


def no_api() -> SessionApi:
    raise NotConnected("not yet")


@pytest.fixture
def completer(tmp_path: Path) -> Completer:
    environ = {"BRIDLE_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    skill = tmp_path / "home" / "skills" / "review" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("---\nname: review\ndescription: Look at\n  it\n---\nLook.\n")
    return Completer(environ, {"rewind": "go back", "sessions": "list them"}, no_api)


async def test_names_are_skills_and_commands(completer: Completer, tmp_path: Path):
    assert await completer.find(Fragment("name", 0, "re"), str(tmp_path)) == [
        Completion("/review", "Look at it"),
        Completion("/rewind", "go back"),
    ]
    assert await completer.find(Fragment("name", 0, "ssns"), str(tmp_path)) == [
        Completion("/sessions", "list them")
    ]


async def test_files_are_those_of_the_folder_without_what_git_ignores(completer: Completer, tmp_path: Path):
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    for name in ("src/main.py", "src/mend.py", "made.log", ".gitignore"):
        (project / name).write_text("*.log\n")

    assert await completer.find(Fragment("file", 0, "m.py"), str(project)) == [
        Completion("@src/main.py"),
        Completion("@src/mend.py"),
    ]
    assert await completer.find(Fragment("file", 0, "made"), str(project)) == []
