"""Notifies a user in another window: by the terminal bell or a desktop notification of the terminal."""

from typing import Literal

from bridle.surfaces.shared.terminal import cut, one_line
from bridle.surfaces.shared.view_model.view_types import Weight

Notify = Literal["off", "bell", "osc9", "osc777"]

MAX_CELLS = 120
_BELL = "\a"

SEVERITIES: dict[Weight, Literal["information", "warning", "error"]] = {
    "detail": "information",
    "done": "information",
    "warning": "warning",
    "failed": "error",
}
"""Textual's name for each severity."""


def notification_sequence(how: Notify, title: str, body: str) -> str:
    """Return the escape sequence of a notification; no text can end the sequence or start another."""
    title, body = _plain(title), _plain(body)
    match how:
        case "off":
            return ""
        case "bell":
            return _BELL
        case "osc9":
            return f"{_BELL}\x1b]9;{title}: {body}\x1b\\"
        case "osc777":
            return f"{_BELL}\x1b]777;notify;{title};{body}\x1b\\"


def window_title(title: str) -> str:
    """Return the sequence that sets the terminal's window title; an empty title restores the original."""
    if not title:
        return "\x1b[23;2t"
    return f"\x1b]2;{_plain(title)}\x1b\\"


SAVE_TITLE = "\x1b[22;2t"


def _plain(text: str) -> str:
    return cut(one_line(text), MAX_CELLS).replace(";", ",")
