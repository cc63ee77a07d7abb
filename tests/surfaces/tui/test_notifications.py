"""Text written to the terminal outside the screen: no title can control it."""

import pytest

from bridle.surfaces.tui.notifications import Notify, notification_sequence, window_title


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
