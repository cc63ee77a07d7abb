"""The course of a run over time: what ran when, what each turn used, within limits."""

import pytest

from bridle.core.context import ContextUsage
from bridle.core.errors import UsageError
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    CompactionStarted,
    Event,
    HookCompleted,
    HookDenied,
    HookFailed,
    ModelSwitched,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Record,
    ReplyLost,
    Retrying,
    RunStarted,
    TurnStarted,
)
from bridle.surfaces.shared.timeline import RunLine, Span, Timeline, TurnUse, timeline, timeline_of
from tests.surfaces.shared.view_model.screen import (
    RUN,
    USAGE,
    CountingStore,
    S,
    call,
    created,
    finished,
    replied,
    run_ended,
    said,
    stage_of,
    started,
    turn_ended,
    turns,
)

BEGIN: list[Event] = [created(), RunStarted(RUN, "scripted/x"), said("make it\nso")]


def played(*events: Event) -> list[Record]:
    """Return records of which each is a second after the one before; the run begins at 2 s."""
    return [Record(seq, seq * 1_000, event, "") for seq, event in enumerate([*BEGIN, *events], 1)]


def traced(*events: Event) -> list[tuple[str, str, int, int | None, str | None, str]]:
    """Return the spans of a run that consists of these events, in short."""
    return [
        (span.kind, span.name, span.start_ms, span.end_ms, span.parent, span.outcome)
        for span in timeline(played(*events)).spans
    ]


def test_a_run_as_a_whole():
    told = timeline(
        played(
            TurnStarted(RUN, 1),
            replied("I look", call("c", "bash", command="make")),
            started("c", "bash", command="make"),
            finished("c", is_error=True),
            turn_ended(),
            run_ended(),
        )
    )

    assert told == Timeline(
        RUN,
        (RunLine(RUN, 2_000, 9_000, "completed", "scripted/x", "make it so"),),
        (
            Span("turn4", "turn", "turn 1", 2_000, 6_000, outcome="done"),
            Span(
                "model4", "model", "model", 2_000, 3_000, "turn4", 1, USAGE.context, cost=0.5, outcome="done"
            ),
            Span("tool6", "tool", "bash make", 4_000, 5_000, "turn4", 1, outcome="failed"),
        ),
        0,
        (TurnUse(1, 2_000, ContextUsage(1000, run=5), USAGE, 0.5),),
    )


def test_a_model_that_failed_and_one_that_took_over():
    assert traced(
        TurnStarted(RUN, 1),
        ReplyLost(RUN, 1, USAGE, 0.1),
        Retrying(RUN, 1, 1, 3, "rate_limited", "slow", 500),
        ModelSwitched(RUN, 1, "other/model", "gone"),
        replied("."),
    ) == [
        ("turn", "turn 1", 2_000, None, None, ""),
        ("model", "model", 2_000, 3_000, "turn4", "failed"),
        ("model", "model", 4_500, 5_000, "turn4", "failed"),
        ("model", "other/model", 5_000, 6_000, "turn4", "done"),
    ]


def test_waits_for_a_person_and_calls_of_code():
    spans = timeline(
        played(
            TurnStarted(RUN, 1),
            replied(call("code", "python", code="x()")),
            started("code", "python", code="x()"),
            ApprovalRequested(CallId("i"), "bash", {}, "no rule", parent=CallId("code")),
            ApprovalDecided(CallId("i"), "deny"),
            started("j", parent="code"),
            QuestionAsked(CallId("j"), Question("Which\x1b?")),
            QuestionAnswered(CallId("j")),
            finished("j", parent="code"),
        )
    ).spans

    assert [(s.kind, s.name, s.start_ms, s.end_ms, s.parent, s.depth, s.outcome) for s in spans[2:]] == [
        ("tool", "python x()", 4_000, None, "turn4", 1, ""),
        ("wait", "approval of bash", 5_000, 6_000, "turn4", 1, "deny"),
        ("tool", "read_file a.py", 7_000, 10_000, "tool6", 2, "done"),
        ("wait", "Which\\x1b?", 8_000, 9_000, "turn4", 1, "answered"),
    ]


