"""A row: one item of the conversation with its growing text, its fold state and its lines."""

from typing import Literal

from msgspec.structs import replace

from bridle.core.protocol import MessageSource
from bridle.surfaces.shared.text_format import format_count
from bridle.surfaces.shared.view_model.view_types import Answer, Call, Item, Note, Said, Thought, Weight
from bridle.surfaces.tui.conversation.cards import OPEN_TAIL_CHARS, TAIL_CHARS, card_flows, chips, is_foldable
from bridle.surfaces.tui.conversation.markdown import MarkdownStream
from bridle.surfaces.tui.conversation.text_wrap import (
    Flow,
    Line,
    Piece,
    Pieces,
    plain_flows,
    sanitize_line,
    wrap,
)

# ---------------------------------------------------------------------------- items
# Prompts, thoughts and notes as flows.


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
    state = f"thinking{long}…" if is_live else f"thought{long}"
    text = f"{'▾' if is_open else '▸'} {state} · {format_count(words, 'word')}"
    return Flow(((text, "thought"),), mode="cut", folds=True)


def note_flows(note: Note) -> list[Flow]:
    """Return the flow of a note; the end of a run is a horizontal rule with its summary."""
    mark, ink = WEIGHTS[note.weight]
    pieces: tuple[Piece, ...] = ((mark, ink), (" ", "text"), (sanitize_line(note.text), ink))
    if note.run_id is not None:
        return [Flow(pieces, (("── ", "dim"),), mode="rule")]
    return [Flow(pieces[2:], ((f"{mark} ", ink),), (("  ", "text"),))]


# ---------------------------------------------------------------------------- rows


Field = Literal["text", "output", "written"]

THOUGHT_BAR: Pieces = (("│ ", "dim"),)
GUESSED_CARD_LINES = 4
MAX_GUESSED_LINES = 10_000


class TextBuffer:
    """A text built from many small chunks, without copying it for each chunk."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self.chars = 0

    def add(self, text: str) -> None:
        """Append a chunk."""
        self._parts.append(text)
        self.chars += len(text)

    def whole(self) -> str:
        """Return the whole text."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def tail(self, chars: int) -> str:
        """Return the last `chars` characters, or all if there are fewer."""
        taken: list[str] = []
        size = 0
        for part in reversed(self._parts):
            taken.append(part)
            size += len(part)
            if size >= chars:
                break
        return "".join(reversed(taken))[-chars:]


