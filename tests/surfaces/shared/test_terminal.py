import io
import json
import os
import pty

import pytest

from bridle.surfaces.shared.terminal import (
    COLOURS,
    Screen,
    columns,
    cut,
    one_line,
    pad,
    visible,
    visible_json,
    wants_colour,
)
from tests.surfaces.command import everything


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\nnext", "plain\ttext\nnext"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("over\rwritten", "over\\x0dwritten"),
        ("\x9b31m", "\\x9b31m"),
        ("a\u202eb\u2066c", "a\\u202eb\\u2066c"),
        ("a\u200bb\u2060c\ufeffd\u200fe", "a\\u200bb\\u2060c\\ufeffd\\u200fe"),
        ("a\U000e0041b", "a\\U000e0041b"),
        ("żółw 漢字 🐢 👨\u200d👩", "żółw 漢字 🐢 👨\u200d👩"),
    ],
)
def test_control_characters_are_shown_and_words_are_kept(text: str, shown: str):
    assert visible(text) == shown


def test_json_on_a_screen_keeps_its_value():
    text = json.dumps({"text": "\x1b[2J\x9b31m\u202e\U000e0041"}, ensure_ascii=False)

    shown = visible_json(text)

    assert json.loads(shown) == json.loads(text)
    assert shown == r'{"text": "\u001b[2J\u009b31m\u202e\udb40\udc41"}'


def test_one_line_has_no_line_ends():
    assert one_line(" a\n\tb\r\nc\x1b[2J ") == "a b c\\x1b[2J"


@pytest.mark.parametrize(
    ("text", "width", "result"),
    [
        ("short", 10, "short"),
        ("exactly", 7, "exactly"),
        ("too long", 5, "too…"),
        ("漢字漢字", 5, "漢字…"),
        ("x", 0, ""),
    ],
)
def test_cutting_counts_cells_of_the_screen(text: str, width: int, result: str):
    assert cut(text, width) == result
    assert columns(result) <= width


def test_padding_counts_cells_of_the_screen():
    assert pad("漢", 4) == "漢  "


@pytest.mark.parametrize(
    ("environ", "is_terminal", "wanted"),
    [
        ({}, True, True),
        ({}, False, False),
        ({"NO_COLOR": "1"}, True, False),
        ({"NO_COLOR": ""}, True, True),
        ({"FORCE_COLOR": "1"}, False, True),
        ({"FORCE_COLOR": "0"}, True, False),
        ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ({"TERM": "dumb"}, True, False),
    ],
)
def test_colour_is_a_matter_of_the_user_first(environ: dict[str, str], is_terminal: bool, wanted: bool):
    assert wants_colour(environ, is_terminal=is_terminal) is wanted


def test_a_pipe_gets_data_unchanged():
    file = io.StringIO()

    Screen(file, {}).data("\x1b[31m")

    assert file.getvalue() == "\x1b[31m"


def test_a_terminal_gets_data_made_safe():
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as file:
        screen = Screen(file, {})
        screen.data("\x1b[31m")
        screen.write(screen.paint("failed", "\x07"))
    shown = everything(master)

    assert shown == "\\x1b[31m\x1b[31m\\x07\x1b[0m"


def test_every_colour_has_one_meaning_in_the_table():
    file = io.StringIO()
    screen = Screen(file, {"FORCE_COLOR": "1"})

    painted = {colour: screen.paint(colour, "x") for colour in COLOURS}

    assert painted == {colour: f"\x1b[{code}mx\x1b[0m" for colour, code in COLOURS.items()}


@pytest.mark.parametrize("environ", [{}, {"FORCE_COLOR": "1"}])
def test_only_the_colours_of_paint_pass_as_they_are(environ: dict[str, str]):
    file = io.StringIO()
    screen = Screen(file, environ)

    screen.line(f"{screen.paint('name', 'a')} \x1b]0;b\x07 \x1b[8m \x1b[31;5m \x9b31m\r\u202e")
    screen.write("\x1b[2J")

    head = screen.paint("name", "a")
    assert file.getvalue() == (f"{head} \\x1b]0;b\\x07 \\x1b[8m \\x1b[31;5m \\x9b31m\\x0d\\u202e\n\\x1b[2J")
