from itertools import product
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.errors import FALLBACK_KINDS, RETRYABLE_KINDS, IllegalTransition, ProviderErrorKind
from bridle.core.ids import CallId
from bridle.core.loop import (
    FAILED_TURNS_LIMIT,
    REPEAT_LIMIT,
    STATES,
    TRANSITIONS,
    Action,
    Backoff,
    BackoffEnded,
    Begin,
    Called,
    CallModel,
    CancelRequested,
    Decided,
    Drained,
    DrainTurn,
    EndRun,
    Execute,
    Input,
    Loop,
    LoopPolicy,
    LoopState,
    ModelFailed,
    Prepare,
    Prepared,
    Refuse,
    Refused,
    Replied,
    Returned,
    Settled,
    StopWork,
    SwitchModel,
)
from bridle.core.messages import Message, Text, ToolCall, ToolResult
from bridle.core.protocol import Answer
from bridle.core.retry import RetryPolicy

LEGAL: set[tuple[LoopState, LoopState]] = {
    ("calling_llm", "waiting_for_ops"),
    ("calling_llm", "draining_events"),
    ("calling_llm", "completed"),
    ("calling_llm", "error_recovery"),
    ("calling_llm", "cancelling"),
    ("waiting_for_ops", "draining_events"),
    ("waiting_for_ops", "cancelling"),
    ("draining_events", "calling_llm"),
    ("draining_events", "completed"),
    ("draining_events", "cancelling"),
    ("error_recovery", "calling_llm"),
    ("error_recovery", "completed"),
    ("error_recovery", "cancelling"),
    ("cancelling", "completed"),
}
PAIRS = list(product(STATES, STATES))

OVERLOADED = ModelFailed("server_overloaded", "busy")
PLAIN = Replied(Message("assistant", (Text("hello"),)))


A, B, C, D = (ToolCall(CallId(name), f"tool_{name}") for name in "abcd")


def replied(*calls: ToolCall) -> Replied:
    return Replied(Message("assistant", (Text("let me see"), *calls)))


def result(made: ToolCall, output: str = "done") -> ToolResult:
    return ToolResult(made.id, made.name, output)


def returned(made: ToolCall, output: str = "done") -> Returned:
    return Returned(result(made, output))


def allowed(made: ToolCall, *, parallel: bool = False) -> Prepared:
    return Prepared(made.id, "allow", parallel)


def asked(made: ToolCall, *, parallel: bool = False) -> Prepared:
    return Prepared(made.id, "ask", parallel)


def turn_of(made: ToolCall, output: str = "done", *, stop: Refused | None = None) -> list[Input]:
    return [replied(made), allowed(made), returned(made, output), Drained(stop=stop)]


def play(loop: Loop, *inputs: Input) -> list[list[Action]]:
    """Feed inputs one by one; return what each led to."""
    return [loop.feed(event) for event in inputs]


def loop_after(*inputs: Input, policy: LoopPolicy | None = None) -> Loop:
    loop = Loop(policy or LoopPolicy())
    play(loop, Begin(), *inputs)
    return loop


# ---------------------------------------------------------------------------- the table


def test_there_are_36_pairs_and_14_of_them_are_legal():
    legal = {(source, target) for source in STATES for target in TRANSITIONS[source]}

    assert (len(PAIRS), len(LEGAL), legal) == (36, 14, LEGAL)


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair in LEGAL])
def test_a_legal_move_changes_the_state(source: LoopState, target: LoopState):
    loop = Loop(LoopPolicy())
    loop.state = source

    loop.move(target)

    assert loop.state == target


@pytest.mark.parametrize(("source", "target"), [pair for pair in PAIRS if pair not in LEGAL])
def test_an_illegal_move_raises_and_leaves_the_state(source: LoopState, target: LoopState):
    loop = Loop(LoopPolicy())
    loop.state = source

    with pytest.raises(IllegalTransition) as caught:
        loop.move(target)

    assert str(caught.value) == f"invalid state transition: {source} -> {target}"
    assert loop.state == source


def test_a_run_may_make_a_hundred_turns_ten_calls_at_once_and_three_retries():
    assert LoopPolicy() == LoopPolicy(
        max_turns=100,
        max_parallel=10,
        fallbacks=0,
        retry=RetryPolicy(max_retries=3, initial_s=0.5, max_s=30.0, multiplier=2.0),
    )


def test_a_new_loop_is_about_to_call_the_model():
    assert Loop(LoopPolicy()).state == "calling_llm"


# ---------------------------------------------------------------------------- plain turns


def test_a_plain_answer_ends_the_run():
    loop = Loop(LoopPolicy())

    assert play(loop, Begin(), PLAIN, Drained()) == [[CallModel(1)], [DrainTurn(1)], [EndRun("completed")]]
    assert loop.state == "completed"


