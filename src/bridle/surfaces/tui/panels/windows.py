"""Windows about the current session or folder: to-do list, context, usage, servers, doctor, diffs, help."""

from collections.abc import Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import Static

from bridle.core.messages import Message, ToolResult
from bridle.core.queries import NextContext, PreviewContext
from bridle.core.usage import ToolStats, UsageCounts
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import describe_args, format_count, format_elapsed
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.diffs import FileDiff, parse_diff
from bridle.surfaces.tui.keys import KEYS, SCOPES, bindings
from bridle.surfaces.tui.panels.host import DiffStyle, PanelHost
from bridle.surfaces.tui.panels.lines_view import Line, LinesView, StyledCell, brief
from bridle.surfaces.tui.panels.notifications import WAITING, clicked_action, format_footer, report_errors
from bridle.surfaces.tui.panels.preview import MIN_WIDTH_FOR_TWO, diff_lines, file_lines, text_lines
from bridle.surfaces.tui.panels.sidebar_sections import (
    context_rows,
    format_cost,
    server_rows,
    todo_rows,
    usage_rows,
)
from bridle.surfaces.tui.panels.styles import Part, styled

# ---------------------------------------------------------------------------- window
# The base class of windows: a title, scrolling lines, and keys in the footer.


class Window(ModalScreen[None]):
    """Shows lines that are loaded when it opens."""

    BINDINGS: ClassVar[list[BindingType]] = [one for one in bindings("list") if one.id == "close"]
    DEFAULT_CSS = """
    Window {
        align: center middle;
        background: $background 60%;
        & > Vertical {
            width: 94%; max-width: 130; height: 94%; max-height: 44;
            border: round $border; background: $surface; padding: 0 1;
        }
        #title { height: auto; max-height: 3; }
        #foot { height: auto; max-height: 3; color: $text-muted; }
    }
    """

    actions: ClassVar[tuple[tuple[str, str], ...]] = ()

    def __init__(self, host: PanelHost, heading: str) -> None:
        super().__init__()
        self.host = host
        self.heading = heading

    async def load(self) -> Sequence[Line]:
        """Load the lines; raises BridleError."""
        return ()

    def compose(self) -> ComposeResult:
        """Place the lines between the title and the keys."""
        with Vertical():
            yield Static(styled(("strong", self.heading)), id="title")
            yield LinesView(text_lines(WAITING))
            yield Static(format_footer(self.host, (*self.actions, ("close", "close"))), id="foot")

    def on_mount(self) -> None:
        """Load the lines."""
        self.reload()

    def reload(self) -> None:
        """Load the lines again."""
        self.run_worker(self._load(), group="load", exclusive=True)

    async def _load(self) -> None:
        lines: Sequence[Line] = ()
        async with report_errors(self.app):
            lines = await self.load()
        self.query_one(LinesView).show_lines(lines)

    async def on_click(self, event: events.Click) -> None:
        """Run the action whose label was clicked."""
        if name := clicked_action(event):
            await self.run_action(name)

    def action_close(self) -> None:
        """Close the window."""
        self.dismiss(None)


# ---------------------------------------------------------------------------- windows


GIST_CHARS = 1000
NAME_CELLS = 30


class TodosWindow(Window):
    """Shows the whole to-do list."""

    def __init__(self, host: PanelHost, head: Head) -> None:
        super().__init__(host, "to do")
        self._head = head

    async def load(self) -> Sequence[Line]:
        """Return the list."""
        return [(StyledCell(row),) for row in todo_rows(self._head.todos)] or text_lines("the list is empty")

    def show_head(self, head: Head | None) -> None:
        """Show the current list."""
        if head is not None and head.todos != self._head.todos:
            self._head = head
            self.reload()


