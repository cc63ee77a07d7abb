"""Programs that are installed in a folder which the sandbox shows as empty can still run."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridle.sandbox.bubblewrap import find_program_paths, plan_mounts
from bridle.sandbox.protected_paths import ProtectedPaths


@pytest.fixture
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(dir="/tmp") as found:
        yield Path(found)


def file(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return str(path)


def test_an_installation_is_shown_as_a_whole(place: Path):
    program = file(place / "venv" / "bin" / "server")
    script = file(place / "node" / "node_modules" / "a" / "lib" / "cli.js")
    alone = file(place / "tools" / "server.py")

    assert find_program_paths(
        (program, script, "--stdio", alone, str(place), "/usr/bin/env", "/tmp/none")
    ) == (
        str(place / "venv"),
        str(place / "node" / "node_modules"),
        str(place / "tools"),
    )


@pytest.mark.parametrize("line", ["#!{} -I", '#!/usr/bin/env -S "{}" -I'])
def test_the_interpreter_of_a_script_is_shown_too(place: Path, line: str):
    python = (
        file(place / "a b" / "bin" / "python") if "env" in line else file(place / "venv" / "bin" / "python")
    )
    script = Path(file(place / "hooks" / "check"))
    script.write_text(line.format(python) + "\n")

    assert find_program_paths((str(script),)) == (str(script.parent), str(Path(python).parents[1]))


def test_a_program_is_looked_for_on_the_path(place: Path):
    program = Path(file(place / "venv" / "bin" / "server"))
    program.chmod(0o755)

    assert find_program_paths(("server",), f"/usr/bin:{program.parent}") == (str(place / "venv"),)
    assert find_program_paths(("server",), "/usr/bin") == ()


def test_what_a_program_is_a_link_to_is_shown_too(place: Path):
    program = file(place / "venv" / "bin" / "server")
    link = place / "links" / "server"
    link.parent.mkdir()
    link.symlink_to(program)

    assert find_program_paths((str(link),)) == (str(link.parent), str(place / "venv"))


def test_of_a_file_in_the_folder_itself_nothing_else_is_shown():
    with tempfile.NamedTemporaryFile(dir="/tmp") as lone:
        assert find_program_paths((lone.name,)) == (lone.name,)


def test_it_is_there_but_cannot_be_changed_and_what_is_hidden_stays_hidden(place: Path):
    secret = place / "venv" / "secret"
    shield = ProtectedPaths(hidden_files=(str(secret),))

    found = plan_mounts(shield, (), "/usr", shown=(str(place / "venv"),))

    assert found[str(place / "venv")] == "fixed"
    assert found[str(secret)] == "hidden file"
    assert list(found).index("/tmp") < list(found).index(str(place / "venv")) < list(found).index(str(secret))


def test_what_lies_elsewhere_needs_no_showing():
    assert "/opt/venv" not in plan_mounts(ProtectedPaths(), (), "/usr", shown=("/opt/venv",))
