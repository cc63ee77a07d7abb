from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.hook import RunResultPatch
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ChildEnded,
    ChildStarted,
    Compacted,
    CompactionFailed,
    Event,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookRewrote,
    ModelReplied,
    ModelSwitched,
    Record,
    Rewound,
    RunEnded,
    RunResumed,
    RunStarted,
    SessionTitled,
    ToolFinished,
    ToolStarted,
)
from bridle.core.usage import (
    CompactionStats,
    HookStats,
    ToolStats,
    UsageBreakdown,
    UsageCollector,
    UsageCounts,
)
from tests.core.values import values_of

RUN = RunId("run")
CALL = CallId("call")
CHILD = SessionId("child")


def replied(tokens: int, cost: float | None = None) -> ModelReplied:
    return ModelReplied(RUN, 1, Message("assistant", (Text("hi"),)), "end_turn", Usage(tokens), cost)


def finished(name: str, *, failed: bool = False, denied: bool = False, **facts: int) -> ToolFinished:
    return ToolFinished(ToolResult(CALL, name, "x", is_error=failed or denied), denied=denied, **facts)


def compacted(tokens: int, cost: float | None, model: str = "") -> Compacted:
    usage = Usage(tokens) if tokens else Usage()
    return Compacted(user_message("short"), 0, 1, 9, 1, 90, 10, model=model, usage=usage, cost=cost)


def dated(*events: tuple[int, Event]) -> list[Record]:
    return [Record(seq, at, event, "") for seq, (at, event) in enumerate(events, 1)]


def account_of(*events: Event) -> UsageCollector:
    account = UsageCollector()
    account.add_all(dated(*((1000, event) for event in events)))
    return account


def test_nobody_has_used_anything_at_first():
    assert UsageCollector().blame == UsageBreakdown(UsageCounts(), {}, {}, {}, CompactionStats())


def test_an_agent_uses_turns_calls_tokens_and_dollars():
    account = account_of(
        RunStarted(RUN, "m/x"),
        ModelReplied(
            RUN, 1, Message("assistant", (Text("hi"),)), "end_turn", Usage(100, 10, 1000, 5, 8), 0.25
        ),
        ToolStarted(CALL, "bash", {}),
        replied(30, 0.5),
        RunEnded(RUN, "completed"),
    )

    assert account.own == UsageCounts(turns=2, tool_calls=1, tokens=1145, cost=0.75)
    assert account.models == {"m/x": UsageCounts(turns=2, tokens=1145, cost=0.75)}
    assert account.outcomes == {"completed": 1}


def test_a_price_that_is_not_known_is_counted_as_such():
    nothing_came = ModelReplied(RUN, 1, Message("assistant", (Text("hi"),)), "cancelled", Usage())

    assert account_of(replied(30), replied(20, 0.5), nothing_came).own == UsageCounts(
        turns=3, tokens=50, cost=0.5, unpriced=1
    )


def test_titles_and_summaries_count_for_the_agent_and_their_models():
    account = account_of(
        RunStarted(RUN, "m/x"),
        replied(100, 1.0),
        SessionTitled("by the user"),
        SessionTitled("by a model", "m/small", Usage(20), 0.25),
        compacted(50, 0.5, "m/small"),
        compacted(0, None),
        CompactionFailed("empty", Usage(7)),
    )

    assert account.own == UsageCounts(turns=1, tokens=177, cost=1.75, unpriced=1)
    assert account.models == {
        "m/x": UsageCounts(turns=1, tokens=100, cost=1.0),
        "m/small": UsageCounts(tokens=70, cost=0.75),
    }
    assert account.compaction == CompactionStats(count=2, failed=1, tokens=57, cost=0.5, unpriced=1)


def test_what_another_model_answers_is_its_own():
    account = account_of(
        RunStarted(RUN, "m/x"), replied(1), ModelSwitched(RUN, 1, "m/y", "down"), replied(2), replied(3)
    )

    assert account.models == {
        "m/x": UsageCounts(turns=1, tokens=1, unpriced=1),
        "m/y": UsageCounts(turns=2, tokens=5, unpriced=2),
    }