def test_states_follow_the_drawing_through_a_turn_with_a_call():
    loop = Loop(LoopPolicy())
    states = []
    for event in (Begin(), replied(A), allowed(A), returned(A), Drained(), PLAIN, Drained()):
        loop.feed(event)
        states.append(loop.state)

    assert states == [
        "calling_llm",
        "waiting_for_ops",
        "waiting_for_ops",
        "draining_events",
        "calling_llm",
        "draining_events",
        "completed",
    ]


def test_calls_lead_to_another_turn():
    loop = loop_after()

    assert play(loop, replied(A), allowed(A), returned(A), Drained()) == [
        [Prepare(A)],
        [Execute(A)],
        [DrainTurn(1)],
        [CallModel(2)],
    ]


def test_steering_keeps_a_run_going_that_had_its_answer():
    loop = loop_after(PLAIN)

    assert loop.feed(Drained(more=True)) == [CallModel(2)]


def test_answers_to_steering_are_no_repeated_calls():
    loop = loop_after()
    for _ in range(2 * REPEAT_LIMIT):
        play(loop, PLAIN, Drained(more=True))

    assert loop.state == "calling_llm"


def test_a_run_that_was_cut_off_goes_on_at_its_turn():
    loop = Loop(LoopPolicy(), turn=4)

    assert loop.feed(Begin()) == [CallModel(5)]


def test_a_reply_from_before_the_cut_is_taken_whatever_the_limit_of_turns_is_now():
    loop = Loop(LoopPolicy(max_turns=1), turn=4)

    assert (loop.feed(Begin(replied(A).message)), loop.turn) == ([Prepare(A)], 5)
    assert play(loop, allowed(A), returned(A), Drained())[-1] == [
        EndRun("limit", "the limit of 1 turns was reached")
    ]


def test_a_run_begins_once():
    loop = loop_after()

    assert (loop.feed(Begin()), loop.turn) == ([], 1)


def test_a_run_that_was_cancelled_before_it_began_does_not_begin():
    loop = Loop(LoopPolicy())

    assert play(loop, CancelRequested(), Begin(), Settled()) == [[StopWork()], [], [EndRun("cancelled")]]


def test_a_model_call_that_cannot_be_made_ends_the_run():
    loop = loop_after()

    assert loop.feed(Refused("budget_exhausted", "no tokens left")) == [
        EndRun("budget_exhausted", "no tokens left")
    ]
    assert loop.state == "completed"


def test_nothing_has_an_effect_after_the_end():
    loop = loop_after(PLAIN, Drained())
    inputs: list[Input] = [
        Begin(),
        Refused("failed", ""),
        PLAIN,
        OVERLOADED,
        BackoffEnded(),
        allowed(A),
        Decided(A.id, "once"),
        returned(A),
        Drained(more=True),
        CancelRequested(),
        Settled(),
    ]

    assert play(loop, *inputs) == [[]] * len(inputs)
    assert loop.state == "completed"


# ---------------------------------------------------------------------------- calls


def test_calls_that_may_run_in_parallel_run_and_an_exclusive_one_waits_and_holds_up_the_rest():
    loop = loop_after()

    assert play(
        loop,
        replied(A, B, C, D),
        allowed(A, parallel=True),
        allowed(B, parallel=True),
        allowed(C),
        allowed(D, parallel=True),
        returned(B),
        returned(A),
        returned(C),
        returned(D),
    ) == [
        [Prepare(A), Prepare(B), Prepare(C), Prepare(D)],
        [Execute(A)],
        [Execute(B)],
        [],
        [],
        [],
        [Execute(C)],
        [Execute(D)],
        [DrainTurn(1)],
    ]


def test_exclusive_calls_run_one_by_one_in_order_whatever_is_ready_first():
    loop = loop_after(replied(A, B, C))

    assert play(loop, allowed(C), allowed(B), allowed(A), returned(A), returned(B), returned(C)) == [
        [],
        [],
        [Execute(A)],
        [Execute(B)],
        [Execute(C)],
        [DrainTurn(1)],
    ]


def test_an_exclusive_call_holds_up_all_parallel_ones_behind_it():
    loop = loop_after(replied(A, B, C))

    assert play(loop, allowed(A), allowed(B, parallel=True), allowed(C, parallel=True), returned(A)) == [
        [Execute(A)],
        [],
        [],
        [Execute(B), Execute(C)],
    ]


def test_a_call_that_is_not_yet_judged_holds_up_what_is_behind_it():
    """It may turn out to be exclusive."""
    loop = loop_after(replied(A, B))

    assert play(loop, allowed(B, parallel=True), allowed(A, parallel=True)) == [[], [Execute(A), Execute(B)]]


def test_one_that_asks_lets_parallel_calls_pass():
    loop = loop_after(replied(A, B))

    assert play(loop, asked(A, parallel=True), allowed(B, parallel=True)) == [[], [Execute(B)]]


