"""Which records count after rewinds; and a tail gives the same result as the whole."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.context import Counted, estimate_tokens
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Checkpoint,
    Compacted,
    Event,
    FilesSeen,
    MessageAdded,
    ModelReplied,
    OutputsCleared,
    Pinned,
    Record,
    Rewound,
    RunEnded,
    RunStarted,
    SeenFile,
    SessionCreated,
    Todo,
    TodosChanged,
    ToolFinished,
    TurnStarted,
)
from bridle.core.session import Session, fold, fork_at
from bridle.core.transcript import CLEARED, PINNED, drop_rewound

CREATED = SessionCreated(SessionId("s"), "/")


def stored(*events: Event) -> list[Record]:
    return [Record(seq, 0, event, "") for seq, event in enumerate((CREATED, *events), 1)]


def said(text: str) -> MessageAdded:
    return MessageAdded(user_message(text))


def texts(records: list[Record]) -> list[str]:
    return [item.message.text for item in fold(records).messages]


def test_a_rewind_leaves_out_what_lies_between():
    records = stored(said("a"), said("b"), said("c"), Rewound(2), said("d"))

    assert texts(records) == ["a", "d"]


def test_a_rewind_can_be_rewound():
    records = stored(said("a"), said("b"), said("c"), Rewound(2), Rewound(4), said("d"))

    assert texts(records) == ["a", "b", "c", "d"]


def test_a_rewind_of_files_leaves_the_conversation():
    assert texts(stored(said("a"), said("b"), Rewound(2, "files"))) == ["a", "b"]


def test_after_a_rewind_every_file_must_be_read_again_and_todos_are_those_of_then():
    seen, todos = FilesSeen((SeenFile("a", "1"),)), (Todo("look"),)

    for scope, kept in (("all", todos), ("conversation", todos), ("files", (Todo("x"),))):
        records = stored(seen, TodosChanged((Todo("x"),)), Rewound(1, scope, todos))
        assert (fold(records).known.seen, fold(records).known.todos) == ({}, kept)


def test_a_rewind_ends_what_was_running():
    assert fold(stored(TurnStarted(RunId("r"), 1), Rewound(1))).run is None


def test_a_fork_takes_what_the_conversation_was_at_that_point():
    records = stored(said("a"), said("b"), Rewound(2), said("c"))

    def forked(seq: int) -> list[str]:
        child = fork_at(records, seq, CREATED)
        return [event.message.text for event in child if isinstance(event, MessageAdded)]

    assert (forked(3), forked(4), forked(5)) == (["a", "b"], ["a"], ["a", "c"])


@st.composite
def histories(draw: st.DrawFn) -> list[Record]:
    events: list[Event] = []
    for number in range(draw(st.integers(1, 25))):
        seq = len(events) + 1
        event = draw(st.sampled_from(["say", "say", "rewind"]))
        target = draw(st.integers(1, seq))
        events.append(said(str(number)) if event == "say" else Rewound(target))
    return stored(*events)


@given(histories())
def test_the_conversation_is_what_it_was_at_the_target(records: list[Record]):
    for record in records:
        here = texts(records[: record.seq])
        if isinstance(record.event, Rewound):
            assert here == texts(records[: record.event.to_seq])
        elif isinstance(record.event, MessageAdded):
            assert here == [*texts(records[: record.seq - 1]), record.event.message.text]


@given(histories(), st.data())
def test_what_counts_of_a_tail_is_the_end_of_what_counts(records: list[Record], data: st.DataObject):
    first = data.draw(st.integers(1, len(records)))
    tail, whole = drop_rewound(records[first - 1 :]), drop_rewound(records)

    assert whole[len(whole) - len(tail) :] == tail


def test_a_tail_with_a_checkpoint_has_the_messages_that_still_count():
    facts = fold(stored(said("a"))).known
    records = stored(said("a"), said("b"), Checkpoint(facts), said("c"), Rewound(3), said("d"))

    assert texts(records[2:]) == ["b", "d"]


# ---------------------------------------------------------------------------- compactions


def summary(text: str = "sum", kept: int = 0, **others: object) -> Compacted:
    return Compacted(user_message(text), kept, 7, 0, 0, 0, 0, summary=text, **others)


def test_a_summary_stands_in_the_place_of_all_but_the_newest():
    session = fold(stored(said("a"), said("b"), said("c"), summary(kept=1), said("d")))

    assert session.messages == [
        Counted(user_message("sum"), 7, "summary"),
        Counted(user_message("c"), 0),
        Counted(user_message("d"), 0),
    ]


def test_a_tail_that_lacks_some_of_what_was_kept_has_the_rest_and_says_so():
    facts = fold(stored(said("a"))).known
    records = stored(said("a"), said("b"), said("c"), Checkpoint(facts), summary(kept=3))

    missing, whole = fold(records[3:]), fold(records[1:])

    assert (texts(records[3:]), missing.transcript.is_whole) == (["sum", "c"], False)
    assert (texts(records[1:]), whole.transcript.is_whole) == (["sum", "a", "b", "c"], True)


def test_a_rewind_to_before_a_compaction_brings_the_messages_back():
    records = stored(said("a"), said("b"), summary(), said("c"), Rewound(3), said("d"))

    assert texts(records) == ["a", "b", "d"]
    assert fold(records).transcript.compacted is None


def test_a_rewind_to_after_a_compaction_keeps_it():
    records = stored(said("a"), summary(), said("b"), Rewound(3))

    assert texts(records) == ["sum"]
    assert fold(records).transcript.compacted == summary()


def test_results_that_are_there_when_a_compaction_comes_are_part_of_what_it_counts():
    calls = tuple(ToolCall(CallId(name), "look") for name in "ab")
    asked = Message("assistant", calls)
    result = ToolResult(CallId("a"), "look", "seen")
    run = RunStarted(RunId("r"), "m/x")
    reply = ModelReplied(RunId("r"), 1, asked, "tool_use", Usage())
    session = fold(stored(run, said("go"), reply, ToolFinished(result), summary(kept=2)))

    assert [item.message for item in session.messages] == [
        user_message("sum"),
        asked,
        Message("tool", (result,)),
    ]
    assert session.run is not None
    assert (session.run.first_message, session.run.prompt) == (0, user_message("go"))


def test_a_run_finds_its_messages_after_a_compaction():
    """The prompt is the second message then, and it is not part of what came before."""
    session = fold(stored(said("a"), said("b"), RunStarted(RunId("r"), "m/x"), said("go"), summary(kept=1)))

    assert session.run is not None
    assert session.run.first_message == 1


def test_a_run_after_a_rewind_finds_its_messages():
    """After a crash it continues from there."""
    records = stored(said("a"), said("b"), Rewound(2), RunStarted(RunId("r"), "m/x"), said("go"))
    run = fold(records).run

    assert run is not None
    assert (run.first_message, texts(records)) == (1, ["a", "go"])


def test_a_cleared_output_is_a_note_and_keeps_its_place():
    calls = tuple(ToolCall(CallId(name), "look") for name in "ab")
    reply = ModelReplied(RunId("r"), 1, Message("assistant", calls), "tool_use", Usage())
    finished = [ToolFinished(ToolResult(call.id, "look", "x" * 4_000), tokens=1_000) for call in calls]
    session = fold(stored(reply, *finished, OutputsCleared((CallId("a"), CallId("other")), 2_000, 1_030)))

    assert session.messages[1].message.parts == (
        ToolResult(CallId("a"), "look", CLEARED),
        ToolResult(CallId("b"), "look", "x" * 4_000),
    )
    assert 1_000 < session.messages[1].tokens < 1_100


def test_what_a_vendor_counted_holds_until_the_messages_change():
    usage = Usage(input=100, output=50, cache_read=20)
    reply = ModelReplied(RunId("r"), 1, Message("assistant", (Text("a"),)), "end_turn", usage)

    def counted(*events: Event) -> int:
        return fold(stored(reply, *events)).input_tokens

    facts = fold(stored()).known
    assert (counted(), counted(said("b")), counted(Checkpoint(facts))) == (120, 120, 120)
    assert (counted(summary()), counted(OutputsCleared((), 0, 0)), counted(Rewound(1))) == (0, 0, 0)
    assert fold(stored(reply, Checkpoint(facts))[1:]).input_tokens == 120


# ---------------------------------------------------------------------------- pins


def test_a_pin_reaches_the_model_with_the_next_message_of_the_user():
    session = fold(stored(said("a"), Pinned("be brief"), said("b"), said("c")))

    assert session.messages[1:] == [
        Counted(
            Message("user", (Text("b"), Text(PINNED + "be brief"))), estimate_tokens(PINNED + "be brief")
        ),
        Counted(user_message("c"), 0),
    ]


def test_a_pin_that_was_said_or_taken_back_is_not_told_again():
    assert texts(stored(said("please be brief"), Pinned("be brief"), said("b"))) == ["please be brief", "b"]
    assert texts(stored(Pinned("be brief"), Pinned("be brief", pinned=False), said("b"))) == ["b"]
    assert texts(stored(Pinned("be brief"), summary("keep: be brief"), said("b"))) == ["keep: be brief", "b"]


def test_after_a_compaction_what_is_kept_has_no_notes_about_pins():
    """A tail that begins after the pin would not know where they belong."""
    records = stored(Pinned("x"), said("a"), summary("sum x", kept=1))

    assert fold(records).messages == [
        Counted(user_message("sum x"), 7, "summary"),
        Counted(user_message("a"), 0),
    ]


def test_a_rewind_takes_no_pin_back():
    records = stored(said("a"), Pinned("x"), said("b"), Pinned("y"), Pinned("x", pinned=False), Rewound(2))
    later = [*records, Record(8, 0, said("c"), "")]

    assert fold(later).known.pins == ("y",)
    assert texts(later) == ["a", f"c{PINNED}y"]


def test_a_fork_has_the_pins_the_summary_and_what_was_corrected():
    steered = MessageAdded(user_message("no, blue"), "steer", 3)
    past = summary("sum", kept=1, corrections=("red",), usage=Usage(input=9), cost=1.0)
    records = stored(Pinned("x"), said("a"), steered, past, said("b"), Pinned("late"))

    child = fork_at(records, 6, CREATED)

    begun = [Record(seq, 0, event, "") for seq, event in enumerate(child, 1)]
    session = fold(begun)
    assert session.known.pins == ("x",)
    assert session.messages == fold(records[:6]).messages
    assert (session.known.totals.cost, session.known.totals.usage) == (0.0, Usage())
    assert session.transcript.compacted is not None
    assert session.transcript.compacted.corrections == ("red",)


@given(
    st.lists(st.sampled_from(["say", "steer", "pin", "unpin", "compact", "run", "rewind"]), max_size=40),
    st.data(),
)
def test_a_tail_that_is_whole_gives_the_messages_and_pins_of_the_whole(kinds: list[str], data: st.DataObject):
    """Opening a long session reads back to its last compaction only."""
    records, session = stored(), Session()
    session.apply(records[0])
    for number, kind in enumerate(kinds):
        for event in _happening(kind, number, records, data):
            records.append(Record(len(records) + 1, 0, event, ""))
            session = fold(records)
            if kind == "run":
                records.append(Record(len(records) + 1, 0, Checkpoint(session.known), ""))
                session = fold(records)

    for first in range(1, len(records)):
        tail = records[first:]
        found = drop_rewound(tail)
        has_facts = any(isinstance(record.event, Checkpoint) for record in tail)
        if has_facts and fold(tail).transcript.is_whole:
            assert fold(tail).messages == session.messages
            assert fold(tail).known == session.known
            assert any(isinstance(record.event, Compacted) for record in found)


def _happening(kind: str, number: int, records: list[Record], data: st.DataObject) -> list[Event]:
    messages = len(fold(records).messages)
    match kind:
        case "say":
            return [said(f"said {number}")]
        case "steer":
            return [MessageAdded(user_message(f"steered {number}"), "steer", 1)]
        case "pin":
            return [Pinned(f"pin {number}")]
        case "unpin":
            return [Pinned(text, pinned=False) for text in fold(records).known.pins[:1]]
        case "compact":
            pins = " ".join(fold(records).known.pins)
            return [summary(f"sum {number} {pins}", kept=data.draw(st.integers(0, max(0, messages - 1))))]
        case "run":
            return [RunEnded(RunId("r"), "completed")]
        case _:
            return [Rewound(data.draw(st.integers(1, len(records))))]