class ContextWindow(Window):
    """Shows how the context window is used, and what the next turn would send."""

    def __init__(self, host: PanelHost, head: Head) -> None:
        super().__init__(host, "context of the next turn")
        self._head = head

    async def load(self) -> Sequence[Line]:
        """Load the next turn's context."""
        sent = await self.host.api.ask(PreviewContext(self._head.session))
        bars = [(StyledCell(row),) for row in context_rows(sent.usage, 40)]
        return [*bars, *text_lines(" "), *_sent_lines(sent)]


class UsageWindow(Window):
    """Shows usage by run, session, sub-agents, model, agent and tool."""

    def __init__(self, host: PanelHost, head: Head) -> None:
        super().__init__(host, "tokens and cost")
        self._head = head

    async def load(self) -> Sequence[Line]:
        """Load the usage."""
        stats = await self.host.views.usage(self._head.session)
        lines: list[Line] = [(StyledCell(row),) for row in usage_rows(self._head)]
        lines += [_use_line("with sub-agents", stats.total), *text_lines(" ")]
        for title, users in (("by model", stats.models), ("by agent", stats.agents)):
            lines += [
                _line(("strong", title)),
                *(_use_line(name, use) for name, use in users.items()),
                *text_lines(" "),
            ]
        lines += [_line(("strong", "by tool")), *(_tool_line(name, use) for name, use in stats.tools.items())]
        return lines


class ServersWindow(Window):
    """Shows the state of the folder's MCP and language servers, with details."""

    def __init__(self, host: PanelHost, cwd: str) -> None:
        super().__init__(host, "servers")
        self._cwd = cwd

    async def load(self) -> Sequence[Line]:
        """Load the servers' states."""
        servers = await self.host.folders.servers(self._cwd)
        lines: list[Line] = []
        for server, row in zip(servers, server_rows(servers), strict=True):
            detail = f"    {brief(server.detail)}" if server.detail else ""
            lines += [(StyledCell(row),), *([_line(("detail", detail))] if detail else [])]
        return lines or text_lines("no servers configured here")


class DoctorWindow(Window):
    """Shows problems with the folder's models and servers."""

    def __init__(self, host: PanelHost, cwd: str) -> None:
        super().__init__(host, "problems")
        self._cwd = cwd

    async def load(self) -> Sequence[Line]:
        """Load models and servers."""
        models = await self.host.folders.real_models(self._cwd)
        usable = sum(model.has_key for model in models)
        servers = [
            one for one in await self.host.folders.servers(self._cwd) if one.state not in ("ready", "idle")
        ]
        lines = [_line(("done" if usable else "warning", f"{usable} of {len(models)} models ready to use"))]
        for server, row in zip(servers, server_rows(servers), strict=True):
            lines += [(StyledCell(row),), _line(("detail", f"    {brief(server.detail)}"))]
        return [*lines, *text_lines("hint: run bridle doctor in a shell for a full check")]


