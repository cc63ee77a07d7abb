"""What `bridle kernel` prints, and where."""

import io
import os
import pty

from bridle.core.ids import CallId
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    ApprovalDecided,
    Delta,
    Event,
    FilesChanged,
    Lagged,
    Notice,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.core.revision import FileChange, FileState
from bridle.surfaces.cli.output.cell_view import CellView
from bridle.surfaces.shared.terminal import Console, Screen
from tests.surfaces.command import everything
from tests.surfaces.records import CALL, RUN, records, result

INNER = CallId("call_1.1")
START = ToolStarted(CALL, "python", {"code": "x"})
TRACE = "Traceback (most recent call last):\nValueError: x"


def shown(*items: Event | Delta, chatty: bool = True) -> tuple[str, str, int]:
    """Show items on two streams that are no terminals; return what each got, and the exit code."""
    out, err = io.StringIO(), io.StringIO()
    view = CellView(Console(Screen(out, {}), Screen(err, {}), {}), chatty=chatty)
    for item in items:
        view.show(item if isinstance(item, Delta) else records([item])[0])
    view.finish(result())
    return out.getvalue(), err.getvalue(), view.exit_code


def ended(output: str, **facts: object) -> ToolFinished:
    is_error = bool(facts.pop("is_error", False))
    return ToolFinished(ToolResult(CALL, "python", output, is_error=is_error), 3, **facts)


def test_what_a_cell_prints_is_data_and_stays_as_it_is():
    pieces = [ToolOutputDelta(CALL, text) for text in ("\x1b[1mone", "\r\n[2]", "\n", "three")]

    assert shown(TurnStarted(RUN, 1), START, *pieces, ended("…")) == ("\x1b[1mone\r\n[2]\nthree", "", 0)


def test_calls_of_tools_and_changes_of_files_are_told_beside_it():
    out, err, code = shown(
        START,
        ToolStarted(INNER, "bash", {"command": "ls"}, parent=CALL),
        ToolOutputDelta(INNER, "file\n"),
        ToolFinished(ToolResult(INNER, "bash", "file"), 2, parent=CALL),
        ToolOutputDelta(CALL, "42\n"),
        FilesChanged((FileChange("a", None, FileState("file")),), CALL),
        Notice("careful"),
        ended("42"),
    )

    assert (out, err, code) == (
        "42\n",
        "» bash ls\n  file\n  ✓ 2 ms\non disk: created a\ncareful\n",
        0,
    )


def test_in_silence_only_failures_are_told():
    call = ToolStarted(INNER, "bash", {"command": "ls"}, parent=CALL)
    done = ToolFinished(ToolResult(INNER, "bash", "x", is_error=True), parent=CALL)

    assert shown(START, call, done, ApprovalDecided(INNER, "once"), ended("[a note]"), chatty=False) == (
        "",
        "",
        0,
    )
    assert shown(START, call, done, ended(TRACE, is_error=True), chatty=False) == ("", f"{TRACE}\n", 1)


def test_a_failure_does_not_repeat_what_was_printed():
    printed = ToolOutputDelta(CALL, "half\n")

    assert shown(START, printed, ended(f"half\n{TRACE}", is_error=True)) == ("half\n", f"{TRACE}\n", 1)


def test_a_cell_that_was_not_let_through_is_denied():
    assert shown(ended("denied by rule deny python", is_error=True, denied=True)) == (
        "",
        "denied by rule deny python\n",
        77,
    )


def test_a_cell_that_was_stopped_says_nothing_itself():
    assert shown(START, ended("not finished: the run ended (denied)", is_error=True))[1:] == ("", 1)


def test_the_answer_is_data_too():
    assert shown(START, ended("[no output]", answer="All done.")) == ("All done.\n", "", 0)


def test_output_that_was_lost_is_said():
    assert shown(START, Lagged(4096), ended("x"), chatty=False) == (
        "",
        "warning: 4,096 fragments of the output not shown\n",
        0,
    )


def test_output_that_goes_on_and_on_is_not_mixed_with_a_note():
    more = ToolOutputDelta(CALL, "x\n[there is more; it is not shown live]\n")

    assert shown(START, more, ended("…"), chatty=False) == (
        "x",
        "warning: the cell has printed more than is shown of one\nhint: let it write into a file\n",
        0,
    )


def test_the_next_cell_starts_afresh():
    again = ToolStarted(CallId("call_2"), "python", {"code": "y"})

    assert shown(START, ended(TRACE, is_error=True), again, ToolOutputDelta(CallId("call_2"), "y\n"))[
        0::2
    ] == (
        "y\n",
        0,
    )


def test_the_end_says_where_it_is_recorded():
    err = io.StringIO()
    view = CellView(Console(Screen(io.StringIO(), {}), Screen(err, {}), {}), chatty=True)

    view.print_summary(result(tool_calls=3))

    assert err.getvalue() == "session 019a8536-2b7c · 2 tool calls\n"


def test_on_one_screen_lines_do_not_run_into_each_other():
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as file:
        screen = Screen(file, {"NO_COLOR": "1"})
        view = CellView(Console(screen, screen, {}), chatty=True)
        for item in (
            START,
            ToolStarted(INNER, "read_file", {"path": "a"}, parent=CALL),
            ToolOutputDelta(CALL, "\x1b[2Jno end"),
            ToolFinished(ToolResult(INNER, "read_file", "x"), 2, parent=CALL),
            ToolOutputDelta(CALL, "more"),
            ended(f"no endmore\n{TRACE}", is_error=True),
        ):
            view.show(item if isinstance(item, Delta) else records([item])[0])
        view.pause()
    seen = everything(master)

    assert seen == f"\\x1b[2Jno end\n» read_file a ✓ 2 ms\nmore\n{TRACE}\n"
