from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.hook import (
    DEFAULT_FAILURE_POLICY,
    PATCH_POINT,
    PRE_POINTS,
    Allow,
    AssistantTextPatch,
    Capability,
    CommandRuntime,
    Deny,
    EntryProblem,
    HookAnswer,
    HookEntry,
    HookInvocation,
    HookOutcome,
    HookPoint,
    HttpRuntime,
    InProcessRuntime,
    ModelReplyView,
    ModelRequestPatch,
    ModelRequestView,
    Patch,
    RunResultPatch,
    ToolArgsPatch,
    ToolCallView,
    ToolResultPatch,
    ToolResultView,
    apply_patches,
    combine_answers,
    find_entry_problem,
)
from bridle.core.ids import CallId, SessionId
from tests.core.values import values_of

POINTS: tuple[HookPoint, ...] = get_args(HookPoint)

PATCHES: list[tuple[Patch, HookPoint]] = [
    (ToolArgsPatch({"path": "b"}), "pre_tool_execution"),
    (ToolResultPatch("clean", is_error=False), "post_tool_execution"),
    (AssistantTextPatch("polite"), "post_llm_response"),
    (ModelRequestPatch(max_tokens=10), "pre_llm_request"),
    (RunResultPatch("done"), "run_completed"),
]

answers = st.lists(values_of(HookAnswer), max_size=4)


def deny(hook_id: str, message: str, capability: Capability = "guardrail") -> HookAnswer:
    return HookAnswer(hook_id, capability, Deny(message))


def rewrite(hook_id: str, *patches: Patch) -> HookAnswer:
    return HookAnswer(hook_id, "rewrite", None, patches)


def test_points_are_of_two_classes():
    assert set(POINTS) - PRE_POINTS == {
        "post_llm_response",
        "post_tool_execution",
        "run_completed",
        "run_failed",
    }


def test_who_may_refuse_fails_closed_and_who_only_looks_fails_open():
    assert DEFAULT_FAILURE_POLICY == {
        "observe": "fail_open",
        "guardrail": "fail_closed",
        "rewrite": "fail_closed",
    }


def test_no_hooks_have_no_opinion():
    assert combine_answers("run_started", []) == HookOutcome()


def test_an_empty_answer_has_no_opinion():
    assert combine_answers("run_started", [HookAnswer("a", "guardrail")]) == HookOutcome()


def test_allow_is_no_objection():
    assert combine_answers("run_started", [HookAnswer("a", "guardrail", Allow())]) == HookOutcome()


@pytest.mark.parametrize("capability", ["guardrail", "rewrite"])
def test_a_deny_names_its_hook_whatever_the_answer_says(capability: Capability):
    answer = HookAnswer("a", capability, Deny("no", "safety_violation", hook_id="someone else"))

    assert combine_answers("turn_boundary", [answer]) == HookOutcome(Deny("no", "safety_violation", "a"))


def test_the_first_deny_wins():
    assert combine_answers("run_started", [deny("a", "first"), deny("b", "second")]) == HookOutcome(
        Deny("first", hook_id="a")
    )


def test_allow_never_overrides_deny():
    allow = HookAnswer("a", "guardrail", Allow())

    assert combine_answers("run_started", [deny("b", "no"), allow]).deny == Deny("no", hook_id="b")
    assert combine_answers("run_started", [allow, deny("b", "no")]).deny == Deny("no", hook_id="b")


def test_a_deny_voids_earlier_patches():
    """Otherwise a rewrite would paint over the text of the denial."""
    patched = rewrite("a", ToolResultPatch("clean"))

    assert combine_answers("post_tool_execution", [patched, deny("b", "secret")]) == HookOutcome(
        Deny("secret", hook_id="b")
    )


def test_a_deny_voids_its_own_patches():
    answer = HookAnswer("a", "rewrite", Deny("no"), (ToolArgsPatch({}),))

    assert combine_answers("pre_tool_execution", [answer]) == HookOutcome(Deny("no", hook_id="a"))


def test_an_observer_cannot_deny():
    assert combine_answers("run_started", [deny("a", "no", "observe")]) == HookOutcome(
        ignored=("a: an observe hook cannot deny",)
    )


