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
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    CompactionStarted,
    Delta,
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
    ToolOutputDelta,
    TurnStarted,
)
from bridle.surfaces.shared.event_notes import make_note
from bridle.surfaces.shared.output_format import Result
from bridle.surfaces.shared.subagent_names import SubAgentNames
from bridle.surfaces.shared.terminal import Colour, Console, Screen, columns, cut, one_line
from bridle.surfaces.shared.text_format import (
    CodeOutput,
    code_lines,
    end_notes,
    format_count,
    format_elapsed,
    paint_diff,
    question_lines,
    summary_line,
    todo_lines,
)
from bridle.surfaces.shared.view_model.call_items import OPEN
from bridle.surfaces.shared.view_model.calls import RunCalls
from bridle.surfaces.shared.view_model.view_types import Call

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
        self._items = RunCalls()
        self._calls: dict[CallId, Call] = {}
        """The calls of this turn that have not ended, as they were requested."""
        self._running: set[CallId] = set()
        self._seen: set[CallId] = set()
        """Calls whose change or code was already shown, in an approval or here."""
        self._fenced: set[CallId] = set()
        """Calls whose code is in the reply."""
        self._todos: tuple[Todo, ...] = ()
        """The to-do list from the call that is about to end."""
        self._printing: CallId | None = None
        """The call whose line was written before its end, because it prints something or makes calls."""
        self._printed = CodeOutput()
        self._subagent_names = SubAgentNames()
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
                self._calls = {}
                self._fenced = {call.id for call in event.message.calls if FENCED in call.meta}
                self._finish_text(event.message.text)
            case Retrying() | ModelSwitched():
                self._streamed = []
                self._show_note(record)
            case ApprovalDecided(answer="once" | "session" | "always", reason="") as event:
                self._seen.add(event.call_id)  # with a reason, a rule has answered
            case _:
                self._show_note(record)
        for call in self._items.add(record):
            self.show_call(call)

    def _show_note(self, record: Record) -> None:
        match record.event:
            case TodosChanged() as event:
                self._todos = event.todos
            case QuestionAsked() as event if not self._err.is_terminal:  # a terminal asks it instead
                self._note(
                    question_lines(self._err, event.question, self._subagent_names.format_asker(event))
                )
            case QuestionAnswered() as event if not self._err.is_terminal:
                self._status("detail", f"answered: {', '.join(event.answers) or 'nothing'}")
            case CompactionStarted() as event:
                self._hint(f"compacting {format_count(event.messages, 'message')}")
            case event:
                if line := self._subagent_names.line(event):
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

    def show_call(self, call: Call) -> None:
        """Write a call that was requested, has started or has ended."""
        if call.state in OPEN:
            self._calls.setdefault(call.call_id, call)
            if call.started_at:
                self._start_call(call.call_id)
        else:
            self._finish_call(call)
            self.say(call.answer)
            self._hint_running()

    def _start_call(self, call_id: CallId) -> None:
        self._running.add(call_id)
        if self._hidden_code(self._calls[call_id]):
            self._enter(call_id)
        self._hint_running()

    def _hint_running(self) -> None:
        running = [call for call_id, call in self._calls.items() if call_id in self._running]
        if running:
            self._hint(" · ".join(f"{call.tool} {call.brief}" for call in running))

    def _show_output(self, item: ToolOutputDelta) -> None:
        """Write a call's output below its line."""
        if (call := self._calls.get(item.call_id)) is not None:
            self._enter(item.call_id)
            if call.tool == PYTHON:
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
            if call.parent is not None:
                self._enter(call.parent)
            self._err.line(self._call_head(call))
            self._write_code(call)
        self._printing = call_id

    def _is_open(self, call_id: CallId) -> bool:
        """Return whether the last output is below the line of a call."""
        inner = self._printing
        while inner is not None and inner != call_id:
            inner = self._parent(inner)
        return inner is not None

    def _parent(self, call_id: CallId) -> CallId | None:
        call = self._calls.get(call_id)
        return None if call is None else call.parent

    def _margin(self, call_id: CallId) -> str:
        depth = 0
        while (parent := self._parent(call_id)) is not None:
            call_id, depth = parent, depth + 1
        return "  " * depth

    def _write_code(self, call: Call) -> None:
        if code := self._hidden_code(call):
            self._seen.add(call.call_id)
            lines = code.split("\n")
            shown = code_lines(self._err, "\n".join(lines[:CODE_LINES]))
            self._write_some(shown, max(0, len(lines) - CODE_LINES), self._margin(call.call_id))

    def _hidden_code(self, call: Call) -> str:
        """Return the code of a call, unless it was shown, is in the reply or fits into the call's line."""
        fits = "\n" not in call.code and columns(call.code) <= self._room(call)
        return "" if fits or call.call_id in self._seen or call.call_id in self._fenced else call.code

    def _finish_call(self, ended: Call) -> None:
        call_id = ended.call_id
        call = self._calls.setdefault(call_id, ended)
        self._running.discard(call_id)
        todos, self._todos = self._todos, ()
        if self._chatty:
            self._write_end(call, ended)
            margin = self._margin(call_id)
            self._note([f"{margin}{line}" for line in todo_lines(self._err, todos)])
            if ended.diff and call_id not in self._seen:
                self._write_diff(ended.diff, margin)
            elif ended.changed and not ended.diff:  # also of a command that failed
                self._err.line(self._err.paint("detail", f"  {margin}{ended.changed}"))
        del self._calls[call_id]
        self._printing = call.parent

    def _write_end(self, call: Call, ended: Call) -> None:
        """Write the end of a call: on its line, or below its output."""
        self._end_line()
        is_open = self._is_open(call.call_id)
        if not is_open and call.parent is not None:
            self._enter(call.parent)
        margin = self._margin(call.call_id)
        result = ToolResult(ended.call_id, ended.tool, ended.output, is_error=ended.state != "done")
        self._err.write(f"{margin} " if is_open else self._call_head(call))
        if result.is_error:
            self._err.line(f" {self._err.paint('failed', '✗')}")
        else:
            end = self._err.paint("detail", format_elapsed(ended.duration_ms))
            self._err.line(f" {self._err.paint('done', '✓')} {end}")
        lines, before = self._said(result, has_printed=is_open)
        colour: Colour = "failed" if result.is_error else "detail"
        if before:
            self._err.line(self._err.paint("detail", f"{margin}  … {format_count(before, 'line')} before"))
        most = TRACE_LINES if call.tool == PYTHON else ERROR_LINES
        painted = [self._err.paint(colour, line) for line in lines[:most]]
        self._write_some(painted, len(lines) - len(painted), margin)

    def _said(self, result: ToolResult, *, has_printed: bool) -> tuple[list[str], int]:
        """Return the lines of a result to show, and how many earlier ones are left out."""
        if result.name == PYTHON:
            rest = self._printed.rest_of(result)
            lines = rest.split("\n") if rest else []
            return lines[-TRACE_LINES:], max(0, len(lines) - TRACE_LINES)
        if result.is_error and not has_printed:
            return result.output.strip("\n").split("\n"), 0
        return end_notes(result), 0

    def _call_head(self, call: Call) -> str:
        about = cut(call.brief, self._room(call))
        return (
            f"{self._margin(call.call_id)}» {self._err.paint('name', one_line(call.tool))} {about}".rstrip()
        )

    def _room(self, call: Call) -> int:
        """Return the cells in a call's line that are left for the description."""
        taken = columns(call.tool) + len(self._margin(call.call_id)) + ROOM_FOR_END
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
