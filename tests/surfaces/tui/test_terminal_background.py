"""Whether the terminal is light: by its answer, or by the environment."""

import pytest

from bridle.surfaces.tui.terminal_background import (
    BackgroundQuery,
    is_light_answer,
    is_light_index,
    printable_text,
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