def test_a_tool_is_blamed_for_its_calls_failures_time_and_results():
    inner = ToolFinished(ToolResult(CALL, "read_file", "x"), 5, 900, parent=CALL)
    account = account_of(
        finished("read_file", duration_ms=10, tokens=100),
        finished("bash", duration_ms=1, tokens=7),
        finished("bash", failed=True, duration_ms=20, tokens=8),
        finished("bash", denied=True, tokens=9),
        inner,
        finished("bash", duration_ms=3, tokens=1),
    )

    assert account.blame.tools == {
        "bash": ToolStats(calls=4, failed=1, denied=1, duration_ms=24, tokens=25),
        "read_file": ToolStats(calls=2, duration_ms=15, tokens=100),
    }
    assert list(account.blame.tools) == ["bash", "read_file"]


def test_a_hook_is_asked_once_whatever_it_says():
    """Who denies has completed, or failed and is closed by its policy: the event before says so."""
    account = account_of(
        HookCompleted("log", "turn_boundary", 1),
        HookCompleted("guard", "pre_tool_execution", 2, CALL),
        HookCompleted("guard", "pre_tool_execution", 3, CALL),
        HookDenied("guard", "pre_tool_execution", "policy_violation", "no", call_id=CALL),
        HookFailed("guard", "pre_tool_execution", "it hangs", 5000, CALL),
        HookDenied("guard", "pre_tool_execution", "timeout", "it hangs", call_id=CALL),
        HookRewrote("guard", "run_completed", RunResultPatch("x")),
    )

    assert account.blame.hooks == {
        "guard": HookStats(asked=3, denied=2, failed=1, duration_ms=5005),
        "log": HookStats(asked=1, duration_ms=1),
    }
    assert list(account.blame.hooks) == ["guard", "log"]


def test_a_sub_agent_has_its_name_and_is_not_counted_as_the_agent_itself():
    ended = ChildEnded(CHILD, "completed", "", 3, 2, Usage(100, 50), 0.5, 2000)
    account = account_of(
        ChildStarted(CHILD, "scout", "look around"),
        ended,
        ChildStarted(SessionId("other"), "digger", "dig"),
        ChildEnded(SessionId("other"), "failed", "", 5, 0, Usage(1000), None, 10),
        ended,
        ChildEnded(SessionId("unknown"), "completed"),
    )

    assert account.blame.children == {
        "digger": UsageCounts(turns=5, tokens=1000, unpriced=5, duration_ms=10),
        "scout": UsageCounts(turns=6, tool_calls=4, tokens=300, cost=1.0, duration_ms=4000),
        "unknown": UsageCounts(),
    }
    assert list(account.blame.children) == ["digger", "scout", "unknown"]
    assert account.own == UsageCounts()


def test_a_run_takes_the_time_in_which_somebody_drove_it():
    account = UsageCollector()
    account.add_all(
        dated(
            (1_000, RunStarted(RUN, "m/x")),
            (3_000, replied(1)),
            (60_000, RunResumed(RUN)),
            (61_500, RunEnded(RUN, "completed")),
            (70_000, RunStarted(RUN, "m/x")),
            (70_100, RunEnded(RUN, "failed")),
            (99_000, RunEnded(RUN, "cancelled")),
        )
    )

    assert account.own.duration_ms == 2_000 + 1_500 + 100
    assert account.outcomes == {"completed": 1, "failed": 1, "cancelled": 1}


def test_what_was_rewound_was_used():
    assert account_of(replied(10), Rewound(1), replied(20)).own.tokens == 30


