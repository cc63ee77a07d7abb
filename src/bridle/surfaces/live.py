"""A run as a person sees it while it happens.

```
I change the greeting.                                        stdout: what the model says
» edit_file greet.py ✓ 3 ms                                   stderr: everything else
  @@ -1,1 +1,1 @@
  -hello
  +hello, world
» bash make test                                              what a call prints stands below it
  3 passed
  ✓ 1.2 s
session 019a8536-2b7c · 3 turns · 2 tool calls · 812 tokens · price unknown
```
"""

from typing import Literal

from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.permission import SHELL_TOOL
from bridle.core.protocol import (
    ApprovalDecided,
    BudgetWarned,
    Delta,
    FilesChanged,
    Lagged,
    ModelReplied,
    ModelSwitched,
    Notice,
    QuestionAnswered,
    QuestionAsked,
    ReasoningDelta,
    Record,
    Retrying,
    Rewound,
    TextDelta,
    Todo,
    TodosChanged,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.core.revision import FileChange
from bridle.surfaces.render import (
    count,
    describe_args,
    describe_changes,
    paint_diff,
    question_lines,
    summary_line,
    todo_lines,
    took,
)
from bridle.surfaces.terminal import Colour, Console, Screen, columns, cut, one_line
from bridle.surfaces.wire import Result

CHANGE_LINES = 20  # of an edit that needed no approval; one that does is shown whole
ERROR_LINES = 6
NO_OUTPUT = "[no output]"
ROOM_FOR_END = 16  # of a call's line, for its mark and duration

AnswerStyle = Literal["streamed", "final", "none"]


class TextView:
    """Writes a run while it happens.

    On a terminal the last line may be a transient one that says what is going on; it is wiped before
    anything else is written.
    """

    def __init__(self, console: Console, *, answer: AnswerStyle, chatty: bool, verbose: bool) -> None:
        self._out = console.out
        self._err = console.err
        self._answer = answer
        self._chatty = chatty
        """Whether tool and status lines are shown."""
        self._verbose = verbose
        """Whether reasoning is shown too."""
        self._streamed: list[str] = []
        self._calls: dict[CallId, ToolCall] = {}
        """The calls of this turn that have no result yet."""
        self._running: set[CallId] = set()
        self._approved: set[CallId] = set()
        """Calls whose change was seen when they were approved."""
        self._changes: dict[CallId, list[FileChange]] = {}
        """What the calls that are about to end have changed on disk."""
        self._todos: tuple[Todo, ...] = ()
        """What the call that is about to end has put on the list."""
        self._printing: CallId | None = None
        """The call whose line was written before its end, because it prints something."""
        self._transient = ""
        self._unfinished: Screen | None = None
        """The stream whose line has no end yet."""

    def show(self, item: Record | Delta) -> None:
        """Write the next item of the stream."""
        match item:
            case Record():
                self._show_event(item)
            case TextDelta():
                self._streamed.append(item.text)
                self._say(item.text)
            case ReasoningDelta() if self._verbose:
                self._write(self._err, item.text, "detail")
            case ToolOutputDelta() if self._chatty:
                self._show_output(item)
            case Notice():
                self._status("warning", item.text)
            case Lagged() if self._verbose:
                self._status("detail", f"{count(item.dropped, 'fragment')} not shown")
            case _:
                pass
        self._out.flush()
        self._err.flush()

    def pause(self) -> None:
        """Leave the screen clean for somebody else to write on."""
        self._end_line()
        self._err.flush()

    def finish(self, result: Result) -> None:
        """Write what is known only at the end: the final answer if only that is wanted, and the costs."""
        self._end_line()
        if self._answer == "final" and result.outcome == "completed":
            self._write(self._out, result.text)
            self._end_line()
        if self._chatty:
            self._err.line(self._err.paint("detail", summary_line(result)))

    def _show_event(self, record: Record) -> None:
        match record.event:
            case TurnStarted():
                self._hint("waiting for the model")
            case ModelReplied() as event:
                self._calls = {call.id: call for call in event.message.calls}
                self._finish_text(event.message.text)
            case Retrying() as event:
                self._streamed = []
                self._status("warning", f"retrying in {event.delay_ms / 1000:.1f} s: {event.message}")
            case ModelSwitched() as event:
                self._streamed = []
                self._status("warning", f"going on with {event.model}: {event.reason}")
            case ToolStarted() as event:
                self._calls.setdefault(event.call_id, ToolCall(event.call_id, event.tool, event.args))
                self._running.add(event.call_id)
                self._hint_running()
            case ApprovalDecided(answer="once" | "session" | "always", reason="") as event:
                self._approved.add(event.call_id)  # with a reason it was a rule that answered
            case ToolFinished() as event:
                self._finish_call(event)
                self._hint_running()
            case BudgetWarned() as event:
                self._status("warning", f"{event.used:g} of {event.limit:g} {event.kind} used")
            case _:
                self._show_note(record)

    def _show_note(self, record: Record) -> None:
        match record.event:
            case FilesChanged(call_id=None) as event:
                self._status("detail", f"on disk: {describe_changes(event.changes)}")
            case FilesChanged(call_id=str() as call_id) as event:
                self._changes.setdefault(CallId(call_id), []).extend(event.changes)
            case TodosChanged() as event:
                self._todos = event.todos
            case QuestionAsked() as event if not self._err.is_terminal:  # there it is asked
                self._note(question_lines(self._err, event.question))
            case QuestionAnswered() as event if not self._err.is_terminal:
                self._status("detail", f"answered: {', '.join(event.answers) or 'nothing'}")
            case Rewound() as event:
                self._status("warning", f"back at event {event.to_seq} ({event.scope})")
            case _:
                pass

    # ------------------------------------------------------------------ text

    def _say(self, text: str) -> None:
        if self._answer == "streamed":
            self._write(self._out, text)

    def _finish_text(self, whole: str) -> None:
        """Write what was not streamed, for a watcher may have come late or lagged."""
        streamed = "".join(self._streamed)
        self._streamed = []
        if not whole.startswith(streamed):
            self._end_line()
            streamed = ""
        self._say(whole[len(streamed) :])
        self._end_line()

    # ------------------------------------------------------------------ calls

    def _hint_running(self) -> None:
        running = [call for call in self._calls.values() if call.id in self._running]
        if running:
            self._hint(" · ".join(f"{call.name} {describe_args(call.args)}" for call in running))

    def _show_output(self, item: ToolOutputDelta) -> None:
        """Write what a call prints below its line, which comes again when another call was in between."""
        if self._printing != item.call_id and (call := self._calls.get(item.call_id)) is not None:
            self._end_line()
            self._err.line(self._call_head(call))
            self._printing = item.call_id
        if self._unfinished is not self._err:
            self._end_line()
        first, *others = item.text.split("\n")
        lines = [_indented(first) if self._unfinished is None else first, *map(_indented, others)]
        self._write(self._err, "\n".join(lines), "detail")

    def _finish_call(self, event: ToolFinished) -> None:
        result = event.result
        call = self._calls.pop(result.call_id, ToolCall(result.call_id, result.name))
        self._running.discard(result.call_id)
        changes = self._changes.pop(result.call_id, [])
        todos, self._todos = self._todos, ()
        if not self._chatty:
            return
        self._end_line()
        has_printed = self._printing == result.call_id
        self._printing = None
        self._err.write(" " if has_printed else self._call_head(call))
        if result.is_error:
            self._err.line(f" {self._err.paint('failed', '✗')}")
            lines = _notes(result) if has_printed else result.output.strip("\n").split("\n")
            self._write_lines("failed", lines, ERROR_LINES)
        else:
            end = self._err.paint("detail", took(event.duration_ms))
            self._err.line(f" {self._err.paint('done', '✓')} {end}")
            self._write_lines("detail", _notes(result), ERROR_LINES)
        self._note(todo_lines(self._err, todos))
        if event.diff and result.call_id not in self._approved:
            self._write_diff(event.diff)
        elif changes and not event.diff:  # also of a command that failed
            self._err.line(self._err.paint("detail", f"  {describe_changes(changes)}"))

    def _call_head(self, call: ToolCall) -> str:
        room = max(self._err.width - columns(call.name) - ROOM_FOR_END, 20)
        return f"» {self._err.paint('name', call.name)} {cut(describe_args(call.args), room)}".rstrip()

    def _write_lines(self, colour: Colour, lines: list[str], most: int) -> None:
        self._write_some([self._err.paint(colour, line) for line in lines[:most]], len(lines))

    def _write_diff(self, diff: str) -> None:
        lines = diff.rstrip("\n").split("\n")
        if diff.count("\n--- ") == 0 and len(lines) > 2 and lines[0].startswith("--- "):
            lines = lines[2:]  # the one path is in the call's line
        self._write_some(paint_diff(self._err, "\n".join(lines[:CHANGE_LINES])), len(lines))

    def _write_some(self, lines: list[str], whole: int) -> None:
        for line in lines:
            self._err.line(f"  {line}".rstrip())
        if whole > len(lines):
            self._err.line(self._err.paint("detail", f"  … {count(whole - len(lines), 'more line')}"))

    # ------------------------------------------------------------------ lines

    def _status(self, colour: Colour, text: str) -> None:
        if self._chatty:
            self._end_line()
            self._err.line(self._err.paint(colour, one_line(text)))

    def _note(self, lines: list[str]) -> None:
        if self._chatty:
            self._end_line()
            for line in lines:
                self._err.line(f"  {line}")

    def _hint(self, text: str) -> None:
        """Say what is going on, until something else is written."""
        if self._chatty and self._err.erases and self._unfinished is None:
            self._wipe()
            self._transient = cut(one_line(text), self._err.width - 3)
            self._err.write(self._err.paint("detail", f"… {self._transient}"))

    def _wipe(self) -> None:
        if self._transient:
            self._err.write("\r\x1b[K")
            self._err.flush()
            self._transient = ""

    def _write(self, screen: Screen, text: str, colour: Colour | None = None) -> None:
        """Write a piece of a line; the other stream's open line is ended first, as both may be one screen."""
        if not text:
            return
        self._wipe()
        if self._unfinished is not screen:
            self._end_line()
        if colour is None:
            screen.data(text)
        else:
            screen.write(screen.paint(colour, text))
        self._unfinished = None if text.endswith("\n") else screen

    def _end_line(self) -> None:
        self._wipe()
        if self._unfinished is not None:
            self._unfinished.line()
            self._unfinished.flush()
            self._unfinished = None


def _indented(line: str) -> str:
    return f"  {line}" if line else ""


def _notes(result: ToolResult) -> list[str]:
    """Return what the shell says about a command below its output: how it ended, or that it goes on."""
    lines = result.output.rstrip("\n").split("\n") if result.name == SHELL_TOOL else []
    first = len(lines)
    while first and lines[first - 1].startswith("[") and lines[first - 1].endswith("]"):
        first -= 1
    return [line for line in lines[first:] if line != NO_OUTPUT]
