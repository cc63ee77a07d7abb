"""Lists to choose from: model, agent, mode, theme, pins, sub-agents and changed files."""

from collections.abc import Sequence
from typing import get_args

from bridle.core.ids import SessionId
from bridle.core.model import Effort
from bridle.core.permission import Mode
from bridle.core.protocol import Pin
from bridle.core.queries import Diff, ShowDiff
from bridle.surfaces.shared.folder_info import AgentRow, ModelView
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.tui.panels.host import Child, PanelHost
from bridle.surfaces.tui.panels.lines_view import Line, brief
from bridle.surfaces.tui.panels.list_screen import ListScreen, Row
from bridle.surfaces.tui.panels.notifications import notify, submit
from bridle.surfaces.tui.panels.preview import text_lines
from bridle.surfaces.tui.panels.sidebar_sections import child_rows, file_rows
from bridle.surfaces.tui.panels.styles import styled
from bridle.surfaces.tui.panels.windows import DiffWindow
from bridle.surfaces.tui.theme import THEMES

REF_CELLS = 30
MODES: dict[Mode, str] = {
    "ask": "reads files; everything else needs approval",
    "plan": "only reads",
    "accept-edits": "reads and edits files; everything else needs approval",
    "yolo": "asks almost nothing; deny rules still apply",
}

EFFORTS: tuple[Effort, ...] = get_args(Effort)


class ModelsScreen(ListScreen):
    """Lists the named models; those without an API key are dim and cannot be chosen."""

    heading = "model for the next prompts"
    nothing = "no models available: run bridle doctor"
    AUTO_FOCUS = "#search"

    def __init__(self, host: PanelHost) -> None:
        super().__init__(host)
        self._models: dict[str, ModelView] = {}

    async def load(self) -> Sequence[Row]:
        """Load the models; usable ones come first."""
        self.set_subtitle("window, dollars per million tokens in/out, abilities")
        found = sorted(
            await self.host.folders.real_models(self.host.cwd), key=lambda model: not model.has_key
        )
        self._models = {model.ref: model for model in found}
        return [_model_row(model, self._current) for model in found]

    @property
    def _current(self) -> str:
        return self.host.head.model if self.host.head is not None else ""

    def chosen(self, row: Row) -> None:
        """Choose the model, if it has an API key."""
        model = self._models[row.key]
        if not model.has_key:
            notify(self.app, f"{model.ref} needs a key: set {model.key_env}", failed=True)
            return
        self.dismiss(None)
        self.host.choose_model(model.ref)


class AgentsScreen(ListScreen):
    """Lists the folder's agents; invalid ones show the reason."""

    heading = "agent for the next prompts"
    AUTO_FOCUS = "#search"

    def __init__(self, host: PanelHost) -> None:
        super().__init__(host)
        self._agents: dict[str, AgentRow] = {}

    async def load(self) -> Sequence[Row]:
        """Load the agents."""
        found = await self.host.folders.agents(self.host.cwd)
        self._agents = {agent.agent: agent for agent in found}
        return [_agent_row(agent) for agent in found]

    def chosen(self, row: Row) -> None:
        """Choose the agent, if it is valid."""
        agent = self._agents[row.key]
        if agent.problem:
            notify(self.app, agent.problem, failed=True)
            return
        self.dismiss(None)
        self.host.choose_agent(agent.agent)


class ModesScreen(ListScreen):
    """Lists the modes: what a run may do without approval."""

    heading = "mode for the next prompts"

    async def load(self) -> Sequence[Row]:
        """Return the modes."""
        return [
            Row(mode, styled(("strong", f"{mode:<13}"), words), f"{mode} {words}")
            for mode, words in MODES.items()
        ]

    def chosen(self, row: Row) -> None:
        """Choose the mode."""
        self.dismiss(None)
        self.host.choose_mode(next(mode for mode in MODES if mode == row.key))


class EffortScreen(ListScreen):
    """Lists how much a model can reason."""

    heading = "reasoning effort for the next prompts"

    async def load(self) -> Sequence[Row]:
        """Return the levels."""
        return [Row(level, styled(level), level) for level in EFFORTS]

    def chosen(self, row: Row) -> None:
        """Choose the level."""
        self.dismiss(None)
        self.host.choose_effort(next(level for level in EFFORTS if level == row.key))


class ThemesScreen(ListScreen):
    """Lists the color themes."""

    heading = "colours"

    async def load(self) -> Sequence[Row]:
        """Return the themes."""
        return [Row(name, styled(name), name) for name in THEMES]

    def chosen(self, row: Row) -> None:
        """Use this theme."""
        self.dismiss(None)
        self.host.choose_theme(row.key)


class PinsScreen(ListScreen):
    """Lists the texts that every compaction keeps verbatim; Enter unpins one."""

    heading = "pinned"
    choose_label = "unpin"
    nothing = "nothing is pinned"

    async def load(self) -> Sequence[Row]:
        """Return the pins of the current session."""
        head = self.host.head
        return [Row(pin, styled(brief(pin)), pin) for pin in head.pins] if head is not None else ()

    def chosen(self, row: Row) -> None:
        """Unpin the text."""
        self.dismiss(None)
        head = self.host.head
        if head is not None:
            self.app.run_worker(
                submit(self.host, head.session, Pin(row.key, pinned=False), "no longer pinned")
            )


def _model_row(model: ModelView, current: str) -> Row:
    ref = brief(model.ref)
    price = f"${model.price.input:g}/${model.price.output:g}" if model.price else "price unknown"
    known = (("images", model.images), ("reasoning", model.reasoning), ("tools", model.tools))
    can = ", ".join(word for word, able in known if able)
    key = "" if model.has_key else f"  needs {model.key_env}"
    label = styled(
        ("name", f"{ref:<{REF_CELLS}}"),
        f" {_short(model.window_tokens):>6}",
        ("detail", f"  {price:<14} {can}"),
        ("done", "  (now)" if model.ref == current else ""),
        ("warning", key),
    )
    return Row(model.ref, label, f"{model.ref} {can}", dim=not model.has_key)


def _agent_row(agent: AgentRow) -> Row:
    tools = "all tools" if agent.tools is None else f"{len(agent.tools)} tools"
    label = styled(
        ("name", f"{brief(agent.agent):<20}"),
        f" {brief(agent.name)}",
        ("detail", f"  {agent.source}, {agent.mode}, {one_line(agent.model) or 'default model'}, {tools}"),
        ("failed", f"  {brief(agent.problem)}" if agent.problem else ""),
    )
    return Row(agent.agent, label, f"{agent.agent} {agent.name}", dim=bool(agent.problem))


def _short(tokens: int) -> str:
    """Format a number of tokens: 200k, 1M."""
    if tokens >= 1_000_000:
        return f"{tokens / 1_000_000:.3g}M"
    return f"{tokens / 1000:.3g}k" if tokens >= 1000 else str(tokens)


# ---------------------------------------------------------------------------- sub-agents and changed files


class ChildrenScreen(ListScreen):
    """Lists a session's sub-agents as a tree; Enter opens one."""

    heading = "sub-agents"
    nothing = "no sub-agents in this session"
    choose_label = "open"
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
    choose_label = "show the change"

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
