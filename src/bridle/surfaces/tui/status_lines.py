"""The header and status lines around the conversation."""

import time
from collections.abc import Callable

from msgspec import Struct
from textual.content import Content
from textual.timer import Timer
from textual.widget import Widget

from bridle.core.context import ContextUsage
from bridle.core.permission import Mode
from bridle.surfaces.shared.terminal import Colour, cut, one_line
from bridle.surfaces.shared.text_format import describe_cost
from bridle.surfaces.shared.view_model.view_types import Head, State
from bridle.surfaces.tui.open_sessions import OpenSessions
from bridle.surfaces.tui.panels.styles import OUTCOMES, Part, styled
from bridle.surfaces.tui.session_link import LinkState

SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
SPIN_S = 0.1
BAR_CELLS = 8
MIN_TITLE = 10
"""The title keeps at least this width, however long the names of agent and model are."""

STATES: dict[State, tuple[str, str, Colour]] = {
    "idle": ("·", "ready", "detail"),
    "running": ("…", "running", "name"),
    "waiting": ("?", "waits for you", "warning"),
    "cut_off": ("!", "cut off", "warning"),
}
"""A mark, a label and a color for each session state."""
MODE_COLOURS: dict[Mode, Colour] = {
    "ask": "detail",
    "plan": "name",
    "accept-edits": "warning",
    "yolo": "failed",
}


class LinkStatus(Struct, frozen=True):
    """What the status line shows besides the session's state."""

    link: LinkState = "connecting"
    why: str = ""
    """Why there is no connection."""
    in_process: bool = False
    """True if the sessions are in this process, so that runs end with it."""
    waiting: int = 0
    """How many other sessions wait for a person."""
    running: int = 0
    """How many other sessions are running."""


def format_header(front: OpenSessions, width: int) -> Content:
    """Return the header: title · agent · model · mode."""
    head = front.head
    title = one_line(head.title if head else "") or ("new session" if head is None else "no title yet")
    parts: list[Part] = []
    if len(front.open) > 1 and front.session in front.open:
        parts.append(("detail", f"{front.open.index(front.session) + 1}/{len(front.open)} "))
    rest: list[Part] = []
    if head is not None and head.is_sub_agent:
        rest.append(("detail", " (sub-agent)"))
    model = f"{front.model} ({front.choice.effort})" if front.choice.effort else front.model
    for words in (front.agent, model):
        if words:
            rest += [("detail", " · "), ("name", one_line(words))]
    rest += [("detail", " · "), (MODE_COLOURS[front.mode], front.mode)]
    room = width - styled(*parts, *rest).cell_length
    return styled(*parts, ("strong", cut(title, max(MIN_TITLE, room))), *rest)


def format_status(head: Head | None, situation: LinkStatus, spin: str, now_ms: int) -> Content:
    """Return the status: state, turn, queued prompts, other sessions, context, tokens, cost."""
    parts = _link(situation)
    if head is not None or situation.link == "ready":
        parts += _state(head, spin, now_ms)
    if head is not None and head.queue:
        parts += [("detail", " · "), ("warning", f"{len(head.queue)} queued")]
    if situation.waiting:
        parts += [("detail", " · "), ("warning", f"? {situation.waiting} elsewhere")]
    if situation.running:
        parts.append(("detail", f" · … {situation.running} elsewhere"))
    if head is not None:
        if head.context.window:
            parts += [("detail", " · "), *_context(head.context)]
        used = head.totals.usage.input + head.totals.usage.output
        if used:
            parts.append(("detail", f" · {format_count(used)} tokens"))
        if head.totals.cost:
            parts.append(("detail", f" · {describe_cost(head.totals.cost)}"))
    return styled(*parts)


def _link(situation: LinkStatus) -> list[Part]:
    match situation.link:
        case "connecting":
            return [("warning", "connecting ")]
        case "reconnecting":
            why = f" ({one_line(situation.why)})" if situation.why else ""
            return [("warning", f"! no connection{why}, trying again ")]
        case "ready":
            return [("detail", "no daemon · ")] if situation.in_process else []


def _state(head: Head | None, spin: str, now_ms: int) -> list[Part]:
    if head is None:
        return [("detail", "· ready")]
    mark, words, colour = STATES[head.state]
    if head.state == "idle" and head.outcome is not None:
        mark, words, colour = OUTCOMES[head.outcome]
    if head.state == "running":
        mark = spin or mark
    parts: list[Part] = [(colour, f"{mark} {words}")]
    if head.run is not None and head.state in ("running", "waiting"):
        if head.run.turn:
            parts.append(("detail", f" · turn {head.run.turn}"))
        if spin and head.state == "running":
            parts.append(("detail", f" · {format_duration(now_ms - head.run.started_at)}"))
        if head.run.doing and head.state == "running":
            parts.append(("detail", f" · {cut(one_line(head.run.doing), 40)}"))
    return parts


def _context(usage: ContextUsage) -> list[Part]:
    share = min(1.0, usage.total / usage.window)
    full = round(share * BAR_CELLS)
    colour: Colour = "failed" if share > 0.9 else "warning" if share > 0.75 else "detail"
    return [(colour, "█" * full + "·" * (BAR_CELLS - full) + f" {share:.0%}")]


def format_count(number: int) -> str:
    """Format a number of tokens: 950, 12.3k, 4.5M."""
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            text = f"{number / size:.1f}".removesuffix(".0")
            return text + letter
    return str(number)


def format_duration(duration_ms: int) -> str:
    """Format an elapsed time: 42s, 3m 05s, 2h 01m."""
    seconds = max(0, duration_ms // 1000)
    if seconds < 60:
        return f"{seconds}s"
    if seconds < 3600:
        return f"{seconds // 60}m {seconds % 60:02}s"
    return f"{seconds // 3600}h {seconds % 3600 // 60:02}m"


class HeaderLine(Widget):
    """The line above the conversation that names the current session."""

    DEFAULT_CSS = "HeaderLine { height: 1; padding: 0 1; background: $panel; text-wrap: nowrap; }"

    def __init__(self, front: OpenSessions) -> None:
        super().__init__()
        self._front = front

    def render(self) -> Content:
        """Return the header's text."""
        return format_header(self._front, self.size.width)


class StatusLine(Widget):
    """The line below the prompt that shows the session's state; animated only during a run."""

    DEFAULT_CSS = "StatusLine { height: 1; padding: 0 1; text-wrap: nowrap; text-overflow: ellipsis; }"

    def __init__(self, front: OpenSessions, situation: Callable[[], LinkStatus]) -> None:
        super().__init__()
        self._front = front
        self._situation = situation
        self._turn = 0
        self._timer: Timer | None = None

    def on_mount(self) -> None:
        """Create the paused animation timer."""
        self._timer = self.set_interval(SPIN_S, self._spin, pause=True)

    def show(self) -> None:
        """Redraw; animate while a run is active."""
        if self._timer is not None:
            head = self._front.head
            moves = head is not None and head.state == "running" and self.app.animation_level != "none"
            self._timer.resume() if moves else self._timer.pause()
        self.refresh()

    def _spin(self) -> None:
        self._turn += 1
        self.refresh()

    def render(self) -> Content:
        """Return the status text."""
        spin = SPINNER[self._turn % len(SPINNER)] if self.app.animation_level != "none" else ""
        return format_status(self._front.head, self._situation(), spin, time.time_ns() // 1_000_000)
