"""Shows a run in the terminal while it happens.

```
I change the greeting.                                        stdout: the model's answer
» edit_file greet.py ✓ 3 ms                                   stderr: everything else
  @@ -1,1 +1,1 @@
  -hello
  +hello, world
» bash make test                                              a call's output is below it
  3 passed
  ✓ 1.2 s
» python for name in names:                                   code, and the calls that it makes
  1 for name in names:
  2     print(await read_file(name))
  » read_file a.txt ✓ 1 ms
  hello
  ✓ 12 ms
session 019a8536-2b7c · 3 turns · 2 tool calls · 812 tokens · price unknown
```
"""

from typing import Literal

from bridle.core.codeact import FENCED, PYTHON
from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    CompactionStarted,
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
    TextDelta,
    Todo,
    TodosChanged,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.core.revision import FileChange
from bridle.surfaces.code_output import CodeOutput
from bridle.surfaces.event_notes import make_note
from bridle.surfaces.output_format import Result
from bridle.surfaces.subagent_names import SubAgentNames
from bridle.surfaces.terminal import Colour, Console, Screen, columns, cut, one_line
from bridle.surfaces.text_format import (
    code_lines,
    code_of,
    describe_args,
    describe_changes,
    end_notes,
    format_count,
    format_elapsed,
    paint_diff,
    question_lines,
    summary_line,
    todo_lines,
)

CHANGE_LINES = 20  # of an edit that needed no approval; an approval shows all of it
CODE_LINES = 12  # the same for code
ERROR_LINES = 6
TRACE_LINES = 12
ROOM_FOR_END = 16  # of a call's line, for its mark and duration
MIN_ROOM = 20

AnswerStyle = Literal["streamed", "final", "none"]


