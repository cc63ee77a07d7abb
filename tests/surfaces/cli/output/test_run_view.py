import io
import os
import pty

from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetWarned,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Delta,
    Event,
    FilesChanged,
    Lagged,
    ModelReplied,
    ModelSwitched,
    Notice,
    OutputsCleared,
    Pinned,
    Question,
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
from bridle.core.revision import FileChange, FileState
from bridle.surfaces.cli.output.run_view import AnswerStyle, RunView
from bridle.surfaces.shared.terminal import Console, Screen
from tests.surfaces.command import everything
from tests.surfaces.records import CALL, DIFF, EDIT, RUN, records, result


def shown(
    *items: Event | Delta, answer: AnswerStyle = "streamed", chatty: bool = True, verbose: bool = False
) -> tuple[str, str]:
    """Show items on two streams that are no terminals; return what each got."""
    out, err = io.StringIO(), io.StringIO()
    console = Console(Screen(out, {}), Screen(err, {}), {})
    view = RunView(console, answer=answer, chatty=chatty, verbose=verbose)
    for item in items:
        view.show(_item(item))
    view.finish(result())
    return out.getvalue(), err.getvalue()


def _item(item: Event | Delta) -> Record | Delta:
    return item if isinstance(item, Delta) else records([item])[0]


def replied(text: str) -> ModelReplied:
    return ModelReplied(RUN, 1, Message("assistant", (Text(text),)), "end_turn", Usage())


def finished(
    output: str, *, is_error: bool = False, call: CallId = CALL, name: str = "edit_file", diff: str = ""
) -> ToolFinished:
    return ToolFinished(ToolResult(call, name, output, is_error=is_error), 12, diff=diff)


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
    view = RunView(
        Console(Screen(out, {}), Screen(io.StringIO(), {}), {}), answer="final", chatty=False, verbose=False
    )

    view.finish(result(outcome="failed"))

    assert out.getvalue() == ""


def test_a_call_and_its_change_are_one_line_and_the_lines_it_changed():
    out, err = shown(ToolStarted(CALL, "edit_file", EDIT), finished("Replaced", diff=DIFF))

    assert out == ""
    assert err == "» edit_file greet.py ✓ 12 ms\n  @@ -1,1 +1,1 @@\n  -helo\n  +hello\n" + END


def test_a_change_of_several_files_names_each():
    other = DIFF.replace("greet.py", "other.py")

    err = shown(
        ToolStarted(CALL, "rename_symbol", {}), finished("ok", name="rename_symbol", diff=DIFF + other)
    )[1]

    lines = "".join(f"  {line}\n" for line in (DIFF + other).splitlines())
    assert err == "» rename_symbol ✓ 12 ms\n" + lines + END


def test_a_change_is_coloured():
    err = io.StringIO()
    screen = Screen(err, {"FORCE_COLOR": "1"})
    view = RunView(Console(screen, screen, {}), answer="none", chatty=True, verbose=False)

    view.show(_item(finished("ok", diff=DIFF)))

    assert err.getvalue().endswith("\x1b[31m-helo\x1b[0m\n  \x1b[32m+hello\x1b[0m\n")


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
    for answer in ("once", "session", "always"):
        err = shown(
            ApprovalDecided(CALL, answer),
            ToolStarted(CALL, "edit_file", EDIT),
            FilesChanged((FileChange("greet.py", FileState("file")),), CALL),
            finished("ok", diff=DIFF),
        )[1]

        assert err == "» edit_file greet.py ✓ 12 ms\n" + END


def test_a_change_that_a_rule_let_through_is_shown():
    granted = ApprovalDecided(CALL, "once", "rule edit_file(*)")

    err = shown(granted, ToolStarted(CALL, "edit_file", EDIT), finished("ok", diff=DIFF))[1]

    assert err == "» edit_file greet.py ✓ 12 ms\n  @@ -1,1 +1,1 @@\n  -helo\n  +hello\n" + END


def test_the_files_that_a_command_changed_are_named():
    file = FileState("file")
    changes = (FileChange("a", None, file), FileChange("b\x1b", file, file), FileChange("c", file))
    many = tuple(FileChange(f"f{n}", None, file) for n in range(7))

    err = shown(
        ToolStarted(CALL, "bash", {"command": "make"}),
        FilesChanged(changes, CALL),
        finished("ok", name="bash"),
        FilesChanged(many),
    )[1]

    assert err == (
        "» bash make ✓ 12 ms\n  created a, changed b\\x1b, deleted c\n"
        "on disk: created f0, created f1, created f2, created f3, created f4 and 2 more files\n" + END
    )


