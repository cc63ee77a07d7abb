"""Screenshots of the main screens, in three themes and two sizes; `pytest --snapshot-update` updates them."""

import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

from bridle.surfaces.tui.theme import THEMES
from tests.sessions.stage import Play, SmallTool, Stage, call, says
from tests.surfaces.tui.stage import Tui, tui

ANSWER = """\
Here is what I found in `src/`:

## Files

- `a.py` is **small**
- `b.py` is *larger*

| name | lines |
|---|---|
| a.py | 12 |

```python
def greet(name: str) -> str:
    return f"hello {name}"  # 42
```
"""
STILL = 6
"""So many looks one after the other show the same: by then everything that was asked for has come."""

_FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
_NUMBER = re.compile(r"terminal-\d+")


class Picture(SingleFileSnapshotExtension):
    """One file for each picture."""

    file_extension = "svg"
    _write_mode = WriteMode.TEXT


@pytest.fixture(autouse=True)
def utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


async def picture(shown: Tui, theme: str) -> str:
    """Return the screen as SVG once nothing moves, without what differs from run to run or is large."""
    shown.app.theme = theme
    seen: list[str] = []

    def stands_still() -> bool:
        seen.append(shown.screen)
        return len(seen) > STILL and len(set(seen[-STILL:])) == 1

    await shown.pilot.pause()
    await shown.until(stands_still)
    return _NUMBER.sub("terminal", _FONTS.sub("", shown.app.export_screenshot(title="Bridle")))


@pytest.mark.parametrize("size", [(80, 24), (120, 40)], ids=lambda size: f"{size[0]}x{size[1]}")
async def test_the_main_screens(size: tuple[int, int], tmp_path: Path, snapshot: SnapshotAssertion):
    pictures = snapshot.use_extension(Picture)
    tool = SmallTool("edit_file", lambda on: "done", access="write")
    play = Play(says(ANSWER), says("I would change it.", call("c1", "edit_file", "src/a.py")))
    async with (
        Stage(play, tools=[tool], cwd="/") as stage,
        tui(stage.service, tmp_path / "home", Path("/"), session="play", size=size) as shown,
    ):
        shown.app.animation_level = "none"
        shown.app.editor.cursor_blink = False
        shown.app.main.status.show()
        await shown.send("what is in this folder?")
        await shown.sees("── ✓ done · 1 turn", "write a prompt")
        taken = {f"main-{theme}": await picture(shown, theme) for theme in THEMES}
        await shown.send("change it")
        await shown.sees("Needs approval", "? edit_file on=src/a.py · waits for you")
        for theme in THEMES if size[0] == 80 else ["dark"]:
            taken[f"approval-{theme}"] = await picture(shown, theme)
        if size[0] == 80:
            await shown.press("f2")
            await shown.sees("sessions", "what is in this folder?")
            taken["sessions"] = await picture(shown, "dark")
            await shown.press("escape", "f1")
            await shown.sees("list, search and open")
            taken["help"] = await picture(shown, "dark")

    for name, svg in taken.items():
        assert svg == pictures(name=name)
