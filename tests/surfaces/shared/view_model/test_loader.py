"""A view model is the same whether it was just loaded or has been open all the time."""

from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.context import ContextUsage
from bridle.core.errors import SessionNotFound
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Part, Reasoning, Text, ToolCall, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetWarned,
    ChildEnded,
    ChildStarted,
    Compacted,
    Delta,
    Event,
    FilesChanged,
    HookCompleted,
    HookFailed,
    MessageAdded,
    ModelReplied,
    ModelSampled,
    Pinned,
    PromptQueued,
    Question,
    QuestionAnswered,
    QuestionAsked,
    QueueDropped,
    ReasoningDelta,
    Record,
    ReplyLost,
    Retrying,
    Rewound,
    RunResumed,
    RunStarted,
    SessionTitled,
    TextDelta,
    Todo,
    TodosChanged,
    ToolCallDelta,
    ToolOutputDelta,
    ToolStarted,
    Totals,
    TurnStarted,
)
from bridle.core.queries import Records
from bridle.core.revision import FileChange, FileState
from bridle.core.session import fold
from bridle.surfaces.shared.view_model.loader import load_older_items, open_view
from bridle.surfaces.shared.view_model.view_types import Call, Head, Item, Note
from tests.sessions.stage import Stage
from tests.stores.sample import SAMPLES
from tests.surfaces.shared.view_model.screen import (
    RUN,
    USAGE,
    CountingStore,
    DictScreen,
    Log,
    S,
    call,
    created,
    finished,
    replied,
    said,
    stage_of,
    started,
    turn_ended,
    turns,
)

NOTHING = ContextUsage()
CHANGE = FileChange("a.py", None, FileState("file", 0o644, "0" * 64, 3))

# ---------------------------------------------------------------------------- sessions of all kinds


def quiet(run: RunId, turn: int) -> list[Event]:
    slow = HookFailed("guard", "pre_llm_request", "slow")
    return [slow, replied("hello", run=run, turn=turn, thought="hm")]


def working(run: RunId, turn: int) -> list[Event]:
    one, two = f"{run}-{turn}-a", f"{run}-{turn}-b"
    return [
        replied("I look", call(one), "and", call(two, "bash", command="make"), run=run, turn=turn),
        started(one),
        started(two, "bash", command="make"),
        FilesChanged((CHANGE,), CallId(two)),
        finished(two, "no", "bash", is_error=True),
        HookFailed("guard", "post_tool_execution", "slow"),
        finished(one, diff="-a\n+b"),
    ]


def coding(run: RunId, turn: int) -> list[Event]:
    code, inner, other = f"{run}-{turn}-code", f"{run}-{turn}-in", f"{run}-{turn}-other"
    asked = ApprovalRequested(CallId(inner), "write_file", {"path": "b"}, "no rule", parent=CallId(code))
    return [
        replied(call(code, "python", code="x = 1\ny()"), call(other), run=run, turn=turn, cost=None),
        started(code, "python", code="x = 1\ny()"),
        started(other),
        asked,
        ApprovalDecided(CallId(inner), "session", rules=("write_file",)),
        started(inner, "write_file", code, path="b"),
        BudgetWarned("tokens", 8, 10),
        started(f"{inner}2", parent=code),
        finished(f"{inner}2", parent=code),
        finished(inner, name="write_file", parent=code),
        finished(other),
        finished(code, "done", "python", answer="42"),
    ]


def asking(run: RunId, turn: int) -> list[Event]:
    one, two = f"{run}-{turn}-p", f"{run}-{turn}-q"
    return [
        replied(call(one, "bash", command="rm x"), call(two, "ask_user"), run=run, turn=turn),
        ApprovalRequested(CallId(one), "bash", {"command": "rm x"}, "no rule", "rm x"),
        QuestionAsked(CallId(two), Question("Which?")),
        ApprovalDecided(CallId(one), "deny", "no"),
        finished(one, "denied: no", "bash", is_error=True, denied=True),
        QuestionAnswered(CallId(two), ("that",)),
        finished(two, "that", "ask_user"),
    ]


