"""The user's editor, and where it is not looked up."""

from pathlib import Path

import pytest

from bridle.core.errors import BridleError
from bridle.surfaces.shared.editor import run_editor


def editor(folder: Path, text: str, name: str = "ed") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / name
    program.write_text(text)
    program.chmod(0o755)
    return program


def test_an_editor_of_the_project_is_not_run(tmp_path: Path):
    program = editor(tmp_path / "project/bin", f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    project = str(tmp_path / "project")
    environ = {"EDITOR": "ed --wait", "PATH": f"{program.parent}:."}

    with pytest.raises(BridleError, match=f"the editor ed is not used: {program} is in a folder that agents"):
        run_editor(["file"], environ, project)
    with pytest.raises(BridleError, match=r"the editor \./ed is not used: it is a relative path"):
        run_editor(["file"], {**environ, "EDITOR": "./ed"}, project)
    assert not (tmp_path / "ran").exists()

    run_editor(["file"], {**environ, "EDITOR": str(program)}, project)  # the user's own word
    assert (tmp_path / "ran").exists()


def test_a_script_finds_its_interpreter_outside_of_the_project(tmp_path: Path):
    planted = editor(tmp_path / "project/bin", f"#!/bin/sh\ntouch {tmp_path}/ran\n", name="sh")
    program = editor(tmp_path / "own", f'#!/usr/bin/env sh\necho "$1" > {tmp_path}/edited\n')
    environ = {"VISUAL": "ed", "EDITOR": "false", "PATH": f"{planted.parent}:{program.parent}:/usr/bin:/bin"}

    run_editor(["file"], environ, str(tmp_path / "project"))

    assert (tmp_path / "edited").read_text() == "file\n"
    assert not (tmp_path / "ran").exists()