class Row:
    """An item and its presentation."""

    def __init__(self, item: Item, page: int | None, now_ms: int) -> None:
        self.key = item.key
        self.page = page
        """The argument that loaded its page; None for the live end."""
        self.is_open = False
        self.height = 0
        """The number of lines, or an estimate."""
        self.is_laid = False
        """True if the height is exact."""
        self.depth = 0
        """How many calls it is nested in."""
        self.now_ms = now_ms
        self._item = item
        self._began_ms = now_ms if _is_live(item) else 0
        self._grown: dict[Field, TextBuffer] = {}
        self._prose: MarkdownStream | None = None
        self._words = 0
        self._in_word = False
        self._flows: list[Flow] | None = None
        self._lines: list[Line] = []
        self._width = 0
        self._is_stale = True
        self._count_words(item.text if isinstance(item, Thought) else "")

    @property
    def item(self) -> Item:
        """The item in its current state."""
        for field, grown in self._grown.items():
            self._item = replace(self._item, **{field: getattr(self._item, field) + grown.whole()})
        self._grown = {}
        return self._item

    @property
    def kind(self) -> type[Item]:
        """The type of the item."""
        return type(self._item)

    @property
    def is_live(self) -> bool:
        """True while the item may still change."""
        return _is_live(self._item)

    @property
    def is_foldable(self) -> bool:
        """True if the item can be opened and closed."""
        match self._item:
            case Call():
                return is_foldable(self.item)  # type: ignore[arg-type]
            case Said():
                return is_long(self._item)
            case Thought():
                return True
            case Answer() | Note():
                return False

    def put(self, item: Item, now_ms: int) -> None:
        """Replace the item; keep the layout of text that did not change."""
        old = self.item
        self._item = item
        self.now_ms = now_ms
        self._stale()
        if isinstance(item, Answer | Thought) and isinstance(old, Answer | Thought):
            if self._prose is not None and item.text.startswith(old.text):
                self._prose.feed(item.text[len(old.text) :])
                if not item.is_live:
                    self._prose.finish()
            else:
                self._prose = None
            self._words, self._in_word = 0, False
            self._count_words(item.text if isinstance(item, Thought) else "")
        else:
            self._prose = None

    def grow(self, field: Field, text: str) -> None:
        """Append to one of the item's texts."""
        if not hasattr(self._item, field):
            return
        self._grown.setdefault(field, TextBuffer()).add(text)
        if self._prose is not None and field == "text":
            self._prose.feed(text)
        if isinstance(self._item, Thought):
            self._count_words(text)
        self._stale()

    def fold(self, *, is_open: bool) -> None:
        """Open or close the row."""
        self.is_open = is_open
        self._stale()

    def tick(self, now_ms: int) -> bool:
        """Update the time; return True if that changes the row's text."""
        if now_ms // 1000 == self.now_ms // 1000 or not self.is_live:
            return False
        self.now_ms = now_ms
        if isinstance(self._item, Answer):
            return False
        self._stale()
        return True

    def nest(self, depth: int) -> None:
        """Set how many calls the row is nested in."""
        if depth != self.depth:
            self.depth = depth
            self._stale()

    def lines(self, width: int) -> list[Line]:
        """Return the row's lines; the caller must not change the list."""
        if isinstance(self._item, Answer):
            self._lines = self._prosed().lines(width)
        elif self._is_stale or width != self._width:
            self._lines = self._drawn(width)
        self._width, self._is_stale = width, False
        self.height, self.is_laid = len(self._lines), True
        return self._lines

    def shown(self, width: int) -> list[Line]:
        """Return the lines as last laid out, so that drawing is cheap."""
        return self._lines if self._lines and width == self._width else self.lines(width)

    @property
    def is_rough(self) -> bool:
        """True while some of its text is not formatted."""
        return self._prose is not None and self._prose.is_rough

    def refine(self) -> None:
        """Let the next layout format more of the text."""
        if self._prose is not None and self._prose.is_rough:
            self._prose.refine()
            self._stale()

    def estimate_height(self, width: int) -> None:
        """Estimate the height without laying the row out."""
        self.is_laid = False
        match self._item:
            case Call():
                self.height = GUESSED_CARD_LINES if is_foldable(self._item) else 1
            case Answer(text=text) | Said(text=text):
                self.height = min(MAX_GUESSED_LINES, text.count("\n") + len(text) // max(1, width) + 1)
            case Thought() | Note():
                self.height = 1

    def release(self) -> None:
        """Free what can be computed again."""
        if not self.is_live:
            self._prose = None
            self._flows, self._lines, self._is_stale = None, [], True

    def _stale(self) -> None:
        self._flows, self._is_stale, self.is_laid = None, True, False

    def _drawn(self, width: int) -> list[Line]:
        if self._flows is None:
            self._flows = self._drawn_flows()
        lines = [line for flow in self._flows for line in wrap(flow, width)]
        if not isinstance(self._item, Thought) or not self.is_open:
            return lines
        bar = THOUGHT_BAR if width > len(THOUGHT_BAR[0][0]) else ()
        margin = sum(len(text) for text, _ in bar)
        text = self._prosed().lines(width - margin)
        return lines + [Line(bar + line.pieces, line.margin + margin, line.join) for line in text]

    def _drawn_flows(self) -> list[Flow]:
        match self._item:
            case Said():
                return said_flows(self._item, is_open=self.is_open)
            case Thought():
                seconds = (self.now_ms - self._began_ms) // 1000 if self._began_ms else 0
                is_live = self._item.is_live
                return [thought_head(self._words, seconds, is_live=is_live, is_open=self.is_open)]
            case Call():
                call = self._recent(self._item)
                return card_flows(call, is_open=self.is_open, depth=self.depth, now_ms=self.now_ms)
            case Note():
                return note_flows(self._item)
            case Answer():
                return []

    def _recent(self, call: Call) -> Call:
        """Return a call with only the ends of growing texts; texts that do not grow are complete."""
        chars = OPEN_TAIL_CHARS if self.is_open else TAIL_CHARS
        for field, grown in self._grown.items():
            earlier = getattr(call, field) if grown.chars < chars else ""
            call = replace(call, **{field: earlier + grown.tail(chars)})
        return call

    def _prosed(self) -> MarkdownStream:
        if self._prose is None:
            item = self.item
            assert isinstance(item, Answer | Thought)
            self._prose = MarkdownStream("thought" if isinstance(item, Thought) else "text")
            self._prose.feed(item.text)
            if not item.is_live:
                self._prose.finish()
        return self._prose

    def _count_words(self, text: str) -> None:
        if text:
            self._words += len(text.split()) - (self._in_word and not text[0].isspace())
            self._in_word = not text[-1].isspace()


def _is_live(item: Item) -> bool:
    if isinstance(item, Answer | Thought):
        return item.is_live
    return isinstance(item, Call) and item.state in ("writing", "waiting", "running")
