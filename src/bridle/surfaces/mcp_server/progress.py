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
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from bridle.surfaces.missed_text import MissedText
from bridle.surfaces.text_format import describe_args

MAX_LINES = 200
MAX_LINE_CHARS = 500
MAX_TEXT_CHARS = 4_000


class ProgressLines:
    """Collects progress lines; for a slow client, text is merged and the oldest lines are dropped."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._is_text = False
        self._unsaid = MissedText()

    def add(self, item: Record | Delta) -> None:
        """Add a record or delta."""
        if rest := self._unsaid.take(item)[0]:
            self._add_text(rest)
        if isinstance(item, TextDelta):
            self._add_text(item.text)
        elif line := _line(item):
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
        case ToolStarted() as started:
            return f"{started.tool} {describe_args(started.args)}".rstrip()
        case ToolFinished(result=result):
            return f"{result.name} {'failed' if result.is_error else 'is done'}"
        case Retrying() as again:
            return f"trying again ({again.attempt} of {again.max_attempts}): {again.message}"
        case ModelSwitched() as switched:
            return f"going on with {switched.model}: {switched.reason}"
        case ChildStarted() as child:
            return f"{child.name} begins: {child.task}"
        case Compacted():
            return "the conversation was summarised"
        case BudgetWarned() as warned:
            return f"{warned.used:g} of {warned.limit:g} {warned.kind} are used"
        case Notice(text=text):
            return text
        case _:
            return ""