def test_what_is_to_be_done_is_listed():
    todos = (Todo("read\x1b", "completed"), Todo("fix", "in_progress"), Todo("test"))

    err = shown(
        ToolStarted(CALL, "todos", {"todos": [{}, {}, {}]}),
        TodosChanged(todos),
        finished("ok", name="todos"),
        finished("ok", name="todos"),
    )[1]

    listed = "» todos 3 items ✓ 12 ms\n  [x] read\\x1b\n  [>] fix\n  [ ] test\n"
    assert err == listed + "» todos ✓ 12 ms\n" + END


def test_a_question_is_noted_where_it_cannot_be_put():
    asked = QuestionAsked(CALL, Question("Which?", ("a", "b")))

    err = shown(asked, QuestionAnswered(CALL), asked, QuestionAnswered(CALL, ("a", "b")))[1]

    which = "  ? Which?\n    1 a\n    2 b\n"
    assert err == f"{which}answered: nothing\n{which}answered: a, b\n" + END


def test_a_notice_and_a_rewind_are_said():
    err = shown(Notice("the rule applies to this session only"), Rewound(7, "files"))[1]

    assert err == "the rule applies to this session only\nback at event 7: files only\n" + END


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
    diff = "--- a\n+++ a\n" + "+x\n" * 25

    err = shown(ToolStarted(CALL, "write_file", {"path": "a"}), finished("ok", name="write_file", diff=diff))[
        1
    ]

    assert err == "» write_file a ✓ 12 ms\n" + "  +x\n" * 20 + "  … 5 more lines\n" + END


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
    assert err == "hmm\n» bash ls\n  file\n  ✓ 12 ms\n80 of 100 tokens used\n" + END


def test_what_a_call_prints_stands_below_it_in_whatever_pieces_it_comes():
    pieces = [ToolOutputDelta(CALL, text) for text in ("on", "e\n\ntw", "o", "\n", "\x1b[2J")]

    err = shown(ToolStarted(CALL, "bash", {"command": "ls"}), *pieces, finished("", name="bash"))[1]

    assert err == "» bash ls\n  one\n\n  two\n  \\x1b[2J\n  ✓ 12 ms\n" + END


def test_what_calls_print_side_by_side_is_told_apart():
    other = CallId("call_2")
    err = shown(
        ToolStarted(CALL, "bash", {"command": "a"}),
        ToolStarted(other, "bash", {"command": "b"}),
        ToolOutputDelta(CALL, "from a"),
        ToolOutputDelta(other, "from b\n"),
        finished("", name="bash"),
        ToolOutputDelta(other, "more of b\n"),
        finished("", name="bash", call=other),
    )[1]

    assert err == (
        "» bash a\n  from a\n» bash b\n  from b\n» bash a ✓ 12 ms\n» bash b\n  more of b\n  ✓ 12 ms\n" + END
    )


def test_a_command_that_failed_does_not_repeat_what_it_has_printed():
    err = shown(
        ToolStarted(CALL, "bash", {"command": "make"}),
        ToolOutputDelta(CALL, "[x]\nboom\n"),
        FilesChanged((FileChange("a.o", None, FileState("file")),), CALL),
        finished("[x]\nboom\n[ended after 3 s]\n[exit status 2]", name="bash", is_error=True),
    )[1]

    assert err == (
        "» bash make\n  [x]\n  boom\n  ✗\n  [ended after 3 s]\n  [exit status 2]\n  created a.o\n" + END
    )


def test_a_command_that_goes_on_in_the_background_says_so():
    start = ToolStarted(CALL, "bash", {"command": "serve"})
    goes_on, nothing = "[it continues in the background as job 1]", "[no output]"

    err = shown(start, finished(goes_on, name="bash"), start, finished(nothing, name="bash"))[1]

    assert err == f"» bash serve ✓ 12 ms\n  {goes_on}\n» bash serve ✓ 12 ms\n" + END


def test_nothing_but_the_answer_when_quiet():
    out, err = shown(
        ReasoningDelta("hmm"),
        ToolStarted(CALL, "edit_file", EDIT),
        finished("ok", diff=DIFF),
        TodosChanged((Todo("x"),)),
        QuestionAsked(CALL, Question("Which?")),
        Notice("waiting for MCP servers to start", is_wait=True),
        replied("Hi"),
        chatty=False,
    )

    assert (out, err) == ("Hi\n", "")


def test_what_is_wrong_is_said_also_when_quiet():
    out, err = shown(Notice("MCP server x failed:\n\x1b[2Jgone"), replied("Hi"), chatty=False)

    assert (out, err) == ("Hi\n", "warning: MCP server x failed: \\x1b[2Jgone\n")