def failing(run: RunId, turn: int) -> list[Event]:
    return [
        ReplyLost(run, turn, USAGE, 0.1),
        Retrying(run, turn, 1, 3, "rate_limited", "slow down", 2_000),
        replied("at last", run=run, turn=turn),
    ]


def delegating(run: RunId, turn: int) -> list[Event]:
    name, child = f"{run}-{turn}-s", SessionId(f"child-{run}-{turn}")
    return [
        replied(call(name, "agent", prompt="look"), run=run, turn=turn),
        started(name, "agent", prompt="look"),
        ChildStarted(child, "scout", "look", CallId(name)),
        ModelSampled(run, turn, CallId(name), "files", USAGE, 0.1),
        ChildEnded(child, "completed", turns=2, usage=USAGE, cost=0.2),
        finished(name, "found", "agent"),
    ]


TURNS = (quiet, working, coding, asking, failing, delegating)
BESIDE: tuple[Event, ...] = (
    SessionTitled("A title"),
    PromptQueued("item", user_message("later")),
    QueueDropped("item"),
    Pinned("never push"),
    TodosChanged((Todo("look"),)),
    FilesChanged((CHANGE,)),
    HookCompleted("guard", "turn_boundary"),
    Compacted(user_message("so far"), 0, 9, 4, 1, 60, 12, "scripted/x", USAGE, 0.1),
    MessageAdded(Message("assistant", (Text("from elsewhere"), call("imported"))), "import"),
    Rewound(1, "files"),
)


def add_run(log: Log, number: int, kinds: Sequence[int], resumed: int) -> None:
    run = RunId(f"run-{number}")
    made: list[Event] = [RunStarted(run, "scripted/x", "plan"), said(f"do {number}")]
    for turn, kind in enumerate(kinds, 1):
        made += [TurnStarted(run, turn), *TURNS[kind](run, turn), turn_ended(run, turn)]
    made.insert(2 + resumed % (len(made) - 1), RunResumed(run))
    log.add(*made)
    log.end(run, len(kinds))


@st.composite
def sessions(draw: st.DrawFn) -> list[Event]:
    """Make runs of all kinds, what happens between them, and rewinds to anywhere, also into the void."""
    log = Log()
    for number in range(draw(st.integers(1, 4))):
        add_run(log, number, draw(st.lists(st.integers(0, 5), max_size=4)), draw(st.integers(0, 50)))
        log.add(*draw(st.lists(st.sampled_from(BESIDE), max_size=2)))
        if draw(st.booleans()):
            scope = draw(st.sampled_from(["all", "conversation"]))
            log.add(Rewound(draw(st.integers(1, len(log.events))), scope))
    return log.events


def fragments_of(event: Event | None) -> list[Delta]:
    """Return the fragments that a reply comes in, or begins with and then is lost."""
    match event:
        case ReplyLost():
            return [TextDelta("half of "), TextDelta("it")]
        case ModelReplied():
            return [delta for part in event.message.parts for delta in _part_fragments(part)]
        case _:
            return []


def _part_fragments(part: Part) -> list[Delta]:
    match part:
        case Text():
            return [TextDelta(letter) for letter in part.text]
        case Reasoning():
            return [ReasoningDelta(part.text)]
        case ToolCall():
            return [ToolCallDelta(part.id, part.name, '{"pa'), ToolCallDelta(part.id, "", 'th":1}')]
        case _:
            return []