def test_an_exclusive_one_that_asks_holds_up_what_is_behind_it():
    loop = loop_after(replied(A, B))

    assert play(loop, asked(A), allowed(B, parallel=True), Decided(A.id, "once"), returned(A)) == [
        [],
        [],
        [Execute(A)],
        [Execute(B)],
    ]


def test_at_most_max_parallel_run_at_once():
    loop = loop_after(replied(A, B, C, D), policy=LoopPolicy(max_parallel=2))
    for made in (A, B, C, D):
        loop.feed(allowed(made, parallel=True))

    assert play(loop, returned(B), returned(A), returned(C), returned(D)) == [
        [Execute(C)],
        [Execute(D)],
        [],
        [DrainTurn(1)],
    ]


def test_as_many_as_may_run_are_started_at_once():
    loop = loop_after(replied(A, B, C, D), policy=LoopPolicy(max_parallel=3))

    assert play(loop, *(allowed(made, parallel=True) for made in (D, C, B, A)))[-1] == [
        Execute(A),
        Execute(B),
        Execute(C),
    ]


def test_a_refused_call_has_its_result_without_running():
    loop = loop_after(replied(A, B))

    assert play(loop, returned(A, "denied by rule"), allowed(B), returned(B)) == [
        [],
        [Execute(B)],
        [DrainTurn(1)],
    ]


def test_a_turn_of_refused_calls_goes_on():
    loop = loop_after(replied(A))

    assert play(loop, returned(A, "no such tool"), Drained()) == [[DrainTurn(1)], [CallModel(2)]]


@pytest.mark.parametrize("late", [allowed(A), Decided(A.id, "once"), returned(A, "again")])
def test_what_comes_after_a_result_is_ignored(late: Input):
    loop = loop_after(replied(A, B), allowed(A), returned(A))

    assert loop.feed(late) == []
    assert play(loop, allowed(B), returned(B)) == [[Execute(B)], [DrainTurn(1)]]


def test_a_running_call_is_not_started_again():
    loop = loop_after(replied(A, B), allowed(A))

    assert play(loop, allowed(A), asked(A), Decided(A.id, "once")) == [[], [], []]


@pytest.mark.parametrize("event", [allowed(D), Decided(D.id, "once"), Decided(D.id, "stop"), returned(D)])
def test_an_unknown_call_is_ignored(event: Input):
    loop = loop_after(replied(A))

    assert loop.feed(event) == []
    assert loop.state == "waiting_for_ops"


def test_a_call_of_an_earlier_turn_is_ignored():
    loop = loop_after(replied(A), allowed(A), returned(A), Drained(), replied(B))

    assert play(loop, allowed(A), returned(A)) == [[], []]


# ---------------------------------------------------------------------------- calls made by code


def test_code_of_a_running_call_makes_calls_that_go_the_same_way_and_the_turn_does_not_wait_for_them():
    loop = loop_after(replied(A), allowed(A))

    assert play(
        loop,
        Called(B, A.id),
        Called(C, A.id),
        Called(D, A.id),
        allowed(B, parallel=True),
        asked(C),
        allowed(D, parallel=True),
        Decided(C.id, "once"),
        returned(B),
        returned(C),
        returned(A),
        returned(D),
    ) == [
        [Prepare(B)],
        [Prepare(C)],
        [Prepare(D)],
        [Execute(B)],
        [],
        [],
        [],
        [Execute(C)],
        [Execute(D)],
        [DrainTurn(1)],
        [],
    ]


def test_calls_made_by_code_run_beside_their_parent_and_its_siblings_wait():
    loop = loop_after(replied(A, B), allowed(A), allowed(B))

    assert play(loop, Called(C, A.id), allowed(C), returned(C), returned(A)) == [
        [Prepare(C)],
        [Execute(C)],
        [],
        [Execute(B)],
    ]


def test_as_many_calls_of_code_run_at_once_as_of_a_reply():
    loop = loop_after(replied(A), allowed(A), policy=LoopPolicy(max_parallel=2))
    play(loop, *(Called(made, A.id) for made in (B, C, D)))

    assert play(
        loop, *(allowed(made, parallel=True) for made in (B, C, D)), returned(C), returned(B), returned(D)
    ) == [[Execute(B)], [Execute(C)], [], [Execute(D)], [], []]


@pytest.mark.parametrize(
    "called", [Called(B, C.id), Called(B, B.id), Called(A, A.id)], ids=["unknown", "itself", "taken"]
)
def test_a_call_of_nobody_that_runs_is_ignored(called: Called):
    loop = loop_after(replied(A), allowed(A))

    assert loop.feed(called) == []


def test_a_call_of_code_that_does_not_run_yet_or_any_more_is_ignored():
    loop = loop_after(replied(A), asked(A))

    assert play(loop, Called(B, A.id), Decided(A.id, "once"), returned(A), Called(B, A.id)) == [
        [],
        [Execute(A)],
        [DrainTurn(1)],
        [],
    ]