def test_sub_agents_hooks_and_compactions():
    child = SessionId("child")
    spans = timeline(
        played(
            started("c", "agent", prompt="look"),
            ChildStarted(child, "scout", "look", CallId("c")),
            HookCompleted("guard", "turn_boundary", 400),
            HookFailed("slow", "turn_boundary", "late", 10_000_000),
            HookDenied("wall", "pre_tool_execution", "policy_violation", "no"),
            CompactionStarted("automatic", 90, 80, 4),
            Compacted(user_message("so far"), 1, 9, 4, 2, 60, 12, usage=USAGE, cost=0.1),
            CompactionStarted("manual", 90, 80, 4),
            CompactionFailed("empty"),
            ChildEnded(child, "failed", usage=USAGE, cost=0.2),
        )
    ).spans

    assert [(s.kind, s.name, s.start_ms, s.end_ms, s.tokens, s.cost, s.outcome) for s in spans] == [
        ("tool", "agent look", 2_000, None, 0, None, ""),
        ("child", "scout", 3_000, 11_000, USAGE.context, 0.2, "failed"),
        ("hook", "guard", 3_600, 4_000, 0, None, "done"),
        ("hook", "slow", 0, 5_000, 0, None, "failed"),
        ("hook", "wall", 6_000, 6_000, 0, None, "denied"),
        ("compaction", "compaction", 7_000, 8_000, USAGE.context, 0.1, "done"),
        ("compaction", "compaction", 9_000, 10_000, 0, None, "failed"),
    ]
    assert spans[1].parent == "tool4"


def test_what_was_at_work_when_the_run_ended_ends_with_it():
    assert traced(TurnStarted(RUN, 1), replied(call("c")), started("c"), run_ended(outcome="cancelled")) == [
        ("turn", "turn 1", 2_000, 5_000, None, ""),
        ("model", "model", 2_000, 3_000, "turn4", "done"),
        ("tool", "read_file a.py", 4_000, 5_000, "turn4", "lost"),
    ]


def test_a_turn_that_begins_again_after_a_crash():
    assert traced(TurnStarted(RUN, 1), TurnStarted(RUN, 1), replied(".")) == [
        ("turn", "turn 1", 2_000, 3_000, None, "lost"),
        ("model", "model", 2_000, 3_000, "turn4", "lost"),
        ("turn", "turn 1", 3_000, None, None, ""),
        ("model", "model", 3_000, 4_000, "turn5", "done"),
    ]


def test_a_session_without_a_run():
    assert timeline([Record(1, 1, created(), "")]) == Timeline(None)


def test_every_run_can_be_asked_for():
    records = [Record(seq, seq, event, "") for seq, event in enumerate(turns(2, runs=3), 1)]

    last, second = timeline(records), timeline(records, "run-1")

    assert (last.run_id, second.run_id) == ("run-2", "run-1")
    assert last.runs == second.runs
    assert [run.run_id for run in last.runs] == ["run-0", "run-1", "run-2"]
    assert [span.kind for span in second.spans] == ["turn", "model", "tool"] * 2


def test_a_run_without_end_is_cut_and_that_is_said():
    records = [Record(seq, seq, event, "") for seq, event in enumerate(turns(2_500), 1)]

    told = timeline(records)

    assert (len(told.spans), told.left_out, len(told.turns)) == (5_000, 2_500, 2_000)


async def test_the_last_run_of_a_long_session_is_told_without_reading_all_of_it():
    stage = await stage_of(turns(100, runs=50))
    store = stage.store
    assert isinstance(store, CountingStore)

    last = await timeline_of(stage.service, S)
    read = store.was_read
    first = await timeline_of(stage.service, S, "run-0")

    assert (last.run_id, first.run_id) == (RunId("run-49"), RunId("run-0"))
    assert read < 21_000
    assert len(last.runs) < 50 == len(first.runs)
    with pytest.raises(UsageError):
        await timeline_of(stage.service, S, "run-50")


def test_a_clock_that_went_back_makes_no_negative_times():
    events = [created(), RunStarted(RUN, "scripted/x"), TurnStarted(RUN, 1), replied("."), run_ended()]
    records = [Record(seq, 10_000 - 1_000 * seq, event, "") for seq, event in enumerate(events, 1)]
    found = timeline(records)

    assert [(span.start_ms, span.end_ms) for span in found.spans] == [(0, 0), (0, 0)]
    assert [turn.start_ms for turn in found.turns] == [0]