@pytest.mark.parametrize(("capability", "name"), [("observe", "an observe"), ("guardrail", "a guardrail")])
def test_only_a_rewriter_can_patch(capability: Capability, name: str):
    answer = HookAnswer("a", capability, None, (ToolArgsPatch({}),))

    assert combine_answers("pre_tool_execution", [answer]) == HookOutcome(
        ignored=(f"a: {name} hook cannot patch",)
    )


def test_what_was_ignored_is_told_even_when_a_later_hook_denies():
    answers = [deny("a", "no", "observe"), deny("b", "really no")]

    assert combine_answers("run_started", answers) == HookOutcome(
        Deny("really no", hook_id="b"), ignored=("a: an observe hook cannot deny",)
    )


@pytest.mark.parametrize("point", POINTS)
@pytest.mark.parametrize(("patch", "own_point"), PATCHES, ids=lambda value: str(type(value).__name__))
def test_a_patch_applies_at_its_own_point_only(patch: Patch, own_point: HookPoint, point: HookPoint):
    wrong = HookOutcome(ignored=(f"a: {type(patch).__name__} does not apply at {point}",))

    assert combine_answers(point, [rewrite("a", patch)]) == (
        HookOutcome(patches=(patch,)) if point == own_point else wrong
    )


def test_every_patch_has_a_point():
    assert dict(PATCH_POINT) == {type(patch): point for patch, point in PATCHES}
    assert set(PATCH_POINT) == set(get_args(Patch))


def test_patches_keep_the_order_of_execution_so_that_the_last_wins():
    first, second, third = (ToolArgsPatch({"n": n}) for n in (1, 2, 3))

    assert combine_answers(
        "pre_tool_execution", [rewrite("a", first, second), rewrite("b", third)]
    ) == HookOutcome(patches=(first, second, third))


@given(st.sampled_from(POINTS), answers)
def test_an_outcome_is_a_deny_or_patches_that_fit_its_point(point: HookPoint, answers: list[HookAnswer]):
    outcome = combine_answers(point, answers)
    refusals = [a for a in answers if isinstance(a.decision, Deny) and a.capability != "observe"]

    assert (outcome.deny is not None) == bool(refusals)
    assert outcome.deny is None or outcome.patches == ()
    assert {PATCH_POINT[type(patch)] for patch in outcome.patches} <= {point}


@given(st.sampled_from(POINTS), answers, answers)
def test_later_hooks_cannot_undo_a_deny(point: HookPoint, first: list[HookAnswer], later: list[HookAnswer]):
    outcome = combine_answers(point, first)

    assert outcome.deny is None or combine_answers(point, [*first, *later]) == outcome


@given(values_of(Patch), values_of(Allow | Deny))
def test_decisions_and_patches_are_told_apart_by_their_tags(patch: Patch, decision: Allow | Deny):
    assert msgspec.json.decode(msgspec.json.encode(patch), type=Patch) == patch
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Allow | Deny) == decision


def test_an_invocation_leaves_out_what_its_point_does_not_have():
    assert msgspec.json.decode(msgspec.json.encode(told(turn_number=2, tool_call=CALL))) == {
        "point": "pre_tool_execution",
        "session_id": "s",
        "turn_number": 2,
        "tool_call": {"tool_use_id": "c", "name": "bash", "args": {"command": "ls"}},
    }


# ---------------------------------------------------------------------------- what a later hook sees

CALL = ToolCallView(CallId("c"), "bash", {"command": "ls"})
RESULT = ToolResultView(CallId("c"), "bash", "out", is_error=True)
REQUEST = ModelRequestView(1000, 3, 0.5, {"top_k": 1, "seed": 2})
REPLY = ModelReplyView("rude", ("bash",))


def told(**parts: Any) -> HookInvocation:
    return HookInvocation("pre_tool_execution", SessionId("s"), **parts)