def test_denying_a_call_of_code_refuses_it_and_stopping_ends_the_run():
    loop = loop_after(replied(A), allowed(A), Called(B, A.id), asked(B), Called(C, A.id), asked(C))

    assert play(loop, Decided(B.id, "deny", "no"), returned(B), Decided(C.id, "stop")) == [
        [Refuse(B, "denied: no")],
        [],
        [StopWork()],
    ]


def test_calls_of_code_are_not_repeated_calls():
    loop = loop_after()
    for turn in range(REPEAT_LIMIT + 2):
        calls = [Called(B, A.id), allowed(B), returned(B)]
        actions = play(loop, replied(A), allowed(A), *calls, returned(A, f"result {turn}"), Drained())

    assert actions[-1] == [CallModel(REPEAT_LIMIT + 3)]


# ---------------------------------------------------------------------------- approvals


@pytest.mark.parametrize("answer", ["once", "session"])
def test_an_approved_call_runs(answer: Answer):
    loop = loop_after(replied(A))

    assert play(loop, asked(A), Decided(A.id, answer), returned(A)) == [[], [Execute(A)], [DrainTurn(1)]]


@pytest.mark.parametrize(
    ("reason", "told"), [("too risky", "denied: too risky"), ("", "denied: user denied")]
)
def test_a_denied_call_is_refused_with_the_reason_and_the_run_goes_on(reason: str, told: str):
    loop = loop_after(replied(A))

    assert play(loop, asked(A), Decided(A.id, "deny", reason), returned(A, told), Drained()) == [
        [],
        [Refuse(A, told)],
        [DrainTurn(1)],
        [CallModel(2)],
    ]


def test_an_exclusive_call_waits_for_a_denied_one_to_have_its_result():
    loop = loop_after(replied(A, B))

    assert play(loop, asked(A), allowed(B), Decided(A.id, "deny"), returned(A)) == [
        [],
        [],
        [Refuse(A, "denied: user denied")],
        [Execute(B)],
    ]


@pytest.mark.parametrize(("reason", "told"), [("enough", "enough"), ("", "tool_a was denied")])
def test_stop_ends_the_run_as_denied(reason: str, told: str):
    loop = loop_after(replied(A, B), asked(A), allowed(B, parallel=True))

    assert play(loop, Decided(A.id, "stop", reason), returned(B), Settled()) == [
        [StopWork()],
        [],
        [EndRun("denied", told)],
    ]


@pytest.mark.parametrize(("first", "second"), list(product(["once", "session", "deny"], get_args(Answer))))
def test_the_first_answer_counts(first: Answer, second: Answer):
    loop = loop_after(replied(A), asked(A), Decided(A.id, first))

    assert loop.feed(Decided(A.id, second)) == []
    assert loop.state == "waiting_for_ops"
    assert loop.feed(returned(A)) == [DrainTurn(1)]


def test_an_answer_to_a_question_not_asked_is_ignored():
    loop = loop_after(replied(A))

    assert play(loop, Decided(A.id, "stop"), asked(A)) == [[], []]
    assert loop.state == "waiting_for_ops"


# ---------------------------------------------------------------------------- retries


def test_a_failed_model_call_is_made_again_after_a_wait():
    loop = loop_after()
    wobbly = ModelFailed("rate_limited", "slow down", jitter=1.1)

    assert play(loop, OVERLOADED, BackoffEnded(), wobbly, BackoffEnded(), PLAIN, Drained()) == [
        [Backoff(1, 0.5, OVERLOADED)],
        [CallModel(1)],
        [Backoff(2, 1.1, wobbly)],
        [CallModel(1)],
        [DrainTurn(1)],
        [EndRun("completed")],
    ]


def test_the_loop_rests_in_error_recovery_while_it_waits():
    loop = loop_after(OVERLOADED)

    assert loop.state == "error_recovery"
    assert play(loop, PLAIN, OVERLOADED, Drained()) == [[], [], []]


def test_retries_are_exhausted():
    loop = loop_after(policy=LoopPolicy(retry=RetryPolicy(max_retries=2)))

    assert play(loop, OVERLOADED, BackoffEnded(), OVERLOADED, BackoffEnded(), OVERLOADED) == [
        [Backoff(1, 0.5, OVERLOADED)],
        [CallModel(1)],
        [Backoff(2, 1.0, OVERLOADED)],
        [CallModel(1)],
        [EndRun("failed", "busy", OVERLOADED.kind)],
    ]
    assert loop.state == "completed"


def test_a_new_turn_has_all_its_retries_again():
    loop = loop_after(OVERLOADED, BackoffEnded(), replied(A), returned(A), Drained())

    assert loop.feed(OVERLOADED) == [Backoff(1, 0.5, OVERLOADED)]


