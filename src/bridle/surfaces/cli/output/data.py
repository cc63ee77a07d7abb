"""Print data as a table or as JSON, and shorten paths."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from msgspec import json

from bridle.config.settings import Settings
from bridle.surfaces.shared.terminal import Screen, columns, cut, one_line, pad

GAP = "  "
MIN_ROOM = 20  # least width of the last column, however narrow the terminal


def write_table(screen: Screen, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Write rows below their headings; on a terminal, cut the last column to fit."""
    table = [list(headings), *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(columns(row[index]) for row in table) for index in range(len(headings) - 1)]
    room = max(screen.width - sum(widths) - len(GAP) * len(widths), MIN_ROOM)
    for index, row in enumerate(table):
        cells = [pad(cell, width) for cell, width in zip(row[:-1], widths, strict=True)]
        last = cut(row[-1], room) if screen.is_terminal else row[-1]
        if index:
            screen.line(GAP.join([screen.paint("name", cells[0]), *cells[1:], last]).rstrip())
        else:
            screen.line(screen.paint("detail", GAP.join([*cells, last]).rstrip()))


def print_json(screen: Screen, value: Any) -> None:
    """Print a value as indented JSON."""
    screen.json(json.format(json.encode(value), indent=2))


def short_path(path: str, settings: Settings) -> str:
    """Return a path as a user would type it here: relative to the working directory or home, or absolute."""
    if Path(path).is_relative_to(settings.cwd):
        return os.path.relpath(path, settings.cwd)
    if settings.user_folder is not None and Path(path).is_relative_to(settings.user_folder):
        return f"~/{os.path.relpath(path, settings.user_folder)}"
    return path
