from pathlib import Path

import pytest

from bridle.config.starter_config import notes_text, wants_notes, write_notes

FILES = {
    "Makefile": "X := 1\nall: a b\ntest:\n\tpytest\n.PHONY: test\nlong-name_2: x\n%.o: %.c\n",
    "package.json": '{"scripts": {"test": "x", "build:all": "y", "a`b": "z"}}',
    "Cargo.toml": "[package]\n",
    "pyproject.toml": "[tool.pytest.ini_options]\n",
}
COMMANDS = """
- `make all`
- `make test`
- `make long-name_2`
- `npm run test`
- `npm run build:all`
- `cargo build`
- `cargo test`
- `pytest`
"""


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ([], False),
        (["notes.txt"], False),
        ([".git"], True),
        (["pyproject.toml"], True),
        (["Makefile", "AGENTS.md"], False),
        (["Makefile", "CLAUDE.md"], False),
    ],
)
def test_a_project_without_notes_wants_some(tmp_path: Path, names: list[str], wanted: bool):
    for name in names:
        (tmp_path / name).write_text("")

    assert wants_notes(tmp_path, None) is wanted


def test_the_home_of_the_user_is_no_project(tmp_path: Path):
    (tmp_path / ".git").mkdir()

    assert not wants_notes(tmp_path, tmp_path)


def test_the_commands_are_those_that_the_files_name(tmp_path: Path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    text = notes_text(tmp_path)

    assert text.startswith(f"# {tmp_path.name}\n")
    assert text.split("## Commands\n")[1].split("\n## Rules")[0] == COMMANDS
    assert len(text) < 600


@pytest.mark.parametrize("package", ["[]", "{", '{"scripts": []}', '{"scripts": null}', "[" * 100_000])
def test_files_that_make_no_sense_name_no_command(tmp_path: Path, package: str):
    (tmp_path / "package.json").write_text(package)
    (tmp_path / "Makefile").symlink_to("/etc/passwd")

    assert "- (how to build and test)\n" in notes_text(tmp_path)


def test_notes_that_are_there_stay(tmp_path: Path):
    (tmp_path / "AGENTS.md").write_text("mine")

    file = write_notes(tmp_path)

    assert file.read_text() == "mine"


def test_notes_can_be_read_by_others(tmp_path: Path):
    file = write_notes(tmp_path)

    assert (file.name, file.stat().st_mode & 0o777) == ("AGENTS.md", 0o644)
    assert file.read_text() == notes_text(tmp_path)
