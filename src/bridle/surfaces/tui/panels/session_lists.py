"""Lists of a session's sub-agents and of its changed files."""

from collections.abc import Sequence

from bridle.core.ids import SessionId
from bridle.core.queries import Diff, ShowDiff
from bridle.surfaces.tui.panels.host import Child, PanelHost
from bridle.surfaces.tui.panels.lines_view import Line
from bridle.surfaces.tui.panels.list_screen import ListScreen, Row
from bridle.surfaces.tui.panels.preview import text_lines
from bridle.surfaces.tui.panels.sidebar_sections import child_rows, file_rows
from bridle.surfaces.tui.panels.windows import DiffWindow


class ChildrenScreen(ListScreen):
    """Lists a session's sub-agents as a tree; Enter opens one."""

    heading = "sub-agents"
    nothing = "no sub-agents in this session"
    choose_words = "open"
    has_preview = True

    def __init__(self, host: PanelHost, session: SessionId) -> None:
        super().__init__(host)
        self._session = session
        self._children: dict[str, Child] = {}

    async def load(self) -> Sequence[Row]:
        """Load the sub-agents."""
        children = await self.host.views.children(self._session)
        self._children = {child.id: child for child in children}
        return [
            Row(child.id, label, f"{child.name} {child.task} {child.id}")
            for child, label in zip(children, child_rows(children), strict=True)
        ]

    async def preview(self, row: Row) -> Sequence[Line]:
        """Show the sub-agent's task."""
        child = self._children[row.key]
        return text_lines(f"{child.agent or 'default'} {child.model}\n{child.task}")

    def chosen(self, row: Row) -> None:
        """Open the sub-agent's session."""
        self.dismiss(None)
        self.host.open_session(SessionId(row.key))


class FilesScreen(ListScreen):
    """Lists the files that a session changed; Enter shows a diff."""

    heading = "changed files"
    nothing = "no file changes"
    choose_words = "show the change"

    def __init__(self, host: PanelHost, session: SessionId) -> None:
        super().__init__(host)
        self._session = session
        self._diff = Diff([], "")

    async def load(self) -> Sequence[Row]:
        """Load the changes."""
        self._diff = await self.host.api.ask(ShowDiff(self._session))
        rows = zip(self._diff.changes, file_rows(self._diff.changes), strict=True)
        return [Row(change.path, label, change.path) for change, label in rows]

    def chosen(self, row: Row) -> None:
        """Show the diff, starting at this file."""
        self.app.push_screen(DiffWindow(self.host, "what the session has changed", self._diff.text, row.key))