class DiffWindow(Window):
    """Shows a diff, file by file."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("diff")]
    actions = (
        ("diff_style", "unified or side by side"),
        ("next_file", "next file"),
        ("previous_file", "previous file"),
    )

    def __init__(self, host: PanelHost, heading: str, text: str, path: str = "") -> None:
        """Start at `path`, if it is given."""
        super().__init__(host, heading)
        self._style: DiffStyle = host.diff_style
        self._text = text
        self._files: list[FileDiff] = []
        self._starts: list[int] = []
        self._path = path

    async def load(self) -> Sequence[Line]:
        """Parse the diff."""
        self._files = parse_diff(self._text)
        self.call_after_refresh(self._begin)
        return self._lines()

    def _begin(self) -> None:
        at = next((at for at, file in enumerate(self._files) if file.path == self._path), None)
        if at is not None:
            self.query_one(LinesView).scroll_to_line(self._starts[at])

    def _lines(self) -> Sequence[Line]:
        style: DiffStyle = self._style if self.size.width >= MIN_WIDTH_FOR_TWO else "unified"
        self._starts = []
        lines: list[Line] = []
        for file in self._files:
            self._starts.append(len(lines))
            lines += file_lines(file, style)
        return lines or diff_lines(self._text, style) or text_lines("no file changes")

    def action_diff_style(self) -> None:
        """Switch between unified and side by side."""
        self._style = "unified" if self._style == "side-by-side" else "side-by-side"
        self.query_one(LinesView).show_lines(self._lines())

    def action_next_file(self) -> None:
        """Go to the next file."""
        self._go(1)

    def action_previous_file(self) -> None:
        """Go to the previous file."""
        self._go(-1)

    def _go(self, step: int) -> None:
        view = self.query_one(LinesView)
        here = view.line_at_top
        after = [start for start in self._starts if start > here]
        before = [start for start in self._starts if start < here]
        found = after[:1] if step > 0 else before[-1:]
        for start in found:
            view.scroll_to_line(start)


def _line(*parts: Part) -> Line:
    return (StyledCell(styled(*parts)),)


def _use_line(name: str, use: UsageCounts) -> Line:
    cost = format_cost(use.cost, use.unpriced, "request")
    used = f"{format_count(use.turns, 'turn')}, {format_count(use.tokens, 'token')}, {cost}"
    return _line(("name", f"{brief(name):<{NAME_CELLS}} "), used)


def _tool_line(name: str, use: ToolStats) -> Line:
    failed = f", {use.failed} failed" if use.failed else ""
    denied = f", {use.denied} denied" if use.denied else ""
    counts = format_count(use.calls, "call"), format_count(use.tokens, "token")
    used = f"{counts[0]}{failed}{denied}, {format_elapsed(use.duration_ms)}, {counts[1]}"
    return _line(("name", f"{brief(name):<{NAME_CELLS}} "), used)


def _sent_lines(sent: NextContext) -> list[Line]:
    usage = sent.usage
    whose = f"{usage.earlier_messages} earlier, {usage.run_messages} of this run"
    tools = ", ".join(tool.name for tool in sent.tools)
    lines = [_line(f"{one_line(sent.model)} gets {format_count(len(sent.messages), 'message')} ({whose})")]
    if usage.dropped_messages:
        left_out = (
            f"{format_count(usage.dropped_messages, 'older message')} left out to fit; nothing is deleted"
        )
        lines.append(_line(("warning", f"! {left_out}")))
    lines += [_sent_line(usage.system, "system", sent.system), _sent_line(usage.tools, "tools", tools)]
    for at, message in enumerate(sent.messages):
        lines.append(
            _sent_line(sent.tokens[at] if at < len(sent.tokens) else 0, message.role, _gist(message))
        )
    return lines


def _sent_line(tokens: int, who: str, words: str) -> Line:
    margin = styled(("detail", f"{tokens:>9,} "), ("name", f"{who:<10}"))
    return (StyledCell(styled(one_line(words[:GIST_CHARS])), margin),)


def _gist(message: Message) -> str:
    calls = [f"» {call.name} {describe_args(call.args)}" for call in message.calls]
    results = [part.output[:GIST_CHARS] for part in message.parts if isinstance(part, ToolResult)]
    return " ".join([message.text[:GIST_CHARS], *calls, *results])


# ---------------------------------------------------------------------------- help window


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
            rows = [(self.host.key_text(row.name), row.help) for row in KEYS if row.scope == scope]
            lines += _table(f"keys {where}", [row for row in rows if row[0]])
        palette = self.host.key_text("palette")
        commands = [(f"/{name}", words) for name, words in self._commands]
        return [*lines, *_table(f"commands, in the prompt or with {palette}", commands)]


def _table(title: str, rows: Sequence[tuple[str, str]]) -> list[Line]:
    if not rows:
        return []
    head: Line = (StyledCell(styled(("strong", title))),)
    return [head, *(_row(keys, words) for keys, words in rows), *text_lines(" ")]


def _row(keys: str, words: str) -> Line:
    return (StyledCell(styled(words), styled(("name", f"  {keys:<{KEY_CELLS}} "))),)
