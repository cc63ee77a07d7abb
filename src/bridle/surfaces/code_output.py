"""Tracks the output of running code, to separate it from the rest of the result."""

from bridle.core.ids import CallId
from bridle.core.messages import ToolResult

MAX_CHARS = 512 * 1024  # results that can be compared with it are shorter
NO_OUTPUT = "[no output]"
MORE = "\n[there is more; it is not shown live]\n"
NOT_FINISHED = "not finished: "
LAST_PRINTED = "; the last it had printed was:\n"
TRACE_HEAD = "Traceback (most recent call last):"


class CodeOutput:
    """Collects the output of running code, up to a limit."""

    def __init__(self) -> None:
        self._pieces: dict[CallId, list[str]] = {}
        self._chars = 0

    def add(self, call_id: CallId, text: str) -> None:
        """Add a piece of output."""
        if self._chars < MAX_CHARS:
            self._pieces.setdefault(call_id, []).append(text)
            self._chars += len(text)

    def rest_of(self, result: ToolResult) -> str:
        """Return the part of a result after its output (error and notes), and forget the call."""
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
        trace = output.rfind(f"\n{TRACE_HEAD}")  # the collected output differs from the result's
        return output[trace + 1 :] if trace >= 0 else output.rpartition("\n")[2]