@pytest.mark.parametrize("kind", sorted(set(get_args(ProviderErrorKind)) - RETRYABLE_KINDS))
def test_a_permanent_failure_ends_the_run_at_once(kind: ProviderErrorKind):
    loop = loop_after()

    assert loop.feed(ModelFailed(kind, "no")) == [EndRun("failed", "no", kind)]


@pytest.mark.parametrize("kind", sorted(RETRYABLE_KINDS))
def test_a_passing_failure_is_retried(kind: ProviderErrorKind):
    failure = ModelFailed(kind, "later")

    assert loop_after().feed(failure) == [Backoff(1, 0.5, failure)]


def test_the_vendors_wait_is_honoured():
    failure = ModelFailed("rate_limited", "wait", jitter=0.9, retry_after_s=42.0)

    assert loop_after().feed(failure) == [Backoff(1, 42.0, failure)]


def test_a_vendor_that_asks_for_too_long_a_wait_is_given_up():
    failure = ModelFailed("rate_limited", "come back tomorrow", retry_after_s=86_400.0)

    assert loop_after().feed(failure) == [EndRun("failed", "come back tomorrow", failure.kind)]


# ---------------------------------------------------------------------------- other models


ONE_MORE = LoopPolicy(fallbacks=1, retry=RetryPolicy(max_retries=1))
GONE = ModelFailed("model_not_found", "no such model")


def test_a_model_that_was_tried_enough_is_left_for_the_next_one_which_has_all_its_retries():
    loop = loop_after(policy=ONE_MORE)

    tries = (OVERLOADED, BackoffEnded(), OVERLOADED)
    assert play(loop, *tries, BackoffEnded(), *tries) == [
        [Backoff(1, 0.5, OVERLOADED)],
        [CallModel(1)],
        [SwitchModel(1, OVERLOADED)],
        [CallModel(1)],
        [Backoff(1, 0.5, OVERLOADED)],
        [CallModel(1)],
        [EndRun("failed", "busy", OVERLOADED.kind)],
    ]


@pytest.mark.parametrize("kind", sorted(FALLBACK_KINDS - RETRYABLE_KINDS))
def test_a_model_that_is_not_there_is_left_at_once(kind: ProviderErrorKind):
    loop = loop_after(policy=ONE_MORE)
    failure = ModelFailed(kind, "no")

    assert loop.feed(failure) == [SwitchModel(1, failure)]
    assert loop.feed(BackoffEnded()) == [CallModel(1)]


@pytest.mark.parametrize("kind", sorted(set(get_args(ProviderErrorKind)) - FALLBACK_KINDS))
def test_a_request_that_is_at_fault_is_not_sent_to_another_model(kind: ProviderErrorKind):
    assert loop_after(policy=ONE_MORE).feed(ModelFailed(kind, "no")) == [EndRun("failed", "no", kind)]


def test_a_vendor_that_asks_for_too_long_a_wait_is_left_at_once():
    failure = ModelFailed("rate_limited", "tomorrow", retry_after_s=86_400.0)

    assert loop_after(policy=ONE_MORE).feed(failure) == [SwitchModel(1, failure)]


def test_models_are_left_one_after_the_other_until_there_are_no_more():
    loop = loop_after(policy=LoopPolicy(fallbacks=2))

    assert play(loop, GONE, BackoffEnded(), GONE, BackoffEnded(), GONE) == [
        [SwitchModel(1, GONE)],
        [CallModel(1)],
        [SwitchModel(2, GONE)],
        [CallModel(1)],
        [EndRun("failed", "no such model", GONE.kind)],
    ]


def test_a_model_that_cannot_even_be_opened_is_left_for_the_next_one():
    loop = loop_after(GONE, policy=LoopPolicy(fallbacks=2))
    no_key = ModelFailed("unknown", "no key")

    assert play(loop, no_key, no_key) == [[SwitchModel(2, no_key)], [EndRun("failed", "no key", no_key.kind)]]


def test_a_model_that_cannot_be_opened_changes_nothing_once_the_run_was_cancelled():
    loop = loop_after(GONE, policy=LoopPolicy(fallbacks=2))

    assert play(loop, CancelRequested(), OVERLOADED, GONE, Settled()) == [
        [StopWork()],
        [],
        [],
        [EndRun("cancelled")],
    ]


def test_a_model_that_was_left_stays_left_in_the_turns_that_follow():
    loop = loop_after(GONE, BackoffEnded(), *turn_of(A), policy=ONE_MORE)

    assert loop.feed(GONE) == [EndRun("failed", "no such model", GONE.kind)]


# ---------------------------------------------------------------------------- cancelling


