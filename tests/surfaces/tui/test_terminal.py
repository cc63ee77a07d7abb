"""Whether the terminal is light: by what it answers, or by what the environment says."""

import os
from pathlib import Path

import pytest

from bridle.core.errors import BridleError
from bridle.surfaces.tui.terminal import (
    BackgroundQuery,
    Notify,
    edit_text,
    is_light_answer,
    is_light_index,
    notification_sequence,
    printable_text,
    window_title,
)


@pytest.mark.parametrize(
    ("answer", "light"),
    [
        (b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?62;c", True),
        (b"\x1b]11;rgb:1e/1e/1e\x07\x1b[?1;2c", False),
        (b"\x1b]11;rgba:fdfd/f6f6/e3e3/ffff\x1b\\", True),
        (b"\x1b[?1;2c", False),
        (b"", False),
        (b"\x1b]11;rgb:zz/zz/zz\x1b\\", False),
    ],
)
def test_what_a_terminal_answers(answer: bytes, light: bool):
    assert is_light_answer(answer) is light


@pytest.mark.parametrize(
    ("text", "light"), [("0;15", True), ("15;0", False), ("0;default;7", True), ("x", False)]
)
def test_what_the_environment_says(text: str, light: bool):
    assert is_light_index(text) is light
    assert BackgroundQuery({"COLORFGBG": text}).is_light() is light


def test_what_was_typed_meanwhile_is_not_lost():
    assert printable_text(b"he\x1b]11;rgb:ffff/ffff/ffff\x1b\\l\x1b[?62;22cl\x1b[Ao\r") == "hello"


# ---------------------------------------------------------------------------- notifications and title


@pytest.mark.parametrize(
    ("how", "written"),
    [
        ("off", ""),
        ("bell", "\a"),
        ("osc9", "\a\x1b]9;Bridle: a, b has ended\x1b\\"),
        ("osc777", "\a\x1b]777;notify;Bridle;a, b has ended\x1b\\"),
    ],
)
def test_a_notice(how: Notify, written: str):
    assert notification_sequence(how, "Bridle", "a; b\nhas ended") == written


def test_a_hostile_title_stays_inside():
    assert notification_sequence("osc9", "B", "x\x1b\\\x07\x1b]52;c;evil\x9c") == (
        "\a\x1b]9;B: x\\x1b\\\\x07\\x1b]52,c,evil\\x9c\x1b\\"
    )
    assert len(window_title("x" * 10_000)) < 200


# ---------------------------------------------------------------------------- editor and signals


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
