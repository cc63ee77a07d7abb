import pytest
from msgspec.structs import replace

from bridle.core.budget import Limits, Spend
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import ModelReplied, RunEnded, ToolFinished, ToolStarted
from bridle.core.recovery import (
    INTERRUPTED,
    ResumePlan,
    close_calls,
    make_failed_call,
    make_run_end,
    plan_resume,
)
from bridle.core.session import RunState

A, B, C = (ToolCall(CallId(name), f"tool_{name}") for name in "abc")
CALLING = Message("assistant", (Text("let me see"), A, B, C))
ANSWER = Message("assistant", (Text("done"),))
RESULTS = Message("tool", (ToolResult(A.id, A.name, "ok"),))


def run(**state: object) -> RunState:
    return RunState(RunId("r"), "m/x", "ask", Limits(), started_at=0, first_message=0, **state)


def replied(message: Message) -> ModelReplied:
    return ModelReplied(RunId("r"), 2, message, "tool_use", Usage())


def started(*calls: ToolCall, repeatable: bool = False) -> dict[CallId, ToolStarted]:
    return {call.id: ToolStarted(call.id, call.name, {}, repeatable) for call in calls}


def finished(*calls: ToolCall) -> dict[CallId, ToolFinished]:
    return {call.id: ToolFinished(ToolResult(call.id, call.name, "ok")) for call in calls}


@pytest.mark.parametrize(
    ("state", "last", "plan"),
    [
        pytest.param(run(), user_message("go"), ResumePlan(0, None, ()), id="before the first turn"),
        pytest.param(run(turn=2), RESULTS, ResumePlan(1, None, ()), id="while the model answered"),
        pytest.param(
            run(turn=2, replied=replied(CALLING)),
            CALLING,
            ResumePlan(1, CALLING, (), frozenset({A.id, B.id, C.id})),
            id="before any call began",
        ),
        pytest.param(
            run(turn=2, replied=replied(CALLING), finished=finished(A, B, C)),
            RESULTS,
            ResumePlan(1, CALLING, ()),
            id="when all calls had results",
        ),
        pytest.param(
            run(turn=2, replied=replied(CALLING), finished=finished(A, B, C), turn_ended=True),
            RESULTS,
            ResumePlan(1, CALLING, ()),
            id="at the boundary of a turn",
        ),
        pytest.param(
            run(turn=2, replied=replied(ANSWER), turn_ended=True),
            ANSWER,
            ResumePlan(1, ANSWER, ()),
            id="after the answer, before the end",
        ),
        pytest.param(
            run(turn=2, replied=replied(ANSWER), turn_ended=True),
            user_message("and then?"),
            ResumePlan(2, None, ()),
            id="after the answer, steered",
        ),
    ],
)
def test_a_run_goes_on_where_it_was_cut_off(state: RunState, last: Message, plan: ResumePlan):
    assert plan_resume(state, last) == plan


def test_only_a_call_that_may_have_changed_something_is_lost():
    """One that finished keeps its result, one that only reads runs again, one that had not begun runs."""
    state = run(
        turn=1,
        replied=replied(CALLING),
        started=started(A, B) | started(C, repeatable=True),
        finished=finished(A),
    )

    lost = (make_failed_call(B.id, B.name, INTERRUPTED),)
    assert plan_resume(state, CALLING) == ResumePlan(0, CALLING, lost, frozenset({C.id}))


def test_a_call_that_has_started_a_sub_agent_runs_again_unless_code_made_it():
    by_code = {CallId("c.1"): ToolStarted(CallId("c.1"), "agent_spawn", {}, repeatable=True, parent=C.id)}
    state = run(turn=1, replied=replied(CALLING), started=started(A, B, C) | by_code)

    plan = plan_resume(state, CALLING, {A.id, CallId("c.1")})

    lost = (
        make_failed_call(B.id, B.name, INTERRUPTED),
        make_failed_call(C.id, C.name, INTERRUPTED),
        replace(make_failed_call(CallId("c.1"), "agent_spawn", INTERRUPTED), parent=C.id),
    )
    assert plan == ResumePlan(0, CALLING, lost, frozenset({A.id}))


def test_every_open_call_is_closed_and_told_whether_it_had_begun():
    state = run(replied=replied(CALLING), started=started(A, B), finished=finished(A))

    assert close_calls(state, begun="interrupted", not_begun="not run") == [
        ToolFinished(ToolResult(B.id, B.name, "interrupted", is_error=True)),
        ToolFinished(ToolResult(C.id, C.name, "not run", is_error=True)),
    ]


@pytest.mark.parametrize("state", [run(), run(replied=replied(ANSWER))])
def test_without_calls_there_is_nothing_to_close(state: RunState):
    assert close_calls(state, begun="x", not_begun="y") == []


def test_the_end_of_a_run_tells_what_it_spent():
    usage = Usage(input=7, output=3)
    state = run(usage=usage, spent=Spend(tokens=10, tool_calls=4, cost=0.5, turns=2))

    assert make_run_end(state, "failed", "text", "why") == RunEnded(
        RunId("r"), "failed", "text", "why", 2, 4, usage, 0.5
    )


def test_the_end_of_a_run_with_an_unpriced_turn_has_no_cost():
    assert make_run_end(run(priced=False), "completed", "", "").cost is None