@pytest.mark.parametrize(
    ("inputs", "state"),
    [
        ((), "calling_llm"),
        ((replied(A),), "waiting_for_ops"),
        ((replied(A), asked(A)), "waiting_for_ops"),
        ((replied(A), allowed(A)), "waiting_for_ops"),
        ((PLAIN,), "draining_events"),
        ((OVERLOADED,), "error_recovery"),
    ],
)
def test_a_run_can_be_cancelled_in_every_state(inputs: tuple[Input, ...], state: LoopState):
    loop = loop_after(*inputs)
    before = loop.state

    actions = play(loop, CancelRequested(reason="ctrl-c"), Settled())

    assert before == state
    assert actions == [[StopWork()], [EndRun("cancelled", "ctrl-c")]]


def test_while_cancelling_only_the_settling_counts():
    loop = loop_after(replied(A, B), allowed(A), CancelRequested("budget_exhausted", "time is up"))
    late = (
        returned(A),
        allowed(B),
        PLAIN,
        OVERLOADED,
        BackoffEnded(),
        Drained(),
        CancelRequested("failed", "?"),
    )

    assert play(loop, *late) == [[]] * len(late)
    assert loop.state == "cancelling"
    assert loop.feed(Settled()) == [EndRun("budget_exhausted", "time is up")]


@pytest.mark.parametrize("inputs", [(), (replied(A),), (PLAIN,), (OVERLOADED,)])
def test_settling_without_a_cancel_means_nothing(inputs: tuple[Input, ...]):
    loop = loop_after(*inputs)
    state = loop.state

    assert (loop.feed(Settled()), loop.state) == ([], state)


# ---------------------------------------------------------------------------- limits


def test_a_run_ends_at_its_last_turn():
    loop = loop_after(*turn_of(A), policy=LoopPolicy(max_turns=2))

    assert play(loop, *turn_of(B))[-1] == [EndRun("limit", "the limit of 2 turns was reached")]
    assert (loop.state, loop.turn) == ("completed", 2)


def test_an_answer_in_the_last_turn_completes_the_run():
    loop = loop_after(policy=LoopPolicy(max_turns=1))

    assert play(loop, PLAIN, Drained())[-1] == [EndRun("completed")]


def test_a_run_without_any_turns_ends_before_its_first_model_call():
    assert Loop(LoopPolicy(max_turns=0)).feed(Begin()) == [
        EndRun("limit", "the limit of 0 turns was reached")
    ]


def test_retries_do_not_count_as_turns():
    loop = loop_after(OVERLOADED, BackoffEnded(), OVERLOADED, BackoffEnded(), policy=LoopPolicy(max_turns=1))

    assert play(loop, PLAIN, Drained())[-1] == [EndRun("completed")]


def test_a_used_up_budget_stops_the_run_at_the_boundary():
    loop = loop_after()
    stop = Refused("budget_exhausted", "the tokens limit is used up: 10 of 10")

    assert play(loop, *turn_of(A, stop=stop))[-1] == [EndRun("budget_exhausted", stop.reason)]


def test_the_same_calls_with_the_same_results_stop_the_run():
    loop = loop_after()
    calls = [ToolCall(CallId(str(n)), "read_file", {"path": "x"}) for n in range(REPEAT_LIMIT)]
    turns = [play(loop, *turn_of(made)) for made in calls]

    assert [turn[-1] for turn in turns] == [
        [CallModel(2)],
        [CallModel(3)],
        [CallModel(4)],
        [CallModel(5)],
        [EndRun("limit", "the same calls gave the same results 5 times")],
    ]


@pytest.mark.parametrize("varies", ["args", "output"])
def test_the_same_call_with_other_arguments_or_results_is_progress(varies: str):
    loop = loop_after()
    for n in range(3 * REPEAT_LIMIT):
        made = ToolCall(CallId(str(n)), "poll", {"n": n} if varies == "args" else {})
        play(loop, *turn_of(made, str(n) if varies == "output" else "done"))

    assert (loop.state, loop.turn) == ("calling_llm", 3 * REPEAT_LIMIT + 1)


@pytest.mark.parametrize(("others", "state"), [(5, "completed"), (6, "calling_llm")])
def test_only_ten_turns_are_looked_back_on(others: int, state: LoopState):
    """Four equal turns, some others, and the fifth: with six between, the first is out of sight."""
    loop = loop_after()
    names = ["check"] * 4 + [f"work_{n}" for n in range(others)] + ["check"]
    for n, name in enumerate(names):
        play(loop, *turn_of(ToolCall(CallId(str(n)), name)))

    assert loop.state == state


def test_an_alternation_of_two_turns_is_a_loop_too():
    loop = loop_after()
    for n in range(2 * REPEAT_LIMIT - 1):
        last = play(loop, *turn_of(ToolCall(CallId(str(n)), "ab"[n % 2], {})))[-1]

    assert last == [EndRun("limit", "the same calls gave the same results 5 times")]


