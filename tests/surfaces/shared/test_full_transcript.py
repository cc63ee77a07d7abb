"""The full conversation that people see, with the calls made by code, whatever left the model's window."""

import io

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Compacted,
    CompactionFailed,
    Event,
    MessageAdded,
    ModelReplied,
    OutputsCleared,
    Pinned,
    Rewound,
    SessionCreated,
    ToolFinished,
)
from bridle.core.session import fold, fork_at
from bridle.surfaces.shared.export import to_html, to_markdown
from bridle.surfaces.shared.full_transcript import (
    CodeCall,
    FromAgent,
    NestedCall,
    collect_code_calls,
    describe_note,
    list_visible_messages,
)
from bridle.surfaces.shared.terminal import Screen
from bridle.surfaces.shared.transcript import transcript_lines
from tests.surfaces.records import CELL, INNER, SESSION, code_session, records

CREATED = SessionCreated(SESSION, "/work")
CALL = ToolCall(CallId("c"), "look")
ASKED = Message("assistant", (Text("I look."), CALL))
RESULT = ToolResult(CALL.id, "look", "much to see")
COMPACTED = Compacted(user_message("sum"), 0, 5, 4, 1, 9_000, 800, "m/x", left_out=("the prompt",))
CLEARED = OutputsCleared((CALL.id,), 9_000, 4_500)
FAILED = CompactionFailed("the summary\nis empty")
TALK: tuple[Event, ...] = (
    Pinned("be brief"),
    MessageAdded(user_message("look")),
    ModelReplied(RunId("r"), 1, ASKED, "tool_use", Usage()),
    ToolFinished(RESULT),
    CLEARED,
    COMPACTED,
    FAILED,
    MessageAdded(user_message("more")),
)


def test_everything_is_there_as_it_was_said_with_notes_between():
    assert list_visible_messages(records([CREATED, *TALK])) == [
        Pinned("be brief"),
        user_message("look"),
        ASKED,
        Message("tool", (RESULT,)),
        CLEARED,
        COMPACTED,
        FAILED,
        user_message("more"),
    ]


def test_a_pin_between_calls_and_results_does_not_part_them():
    talk = (TALK[2], Pinned("late"), TALK[3])

    assert list_visible_messages(records([CREATED, *talk])) == [
        ASKED,
        Pinned("late"),
        Message("tool", (RESULT,)),
    ]


def test_what_was_rewound_is_gone():
    assert list_visible_messages(
        records([CREATED, MessageAdded(user_message("a")), COMPACTED, Rewound(2)])
    ) == [user_message("a")]


def test_a_fork_begins_with_the_summary():
    child = fork_at(records([CREATED, *TALK]), 9, SessionCreated(SessionId("child"), "/work"))
    begun = records(child)

    assert list_visible_messages(begun) == [user_message("sum"), user_message("more"), Pinned("be brief")]
    assert [item.message for item in fold(begun).messages] == [user_message("sum"), user_message("more")]


def test_messages_of_other_agents_are_marked():
    talk = (MessageAdded(user_message("a"), "child"), MessageAdded(user_message("b"), "peer"))
    told = records([CREATED, *talk])

    assert list_visible_messages(told) == [
        FromAgent("sub-agent"),
        user_message("a"),
        FromAgent("another agent"),
        user_message("b"),
    ]
    assert list(transcript_lines(Screen(io.StringIO(), {}), told))[-6:] == [
        "",
        "sub-agent",
        "  a",
        "",
        "another agent",
        "  b",
    ]
    assert to_markdown(told).endswith("## Sub-agent\n\na\n\n## Another agent\n\nb\n")


def test_notes_are_one_line_each():
    assert [
        describe_note(note)
        for note in (COMPACTED, CLEARED, FAILED, Pinned("a\nb"), Pinned("a", pinned=False))
    ] == [
        "compacted: 4 messages to 1, 9,000 tokens to 800, without the prompt",
        "cleared for the model: 1 old output, 4,500 tokens",
        "not compacted: the summary is empty",
        "pinned: a b",
        "no longer pinned: a",
    ]


def test_an_export_has_all_of_it_and_the_notes():
    page, text = to_html(records([CREATED, *TALK])), to_markdown(records([CREATED, *TALK]))

    assert "much to see" in page
    assert "compacted: 4 messages to 1, 9,000 tokens to 800, without the prompt</p>" in page
    assert "much to see" in text
    assert "*compacted: 4 messages to 1, 9,000 tokens to 800, without the prompt*" in text
    assert "sum\n" not in text


def test_a_note_cannot_break_out_of_its_line():
    hostile = Pinned("<script>*x*\n# y")

    assert "&lt;script&gt;*x* # y" in to_html(records([CREATED, hostile]))
    assert "*pinned: \\<script\\>\\*x\\* \\# y*" in to_markdown(records([CREATED, hostile]))


def test_the_calls_of_code_are_found_by_the_call_that_ran_it():
    assert collect_code_calls(code_session()) == {
        CELL: CodeCall(
            calls=(
                NestedCall(
                    ToolCall(INNER, "read_file", {"path": "a.txt"}),
                    ToolResult(INNER, "read_file", "1: hello"),
                ),
                NestedCall(
                    ToolCall(CallId("call_2.2"), "edit_file", {"path": "b.txt"}),
                    ToolResult(CallId("call_2.2"), "edit_file", "the user said no", is_error=True),
                ),
                NestedCall(
                    ToolCall(CallId("call_2.3"), "bash"),
                    ToolResult(CallId("call_2.3"), "bash", "denied by rule deny bash", is_error=True),
                ),
                NestedCall(ToolCall(CallId("call_2.4"), "wait", {"seconds": 1})),
            ),
            answer="It says hello.",
        )
    }


def test_calls_that_were_rewound_are_left_out():
    events = [record.event for record in code_session()]

    assert collect_code_calls(records([*events, Rewound(2)])) == {}