def test_only_what_is_recent_counts():
    account = UsageCollector(since=5_000)
    account.begin("coder")
    account.add_all(
        dated(
            (1_000, RunStarted(RUN, "m/x")),
            (1_000, ChildStarted(CHILD, "scout", "look")),
            (2_000, replied(100)),
            (4_999, finished("bash")),
            (5_000, replied(7)),
            (5_000, ChildEnded(CHILD, "completed", turns=1)),
            (6_000, RunEnded(RUN, "completed")),
        )
    )

    mine = UsageCounts(turns=1, tokens=7, unpriced=1, duration_ms=1_000)
    assert (account.own, account.models, account.agents) == (mine, {"m/x": mine}, {"coder": mine})
    assert (account.tools, account.children) == ({}, {"scout": UsageCounts(turns=1)})


def test_several_sessions_are_counted_by_agent_and_day():
    account = UsageCollector(day_of=lambda at: f"day {at // 1000}")
    for agent, at in [("coder", 1_000), ("scout", 1_000), ("coder", 2_000)]:
        account.begin(agent)
        account.add_all(
            dated((at, RunStarted(RUN, "m/x")), (at, replied(10, 0.5)), (at, RunEnded(RUN, "limit")))
        )
    account.begin("idle")

    one, two = UsageCounts(turns=1, tokens=10, cost=0.5), UsageCounts(turns=2, tokens=20, cost=1.0)
    assert (account.sessions, account.outcomes) == (4, {"limit": 3})
    assert account.agents == {"coder": two, "scout": one}
    assert account.days == {"day 1": two, "day 2": one}
    assert account.own == UsageCounts(turns=3, tokens=30, cost=1.5)


def test_a_run_that_was_cut_off_takes_no_time_from_the_next_session():
    account = UsageCollector()
    for at in (1_000, 900_000):
        account.begin("coder")
        account.add_all(dated((at, RunStarted(RUN, "m/x"))))
    account.begin("coder")
    account.add_all(dated((999_000, RunEnded(RUN, "completed")), (999_000, replied(5))))

    assert account.own.duration_ms == 0
    assert account.models == {}


@pytest.mark.parametrize("unfit", [RunResumed(RUN), RunEnded(RUN, "completed")])
def test_the_tail_of_a_session_is_taken_as_it_is(unfit: Event):
    assert account_of(unfit, replied(5)).own == UsageCounts(turns=1, tokens=5, unpriced=1)


small = st.integers(0, 1000)
events: st.SearchStrategy[list[Event]] = st.lists(
    st.one_of(
        st.builds(replied, small, st.none() | small.map(float)),
        st.builds(compacted, small, st.none() | small.map(float), st.sampled_from(["", "m/a"])),
        st.builds(RunStarted, st.just(RUN), st.sampled_from(["m/a", "m/b"])),
        st.builds(RunEnded, st.just(RUN), st.just("completed")),
        values_of(ToolFinished),
    ),
    max_size=20,
)


@given(st.lists(events, max_size=4))
def test_agents_and_days_add_up_to_the_whole(sessions: Sequence[list[Event]]):
    account = UsageCollector(day_of=lambda at: str(at % 3))
    for number, happened in enumerate(sessions):
        account.begin(f"agent {number % 2}")
        account.add_all(dated(*((number * 100 + at, event) for at, event in enumerate(happened))))

    for users in (account.agents, account.days):
        assert account.own == UsageCounts(
            *(sum(getattr(use, name) for use in users.values()) for name in UsageCounts.__struct_fields__)
        )


def counts(account: UsageCollector) -> dict[str, object]:
    return {name: value for name, value in vars(account).items() if not name.startswith("_")}


@given(events, st.integers(0, 20))
def test_pages_hold_together_what_one_account_holds(happened: list[Event], cut: int):
    records = dated(*((at * 100, event) for at, event in enumerate(happened)))
    whole, first, total = (UsageCollector(day_of=str) for _ in range(3))
    for account in (whole, first):
        account.begin("coder")
    whole.add_all(records)
    first.add_all(records[:cut])
    second = first.page()
    second.add_all(records[cut:])

    total.include(first)
    total.include(second)

    assert counts(total) == counts(whole)