def failing_turn(number: int, *, of: str = "failed") -> list[Input]:
    """Return a turn whose one call comes to nothing: it failed, a rule denied it, or a person did."""
    made = ToolCall(CallId(str(number)), "bash", {"command": str(number)})
    failure = Returned(ToolResult(made.id, made.name, f"no {number}", is_error=True))
    before: dict[str, list[Input]] = {
        "failed": [allowed(made)],
        "denied by a rule": [],
        "denied by a person": [asked(made), Decided(made.id, "deny")],
    }
    return [replied(made), *before[of], failure, Drained()]


@pytest.mark.parametrize("of", ["failed", "denied by a rule", "denied by a person"])
def test_eight_turns_in_a_row_that_come_to_nothing_end_the_run(of: str):
    loop = loop_after()

    ends = [play(loop, *failing_turn(n, of=of))[-1] for n in range(FAILED_TURNS_LIMIT)]

    assert ends == [
        *([CallModel(turn)] for turn in range(2, 9)),
        [EndRun("limit", "every call of the last 8 turns failed")],
    ]
    assert loop.state == "completed"


def mixed_turn(number: int) -> list[Input]:
    good, bad = (ToolCall(CallId(f"{number}{name}"), "bash", {"n": number}) for name in "ab")
    failure = Returned(ToolResult(bad.id, bad.name, "no", is_error=True))
    return [replied(good, bad), allowed(good), returned(good, f"yes {number}"), failure, Drained()]


@pytest.mark.parametrize(
    "break_",
    [turn_of(A), mixed_turn(99), [PLAIN, Drained(more=True)]],
    ids=["a call that works", "one of two works", "no call"],
)
def test_one_turn_that_comes_to_something_ends_the_streak(break_: list[Input]):
    loop = loop_after()
    for n in range(FAILED_TURNS_LIMIT - 1):
        play(loop, *failing_turn(n))
    play(loop, *break_)
    for n in range(FAILED_TURNS_LIMIT - 1):
        play(loop, *failing_turn(100 + n))
    assert loop.state == "calling_llm"

    assert play(loop, *failing_turn(200))[-1] == [EndRun("limit", "every call of the last 8 turns failed")]


def test_the_same_failure_again_and_again_is_told_as_a_repetition():
    loop = loop_after()
    for n in range(REPEAT_LIMIT):
        made = ToolCall(CallId(str(n)), "bash", {})
        failure = Returned(ToolResult(made.id, made.name, "no", is_error=True))
        last = play(loop, replied(made), allowed(made), failure, Drained())[-1]

    assert last == [EndRun("limit", "the same calls gave the same results 5 times")]


def test_a_budget_that_is_used_up_is_told_before_a_streak():
    loop = loop_after()
    for n in range(FAILED_TURNS_LIMIT - 1):
        play(loop, *failing_turn(n))

    *inputs, _ = failing_turn(200)
    last = play(loop, *inputs, Drained(stop=Refused("budget_exhausted", "spent")))[-1]

    assert last == [EndRun("budget_exhausted", "spent")]


# ---------------------------------------------------------------------------- anything in any order


PLACES = [CallId(str(place)) for place in range(5)]
"""Stand for the call at that place of the current turn, if there is one."""

PREPARED: list[Input] = [
    Prepared(place, action, parallel)
    for place, action, parallel in product(PLACES, ["allow", "allow", "ask"], [True, True, False])
]
DECIDED: list[Input] = [
    Decided(place, answer) for place, answer in product(PLACES, ["once", "session", "deny"])
]
RETURNED: list[Input] = [Returned(ToolResult(place, "tool", "done")) for place in PLACES]
REPLIED: list[Input] = [replied(*[A, B, C, D][:count]) for count in range(5)]
FAILED: list[Input] = [ModelFailed(kind, "later") for kind in sorted(RETRYABLE_KINDS)]
OTHERS: list[Input] = [Begin(), BackoffEnded(), Drained(more=True), Settled()]
ENDS: list[Input] = [
    Drained(),
    Drained(stop=Refused("budget_exhausted", "used up")),
    Refused("failed", "too large"),
    ModelFailed("invalid_request", "no"),
    Decided(PLACES[0], "stop"),
    CancelRequested(),
]
ANYTHING = PREPARED + DECIDED + RETURNED + REPLIED + FAILED + OTHERS + ENDS

FITTING: dict[LoopState, list[Input]] = {
    "calling_llm": REPLIED + REPLIED + FAILED[:1],
    "error_recovery": [BackoffEnded()],
    "waiting_for_ops": PREPARED + 2 * DECIDED + 6 * RETURNED,
    "draining_events": [Drained(more=True)],
    "cancelling": ANYTHING,
    "completed": ANYTHING,
}
"""What may happen in a state without ending the run: a run must live to get into trouble."""


