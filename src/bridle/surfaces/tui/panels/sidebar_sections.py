"""Sections of the side bar: context, to-do list, queue, files, sub-agents, servers, usage."""

from collections.abc import Sequence

from textual.content import Content

from bridle.core.context import ContextUsage
from bridle.core.protocol import QueuedPrompt, Todo
from bridle.core.revision import FileChange
from bridle.core.server_views import ServerState, ServerView
from bridle.surfaces.shared.terminal import Colour
from bridle.surfaces.shared.text_format import TODO_MARKS, describe_cost, format_count
from bridle.surfaces.shared.view_model.view_types import Head
from bridle.surfaces.tui.panels.host import Child
from bridle.surfaces.tui.panels.lines_view import brief
from bridle.surfaces.tui.panels.styles import OUTCOMES, styled

MAX_ROWS = 8
"""Rows of one section; its window shows all."""
LABEL_CELLS = 8
MAX_BAR_CELLS = 40

CONTEXT_PARTS: tuple[tuple[str, Colour], ...] = (
    ("system", "name"),
    ("tools", "name"),
    ("earlier", "name"),
    ("this run", "name"),
    ("reserve", "warning"),
    ("free", "done"),
)
SERVER_STATES: dict[ServerState, tuple[str, Colour]] = {
    "off": ("·", "detail"),
    "untrusted": ("!", "warning"),
    "starting": ("…", "warning"),
    "ready": ("✓", "done"),
    "waiting": ("…", "warning"),
    "login": ("?", "warning"),
    "failed": ("✗", "failed"),
    "idle": ("·", "detail"),
}
RUNNING: tuple[str, str, Colour] = ("▶", "running", "name")
LOST: tuple[str, str, Colour] = ("…", "cut off", "warning")


def context_rows(usage: ContextUsage, bar_cells: int) -> list[Content]:
    """Return a bar for each part of the context window."""
    free = max(0, usage.window - usage.total - usage.reserve)
    amounts = (usage.system, usage.tools, usage.earlier, usage.run, usage.reserve, free)
    if not usage.window:
        return [styled(("detail", "nothing sent yet"))]
    return [
        _bar(label, colour, amount, usage.window, min(MAX_BAR_CELLS, bar_cells))
        for (label, colour), amount in zip(CONTEXT_PARTS, amounts, strict=True)
    ]


def _bar(label: str, colour: Colour, amount: int, window: int, cells: int) -> Content:
    share = amount / window
    filled = min(cells, max(round(share * cells), 1 if amount else 0)) if cells > 0 else 0
    bar = [(colour, "█" * filled), ("detail", "·" * (cells - filled))]
    return styled(f"{label:<{LABEL_CELLS}} ", *bar, f" {amount:>9,}", ("detail", f" {share:>6.1%}"))


def todo_rows(todos: Sequence[Todo]) -> list[Content]:
    """Return a row for each to-do item."""
    rows = []
    for todo in todos:
        mark, colour = TODO_MARKS[todo.status]
        rows.append(styled((colour, mark), f" {brief(todo.text)}"))
    return rows


def queue_rows(queue: Sequence[QueuedPrompt]) -> list[Content]:
    """Return a row for each queued prompt."""
    return [
        styled(("name", "↪ " if one.delivery == "steer" else "  "), brief(one.message.text)) for one in queue
    ]


def file_rows(changes: Sequence[FileChange]) -> list[Content]:
    """Return a row for each changed file."""
    return [styled(_change(change), f" {brief(change.path)}") for change in changes]


def _change(change: FileChange) -> tuple[Colour, str]:
    if change.before is None:
        return "done", "+"
    return ("failed", "-") if change.after is None else ("warning", "~")


def child_rows(children: Sequence[Child]) -> list[Content]:
    """Return the sub-agents as a tree."""
    depths: dict[str, int] = {}
    rows = []
    for child in children:
        depth = depths.get(child.parent, -1) + 1
        depths[child.id] = depth
        rows.append(child_row(child, depth))
    return rows


def child_row(child: Child, depth: int) -> Content:
    """Return the row of one sub-agent."""
    mark, word, colour = OUTCOMES[child.outcome] if child.outcome else RUNNING if child.running else LOST
    branch = f"{'  ' * (depth - 1)}└ " if depth else ""
    used = f" {child.tokens:,} tokens, {describe_cost(child.cost)}" if child.tokens else ""
    return styled(
        f"{branch}",
        (colour, mark),
        f" {brief(child.name)}",
        (colour, f" {word}"),
        ("detail", used),
    )


def server_rows(servers: Sequence[ServerView]) -> list[Content]:
    """Return a row for each MCP and language server."""
    rows = []
    for server in servers:
        mark, colour = SERVER_STATES[server.state]
        tools = f" {server.tools} tools" if server.tools else ""
        named = f" {server.kind} {brief(server.name)} "
        rows.append(styled((colour, mark), named, (colour, server.state), ("detail", tools)))
    return rows


def usage_rows(head: Head) -> list[Content]:
    """Return the usage of the run and of the session."""
    rows = []
    if head.run is not None:
        cost = describe_cost(head.run.cost)
        rows.append(
            styled("this run ", ("detail", f"turn {head.run.turn}, {head.run.tokens:,} tokens, {cost}"))
        )
    totals = head.totals
    used = f"{totals.usage.context:,} tokens, {format_cost(totals.cost, totals.unpriced_turns, 'turn')}"
    rows.append(styled("session  ", ("detail", used)))
    return rows


def format_cost(cost: float, unpriced: int, noun: str) -> str:
    """Format a cost, and how many turns or requests have no known price."""
    if not unpriced:
        return describe_cost(cost)
    return (
        f"{describe_cost(cost)} and {format_count(unpriced, noun)} with unknown price"
        if cost
        else describe_cost(None)
    )
