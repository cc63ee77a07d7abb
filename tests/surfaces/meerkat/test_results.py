"""Results, sessions and histories as clients read them."""

import msgspec
from msgspec.structs import replace

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Media, Message, Reasoning, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Compacted,
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    Rewound,
    RunEnded,
    RunStarted,
    SessionCreated,
    ToolFinished,
)
from bridle.core.session import fold
from bridle.core.summary import SessionSummary
from bridle.core.usage import UsageCollector
from bridle.surfaces.meerkat.events import TokenUsage
from bridle.surfaces.meerkat.results import (
    History,
    SessionCounts,
    count_session,
    history,
    run_result,
    session_info,
    session_row,
)
from bridle.surfaces.shared.output_format import DeniedCall, Result

SESSION, RUN = SessionId("s"), RunId("run")
RESULT = Result(
    version=1,
    session_id=SESSION,
    run_id=RUN,
    outcome="completed",
    text="Hello.",
    reason="",
    turns=1,
    tool_calls=2,
    usage={"input": 10, "output": 5, "cache_read": 3, "cache_write": 0, "reasoning": 1},
    cost=None,
    denied=[],
    blame=UsageCollector().blame,
)
CALL = ToolCall(CallId("a"), "glob", {"pattern": "*"})
EVENTS: list[Event] = [
    SessionCreated(SESSION, "/p", "coder"),
    RunStarted(RUN, "anthropic/claude"),
    MessageAdded(Message("user", (Text("What?"), Media("image/png", "AA==")))),
    ModelReplied(RUN, 1, Message("assistant", (Reasoning("hm"), CALL)), "tool_use", Usage(input=7, output=2)),
    ToolFinished(ToolResult(CallId("a"), "glob", "x.py", media=(Media("image/png", "BB=="),))),
    ToolFinished(ToolResult(CallId("n"), "glob", "inner"), parent=CallId("a")),
    ModelReplied(RUN, 2, Message("assistant", (Text("It is x."),)), "end_turn", Usage(input=9, output=3)),
    RunEnded(RUN, "completed", "It is x."),
]


def records(events: list[Event]) -> list[Record]:
    return [Record(seq, 1_000 * seq, event, "") for seq, event in enumerate(events, 1)]


def test_a_result_has_what_clients_read_and_how_it_ended():
    assert msgspec.to_builtins(run_result(RESULT)) == {
        "session_id": "s",
        "text": "Hello.",
        "turns": 1,
        "tool_calls": 2,
        "usage": {
            "input_tokens": 10,
            "output_tokens": 5,
            "total_tokens": 18,
            "cache_creation_tokens": None,
            "cache_read_tokens": 3,
        },
        "run_id": "run",
        "outcome": "completed",
    }


def test_a_result_with_more_says_more():
    denied = DeniedCall(CallId("a"), "bash", "nobody", ("bash(ls)",))
    result = replace(
        RESULT,
        outcome="denied",
        reason="nobody is there",
        structured_output={"a": 1},
        schema_warnings=["$.a: minimum is not held", "odd"],
        denied=[denied],
        cost=0.5,
    )

    more = msgspec.to_builtins(run_result(result))

    assert (more["structured_output"], more["outcome"], more["reason"], more["cost"]) == (
        {"a": 1},
        "denied",
        "nobody is there",
        0.5,
    )
    assert more["denied"] == [{"call_id": "a", "tool": "bash", "reason": "nobody", "rules": ("bash(ls)",)}]
    assert more["schema_warnings"] == [
        {"provider": "", "path": "$.a", "message": "minimum is not held"},
        {"provider": "", "path": "", "message": "odd"},
    ]


def test_usage_names_caches_only_where_they_were_used():
    assert run_result(RESULT).usage == TokenUsage(10, 5, 18, None, 3)