class Watched:
    """A loop, and conditions on its inputs and actions that must hold in any state."""

    def __init__(self) -> None:
        self.loop = Loop(
            LoopPolicy(max_turns=8, max_parallel=2, fallbacks=2, retry=RetryPolicy(max_retries=2))
        )
        self.calls: list[CallId] = []
        self.made = 0
        self.parallel: dict[CallId, bool] = {}
        self.asking: set[CallId] = set()
        self.may_run: set[CallId] = set()
        self.executed: set[CallId] = set()
        self.refused: set[CallId] = set()
        self.finished: set[CallId] = set()
        self.switches: list[int] = []
        self.endings: list[EndRun] = []

    @property
    def running(self) -> set[CallId]:
        return self.executed - self.finished

    def feed(self, event: Input) -> list[Action]:
        before, had_ended = self.loop.state, bool(self.endings)
        actions = self.loop.feed(event)
        for action in actions:
            self.check(action)
        assert not (had_ended and actions)
        assert (self.loop.state == "completed") == bool(self.endings)
        assert self.loop.state == before or is_reachable(before, self.loop.state)
        if self.loop.state == "waiting_for_ops":
            self.check_progress()
        return actions

    def check(self, action: Action) -> None:
        match action:
            case Execute(call=made):
                assert made.id in self.may_run
                assert made.id not in self.executed | self.refused | self.finished
                assert not self.running or self.parallel[made.id]
                assert all(self.parallel[other] for other in self.running)
                self.executed.add(made.id)
                assert len(self.running) <= 2
            case Refuse(call=made):
                assert made.id not in self.executed | self.refused | self.finished
                self.refused.add(made.id)
            case DrainTurn():
                assert set(self.calls) <= self.finished
            case CallModel():
                assert set(self.calls) <= self.finished
                assert action.turn <= 8
            case EndRun():
                self.endings.append(action)
                assert len(self.endings) == 1
            case SwitchModel():
                self.switches.append(action.model)
                assert self.switches == [1, 2][: len(self.switches)]
            case Backoff() | Prepare() | StopWork():
                pass

    def check_progress(self) -> None:
        """A turn with all results continues, and its first open call runs as soon as it may."""
        still_open = [call_id for call_id in self.calls if call_id not in self.finished]
        assert still_open
        if still_open[0] in self.may_run:
            busy = self.running | (self.refused - self.finished)
            assert still_open[0] in self.executed or len(busy) >= 2

    def take(self, event: Input) -> None:
        """Feed something that names calls by their place, after noting what follows from it."""
        match event:
            case Begin():
                assert self.feed(event) == []
            case Replied():
                self.feed(self.renamed(event))
            case Prepared():
                call_id = self.at(event.call_id)
                if self.is_open(call_id) and call_id not in self.parallel:
                    self.parallel[call_id] = event.parallel
                    (self.asking if event.action == "ask" else self.may_run).add(call_id)
                self.feed(replace(event, call_id=call_id))
            case Decided():
                call_id = self.at(event.call_id)
                is_first_answer = self.is_open(call_id) and call_id in self.asking
                self.asking.discard(call_id)
                if is_first_answer and event.answer in ("once", "session"):
                    self.may_run.add(call_id)
                assert self.feed(replace(event, call_id=call_id)) == [] or is_first_answer
            case Returned():
                call_id = self.at(event.result.call_id)
                if self.is_open(call_id):
                    self.finished.add(call_id)
                self.feed(Returned(replace(event.result, call_id=call_id)))
            case _:
                self.feed(event)

    def at(self, place: CallId) -> CallId:
        return self.calls[int(place)] if int(place) < len(self.calls) else CallId("unknown")

    def is_open(self, call_id: CallId) -> bool:
        return self.loop.state == "waiting_for_ops" and call_id in self.calls and call_id not in self.finished

    def renamed(self, reply: Replied) -> Replied:
        """Give the calls ids that are new in the session."""
        self.made += 1
        calls = [replace(made, id=CallId(f"{self.made}.{made.id}")) for made in reply.message.calls]
        if self.loop.state == "calling_llm":
            self.calls = [made.id for made in calls]
        return replied(*calls)


def is_reachable(source: LoopState, target: LoopState) -> bool:
    """One input may make two moves, such as calling_llm -> error_recovery -> completed."""
    return (source, target) in LEGAL or any(
        (source, between) in LEGAL and (between, target) in LEGAL for between in STATES
    )


@settings(max_examples=500)
@given(st.binary(max_size=20) | st.binary(min_size=200, max_size=400))
def test_whatever_happens_in_whatever_order_a_run_stays_sound(choices: bytes):
    """No illegal move, one end and nothing after it, no call twice, results before the boundary."""
    watched = Watched()
    assert watched.feed(Begin()) == [CallModel(1)]
    for choice, fits in zip(choices[::2], choices[1::2], strict=False):
        inputs = FITTING[watched.loop.state] if fits >= 32 else ANYTHING
        watched.take(inputs[choice % len(inputs)])

    watched.feed(CancelRequested())
    watched.feed(Settled())
    assert len(watched.endings) == 1