def test_hostile_text_cannot_reach_the_status_lines():
    evil = {"path": "\x1b]0;owned\x07\na", "old_str": "\x1b[2J", "new_str": "ok"}

    err = shown(ToolStarted(CALL, "edit_file", evil), finished("\x1b[8m", is_error=True))[1]

    assert err == "» edit_file \\x1b]0;owned\\x07 a ✗\n  \\x1b[8m\n" + END


def test_a_terminal_sees_escapes_of_the_model_as_text():
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as file:
        screen = Screen(file, {"NO_COLOR": "1"})
        view = RunView(Console(screen, screen, {}), answer="streamed", chatty=True, verbose=False)
        view.show(TextDelta("\x1b[2Jhi"))
    seen = everything(master)

    assert seen == "\\x1b[2Jhi"


def test_a_terminal_is_told_what_goes_on_until_there_is_something_to_show():
    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as file:
        screen = Screen(file, {"NO_COLOR": "1", "TERM": "xterm"})
        view = RunView(Console(screen, screen, {}), answer="streamed", chatty=True, verbose=False)
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


# ---------------------------------------------------------------------------- code


PY = CallId("call_2")
INNER = CallId("call_2.1")


def code_call(code: str, **meta: object) -> ModelReplied:
    call = ToolCall(PY, "python", {"code": code}, meta=meta)
    return ModelReplied(RUN, 1, Message("assistant", (call,)), "tool_use", Usage())


def started(code: str) -> ToolStarted:
    return ToolStarted(PY, "python", {"code": code})


def ended(output: str = "", *, is_error: bool = False, answer: str = "") -> ToolFinished:
    return ToolFinished(ToolResult(PY, "python", output, is_error=is_error), 12, answer=answer)


def inner(tool: str, args: dict[str, object], number: int = 1) -> ToolStarted:
    return ToolStarted(CallId(f"call_2.{number}"), tool, args, parent=PY)


def inner_ended(tool: str, output: str, number: int = 1, **facts: object) -> ToolFinished:
    is_error = bool(facts.pop("is_error", False))
    result = ToolResult(CallId(f"call_2.{number}"), tool, output, is_error=is_error)
    return ToolFinished(result, 12, parent=PY, **facts)


def test_code_is_shown_below_its_line_and_its_calls_below_that():
    code = "for name in names:\n    print(await read_file(name))\n"

    err = shown(
        code_call(code),
        started(code),
        inner("read_file", {"path": "a"}),
        inner("edit_file", EDIT, 2),
        inner_ended("read_file", "1: x"),
        ToolOutputDelta(PY, "pri"),
        ToolOutputDelta(PY, "nted\n\nmore"),
        inner_ended("edit_file", "ok", 2, diff=DIFF),
        ToolOutputDelta(PY, "end\n"),
        ended("printed\n\nmoreend"),
    )[1]

    assert err == (
        "» python for name in names:\n"
        "  1 for name in names:\n"
        "  2     print(await read_file(name))\n"
        "  » read_file a ✓ 12 ms\n"
        "  printed\n\n  more\n"
        "  » edit_file greet.py ✓ 12 ms\n"
        "    @@ -1,1 +1,1 @@\n    -helo\n    +hello\n"
        "  end\n"
        "  ✓ 12 ms\n" + END
    )


def test_what_a_nested_call_prints_and_fails_with_stands_below_it():
    err = shown(
        code_call("x"),
        started("x"),
        inner("bash", {"command": "make"}),
        ToolOutputDelta(INNER, "building"),
        ToolOutputDelta(PY, "from the code\n"),
        ToolOutputDelta(INNER, "done\n"),
        inner_ended("bash", "building\ndone\n[exit status 2]", is_error=True),
        inner("grep", {"pattern": "x"}, 2),
        inner_ended("grep", "no such\nfolder", 2, is_error=True),
        ended("from the code"),
    )[1]

    assert err == (
        "» python x\n"
        "  » bash make\n"
        "    building\n"
        "  from the code\n"
        "  » bash make\n"
        "    done\n"
        "    ✗\n"
        "    [exit status 2]\n"
        "  » grep x ✗\n"
        "    no such\n"
        "    folder\n"
        "  ✓ 12 ms\n" + END
    )