def with_fragments(records: Sequence[Record]) -> Iterator[Record | Delta]:
    """Let every reply be written as soon as its turn begins, and every call print something."""
    written: list[Delta] = []
    for index, record in enumerate(records):
        yield from written[len(written) // 2 :] if isinstance(record.event, ModelReplied | ReplyLost) else ()
        yield record
        match record.event:
            case TurnStarted() | Retrying():
                later = (other.event for other in records[index + 1 :])
                written = fragments_of(
                    next((e for e in later if isinstance(e, ModelReplied | ReplyLost)), None)
                )
                yield from written[: len(written) // 2]
            case ToolStarted() as event:
                yield ToolOutputDelta(event.call_id, "prints\n")
                yield ToolOutputDelta(event.call_id, "more\n")
            case _:
                pass


async def follow(stage: Stage, at: int, records: Sequence[Record], *, fragments: bool) -> DictScreen:
    """Open a board in the middle, and let the rest happen; at every step it is as the session is."""
    board = await open_view(stage.service, S, at)
    screen, session = DictScreen(board.view), fold(records[:at])
    assert (board.head.run is None) == (session.run is None)
    for item in with_fragments(records[at:]) if fragments else records[at:]:
        if screen.apply(board.add(item)):
            board = await open_view(stage.service, S, item.seq)
            screen, session = DictScreen(board.view), fold(records[: item.seq])
        elif isinstance(item, Record):
            session.apply(item)
        assert screen.items == list(board.items)
        assert _priced(board.head.totals) == _priced(session.known.totals)
        assert (board.head.run is None) == (session.run is None)
        assert same(screen.head) == same(board.head)
    return screen


def same(head: Head) -> Head:
    """Leave out of a head what alone is not worth telling."""
    return replace(head, seq=0, updated_at=0, totals=_priced(head.totals))


def _priced(totals: Totals) -> Totals:
    """Leave the count of messages out: going back into the middle of a turn may let it differ by one."""
    return replace(totals, messages=0)


# ---------------------------------------------------------------------------- the same either way


@given(sessions(), st.data())
async def test_a_board_that_was_open_is_like_one_that_is_opened(events: list[Event], data: st.DataObject):
    stage = await stage_of(events)
    records = await stage.service.ask(Records(S))
    at = data.draw(st.integers(1, len(records)))

    screen = await follow(stage, at, records, fragments=True)

    opened = await open_view(stage.service, S)
    assert screen.items == list(opened.items)
    assert same(screen.head) == same(opened.head)


@pytest.mark.parametrize("fragments", [True, False])
async def test_it_does_not_matter_when_a_board_was_opened(fragments: bool):
    log = Log()
    add_run(log, 0, range(len(TURNS)), 17)
    log.add(*BESIDE)
    stage = await stage_of(log.events)
    records = await stage.service.ask(Records(S))

    opened = await open_view(stage.service, S)

    for at in range(1, len(records) + 1):
        screen = await follow(stage, at, records, fragments=fragments)
        assert screen.items == list(opened.items)
        assert replace(screen.head, seq=0, updated_at=0) == replace(opened.head, seq=0, updated_at=0)


async def test_what_is_used_is_counted_as_the_session_counts_it():
    log = Log()
    add_run(log, 0, range(len(TURNS)), 17)
    stage = await stage_of(log.events)
    records = await stage.service.ask(Records(S))

    for at in range(1, len(records)):
        board = await open_view(stage.service, S, at)
        for record in records[at : at + 8]:
            board.add(record)
        session = fold(records[: at + 8])
        assert (board.head.totals, board.head.context) == (session.known.totals, session.context or NOTHING)


@given(sessions(), st.integers(2, 40))
async def test_pages_together_are_the_whole(events: list[Event], page: int):
    stage = await stage_of(events)
    whole = await open_view(stage.service, S, page=10_000)

    screen = DictScreen((await open_view(stage.service, S, page=page)).view)
    while screen.before is not None:
        screen.prepend(await load_older_items(stage.service, S, screen.before, page=page))

    assert whole.view.before is None
    assert [plain(item) for item in screen.items] == [plain(item) for item in whole.items]


def plain(item: Item) -> Item:
    """Leave out of an end what only its beginning tells: the time it took, the name of a sub-agent."""
    return replace(item, text="") if isinstance(item, Note) else item


async def test_every_kind_of_event_can_be_shown():
    stage = await stage_of(SAMPLES)
    records = await stage.service.ask(Records(S))

    screen = await follow(stage, 1, records, fragments=True)

    assert screen.items == list((await open_view(stage.service, S)).items)


# ---------------------------------------------------------------------------- how much is read


async def test_a_long_session_is_opened_by_its_end():
    stage = await stage_of(turns(50, runs=20))
    store = stage.store
    assert isinstance(store, CountingStore)

    board = await open_view(stage.service, S)
    opened = store.was_read
    older = await load_older_items(stage.service, S, board.view.before or 0)

    assert board.head.seq > 5_000
    assert len(board.items) > 100
    assert opened <= 700
    assert store.was_read - opened <= 300
    assert [item.seq for item in older.items] == sorted(item.seq for item in older.items)
    assert older.items[-1].seq < board.items[0].seq


async def test_a_long_session_is_opened_at_a_place_without_reading_what_is_after_it():
    stage = await stage_of(turns(10, runs=100))
    store = stage.store
    assert isinstance(store, CountingStore)

    board = await open_view(stage.service, S, 3_000)

    assert board.head.seq == 3_000
    assert store.was_read <= 1_500


async def test_a_page_begins_where_no_call_is_parted_from_its_result():
    stage = await stage_of(turns(100))
    board = await open_view(stage.service, S, page=31)

    pages = [board.items]
    before = board.view.before
    while before is not None:
        page = await load_older_items(stage.service, S, before, page=31)
        pages.append(page.items)
        before = page.before

    calls = [item for page in pages for item in page if isinstance(item, Call)]
    assert len(calls) == 100
    assert {call.state for call in calls} == {"done"}


async def test_a_turn_without_end_is_cut_all_the_same():
    code = CallId("code")
    inner = [
        event
        for n in range(3_000)
        for event in (started(f"i{n}", parent="code"), finished(f"i{n}", parent="code"))
    ]
    events: list[Event] = [created(), RunStarted(RUN, "scripted/x"), said("go"), TurnStarted(RUN, 1)]
    events += [replied(call("code", "python", code="go()")), started("code", "python", code="go()"), *inner]
    stage = await stage_of(events)
    store = stage.store
    assert isinstance(store, CountingStore)

    board = await open_view(stage.service, S)
    glanced = store.was_read

    assert board.view.before is not None
    assert {item.parent for item in board.items if isinstance(item, Call)} == {code}
    assert glanced <= len(events) + 16 * 300  # a run without a checkpoint is folded whole for its head


async def test_rewinds_of_rewinds_are_read_past():
    events = turns(3)
    last = len(events)
    events.append(Rewound(4))
    events.append(Rewound(last))
    events.append(Rewound(9))
    stage = await stage_of(events)

    board = await open_view(stage.service, S)

    assert [item.seq for item in board.items] == [3, 5, 5, last + 3]
    assert board.items[-1] == Note(
        key=f"n{last + 3}",
        seq=last + 3,
        at=board.items[-1].at,
        text="back at event 9: files and conversation",
        weight="warning",
    )


# ---------------------------------------------------------------------------- states


async def test_a_run_that_nobody_drives_is_cut_off_and_its_calls_are_lost():
    events = [*turns(2)[:-3], TurnStarted(RunId("run-0"), 3)]
    events += [replied(call("late"), run=RunId("run-0"), turn=3), started("late")]
    stage = await stage_of(events)

    now = await open_view(stage.service, S)
    then = await open_view(stage.service, S, len(events) - 1)

    assert (now.head.state, now.items[-1].state) == ("cut_off", "lost")
    assert (then.head.state, then.items[-1].state) == ("running", "running")


async def test_a_session_that_is_not_there():
    stage = await stage_of([created()])

    with pytest.raises(SessionNotFound):
        await open_view(stage.service, SessionId("other"))
    with pytest.raises(SessionNotFound):
        await load_older_items(stage.service, SessionId("other"), 5)
