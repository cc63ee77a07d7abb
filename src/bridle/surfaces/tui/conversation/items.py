"""Prompts, thoughts and notes as flows."""

from bridle.core.protocol import MessageSource
from bridle.surfaces.text_format import format_count
from bridle.surfaces.tui.conversation.cards import chips
from bridle.surfaces.tui.conversation.text_wrap import Flow, Piece, Pieces, plain_flows, sanitize_line
from bridle.surfaces.view_model.view_types import Note, Said, Weight

SAID: Pieces = (("▌ ", "said"),)
CLOSED_SAID_LINES = 20
OPEN_SAID_LINES = 5_000
WEIGHTS: dict[Weight, tuple[str, str]] = {
    "detail": ("·", "dim"),
    "done": ("✓", "done"),
    "warning": ("!", "warning"),
    "failed": ("✗", "failed"),
}
"""The mark of each weight, and its ink."""
SOURCES: dict[MessageSource, str] = {
    "prompt": "",
    "steer": "sent to the active run",
    "fork": "from the session this one was forked from",
    "import": "imported",
    "child": "from a sub-agent",
    "peer": "from another agent",
    "check": "from the check that failed",
    "extract": "asked by Bridle",
}
"""A label for messages whose origin is not obvious."""


def said_flows(said: Said, *, is_open: bool) -> list[Flow]:
    """Return the flows of a message to the model."""
    flows: list[Flow] = []
    if source := SOURCES[said.source]:
        flows.append(Flow(((source, "dim"),), SAID, SAID))
    lines = plain_flows(said.text.strip("\n"))
    limit = OPEN_SAID_LINES if is_open else CLOSED_SAID_LINES
    shown = lines if len(lines) <= limit + 1 else lines[:limit]
    flows += [Flow(flow.pieces, SAID, SAID) for flow in shown if said.text or not said.attached]
    if len(shown) < len(lines):
        words = f"{'…' if is_open else '▸'} {format_count(len(lines) - len(shown), 'more line')}"
        flows.append(Flow(((words, "dim"),), SAID, SAID, folds=True))
    elif is_long(said):
        flows.append(Flow((("▾ fold", "dim"),), SAID, SAID, folds=True))
    if said.attached:
        flows.append(Flow(chips(said.attached), SAID, SAID))
    return flows


def is_long(said: Said) -> bool:
    """Return True if the message is long enough to be folded."""
    return said.text.strip("\n").count("\n") > CLOSED_SAID_LINES


def thought_head(words: int, seconds: int, *, is_live: bool, is_open: bool) -> Flow:
    """Return the line that shows a folded thought."""
    long = f" for {seconds} s" if seconds else ""
    told = f"thinking{long}…" if is_live else f"thought{long}"
    text = f"{'▾' if is_open else '▸'} {told} · {format_count(words, 'word')}"
    return Flow(((text, "thought"),), mode="cut", folds=True)


def note_flows(note: Note) -> list[Flow]:
    """Return the flow of a note; the end of a run is a horizontal rule with its summary."""
    mark, ink = WEIGHTS[note.weight]
    pieces: tuple[Piece, ...] = ((mark, ink), (" ", "text"), (sanitize_line(note.text), ink))
    if note.run_id is not None:
        return [Flow(pieces, (("── ", "dim"),), mode="rule")]
    return [Flow(pieces[2:], ((f"{mark} ", ink),), (("  ", "text"),))]