class RunView:
    """Writes a run while it happens.

    On a terminal the last line may be a temporary status line; it is erased before anything else is written.
    """

    def __init__(self, console: Console, *, answer: AnswerStyle, chatty: bool, verbose: bool) -> None:
        self._out = console.out
        self._err = console.err
        self._answer = answer
        self._chatty = chatty
        """True if tool and status lines are shown."""
        self._verbose = verbose
        """True if reasoning is shown, too."""
        self._streamed: list[str] = []
        self._calls: dict[CallId, ToolCall] = {}
        """The calls of this turn that have no result yet."""
        self._running: set[CallId] = set()
        self._parents: dict[CallId, CallId] = {}
        """Maps calls made by code to the call that runs the code."""
        self._seen: set[CallId] = set()
        """Calls whose change or code was already shown, in an approval or here."""
        self._changes: dict[CallId, list[FileChange]] = {}
        """The changes on disk of calls that are about to end."""
        self._todos: tuple[Todo, ...] = ()
        """The to-do list from the call that is about to end."""
        self._printing: CallId | None = None
        """The call whose line was written before its end, because it prints something or makes calls."""
        self._printed = CodeOutput()
        self._kin = SubAgentNames()
        self._transient = ""
        self._unfinished: Screen | None = None
        """The stream with an unfinished line."""

    def show(self, item: Record | Delta) -> None:
        """Write the next item of the stream."""
        match item:
            case Record():
                self._show_event(item)
            case TextDelta():
                self._streamed.append(item.text)
                self.say(item.text)
            case ReasoningDelta() if self._verbose:
                self._write(self._err, item.text, "detail")
            case ToolOutputDelta() if self._chatty:
                self._show_output(item)
            case Notice(is_wait=True):
                self._hint(item.text)
            case Notice():
                self._status("warning", item.text, quiet_too=True)
            case Lagged() if self._verbose:
                self._status("detail", f"{format_count(item.dropped, 'fragment')} not shown")
            case _:
                pass
        self._out.flush()
        self._err.flush()

    def pause(self) -> None:
        """Leave the screen clean for other output."""
        self._end_line()
        self._err.flush()

    def finish(self, result: Result) -> None:
        """Write what is known only at the end: the final answer, if only that is wanted, and the costs."""
        self._end_line()
        if self._answer == "final" and result.has_answer:
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
            case ApprovalRequested(parent=str()) as event:
                self._start_call(event)
            case ToolStarted() as event:
                self._start_call(event)
                self._running.add(event.call_id)
                if self._hidden_code(self._calls[event.call_id]):
                    self._enter(event.call_id)
                self._hint_running()
            case ApprovalDecided(answer="once" | "session" | "always", reason="") as event:
                self._seen.add(event.call_id)  # with a reason, a rule has answered
            case ToolFinished() as event:
                self._finish_call(event)
                self.say(event.answer)
                self._hint_running()
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
            case QuestionAsked() as event if not self._err.is_terminal:  # a terminal asks it instead
                self._note(question_lines(self._err, event.question, self._kin.format_asker(event)))
            case QuestionAnswered() as event if not self._err.is_terminal:
                self._status("detail", f"answered: {', '.join(event.answers) or 'nothing'}")
            case CompactionStarted() as event:
                self._hint(f"compacting {format_count(event.messages, 'message')}")
            case event:
                if line := self._kin.line(event):
                    self._status("detail", line)
                elif note := make_note(event):
                    self._status(*note)

    # ------------------------------------------------------------------ text

    def say(self, text: str) -> None:
        """Write a piece of the answer, if answers are streamed."""
        if self._answer == "streamed":
            self._write(self._out, text)

    def _finish_text(self, whole: str) -> None:
        """Write the part of an answer that was not streamed, because the watcher came late or lagged."""
        streamed = "".join(self._streamed)
        self._streamed = []
        if not whole.startswith(streamed):
            self._end_line()
            streamed = ""
        self.say(whole[len(streamed) :])
        self._end_line()

    # ------------------------------------------------------------------ calls

    def _hint_running(self) -> None:
        running = [call for call in self._calls.values() if call.id in self._running]
        if running:
            self._hint(" · ".join(f"{call.name} {describe_args(call.args)}" for call in running))

    def _start_call(self, event: ApprovalRequested | ToolStarted) -> None:
        self._calls.setdefault(event.call_id, ToolCall(event.call_id, event.tool, event.args))
        if event.parent is not None:
            self._parents[event.call_id] = event.parent

    def _show_output(self, item: ToolOutputDelta) -> None:
        """Write a call's output below its line."""
        if (call := self._calls.get(item.call_id)) is not None:
            self._enter(item.call_id)
            if call.name == PYTHON:
                self._printed.add(item.call_id, item.text)
        if self._unfinished is not self._err:
            self._end_line()
        margin = self._margin(item.call_id) + "  "
        first, *others = item.text.split("\n")
        begun = _indented(first, margin) if self._unfinished is None else first
        text = "\n".join([begun, *(_indented(line, margin) for line in others)])
        self._write(self._err, text, "detail")

    def _enter(self, call_id: CallId) -> None:
        """Write a call's line, below that of its parent; repeat it if another call was in between."""
        if self._printing == call_id or not self._chatty:
            return
        self._end_line()
        if not self._is_open(call_id) and (call := self._calls.get(call_id)) is not None:
            if (parent := self._parents.get(call_id)) is not None:
                self._enter(parent)
            self._err.line(self._call_head(call))
            self._write_code(call)
        self._printing = call_id

    def _is_open(self, call_id: CallId) -> bool:
        """Return whether the last output is below the line of a call."""
        inner = self._printing
        while inner is not None and inner != call_id:
            inner = self._parents.get(inner)
        return inner is not None

    def _margin(self, call_id: CallId) -> str:
        depth = 0
        while (parent := self._parents.get(call_id)) is not None:
            call_id, depth = parent, depth + 1
        return "  " * depth

    def _write_code(self, call: ToolCall) -> None:
        if code := self._hidden_code(call):
            self._seen.add(call.id)
            lines = code.split("\n")
            shown = code_lines(self._err, "\n".join(lines[:CODE_LINES]))
            self._write_some(shown, max(0, len(lines) - CODE_LINES), self._margin(call.id))

    def _hidden_code(self, call: ToolCall) -> str:
        """Return the code of a call, unless it was shown, is in the reply or fits into the call's line."""
        code = code_of(call.name, call.args)
        fits = "\n" not in code and columns(code) <= self._room(call)
        return "" if fits or call.id in self._seen or FENCED in call.meta else code

    def _finish_call(self, event: ToolFinished) -> None:
        result = event.result
        call = self._calls.get(result.call_id, ToolCall(result.call_id, result.name))
        self._running.discard(result.call_id)
        changes = self._changes.pop(result.call_id, [])
        todos, self._todos = self._todos, ()
        if self._chatty:
            self._write_end(call, event)
            margin = self._margin(call.id)
            self._note([f"{margin}{line}" for line in todo_lines(self._err, todos)])
            if event.diff and call.id not in self._seen:
                self._write_diff(event.diff, margin)
            elif changes and not event.diff:  # also of a command that failed
                self._err.line(self._err.paint("detail", f"  {margin}{describe_changes(changes)}"))
        self._calls.pop(call.id, None)
        self._printing = self._parents.pop(call.id, None)

    def _write_end(self, call: ToolCall, event: ToolFinished) -> None:
        """Write the end of a call: on its line, or below its output."""
        self._end_line()
        is_open = self._is_open(call.id)
        if not is_open and event.parent is not None:
            self._parents[call.id] = event.parent
            self._enter(event.parent)
        margin = self._margin(call.id)
        self._err.write(f"{margin} " if is_open else self._call_head(call))
        if event.result.is_error:
            self._err.line(f" {self._err.paint('failed', '✗')}")
        else:
            end = self._err.paint("detail", format_elapsed(event.duration_ms))
            self._err.line(f" {self._err.paint('done', '✓')} {end}")
        lines, before = self._said(call, event.result, has_printed=is_open)
        colour: Colour = "failed" if event.result.is_error else "detail"
        if before:
            self._err.line(self._err.paint("detail", f"{margin}  … {format_count(before, 'line')} before"))
        most = TRACE_LINES if call.name == PYTHON else ERROR_LINES
        painted = [self._err.paint(colour, line) for line in lines[:most]]
        self._write_some(painted, len(lines) - len(painted), margin)

    def _said(self, call: ToolCall, result: ToolResult, *, has_printed: bool) -> tuple[list[str], int]:
        """Return the lines of a result to show, and how many earlier ones are left out."""
        if call.name == PYTHON:
            rest = self._printed.rest_of(result)
            lines = rest.split("\n") if rest else []
            return lines[-TRACE_LINES:], max(0, len(lines) - TRACE_LINES)
        if result.is_error and not has_printed:
            return result.output.strip("\n").split("\n"), 0
        return end_notes(result), 0

    def _call_head(self, call: ToolCall) -> str:
        about = cut(describe_args(call.args), self._room(call))
        return f"{self._margin(call.id)}» {self._err.paint('name', one_line(call.name))} {about}".rstrip()

    def _room(self, call: ToolCall) -> int:
        """Return the cells in a call's line that are left for the description."""
        taken = columns(call.name) + len(self._margin(call.id)) + ROOM_FOR_END
        return max(self._err.width - taken, MIN_ROOM)

    def _write_diff(self, diff: str, margin: str) -> None:
        lines = diff.rstrip("\n").split("\n")
        if diff.count("\n--- ") == 0 and len(lines) > 2 and lines[0].startswith("--- "):
            lines = lines[2:]  # the call's line has the path
        shown = paint_diff(self._err, "\n".join(lines[:CHANGE_LINES]))
        self._write_some(shown, len(lines) - len(shown), margin)

    def _write_some(self, lines: list[str], more: int, margin: str) -> None:
        for line in lines:
            self._err.line(f"  {margin}{line}".rstrip())
        if more:
            self._err.line(self._err.paint("detail", f"  {margin}… {format_count(more, 'more line')}"))

    # ------------------------------------------------------------------ lines

    def _status(self, colour: Colour, text: str, *, quiet_too: bool = False) -> None:
        if self._chatty or quiet_too:
            self._end_line()
            head = "" if self._chatty else f"{colour}: "
            self._err.line(self._err.paint(colour, f"{head}{one_line(text)}"))

    def _note(self, lines: list[str]) -> None:
        if self._chatty:
            self._end_line()
            for line in lines:
                self._err.line(f"  {line}")

    def _hint(self, text: str) -> None:
        """Show a temporary status, until something else is written."""
        if self._chatty and self._err.erases and self._unfinished is None:
            self._wipe()
            self._transient = cut(one_line(text), self._err.width - 3)
            self._err.write(self._err.paint("detail", f"… {self._transient}"))

    def _wipe(self) -> None:
        if self._transient:
            self._err.erase()
            self._err.flush()
            self._transient = ""

    def _write(self, screen: Screen, text: str, colour: Colour | None = None) -> None:
        """Write a piece of a line; end the other stream's open line first, as both may be one screen."""
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


def _indented(line: str, margin: str) -> str:
    return f"{margin}{line}" if line else ""
