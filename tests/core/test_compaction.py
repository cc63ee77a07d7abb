"""When to compact, what stays and what goes: only the decisions."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.compaction import (
    HEADING,
    RECALL,
    Plan,
    check_pin,
    clear_outputs,
    compose,
    first_kept,
    is_due,
    measure,
    plan,
)
from bridle.core.context import (
    CompactionPolicy,
    ContextUsage,
    Counted,
    Window,
    estimate_message,
    estimate_tokens,
    fit,
)
from bridle.core.errors import UsageError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.kept_context import VerbatimText
from bridle.core.messages import Media, Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    Compacted,
    CompactionFailed,
    Event,
    MessageAdded,
    ModelReplied,
    OutputsCleared,
    Pinned,
    Record,
    RunEnded,
    RunStarted,
    SessionCreated,
    ToolFinished,
    TurnEnded,
)
from bridle.core.session import Session, fold
from bridle.core.transcript import CLEARED

R = RunId("r")
NO_USAGE = Usage()
POLICY = CompactionPolicy()
LARGE = Window(200_000, system=1_000, tools=1_000, reserve=8_000)
HUGE = Window(1_000_000, system=1_000, tools=1_000, reserve=8_000)
SMALL = Window(4_096, system=300, tools=200, reserve=1_024)


def folded(*events: Event) -> Session:
    created = SessionCreated(SessionId("s"), "/")
    return fold([Record(seq, 0, event, "") for seq, event in enumerate((created, *events), 1)])


def said(text: str, tokens: int, source: str = "prompt") -> MessageAdded:
    return MessageAdded(user_message(text), source, tokens)


def turn(number: int, tokens: int, output: str = "", usage: Usage = NO_USAGE) -> list[Event]:
    """A turn with one call, whose result has so many tokens."""
    call = ToolCall(CallId(f"c{number}"), "look", {"at": number})
    message = Message("assistant", (Text(f"turn {number}"), call))
    return [
        ModelReplied(R, number, message, "tool_use", usage, None, 10),
        ToolFinished(ToolResult(call.id, "look", output or "x" * 4 * tokens), tokens=tokens),
        TurnEnded(R, number, usage, ContextUsage()),
    ]


def running(turns: int, tokens: int, prompt: str = "do it") -> list[Event]:
    """A run of so many turns that goes on."""
    events: list[Event] = [RunStarted(R, "m/x"), said(prompt, 10)]
    for number in range(1, turns + 1):
        events += turn(number, tokens)
    return events


# ---------------------------------------------------------------------------- when


def due(
    session: Session, window: Window, policy: CompactionPolicy = POLICY, *, turn: int = 9, last: int = 0
) -> bool:
    return is_due(measure(session, window, policy, "automatic"), policy, session, turn, last)


@pytest.mark.parametrize(
    ("tokens", "window", "expected"),
    [
        (151_599, LARGE, False),
        (151_600, LARGE, True),
        (1_956, SMALL, False),
        (1_957, SMALL, True),
        (0, Window(1, 0, 0, 0), False),
        (100_000, HUGE, False),
        (969_999, HUGE, False),
        (970_000, HUGE, True),
    ],
)
def test_it_is_due_when_a_request_fills_its_share_of_the_window_or_leaves_20k_of_a_large_one(
    tokens: int, window: Window, expected: bool
):
    """With system and tools, and without the answer."""
    assert due(folded(said("a", tokens)), window) is expected


@pytest.mark.parametrize(("tokens", "expected"), [(97_999, False), (98_000, True)])
@pytest.mark.parametrize("window", [LARGE, HUGE])
def test_a_threshold_holds_in_every_window(tokens: int, window: Window, expected: bool):
    policy = CompactionPolicy(threshold_tokens=100_000)

    assert due(folded(said("a", tokens)), window, policy) is expected


def test_it_is_due_when_the_vendor_counts_more_than_we_do():
    few = folded(*turn(1, 10, usage=Usage(input=60_000, cache_read=93_599, output=500)))
    many = folded(*turn(1, 10, usage=Usage(input=60_000, cache_read=93_600, output=500)))

    assert (due(few, LARGE), due(many, LARGE)) == (False, True)


@pytest.mark.parametrize(
    ("turn", "last", "expected"), [(1, 0, True), (1, -1, True), (5, 3, False), (6, 3, True), (3, 3, False)]
)
def test_some_turns_lie_between_two_and_a_new_run_need_not_wait(turn: int, last: int, expected: bool):
    assert due(folded(said("a", 160_000)), LARGE, turn=turn, last=last) is expected


def test_it_does_not_wait_when_messages_would_have_to_go_unless_the_last_one_failed():
    full = folded(*running(1, 200_000))
    failed = folded(*running(1, 200_000), CompactionFailed("no"))
    again = folded(*running(1, 200_000), CompactionFailed("no"), OutputsCleared((), 0, 0), *turn(2, 9))

    assert (due(full, LARGE, turn=4, last=3), due(failed, LARGE, turn=4, last=3)) == (True, False)
    assert due(again, LARGE, turn=6, last=3)


def test_nothing_is_due_when_it_is_switched_off():
    assert not due(folded(said("a", 500_000)), LARGE, CompactionPolicy(auto=False))


def test_after_a_compaction_the_old_count_of_the_vendor_does_not_make_another_one_due():
    big = Usage(input=150_000)
    session = folded(*turn(1, 10, usage=big), Compacted(user_message("s"), 0, 100, 0, 0, 0, 0))

    assert not due(session, LARGE)


# ---------------------------------------------------------------------------- what stays


def counted(role: str, tokens: int, kind: str = "") -> Counted:
    if role == "call":
        return Counted(Message("assistant", (ToolCall(CallId("c"), "x"),)), tokens)
    if role == "tool":
        return Counted(Message("tool", (ToolResult(CallId("c"), "x", "y"),)), tokens)
    return Counted(Message(role, (Text("x"),)), tokens, kind)


TALK = [
    counted("user", 10),
    counted("assistant", 10),
    counted("user", 10),
    counted("call", 10),
    counted("tool", 50),
    counted("call", 10),
    counted("tool", 50),
]


@pytest.mark.parametrize(
    ("keep_turns", "budget", "room", "expected"),
    [
        (4, 1_000, 1_000, 0),
        (2, 1_000, 1_000, 2),
        (1, 1_000, 1_000, 5),
        (0, 1_000, 1_000, 7),
        (4, 120, 1_000, 3),
        (4, 119, 1_000, 5),
        (4, 0, 60, 5),
        (4, 1_000, 59, 7),
    ],
)
def test_the_newest_exchanges_stay_as_far_as_they_fit(keep_turns: int, budget: int, room: int, expected: int):
    assert first_kept(TALK, keep_turns, budget=budget, room=room) == expected


def test_a_prompt_that_waits_for_its_answer_stays():
    talk = [*TALK, counted("user", 30), counted("user", 30)]

    assert first_kept(talk, 0, budget=60, room=60) == 7


def test_what_a_compaction_left_never_stays():
    talk = [counted("user", 10, "summary"), *TALK]

    assert first_kept(talk, 9, budget=1_000, room=1_000) == 1


roles = st.lists(st.sampled_from(["user", "assistant", "call"]), max_size=12)
sizes = st.integers(0, 60)


@st.composite
def talks(draw: st.DrawFn) -> list[Counted]:
    talk = [counted("user", draw(sizes), "summary")] if draw(st.booleans()) else []
    for role in draw(roles):
        talk.append(counted(role, draw(sizes)))
        if role == "call":
            talk.append(counted("tool", draw(sizes)))
    return talk


@given(talks(), st.integers(0, 5), st.integers(0, 300), st.integers(0, 300))
def test_what_stays_begins_with_no_result_and_keeps_to_its_budget(
    talk: list[Counted], keep_turns: int, budget: int, room: int
):
    first = first_kept(talk, keep_turns, budget=budget, room=room)
    kept = talk[first:]

    assert not kept or kept[0].message.role != "tool"
    assert sum(item.message.role == "assistant" for item in kept) <= keep_turns
    assert sum(item.tokens for item in kept) <= max(budget, room)
    assert all(item.kind != "summary" for item in kept)


# ---------------------------------------------------------------------------- old outputs


def test_old_outputs_go_first_the_oldest_first_and_only_as_many_as_need_be():
    session = folded(*running(8, 1_000))

    cleared = clear_outputs(session.messages, 4, 7_000)

    assert cleared is not None
    assert cleared.call_ids == ("c1", "c2")
    assert cleared.tokens_before == 8_090
    after = fold_with(session, cleared)
    assert sum(item.tokens for item in after.messages) == cleared.tokens_after <= 7_000


def fold_with(session: Session, *events: Event) -> Session:
    for event in events:
        session.apply(Record(session.seq + 1, 0, event, ""))
    return session


def test_outputs_of_the_newest_turns_and_short_ones_and_cleared_ones_stay():
    session = folded(
        *running(1, 1_000), *turn(2, 190), *turn(3, 60, CLEARED), *turn(4, 1_000), *turn(5, 1_000)
    )

    assert clear_outputs(session.messages, 2, 2_000) is None
    found = clear_outputs(session.messages, 2, 2_400)
    assert found is not None
    assert found.call_ids == ("c1",)


def test_an_image_counts_as_a_long_output():
    call = ToolCall(CallId("c"), "look")
    image = ToolResult(call.id, "look", "a.png", media=(Media("image/png", "AAAA"),))
    talk = [
        Counted(Message("assistant", (call,)), 10),
        Counted(Message("tool", (image,)), 1_700),
        counted("assistant", 5),
    ]

    assert clear_outputs(talk, 1, 500) == OutputsCleared((call.id,), 1_715, 15 + 41)


def test_a_plan_clears_outputs_when_that_leaves_less_than_most_of_the_limit():
    session = folded(*running(12, 9_000))

    planned = plan(session, LARGE, POLICY, "automatic")

    assert planned is not None
    assert planned.cleared is not None
    assert planned.cleared.tokens_after <= 90_160  # 0.6 of the limit, less system and tools
    for other in (
        plan(session, LARGE, replace(POLICY, clear_outputs=False), "automatic"),
        plan(session, LARGE, POLICY, "manual"),
    ):
        assert other is not None
        assert other.cleared is None


# ---------------------------------------------------------------------------- the plan


def test_when_nothing_would_go_there_is_no_plan():
    """A summary beside all that it sums up would only make things longer."""
    for trigger in ("manual", "automatic"):
        assert plan(folded(), SMALL, POLICY, trigger) is None
        assert plan(folded(said("a", 60), *turn(1, 60, "b")), SMALL, POLICY, trigger) is None
        assert plan(folded(Compacted(user_message("s"), 0, 900, 0, 0, 0, 0)), SMALL, POLICY, trigger) is None


def test_the_prompt_of_the_running_run_goes_along_when_it_is_cut_away():
    session = folded(*running(9, 300, prompt="build the thing"))

    planned = plan(session, SMALL, POLICY, "manual")

    assert planned is not None
    assert planned.first_kept == 13
    assert "<prompt>\nbuild the thing\n</prompt>" in planned.carried.text
    again = fold_with(session, done(planned, session), *turn(10, 500), *turn(11, 500), *turn(12, 500))
    planned = plan(again, SMALL, POLICY, "manual")
    assert planned is not None
    assert "<prompt>\nbuild the thing\n</prompt>" in planned.carried.text


def test_a_prompt_that_waits_is_never_part_of_the_summary():
    """Even one that takes most of the room: the model is to answer it, not what is made of it."""
    session = folded(*running(3, 500), RunEnded(R, "completed"), RunStarted(R, "m/x"), said("long", 2_000))

    planned = plan(session, SMALL, POLICY, "overflow")

    assert planned is not None
    assert planned.first_kept == len(session.messages) - 1
    assert "<prompt>" not in planned.carried.text


def test_results_that_fill_the_window_go_too():
    session = folded(*running(3, 100), *turn(4, 2_500))

    planned = plan(session, SMALL, POLICY, "overflow")

    assert planned is not None
    assert planned.first_kept == len(session.messages)


def test_what_was_said_during_runs_goes_along_from_compaction_to_compaction():
    session = folded(
        *running(6, 500), said("no, blue", 5, "steer"), *turn(7, 500), *turn(8, 500), *turn(9, 500)
    )
    planned = plan(session, SMALL, POLICY, "manual")
    assert planned is not None
    assert planned.carried.corrections == ("no, blue",)

    fold_with(session, done(planned, session), said("and green", 5, "steer"))
    for number in range(10, 16):
        fold_with(session, *turn(number, 500))
    planned = plan(session, SMALL, POLICY, "manual")

    assert planned is not None
    assert planned.carried.corrections == ("no, blue", "and green")


def test_a_correction_that_stays_as_a_message_is_not_said_twice():
    session = folded(*running(9, 500), said("no, blue", 5, "steer"))

    planned = plan(session, SMALL, POLICY, "manual")

    assert planned is not None
    assert planned.carried.corrections == ()


def test_where_the_vendor_counts_more_the_room_is_smaller():
    usage = Usage(input=6_000)
    events = [*running(7, 300), *turn(8, 300, usage=usage)]
    ours = plan(folded(*running(8, 300)), SMALL, POLICY, "manual")
    theirs = plan(folded(*events), SMALL, POLICY, "manual")

    assert ours is not None
    assert theirs is not None
    assert theirs.most_tokens < ours.most_tokens
    assert theirs.first_kept > ours.first_kept


def done(planned: Plan, session: Session, summary: str = "sum") -> Compacted:
    message = compose(summary, planned.carried, can_recall=False)
    tokens = estimate_message(message)
    kept = len(session.messages) - planned.first_kept
    return Compacted(
        message, kept, tokens, 0, 0, 0, 0, summary=summary, corrections=planned.carried.corrections
    )


windows = st.builds(
    lambda tokens, fixed: Window(tokens, fixed, fixed // 2, min(8_000, tokens // 4)),
    st.sampled_from([2_048, 4_096, 32_000, 200_000]),
    st.sampled_from([10, 100, 400]),
)
happenings = st.lists(
    st.one_of(
        st.tuples(st.just("turn"), st.integers(1, 3_000)),
        st.tuples(st.sampled_from(["prompt", "steer", "pin"]), st.integers(1, 200)),
    ),
    min_size=1,
    max_size=15,
)


@settings(max_examples=40, deadline=None)
@given(windows, happenings, st.integers(0, 6), st.sampled_from(["automatic", "manual", "overflow"]))
def test_afterwards_everything_fits_with_a_summary_as_long_as_allowed(
    window: Window, events: list[tuple[str, int]], keep_turns: int, trigger: str
):
    session = folded(RunStarted(R, "m/x"), said("go", 5))
    for number, (kind, tokens) in enumerate(events):
        match kind:
            case "turn":
                fold_with(session, *turn(number, tokens))
            case "pin":
                fold_with(session, Pinned(f"{number} " + "p" * tokens))
            case _:
                fold_with(session, said(f"{number} " + "w" * 4 * tokens, tokens, kind))
    policy = CompactionPolicy(keep_turns=keep_turns)
    planned = plan(session, window, policy, trigger)
    assume(planned is not None and planned.cleared is None)
    assert planned is not None
    before = sum(item.tokens for item in session.messages)
    waiting = session.messages[-1] if session.messages[-1].message.role == "user" else None

    fold_with(session, done(planned, session, "s" * 4 * planned.most_tokens))

    after = [item.tokens for item in session.messages]
    room = window.tokens - window.system - window.tools - window.reserve
    slack = estimate_tokens(HEADING) + 60  # what is left out is named
    if waiting is None or waiting.tokens < room // 2:
        assert sum(after) <= room + slack
    assert sum(after) < before + planned.most_tokens + slack
    assert waiting is None or waiting.message.text.startswith(session.messages[-1].message.text)
    assert session.messages[0].kind == "summary"
    if sum(after) <= room:
        fitted = fit(session.messages[:1], session.messages[1:], window)
        assert fitted.messages[0] == session.messages[0].message


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(min_size=1, max_size=60), min_size=1, max_size=5, unique=True), st.data())
def test_pins_survive_a_hundred_compactions_byte_for_byte(pins: list[str], data: st.DataObject):
    session = folded(*map(Pinned, pins), RunStarted(R, "m/x"), said("go", 5))
    rounds = 0
    for number in range(100):
        fold_with(session, *turn(number, 900), *turn(1_000 + number, 900), *turn(2_000 + number, 900))
        planned = plan(session, SMALL, CompactionPolicy(keep_turns=1), "manual")
        assert planned is not None
        fold_with(session, done(planned, session))
        rounds += 1
        first = session.messages[0].message.text
        assert all(f"<pinned>\n{pin}\n</pinned>" in first for pin in pins)
    assert rounds == 100
    assert session.known.pins == tuple(pins)


# ---------------------------------------------------------------------------- the message


def test_the_message_tells_what_it_is_then_the_summary_then_what_is_carried_and_what_is_missing():
    carried = VerbatimText("Pinned: x", left_out=("the prompt", "2 of 3 files known"))

    assert compose("Done: a.", carried, can_recall=True) == user_message(
        f"{HEADING}{RECALL}\n\nDone: a.\n\nPinned: x\n\n"
        "Left out for lack of room: the prompt; 2 of 3 files known"
    )
    assert compose("Done: a.", VerbatimText(), can_recall=False) == user_message(f"{HEADING}\n\nDone: a.")


def test_pins_have_bounds():
    check_pin([], "x")
    check_pin(["x"] * 100, "x")

    with pytest.raises(UsageError, match="empty"):
        check_pin([], " \n")
    with pytest.raises(UsageError, match="longer than 16 KiB"):
        check_pin([], "é" * 8_193)
    with pytest.raises(UsageError, match="100 texts are already pinned"):
        check_pin([str(number) for number in range(100)], "x")
