import shlex
import sys
from pathlib import Path

import pytest

from bridle.surfaces.cli.doctor_checks import edit_command, package_command, pip_command, reinstall_command


def program(folder: Path, name: str) -> str:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text("#!/bin/sh\n")
    (folder / name).chmod(0o755)
    return str(folder)


def test_pip_is_that_of_bridle(tmp_path: Path):
    ours = {"PATH": str(Path(sys.executable).parent)}
    other = {"PATH": program(tmp_path / "bin", "pip")}

    assert pip_command("bridle-agent[scale]", ours) == "pip install 'bridle-agent[scale]'"
    python = shlex.quote(sys.executable)
    assert pip_command("bridle-agent[scale]", other) == f"{python} -m pip install 'bridle-agent[scale]'"
    assert pip_command("apsw>=3", {}) == f"{python} -m pip install 'apsw>=3'"


@pytest.mark.parametrize(
    ("prefix", "command", "other", "again"),
    [
        (
            "/home/x/.local/share/pipx/venvs/bridle-agent",
            "pipx install --force 'bridle-agent[scale]'",
            "pipx inject bridle-agent apsw",
            "pipx install --force bridle-agent",
        ),
        (
            "/home/x/.local/share/uv/tools/bridle-agent",
            "uv tool install 'bridle-agent[scale]'",
            "uv tool install bridle-agent --with apsw",
            "uv tool install --reinstall bridle-agent",
        ),
    ],
)
def test_other_ways_to_install_are_kept_to(prefix: str, command: str, other: str, again: str):
    assert pip_command("bridle-agent[scale]", {}, prefix) == command
    assert pip_command("apsw", {}, prefix) == other
    assert reinstall_command("other", {}, prefix) == again


def test_with_pip_the_other_package_is_removed_first():
    ours = {"PATH": str(Path(sys.executable).parent)}

    assert reinstall_command("other", ours) == (
        "pip uninstall --yes other && pip install --force-reinstall --no-deps bridle-agent"
    )


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
