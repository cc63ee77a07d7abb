import shlex
import sys
from pathlib import Path

import pytest

from bridle.surfaces.cli.fixes import edit_command, package_command, pip_command


def program(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder)


def test_pip_is_that_of_bridle(tmp_path: Path):
    ours = {"PATH": str(Path(sys.executable).parent)}
    other = {"PATH": program(tmp_path / "bin", "pip")}

    assert pip_command("bridle[tui]", ours) == "pip install 'bridle[tui]'"
    assert pip_command("bridle[tui]", other) == f"{sys.executable} -m pip install 'bridle[tui]'"
    assert pip_command("apsw>=3", {}) == f"{sys.executable} -m pip install 'apsw>=3'"


@pytest.mark.parametrize(
    ("prefix", "command", "other"),
    [
        (
            "/home/x/.local/share/pipx/venvs/bridle",
            "pipx install --force 'bridle[tui]'",
            "pipx inject bridle apsw",
        ),
        (
            "/home/x/.local/share/uv/tools/bridle",
            "uv tool install 'bridle[tui]'",
            "uv tool install bridle --with apsw",
        ),
    ],
)
def test_other_ways_to_install_are_kept_to(prefix: str, command: str, other: str):
    assert pip_command("bridle[tui]", {}, prefix) == command
    assert pip_command("apsw", {}, prefix) == other


@pytest.mark.parametrize(
    ("names", "is_root", "command"),
    [
        (["apt-get"], True, "apt-get install bubblewrap"),
        (["dnf"], False, "sudo dnf install bubblewrap"),
        (["pacman"], False, "sudo pacman -S bubblewrap"),
        (["brew"], False, "brew install bubblewrap"),
        ([], False, "sudo apt-get install bubblewrap"),
    ],
)
def test_packages_come_the_way_of_the_system(tmp_path: Path, names: list[str], is_root: bool, command: str):
    for name in names:
        program(tmp_path, name)

    assert package_command("bubblewrap", {"PATH": str(tmp_path)}, is_root=is_root) == command


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("/home/x/.bridle/config.toml:12: unknown key", "${EDITOR:-vi} +12 /home/x/.bridle/config.toml"),
        ("/a b/config.toml:3: not valid", "${EDITOR:-vi} +3 '/a b/config.toml'"),
        ("no home folder", "bridle config path"),
        ("/x: is not UTF-8", "bridle config path"),
    ],
)
def test_the_editor_opens_where_the_fault_is(message: str, command: str):
    assert edit_command(message) == command
    assert shlex.split(command)