@pytest.mark.parametrize(
    ("before", "patches", "after"),
    [
        ({"tool_call": CALL}, [], {"tool_call": CALL}),
        (
            {"tool_call": CALL},
            [ToolArgsPatch({"command": "id"}), ToolArgsPatch({"command": "pwd"})],
            {"tool_call": ToolCallView(CALL.tool_use_id, "bash", {"command": "pwd"})},
        ),
        (
            {"tool_result": RESULT},
            [ToolResultPatch("clean")],
            {"tool_result": ToolResultView(CALL.tool_use_id, "bash", "clean", is_error=True)},
        ),
        (
            {"tool_result": RESULT},
            [ToolResultPatch("clean", is_error=False)],
            {"tool_result": ToolResultView(CALL.tool_use_id, "bash", "clean", is_error=False)},
        ),
        (
            {"llm_response": REPLY},
            [AssistantTextPatch("polite")],
            {"llm_response": ModelReplyView("polite", ("bash",))},
        ),
        (
            {"llm_request": REQUEST},
            [
                ModelRequestPatch(max_tokens=10),
                ModelRequestPatch(temperature=0.0, provider_params={"seed": 3}),
            ],
            {"llm_request": ModelRequestView(10, 3, 0.0, {"top_k": 1, "seed": 3})},
        ),
        (
            {"llm_request": REQUEST},
            [ModelRequestPatch(max_tokens=5000)],
            {"llm_request": REQUEST},
        ),
        (
            {"llm_request": REQUEST},
            [ModelRequestPatch(max_tokens=-1)],
            {"llm_request": ModelRequestView(1, 3, 0.5, REQUEST.provider_params)},
        ),
        ({"text": "a"}, [RunResultPatch("b")], {"text": "b"}),
        ({}, [ToolArgsPatch({}), ToolResultPatch(""), AssistantTextPatch(""), ModelRequestPatch(1)], {}),
    ],
)
def test_later_hooks_see_what_was_rewritten(
    before: dict[str, Any], patches: list[Patch], after: dict[str, Any]
):
    assert apply_patches(told(**before), patches) == told(**after)


# ---------------------------------------------------------------------------- entries

NAMED = InProcessRuntime("f")


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (HookEntry(NAMED), None),
        (HookEntry(NAMED, id=""), ("id", "must be 1 to 100 characters on one line")),
        (HookEntry(NAMED, id="a\nb"), ("id", "must be 1 to 100 characters on one line")),
        (HookEntry(NAMED, id="x" * 101), ("id", "must be 1 to 100 characters on one line")),
        (HookEntry(NAMED, timeout_ms=0), ("timeout_ms", "must be 1 to 600000")),
        (HookEntry(NAMED, timeout_ms=600_001), ("timeout_ms", "must be 1 to 600000")),
        (HookEntry(NAMED, timeout_ms=1), None),
        (HookEntry(NAMED, mode="background"), None),
        (
            HookEntry(NAMED, mode="background", capability="guardrail", failure_policy="fail_open"),
            ("mode", "a background hook at turn_boundary can only observe"),
        ),
        (
            HookEntry(NAMED, mode="background", point="run_failed", capability="rewrite"),
            ("failure_policy", "a background hook cannot fail closed: nothing waits for it"),
        ),
        (
            HookEntry(NAMED, mode="background", failure_policy="fail_closed"),
            ("failure_policy", "a background hook cannot fail closed: nothing waits for it"),
        ),
        (
            HookEntry(
                NAMED, mode="background", point="run_failed", capability="rewrite", failure_policy="fail_open"
            ),
            None,
        ),
        (HookEntry(InProcessRuntime("")), ("runtime", "is empty")),
        (HookEntry(CommandRuntime("")), ("runtime", "is empty")),
        (HookEntry(CommandRuntime("a", ("b\0",))), ("runtime.command", "contains a zero byte")),
        (HookEntry(CommandRuntime("a", env={"B": "\0"})), ("runtime.env", "contains a zero byte")),
        (
            HookEntry(CommandRuntime("a", env={"B=": "x"})),
            ("runtime.env", "has an invalid variable name"),
        ),
        (
            HookEntry(CommandRuntime("a", env={"": "x"})),
            ("runtime.env", "has an invalid variable name"),
        ),
        (HookEntry(CommandRuntime("a", ("", "b"), {"B": ""})), None),
        (HookEntry(HttpRuntime("ftp://x")), ("runtime.url", "must start with http:// or https://")),
        (HookEntry(HttpRuntime("http://x", "GET /")), ("runtime.method", "must be a method such as POST")),
        (HookEntry(HttpRuntime("http://x", "")), ("runtime.method", "must be a method such as POST")),
        (
            HookEntry(HttpRuntime("http://x", headers={"A": "b\r\nC: d"})),
            ("runtime.headers", "must be text on one line"),
        ),
        (HookEntry(HttpRuntime("https://x", "put", {"A": "b"})), None),
    ],
)
def test_what_an_entry_cannot_say(entry: HookEntry, problem: tuple[str, str] | None):
    assert find_entry_problem(entry) == (problem and EntryProblem(*problem))
