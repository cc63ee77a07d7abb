"""Editing a prompt in the user's editor."""

import os
from pathlib import Path

import pytest

from bridle.core.errors import BridleError
from bridle.surfaces.tui.external_editor import edit_text


def editor(tmp_path: Path, script: str) -> dict[str, str]:
    program = tmp_path / "my editor"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return {"EDITOR": f"'{program}' --wait", "PATH": os.defpath}


def test_what_was_written_comes_back(tmp_path: Path):
    environ = editor(tmp_path, 'stat -c %a "$(dirname "$2")" >> "$2"; echo "$1" >> "$2"')

    assert edit_text("before", environ, "/nowhere") == "before\n700\n--wait"


@pytest.mark.parametrize(
    ("environ", "words"),
    [
        ({"EDITOR": "/nowhere/vi"}, "the editor /nowhere/vi does not exist"),
        ({"EDITOR": "'half"}, "$EDITOR cannot be read: No closing quotation"),
        ({"PATH": "/nowhere"}, "no editor found"),
        ({"VISUAL": "false", "EDITOR": "true"}, "the editor /usr/bin/false ended with 1"),
    ],
)
def test_what_goes_wrong_is_said(environ: dict[str, str], words: str):
    with pytest.raises(BridleError) as caught:
        edit_text("text", environ, "/nowhere")

    assert caught.value.message == words
