"""The display of a kernel cell: what the code prints goes to stdout, everything else to stderr."""

from msgspec.structs import replace

from bridle.core.codeact import PYTHON
from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    BudgetWarned,
    Delta,
    FilesChanged,
    Lagged,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    Record,
    TodosChanged,
    ToolOutputDelta,
)
from bridle.surfaces.cli.output.run_view import RunView
from bridle.surfaces.shared.output_format import EXIT_CODES, Result
from bridle.surfaces.shared.terminal import Console
from bridle.surfaces.shared.text_format import MORE, NOT_FINISHED, CodeOutput, format_count, short_id
from bridle.surfaces.shared.view_model.call_items import OPEN
from bridle.surfaces.shared.view_model.calls import RunCalls
from bridle.surfaces.shared.view_model.view_types import Call

FAILED = 1


class CellView:
    """Writes a cell's output to stdout as it arrives, and its tool calls to stderr."""

    def __init__(self, console: Console, *, chatty: bool) -> None:
        self._console = console
        self._notes = RunView(console, answer="streamed", chatty=chatty, verbose=False)
        self._chatty = chatty
        self._calls = RunCalls()
        self._cell: CallId | None = None
        self._printed = CodeOutput()
        self.last_seq = 0
        """Sequence number of the last record shown."""
        self.exit_code = 0
        """Exit code of the last cell, as a process would return it."""

    def show(self, item: Record | Delta) -> None:
        """Show the next item of the stream."""
        match item:
            case Record():
                self.last_seq = item.seq
                self._show_event(item)
                for call in self._calls.add(item):
                    self._show_call(call)
            case ToolOutputDelta() if item.call_id == self._cell:
                self._printed.add(item.call_id, item.text)
                self._print(item.text.removesuffix(MORE))
                if item.text.endswith(MORE):
                    self._notes.pause()
                    self._console.warn("the cell has printed more than is shown of one")
                    self._console.hint("let it write into a file")
            case Lagged():
                self._console.warn(f"{format_count(item.dropped, 'fragment')} of the output not shown")
            case ToolOutputDelta() | Notice():
                self._notes.show(item)
            case _:
                pass

    def pause(self) -> None:
        """Erase transient output and end the line, so that something else can write to the screen."""
        self._notes.pause()

    def finish(self, result: Result) -> None:
        """Record how the run ended."""
        self._notes.pause()
        self.exit_code = result.exit_code or self.exit_code

    def print_summary(self, result: Result) -> None:
        """Print the session id and the number of tool calls, if chatty."""
        if self._chatty:
            calls = format_count(max(0, result.tool_calls - 1), "tool call")  # the cell itself is a tool call
            text = f"session {short_id(result.session_id)} · {calls}"
            self._console.err.line(self._console.err.paint("detail", text))

    def _show_event(self, record: Record) -> None:
        match record.event:
            case FilesChanged() as event if event.call_id in (None, self._cell):
                self._notes.show(replace(record, event=replace(event, call_id=None)))
            case ApprovalDecided() | QuestionAsked() | QuestionAnswered() | TodosChanged() | BudgetWarned():
                self._notes.show(record)
            case _:
                pass

    def _show_call(self, call: Call) -> None:
        has_ended = call.state not in OPEN
        if call.parent is None and has_ended:
            self._finish_cell(call)
        elif call.parent is None and call.started_at and call.tool == PYTHON:
            self._cell, self.exit_code = call.call_id, 0
        elif call.parent is not None and (call.started_at or has_ended):
            brief = call.brief if call.started_at else ""  # of a refused call, the approval has shown it
            self._notes.show_call(replace(call, parent=None, brief=brief))

    def _finish_cell(self, cell: Call) -> None:
        console = self._console
        result = ToolResult(cell.call_id, cell.tool, cell.output, is_error=cell.state != "done")
        if cell.answer:
            self._print(f"{cell.answer}\n")
        rest = self._printed.rest_of(result)
        if result.is_error:
            self.exit_code = EXIT_CODES["denied"] if cell.state == "denied" else FAILED
        if rest.startswith(NOT_FINISHED):  # the run's outcome gives the reason
            return
        if rest and (result.is_error or self._chatty):
            self._notes.pause()
            console.err.line(console.err.paint("failed" if result.is_error else "detail", rest))
            console.err.flush()

    def _print(self, text: str) -> None:
        """Write the cell's output: unchanged into a pipe; on a terminal, kept apart from notes."""
        if self._console.out.is_terminal:
            self._notes.say(text)
        else:
            self._console.out.data(text)
        self._console.out.flush()
