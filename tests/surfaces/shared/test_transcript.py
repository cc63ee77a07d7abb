import io

from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    MessageAdded,
    ModelReplied,
    PromptQueued,
    RunEnded,
    RunStarted,
    SessionCreated,
    Todo,
    TodosChanged,
    ToolFinished,
    ToolStarted,
    Totals,
    TurnStarted,
)
from bridle.surfaces.shared.terminal import Screen
from bridle.surfaces.shared.transcript import describe_origin, describe_totals, local_time, transcript_lines
from tests.surfaces.records import AT, CALL, RUN, SESSION, code_session, edit_session, records


def lines(stored) -> list[str]:
    return list(transcript_lines(Screen(io.StringIO(), {}), stored))


def test_a_whole_session():
    assert lines(edit_session("Done.\n\x1b[2J")) == [
        "fix the greeting",
        "session 019a8536-2b7c-7000-8000-000000000001",
        "agent default in /work",
        f"from {local_time(AT)} to {local_time(AT)}",
        "1 run · 2 turns · 1 tool call · 235 tokens · price unknown",
        "",
        "you",
        "  fix the greeting",
        "",
        "assistant",
        "  I change it.",
        "  » edit_file greet.py",
        "    Replaced 1 occurrence(s) in greet.py",
        "  Done.",
        "  \\x1b[2J",
    ]


def test_what_is_to_be_done_comes_last():
    todos = TodosChanged((Todo("read", "completed"), Todo("fix")))

    shown = lines([*edit_session(), records([todos])[0]])

    assert shown[-4:] == ["", "to do", "  [x] read", "  [ ] fix"]


def test_long_results_are_cut_and_other_parts_are_named():
    parts = (Reasoning("hmm"), Media("image/png", "", "cat.png"), ToolCall(CALL, "look"))
    output = "\n".join("x" * 15)

    shown = lines(
        records(
            [
                SessionCreated(SESSION, "/work", parent=SESSION, forked_at=3),
                RunStarted(RUN, "scripted/x"),
                MessageAdded(user_message("")),
                TurnStarted(RUN, 1),
                ModelReplied(RUN, 1, Message("assistant", parts), "tool_use", Usage()),
                ToolStarted(CALL, "look", {}),
                ToolFinished(ToolResult(CALL, "look", output)),
                PromptQueued("item", user_message("and\nthen")),
                RunEnded(RUN, "failed", reason="it broke"),
            ]
        )
    )

    assert shown[0] == "(no title)"
    assert shown[2] == f"agent default in /work, forked from {SESSION} at event 3"
    assert shown[7:] == [
        "",
        "assistant",
        "  hmm",
        "  [image/png cat.png]",
        "  » look",
        *["    x"] * 12,
        "    … 3 more lines",
        "waiting: and then",
        "",
        "the last run ended failed: it broke",
    ]


def test_a_run_without_an_end_is_said():
    stored = records(
        [
            SessionCreated(SESSION, "/work"),
            RunStarted(RUN, "scripted/x"),
            MessageAdded(Message("user", (Text("go"),))),
        ]
    )

    assert lines(stored)[-1] == "the last run has not ended: it is active, or was cut off"


def test_unknown_prices_are_said_beside_known_ones():
    assert [
        describe_totals(Totals(turns=2, cost=0.5, unpriced_turns=unpriced)).split(" · ")[-1]
        for unpriced in (0, 1, 2)
    ] == ["$0.5000", "$0.5000 and 1 turn of unknown price", "price unknown"]


def test_the_calls_of_code_stand_below_it():
    assert lines(code_session())[10:] == [
        "  I look.",
        '  » python text = await read_file("a.txt")',
        '    1 text = await read_file("a.txt")',
        "    2 print(text)",
        "    » read_file a.txt",
        "      1: hello",
        "    » edit_file b.txt",
        "      the user said no",
        "    » bash",
        "      denied by rule deny bash",
        "    » wait seconds=1",
        "    1: hello",
        "  It says hello.",
    ]


def test_code_that_stands_in_the_reply_is_not_shown_again():
    shown = lines(code_session(fenced=True))

    assert shown[10:17] == [
        "  I look.",
        "",
        "  ```python",
        '  text = await read_file("a.txt")',
        "  print(text)",
        "  ```",
        '  » python text = await read_file("a.txt")',
    ]
    assert shown[17] == "    » read_file a.txt"


def test_a_session_says_where_it_comes_from():
    plain, child = SessionCreated(SESSION, "/work"), SessionCreated(SESSION, "/work", parent=SESSION)
    fork = SessionCreated(SESSION, "/work", parent=SESSION, forked_at=7)

    assert [describe_origin(created) for created in (plain, child, fork)] == [
        "",
        f"sub-agent of {SESSION}",
        f"forked from {SESSION} at event 7",
    ]
