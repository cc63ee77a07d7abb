"""Progress lines of a run for an MCP client: one line per event, text as it is generated."""

from bridle.core.protocol import (
    BudgetWarned,
    ChildStarted,
    Compacted,
    Delta,
    ModelSwitched,
    Notice,
    Record,
    Retrying,
    TextDelta,
    TurnStarted,
)
from bridle.surfaces.shared.missed_text import MissedText
from bridle.surfaces.shared.view_model.call_items import OPEN
from bridle.surfaces.shared.view_model.calls import RunCalls
from bridle.surfaces.shared.view_model.view_types import Call

MAX_LINES = 200
MAX_LINE_CHARS = 500
MAX_TEXT_CHARS = 4_000


class ProgressLines:
    """Collects progress lines; for a slow client, text is merged and the oldest lines are dropped."""

    def __init__(self) -> None:
        self.calls = RunCalls()
        """The calls of the newest turn."""
        self._lines: list[str] = []
        self._is_text = False
        self._unsaid = MissedText()

    def add(self, item: Record | Delta) -> None:
        """Add a record or delta."""
        if rest := self._unsaid.take(item)[0]:
            self._add_text(rest)
        if isinstance(item, TextDelta):
            self._add_text(item.text)
        else:
            calls = self.calls.add(item) if isinstance(item, Record) else []
            for line in filter(None, [_line(item), *map(_call_line, calls)]):
                self._is_text = False
                self._lines.append(line[:MAX_LINE_CHARS])
        del self._lines[:-MAX_LINES]

    def _add_text(self, text: str) -> None:
        if self._is_text and self._lines:
            self._lines[-1] = (self._lines[-1] + text)[-MAX_TEXT_CHARS:]
        else:
            self._lines.append(text[-MAX_TEXT_CHARS:])
        self._is_text = True

    def take(self) -> list[str]:
        """Return the new lines, in order."""
        lines, self._lines, self._is_text = self._lines, [], False
        return lines


def _line(item: Record | Delta) -> str:
    match item.event if isinstance(item, Record) else item:
        case TurnStarted(turn=turn):
            return f"turn {turn}"
        case Retrying() as again:
            return f"retrying ({again.attempt} of {again.max_attempts}): {again.message}"
        case ModelSwitched() as switched:
            return f"continuing with {switched.model}: {switched.reason}"
        case ChildStarted() as child:
            return f"{child.name} started: {child.task}"
        case Compacted():
            return "the conversation was summarised"
        case BudgetWarned() as warned:
            return f"{warned.used:g} of {warned.limit:g} {warned.kind} are used"
        case Notice(text=text):
            return text
        case _:
            return ""


def _call_line(call: Call) -> str:
    if call.state in OPEN:
        return f"{call.tool} {call.brief}".rstrip() if call.started_at else ""
    return f"{call.tool} {'is done' if call.state == 'done' else 'failed'}"
