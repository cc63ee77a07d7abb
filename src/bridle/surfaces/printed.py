"""What code has printed, to tell it apart from what its result says beside it."""

from bridle.core.ids import CallId
from bridle.core.messages import ToolResult

MOST_CHARS = 512 * 1024  # a result that can be compared with it is shorter
NO_OUTPUT = "[no output]"
MORE = "\n[there is more; it is not shown live]\n"
NOT_FINISHED = "not finished: "
LAST_PRINTED = "; the last it had printed was:\n"
TRACE_HEAD = "Traceback (most recent call last):"


class Printed:
    """Collects what running code prints, up to a bound."""

    def __init__(self) -> None:
        self._pieces: dict[CallId, list[str]] = {}
        self._chars = 0

    def add(self, call_id: CallId, text: str) -> None:
        """Take a piece of output."""
        if self._chars < MOST_CHARS:
            self._pieces.setdefault(call_id, []).append(text)
            self._chars += len(text)

    def rest_of(self, result: ToolResult) -> str:
        """Return what a result says beyond what was printed, its error and notes, and forget the call."""
        pieces = self._pieces.pop(result.call_id, [])
        self._chars -= sum(map(len, pieces))
        output, printed = result.output.strip("\n"), "".join(pieces).strip("\n")
        if output.startswith(NOT_FINISHED):
            return output.partition(LAST_PRINTED)[0]
        if output.startswith(printed):
            rest = output[len(printed) :].strip("\n")
            return "" if rest == NO_OUTPUT else rest
        if not result.is_error:
            return ""
        trace = output.rfind(f"\n{TRACE_HEAD}")  # not all that was printed is there, or more than that
        return output[trace + 1 :] if trace >= 0 else output.rpartition("\n")[2]
