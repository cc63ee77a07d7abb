"""Cost of an edit in a large file: ten times the size must not take much more than ten times as long."""

import asyncio
import tempfile
import time
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

from measure import report, rounds
from rows import Line, Row, figure, ours

from bridle.core.errors import ToolError
from bridle.core.ids import SessionId
from bridle.core.ports import ToolContext
from bridle.tools.diff import unified_diff
from bridle.tools.file_tools import EditFile

SIZES = (1_000_000, 10_000_000)
ROUNDS = rounds(5)
BAR = 15.0

EDITS: dict[str, dict[str, Any]] = {
    "exact": {"old_str": "        return name_7 + 7\n", "new_str": "        return 7\n"},
    "up to whitespace": {
        "old_str": "def function_7(self, value):\n  return name_7 + 7\n",
        "new_str": "def function_7(self, value):\n  if value:\n    return 7\n  return name_7 + 7\n",
    },
    "not found, with the closest lines": {
        "old_str": "    def function_7(self, values):\n        return the_name + 8\n",
        "new_str": "pass\n",
    },
    "not found, with nothing like it": {"old_str": "zzz = qqq\n" * 40, "new_str": "pass\n"},
}


def main() -> list[Line]:
    """Measure every edit; the bar is on the ratio of large to small."""
    with tempfile.TemporaryDirectory() as place:
        rows = [growth(Path(place), number, name) for number, name in enumerate(EDITS)]
    return report([*rows, diffs()])


def growth(place: Path, number: int, name: str) -> Row:
    """Make one edit in files of both sizes, alternately."""
    times: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(ROUNDS):
        for size in SIZES:
            times[size].append(edit_once(place / "f.py", source(size), EDITS[name]))
    return row(f"edits.{number}", f"edit_file in 10 MB, {name}", times)


def edit_once(path: Path, text: str, edit: dict[str, Any]) -> float:
    """Preview an edit and make it, as for a call that needs approval."""
    path.write_text(text)
    digest = sha256(path.read_bytes()).hexdigest()
    context = ToolContext(SessionId("s"), str(path.parent), print, seen={path.name: digest})
    args = {"path": path.name, **edit}

    async def show_and_make() -> None:
        with suppress(ToolError):  # one of them must fail
            await EditFile().preview(args, context)
        with suppress(ToolError):
            await EditFile().run(args, context)

    started = time.process_time()
    asyncio.run(show_and_make())
    return time.process_time() - started


def diffs() -> Row:
    """Compare a text with itself after changing a line in the middle."""
    times: dict[int, list[float]] = {size: [] for size in SIZES}
    for _ in range(ROUNDS):
        for size in SIZES:
            old = source(size)
            middle = old.index("\n", size // 2)
            new = f"{old[:middle]}\nnew line{old[middle:]}"
            started = time.process_time()
            unified_diff(old, new, "f.py")
            times[size].append(time.process_time() - started)
    return row("edits.diff", "unified_diff of one changed line in 10 MB", times)


def row(name: str, what: str, times: dict[int, list[float]]) -> Row:
    """Compare the large file with the small one."""
    small, large = (times[size] for size in SIZES)
    return Row(name, what, "ms CPU", ours(large, scale=1e3), (figure("in 1 MB", small, scale=1e3),), BAR)


def source(size: int) -> str:
    """Return a text of this size that looks like a program; the searched text is at its end."""
    pieces, length, number = [], 0, 100_000
    while length < size:
        piece = f"    def function_{number}(self, value):\n        return name_{number} + {number}\n\n"
        pieces.append(piece)
        length += len(piece)
        number += 1
    return "".join([*pieces, "    def function_7(self, value):\n        return name_7 + 7\n"])


if __name__ == "__main__":
    main()
