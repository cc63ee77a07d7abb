import io
import os
import pty

from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage
from bridle.core.protocol import (
    ApprovalDecided,
    BudgetWarned,
    Delta,
    Event,
    Lagged,
    ModelReplied,
    ModelSwitched,
    ReasoningDelta,
    Record,
    Retrying,
    TextDelta,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.surfaces.live import AnswerStyle, TextView
from bridle.surfaces.terminal import Console, Screen
from tests.surfaces.command import everything
from tests.surfaces.records import CALL, EDIT, RUN, records, result


def shown(
    *items: Event | Delta, answer: AnswerStyle = "streamed", chatty: bool = True, verbose: bool = False
) -> tuple[str, str]:
    """Show items on two streams that are no terminals; return what each got."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(Screen(out, {}), Screen(err, {}), {})
    view = TextView(console, answer=answer, chatty=chatty, verbose=verbose)
    for item in items:
        view.show(_item(item))
    view.finish(result())
    return out.getvalue(), err.getvalue()


def _item(item: Event | Delta) -> Record | Delta:
    return item if isinstance(item, Delta) else records([item])[0]


def replied(text: str) -> ModelReplied:
    return ModelReplied(RUN, 1, Message("assistant", (Text(text),)), "end_turn", Usage())


def finished(
    output: str, *, is_error: bool = False, call: CallId = CALL, name: str = "edit_file"
) -> ToolFinished:
    return ToolFinished(ToolResult(call, name, output, is_error=is_error), 12)


END = "session 019a8536-2b7c · 2 turns · 1 tool call · 235 tokens · price unknown\n"


def test_text_streams_as_it_comes_and_ends_its_line():
    assert shown(TextDelta("Hel"), TextDelta("lo"), replied("Hello")) == ("Hello\n", END)


def test_text_that_was_not_streamed_is_written_with_the_reply():
    assert shown(replied("Hello")) == ("Hello\n", END)
    assert shown(TextDelta("Hel"), replied("Hello")) == ("Hello\n", END)


def test_text_with_a_gap_is_written_again():
    assert shown(TextDelta("llo"), Lagged(1), replied("Hello")) == ("llo\nHello\n", END)


def test_what_a_failed_attempt_streamed_is_left_behind():
    retry = Retrying(RUN, 1, 1, 3, "server_error", "it broke", 500)

    out, err = shown(TextDelta("Hal"), retry, TextDelta("Hello"), replied("Hello"))

    assert out == "Hal\nHello\n"
    assert err == "retrying in 0.5 s: it broke\n" + END


def test_a_model_that_takes_over_is_named():
    switched = ModelSwitched(RUN, 1, "openai/gpt-5", "no such model")

    out, err = shown(TextDelta("Hal"), switched, TextDelta("Hello"), replied("Hello"))

    assert out == "Hal\nHello\n"
    assert err == "going on with openai/gpt-5: no such model\n" + END


def test_the_final_answer_alone():
    out, err = shown(TextDelta("a"), replied("a"), answer="final", chatty=False)

    assert (out, err) == ("Done.\n", "")


def test_no_answer_is_printed_for_a_run_that_did_not_complete():
    out = io.StringIO()
    view = TextView(
        Console(Screen(out, {}), Screen(io.StringIO(), {}), {}), answer="final", chatty=False, verbose=False
    )

    view.finish(result(outcome="failed"))

    assert out.getvalue() == ""


def test_a_call_and_its_change_are_one_line_and_the_lines_it_changed():
    out, err = shown(ToolStarted(CALL, "edit_file", EDIT), finished("Replaced"))

    assert out == ""
    assert err == "» edit_file greet.py ✓ 12 ms\n  - helo\n  + hello\n" + END


def test_a_call_that_only_reads_shows_no_change():
    start = ToolStarted(CALL, "read_file", {"path": "a"}, repeatable=True)

    assert shown(start, finished("1: x", name="read_file"))[1] == "» read_file a ✓ 12 ms\n" + END


def test_a_failed_call_shows_why():
    err = shown(ToolStarted(CALL, "edit_file", EDIT), finished("not\nfound", is_error=True))[1]

    assert err == "» edit_file greet.py ✗\n  not\n  found\n" + END


def test_a_call_that_was_refused_is_shown_too():
    reply = ModelReplied(
        RUN, 1, Message("assistant", (ToolCall(CALL, "edit_file", EDIT),)), "tool_use", Usage()
    )

    err = shown(reply, finished("denied by rule", is_error=True))[1]

    assert err == "» edit_file greet.py ✗\n  denied by rule\n" + END


def test_a_change_that_was_approved_is_not_shown_again():
    err = shown(ApprovalDecided(CALL, "once"), ToolStarted(CALL, "edit_file", EDIT), finished("ok"))[1]

    assert err == "» edit_file greet.py ✓ 12 ms\n" + END


def test_calls_that_run_side_by_side_are_told_apart():
    other = CallId("call_2")
    err = shown(
        ToolStarted(CALL, "read_file", {"path": "a"}, repeatable=True),
        ToolStarted(other, "read_file", {"path": "b"}, repeatable=True),
        finished("x", call=other, name="read_file"),
        finished("x", name="read_file"),
    )[1]

    assert err == "» read_file b ✓ 12 ms\n» read_file a ✓ 12 ms\n" + END


def test_a_long_change_is_cut():
    args = {"path": "a", "content": "\n".join("x" * 25)}

    err = shown(ToolStarted(CALL, "write_file", args), finished("ok", name="write_file"))[1]

    assert err == "» write_file a ✓ 12 ms\n" + "  + x\n" * 20 + "  … 5 more lines\n" + END


def test_live_output_and_reasoning():
    out, err = shown(
        ReasoningDelta("hmm"),
        TextDelta("Hi"),
        replied("Hi"),
        ToolStarted(CALL, "bash", {"command": "ls"}),
        ToolOutputDelta(CALL, "file\n"),
        finished("file", name="bash"),
        BudgetWarned("tokens", 80, 100),
        verbose=True,
    )

    assert out == "Hi\n"
    assert err == "hmm\nfile\n» bash ls ✓ 12 ms\n80 of 100 tokens used\n" + END


def test_nothing_but_the_answer_when_quiet():
    out, err = shown(
        ReasoningDelta("hmm"),
        ToolStarted(CALL, "edit_file", EDIT),
        finished("ok"),
        replied("Hi"),
        chatty=False,
    )

    assert (out, err) == ("Hi\n", "")


def test_hostile_text_cannot_reach_the_status_lines():
    evil = {"path": "\x1b]0;owned\x07\na", "old_str": "\x1b[2J", "new_str": "ok"}

    err = shown(ToolStarted(CALL, "edit_file", evil), finished("\x1b[8m", is_error=True))[1]

    assert err == "» edit_file \\x1b]0;owned\\x07 a ✗\n  \\x1b[8m\n" + END


def test_a_terminal_sees_escapes_of_the_model_as_text():
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as file:
        screen = Screen(file, {"NO_COLOR": "1"})
        view = TextView(Console(screen, screen, {}), answer="streamed", chatty=True, verbose=False)
        view.show(TextDelta("\x1b[2Jhi"))
    seen = everything(master)

    assert seen == "\\x1b[2Jhi"


def test_a_terminal_is_told_what_goes_on_until_there_is_something_to_show():
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as file:
        screen = Screen(file, {"NO_COLOR": "1", "TERM": "xterm"})
        view = TextView(Console(screen, screen, {}), answer="streamed", chatty=True, verbose=False)
        for event in (
            TurnStarted(RUN, 1),
            replied("Hi"),
            ToolStarted(CALL, "read_file", {"path": "a"}),
            ToolStarted(CallId("call_2"), "read_file", {"path": "b"}),
            finished("x", name="read_file"),
        ):
            view.show(_item(event))
        view.pause()
    seen = everything(master)

    assert seen == (
        "… waiting for the model\r\x1b[KHi\n… read_file a\r\x1b[K… read_file a · read_file b"
        "\r\x1b[K» read_file a ✓ 12 ms\n… read_file b\r\x1b[K"
    )