def test_code_that_was_approved_or_stands_in_the_reply_is_not_shown_again():
    code = "a = 1\nb = 2"

    approved = shown(code_call(code), ApprovalDecided(PY, "once"), started(code), ended())[1]
    fenced = shown(code_call(code, fenced=True), started(code), ended())[1]
    by_rule = shown(code_call(code), ApprovalDecided(PY, "once", "rule python"), started(code), ended())[1]

    assert approved == fenced == "» python a = 1 ✓ 12 ms\n" + END
    assert by_rule == "» python a = 1\n  1 a = 1\n  2 b = 2\n  ✓ 12 ms\n" + END


def test_a_line_of_code_that_does_not_fit_is_shown_whole():
    short, long = "x" * 58, "x" * 59

    assert shown(code_call(short), started(short), ended())[1] == f"» python {short} ✓ 12 ms\n" + END
    assert shown(code_call(long), started(long), ended())[1] == (
        f"» python {'x' * 57}…\n  1 {long}\n  ✓ 12 ms\n" + END
    )


def test_long_code_is_cut():
    code = "x\n" * 15

    err = shown(code_call(code), started(code), ended())[1]

    lines = "".join(f"  {number:>2} x\n" for number in range(1, 13))
    assert err == f"» python x\n{lines}  … 3 more lines\n  ✓ 12 ms\n" + END


def test_code_is_in_colours():
    err = io.StringIO()
    screen = Screen(err, {"FORCE_COLOR": "1"})
    view = RunView(Console(screen, screen, {}), answer="none", chatty=True, verbose=False)

    view.show(_item(started("if x:\n    1")))

    assert err.getvalue() == (
        "» \x1b[36mpython\x1b[0m if x:\n"
        "  \x1b[2m1\x1b[0m \x1b[35mif\x1b[0m x:\n"
        "  \x1b[2m2\x1b[0m     \x1b[33m1\x1b[0m\n"
    )


def test_code_that_failed_shows_its_error_and_not_again_what_it_printed():
    trace = "\n".join(f"line {number}" for number in range(15))

    err = shown(
        code_call("x"),
        started("x"),
        ToolOutputDelta(PY, "[1, 2]\n"),
        ended(f"[1, 2]\n{trace}", is_error=True),
    )[1]

    tail = "".join(f"  line {number}\n" for number in range(3, 15))
    assert err == f"» python x\n  [1, 2]\n  ✗\n  … 3 lines before\n{tail}" + END


def test_what_is_said_about_the_kernel_is_shown():
    err = shown(code_call("x"), started("x"), ToolOutputDelta(PY, "[1]\n"), ended("[1]\n[a new kernel]"))[1]

    assert err == "» python x\n  [1]\n  ✓ 12 ms\n  [a new kernel]\n" + END


def test_the_answer_of_code_is_the_answer():
    events = (code_call("x"), started("x"), inner("datetime", {}), ended("[no output]", answer="All done."))

    assert shown(*events)[0] == "All done.\n"
    assert shown(*events, chatty=False) == ("All done.\n", "")
    assert shown(*events, answer="final", chatty=False) == ("Done.\n", "")  # that of the result
    assert shown(*events, answer="none", chatty=False) == ("", "")


def test_a_call_of_code_that_was_refused_is_shown_below_it():
    asked = ApprovalRequested(INNER, "edit_file", EDIT, "mode ask", parent=PY)

    err = shown(
        code_call("x"),
        started("x"),
        asked,
        ApprovalDecided(INNER, "deny"),
        inner_ended("edit_file", "no", is_error=True),
        inner_ended("bash", "denied by rule", 2, is_error=True),
        ended("x"),
    )[1]

    assert err == (
        "» python x\n  » edit_file greet.py ✗\n    no\n  » bash ✗\n    denied by rule\n  ✓ 12 ms\n  x\n" + END
    )


def test_calls_of_code_whose_start_was_not_seen_are_shown_all_the_same():
    err = shown(inner_ended("read_file", "x"), ended())[1]

    assert err == "  » read_file ✓ 12 ms\n  ✓ 12 ms\n" + END


def test_a_compaction_is_one_calm_line():
    out, err = shown(
        CompactionStarted("automatic", 0, 9_000, 40),
        OutputsCleared((CallId("a"), CallId("b")), 9_000, 7_000),
        Compacted(user_message("sum"), 2, 5, 40, 3, 9_000, 800, "m/x"),
        CompactionFailed("no such key"),
        Pinned("be brief"),
    )

    assert out == ""
    assert err.splitlines()[:-1] == [
        "cleared for the model: 2 old outputs, 2,000 tokens",
        "compacted: 40 messages to 3, 9,000 tokens to 800",
        "not compacted: no such key",
        "pinned: be brief",
    ]