def test_a_session_is_described_with_its_model_and_last_answer():
    session = fold(records(EVENTS))

    assert count_session(session) == SessionCounts(4, 21)
    assert msgspec.to_builtins(session_info(session, "x/y", is_active=True)) == {
        "session_id": "s",
        "created_at": 1,
        "updated_at": 8,
        "message_count": 4,
        "total_tokens": 21,
        "is_active": True,
        "state": "running",
        "model": "claude",
        "provider": "anthropic",
        "last_assistant_text": "It is x.",
        "title": "What?",
        "cwd": "/p",
        "agent": "coder",
    }


def test_a_session_that_never_ran_has_the_usual_model():
    info = session_info(fold(records(EVENTS[:1])), "embedded/small", is_active=False)

    assert (info.provider, info.model, info.state) == ("embedded", "small", "idle")


def test_a_row_of_a_list_counts_in_seconds():
    summary = SessionSummary(SESSION, "title", "/p", "coder", 1_999, 3_000, 8)

    assert msgspec.to_builtins(session_row(summary, SessionCounts(4, 21), is_active=False)) == {
        "session_id": "s",
        "created_at": 1,
        "updated_at": 3,
        "message_count": 4,
        "total_tokens": 21,
        "is_active": False,
        "state": "idle",
        "title": "title",
        "cwd": "/p",
        "labels": {},
    }


def test_a_history_has_every_message_with_its_blocks():
    page = msgspec.to_builtins(history("s", records(EVENTS), 0, None))

    image = {"type": "image", "media_type": "image/png", "source": "inline"}
    assert page == {
        "session_id": "s",
        "message_count": 4,
        "offset": 0,
        "has_more": False,
        "limit": None,
        "messages": [
            {
                "role": "user",
                "created_at": "1970-01-01T00:00:03.000Z",
                "content": [{"type": "text", "text": "What?"}, {**image, "data": "AA=="}],
            },
            {
                "role": "block_assistant",
                "created_at": "1970-01-01T00:00:04.000Z",
                "blocks": [
                    {"block_type": "reasoning", "data": {"text": "hm"}},
                    {"block_type": "tool_use", "data": {"id": "a", "name": "glob", "args": {"pattern": "*"}}},
                ],
                "stop_reason": "tool_use",
            },
            {
                "role": "tool_results",
                "created_at": "1970-01-01T00:00:05.000Z",
                "results": [
                    {
                        "tool_use_id": "a",
                        "content": [{"type": "text", "text": "x.py"}, {**image, "data": "BB=="}],
                        "is_error": False,
                    }
                ],
            },
            {
                "role": "block_assistant",
                "created_at": "1970-01-01T00:00:07.000Z",
                "blocks": [{"block_type": "text", "data": {"text": "It is x."}}],
                "stop_reason": "end_turn",
            },
        ],
    }


def test_a_history_comes_in_pages():
    pages = [history("s", records(EVENTS), offset, 2) for offset in (0, 2, 4)]

    def facts(page: History) -> tuple[list[str], bool]:
        return [message.role for message in page.messages], page.has_more

    assert [facts(page) for page in pages] == [
        (["user", "block_assistant"], True),
        (["tool_results", "block_assistant"], False),
        ([], False),
    ]


def test_what_was_taken_back_is_gone_and_a_summary_is_marked():
    summary = Compacted(user_message("Once."), 0, 5, 4, 1, 90, 5)
    rewound = history("s", records([*EVENTS, Rewound(to_seq=1), summary]), 0, None)

    [message] = msgspec.to_builtins(rewound.messages)
    assert (message["content"], message["transcript_role"]) == ("Once.", "compaction_summary")


def test_messages_of_a_fork_are_part_of_its_history():
    copied: list[Event] = [
        SessionCreated(SESSION, "/p"),
        MessageAdded(user_message("What?"), "fork"),
        MessageAdded(Message("assistant", (CALL,)), "fork"),
        MessageAdded(Message("tool", (ToolResult(CallId("a"), "glob", "x"),)), "fork"),
    ]

    page = history("s", records(copied), 0, None)

    assert [message.role for message in page.messages] == ["user", "block_assistant", "tool_results"]
    assert page.messages[1].stop_reason == "tool_use"
