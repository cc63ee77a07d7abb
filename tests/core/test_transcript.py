"""Which records still count after rewinds, and that a tail gives what the whole gives."""

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    Checkpoint,
    Event,
    FilesSeen,
    MessageAdded,
    Record,
    Rewound,
    SeenFile,
    SessionCreated,
    Todo,
    TodosChanged,
    TurnStarted,
)
from bridle.core.session import fold, fork_at
from bridle.core.transcript import live

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
def test_a_tail_says_how_far_back_it_would_have_to_go(records: list[Record], data: st.DataObject):
    first = data.draw(st.integers(1, len(records)))
    tail, whole = live(records[first - 1 :]), live(records)

    assert whole.records == live(records[: tail.next_seq]).records + tail.records


def test_a_tail_with_a_checkpoint_has_the_messages_that_still_count():
    facts = fold(stored(said("a"))).known
    records = stored(said("a"), said("b"), Checkpoint(facts), said("c"), Rewound(3), said("d"))

    assert texts(records[2:]) == ["b", "d"]
