"""The help window: all keys by scope, and all commands."""

from collections.abc import Sequence

from bridle.surfaces.tui.keys import KEYS, SCOPES
from bridle.surfaces.tui.panels.host import PanelHost
from bridle.surfaces.tui.panels.lines_view import Line, StyledCell
from bridle.surfaces.tui.panels.preview import text_lines
from bridle.surfaces.tui.panels.styles import styled
from bridle.surfaces.tui.panels.windows import Window

KEY_CELLS = 24


class HelpWindow(Window):
    """Shows the user's key bindings and the commands."""

    def __init__(self, host: PanelHost, commands: Sequence[tuple[str, str]]) -> None:
        super().__init__(host, "help")
        self._commands = commands

    async def load(self) -> Sequence[Line]:
        """Return both tables."""
        lines: list[Line] = []
        for scope, where in SCOPES.items():
            rows = [(self.host.key_words(row.name), row.help) for row in KEYS if row.scope == scope]
            lines += _table(f"keys {where}", [row for row in rows if row[0]])
        palette = self.host.key_words("palette")
        commands = [(f"/{name}", words) for name, words in self._commands]
        return [*lines, *_table(f"commands, in the prompt or with {palette}", commands)]


def _table(title: str, rows: Sequence[tuple[str, str]]) -> list[Line]:
    if not rows:
        return []
    head: Line = (StyledCell(styled(("strong", title))),)
    return [head, *(_row(keys, words) for keys, words in rows), *text_lines(" ")]


def _row(keys: str, words: str) -> Line:
    return (StyledCell(styled(words), styled(("name", f"  {keys:<{KEY_CELLS}} "))),)
