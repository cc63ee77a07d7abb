import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.hook import (
    Allow,
    Capability,
    Deny,
    HookAnswer,
    HookEntry,
    HookInvocation,
    HookOutcome,
    HookOverride,
    HookResponse,
    ToolArgsPatch,
    ToolCallView,
    ToolResultPatch,
    combine_answers,
)
from bridle.core.ids import CallId
from bridle.core.ports import HookRound, Hooks
from bridle.core.protocol import (
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    HookStarted,
)
from bridle.hooks.engine import RunHooks
from bridle.hooks.factory import create_hooks
from bridle.hooks.function_hooks import Handler
from tests.hooks.stage import (
    CALL,
    PATIENCE_MS,
    StillClock,
    asked,
    calling,
    kinds,
    running,
    script,
    site,
    told,
)

PRE, POST = "pre_tool_execution", "post_tool_execution"
C1 = CallId("c1")


def saying(response: HookResponse | None, log: list[str] | None = None, name: str = "") -> Handler:
    def handler(invocation: HookInvocation) -> HookResponse | None:
        if log is not None:
            log.append(name)
        return response

    return handler


def opened(entries: list[HookEntry], handlers: dict[str, Handler], **more: Any) -> RunHooks:
    return create_hooks(entries, HookOverride(), site(handlers=handlers, **more))


def no(message: str = "no") -> HookResponse:
    return HookResponse(Deny(message))


def test_it_is_what_the_driver_asks():
    hooks: Hooks = RunHooks([], StillClock())

    assert hooks.points == frozenset()


async def test_without_hooks_there_is_nothing_to_say():
    hooks = RunHooks([], StillClock())

    assert await hooks.ask(told(), lambda _: None) == HookRound()
    assert await hooks.aclose() == ()


def test_the_points_are_those_where_somebody_listens():
    entries = [
        calling("a"),
        calling("b", point="run_failed", mode="background"),
        calling("c", enabled=False, point=POST),
    ]
    nothing = saying(None)

    assert opened(entries, {"a": nothing, "b": nothing}).points == {PRE, "run_failed"}


async def test_hooks_are_asked_by_priority_and_then_as_they_were_registered():
    log: list[str] = []
    entries = [
        calling("a"),
        calling("b", priority=-5),
        calling("c"),
        calling("d", priority=101),
        calling("e", priority=-5),
    ]
    handlers = {name: saying(None, log, name) for name in "abcde"}
    shown: list[HookStarted] = []

    hooks = opened(entries, handlers)
    await hooks.ask(told(), shown.append)

    assert log == ["b", "e", "a", "c", "d"]
    assert shown == [HookStarted(name, PRE) for name in log]


async def test_the_first_deny_ends_the_round_and_starts_nothing_behind_it():
    log: list[str] = []
    entries = [
        calling("ok", capability="guardrail"),
        calling("no", capability="guardrail"),
        calling("later", capability="guardrail"),
        calling("behind", mode="background", priority=-1),
    ]
    handlers = {
        "ok": saying(HookResponse(Allow()), log, "ok"),
        "no": saying(HookResponse(Deny("not that", "safety_violation", "liar", {"why": 1})), log, "no"),
        "later": saying(HookResponse(Allow()), log, "later"),
        "behind": saying(None, log, "behind"),
    }

    hooks = opened(entries, handlers)
    round_ = await hooks.ask(told(), lambda _: None)

    assert round_ == HookRound(
        HookOutcome(Deny("not that", "safety_violation", "no", {"why": 1})),
        (
            HookCompleted("ok", PRE, 0, C1),
            HookCompleted("no", PRE, 0, C1),
            HookDenied("no", PRE, "safety_violation", "not that", {"why": 1}, C1),
        ),
    )
    assert await hooks.aclose() == ()
    assert log == ["ok", "no"]


async def test_each_hook_sees_what_those_before_it_rewrote():
    """Otherwise a guardrail would judge what is not going to happen."""
    seen: list[dict[str, Any]] = []

    def rewriting(args: dict[str, Any]) -> Handler:
        def handler(invocation: HookInvocation) -> HookResponse:
            assert invocation.tool_call is not None
            seen.append(invocation.tool_call.args)
            return HookResponse(patches=(ToolArgsPatch(args),))

        return handler

    entries = [calling("a", capability="rewrite"), calling("b", capability="rewrite")]
    round_ = await asked(entries, at=site(handlers={"a": rewriting({"n": 1}), "b": rewriting({"n": 2})}))

    assert seen == [CALL.args, {"n": 1}]
    first, second = ToolArgsPatch({"n": 1}), ToolArgsPatch({"n": 2})
    assert round_ == HookRound(
        HookOutcome(patches=(first, second)),
        (
            HookCompleted("a", PRE, 0, C1),
            HookRewrote("a", PRE, first, C1),
            HookCompleted("b", PRE, 0, C1),
            HookRewrote("b", PRE, second, C1),
        ),
    )


async def test_what_was_rewritten_before_a_deny_is_not_recorded_as_if_it_held():
    entries = [calling("a", capability="rewrite"), calling("b", capability="guardrail")]
    handlers = {"a": saying(HookResponse(patches=(ToolArgsPatch({}),))), "b": saying(no())}

    round_ = await asked(entries, at=site(handlers=handlers))

    assert round_.outcome == HookOutcome(Deny("no", hook_id="b"))
    assert kinds(round_.events) == ["HookCompleted", "HookCompleted", "HookDenied"]


async def test_what_is_beyond_a_capability_is_ignored_and_told():
    entries = [calling("a"), calling("b", capability="guardrail"), calling("c", capability="rewrite")]
    handlers = {
        "a": saying(HookResponse(Deny("no"), (ToolArgsPatch({}),))),
        "b": saying(HookResponse(patches=(ToolArgsPatch({}),))),
        "c": saying(HookResponse(patches=(ToolResultPatch("x"),))),
    }
    ignored = [
        ("a: an observe hook cannot deny", "a: an observe hook cannot patch"),
        ("b: a guardrail hook cannot patch",),
        ("c: ToolResultPatch does not apply at pre_tool_execution",),
    ]

    round_ = await asked(entries, at=site(handlers=handlers))

    assert round_.outcome == HookOutcome(ignored=tuple(text for texts in ignored for text in texts))
    assert [event.ignored for event in round_.events if isinstance(event, HookCompleted)] == ignored


@pytest.mark.parametrize(
    ("tools", "name", "is_asked"),
    [
        ((), "bash", True),
        (("bash",), "bash", True),
        (("bash",), "bash2", False),
        (("edit_file", "b?sh"), "bash", True),
        (("mcp__*",), "mcp__git\n__push", True),
        (("mcp__*",), "amcp__x", False),
        (("*.x",), "a-x", False),
        (("**",), "", True),
    ],
)
async def test_a_hook_of_some_tools_is_not_asked_about_others(
    tools: tuple[str, ...], name: str, is_asked: bool
):
    call = ToolCallView(C1, name, {})

    round_ = await asked(
        [calling("a", tools=tools)], told(tool_call=call), site(handlers={"a": saying(None)})
    )

    assert bool(round_.events) == is_asked


async def test_tools_of_results_are_told_apart_too():
    at = site(handlers={"a": saying(None), "b": saying(None)})
    entries = [calling("a", tools=("grep",), point=POST), calling("b", tools=("bash",), point=POST)]

    assert (await asked(entries, told(POST), at)).events == (HookCompleted("b", POST, 0, C1),)


async def test_elsewhere_no_tool_is_meant():
    at = site(handlers={"a": saying(None)})

    assert (
        await asked([calling("a", tools=("grep",), point="run_started")], told("run_started"), at)
    ).events == (HookCompleted("a", "run_started"),)


# ---------------------------------------------------------------------------- failures


def raising(error: Exception) -> Handler:
    def handler(invocation: HookInvocation) -> HookResponse:
        raise error

    return handler


@pytest.mark.parametrize(
    ("capability", "policy", "is_denied"),
    [
        ("observe", None, False),
        ("guardrail", None, True),
        ("rewrite", None, True),
        ("observe", "fail_closed", True),
        ("guardrail", "fail_open", False),
        ("rewrite", "fail_open", False),
    ],
)
async def test_a_failure_means_what_the_policy_says(capability: Capability, policy: Any, is_denied: bool):
    entries = [calling("a", capability=capability, failure_policy=policy), calling("b")]
    at = site(handlers={"a": raising(ValueError("broken\nin two")), "b": saying(None)})
    reason = "ValueError: broken in two"
    failed = HookFailed("a", PRE, reason, 0, C1)

    assert await asked(entries, at=at) == (
        HookRound(
            HookOutcome(Deny(reason, "runtime_error", "a")),
            (failed, HookDenied("a", PRE, "runtime_error", reason, None, C1)),
        )
        if is_denied
        else HookRound(events=(failed, HookCompleted("b", PRE, 0, C1)))
    )


async def test_a_hook_that_takes_too_long_is_stopped():
    stopped: list[bool] = []

    async def slow(invocation: HookInvocation) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.append(True)

    round_ = await asked([calling("a", capability="guardrail", timeout_ms=20)], at=site(handlers={"a": slow}))

    reason = "hook timed out after 20 ms"
    assert round_ == HookRound(
        HookOutcome(Deny(reason, "timeout", "a")),
        (HookFailed("a", PRE, reason, 0, C1), HookDenied("a", PRE, "timeout", reason, None, C1)),
    )
    assert stopped == [True]


async def test_the_usual_time_is_that_of_the_settings():
    async def slow(invocation: HookInvocation) -> None:
        await asyncio.Event().wait()

    round_ = await asked([calling("a")], at=site(handlers={"a": slow}, default_timeout_ms=15))

    assert round_.events == (HookFailed("a", PRE, "hook timed out after 15 ms", 0, C1),)


async def test_a_timeout_of_its_own_is_no_timeout_of_ours():
    round_ = await asked([calling("a")], at=site(handlers={"a": raising(TimeoutError("theirs"))}))

    assert round_.events == (HookFailed("a", PRE, "TimeoutError: theirs", 0, C1),)


@pytest.mark.parametrize("answer", ["deny", {"decision": None}, 5])
async def test_an_answer_of_another_type_is_a_failure(answer: Any):
    async def later(invocation: HookInvocation) -> Any:
        return answer

    entries = [calling("a"), calling("b")]
    round_ = await asked(entries, at=site(handlers={"a": saying(answer), "b": later}))

    reason = f"it returned a {type(answer).__name__}, not a HookResponse or None"
    assert round_.events == (HookFailed("a", PRE, reason, 0, C1), HookFailed("b", PRE, reason, 0, C1))


async def test_a_cancelled_round_is_cancelled():
    entered = asyncio.Event()

    async def slow(invocation: HookInvocation) -> None:
        entered.set()
        await asyncio.Event().wait()

    hooks = opened([calling("a", capability="guardrail")], {"a": slow})
    task = asyncio.create_task(hooks.ask(told(), lambda _: None))
    await entered.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


# ---------------------------------------------------------------------------- in the background


class Gate:
    """A handler that answers when it is told to."""

    def __init__(self, response: HookResponse | None = None) -> None:
        self.entered = asyncio.Event()
        self.open = asyncio.Event()
        self.response = response

    async def __call__(self, invocation: HookInvocation) -> HookResponse | None:
        self.entered.set()
        await self.open.wait()
        return self.response


BEHIND: dict[str, Any] = {"mode": "background", "timeout_ms": PATIENCE_MS}


async def settled(hooks: RunHooks) -> None:
    """Let the background work end."""
    await asyncio.gather(*hooks._running)


async def test_nobody_waits_for_a_hook_in_the_background():
    gate = Gate()
    hooks = opened([calling("a", **BEHIND)], {"a": gate})
    shown: list[HookStarted] = []

    assert await hooks.ask(told(), shown.append) == HookRound()
    assert shown == [HookStarted("a", PRE)]

    await gate.entered.wait()
    gate.open.set()
    await settled(hooks)
    gate.open.clear()
    assert (await hooks.ask(told("turn_boundary"), shown.append)).events == (HookCompleted("a", PRE, 0, C1),)
    assert await hooks.aclose() == ()


async def test_patches_of_the_background_are_published_and_change_nothing():
    patches = (ToolResultPatch("one"), ToolResultPatch("two"))
    entry = calling("a", point=POST, capability="rewrite", failure_policy="fail_open", **BEHIND)
    hooks = opened([entry], {"a": saying(HookResponse(patches=patches))})

    first = await hooks.ask(told(POST), lambda _: None)
    await settled(hooks)
    second = await hooks.ask(told(POST), lambda _: None)
    await settled(hooks)

    assert first == HookRound()
    assert second == HookRound(
        events=(
            HookCompleted("a", POST, 0, C1),
            HookPublished("a", POST, patches[0], 1, C1),
            HookPublished("a", POST, patches[1], 2, C1),
        )
    )
    assert await hooks.aclose() == (
        HookCompleted("a", POST, 0, C1),
        HookPublished("a", POST, patches[0], 3, C1),
        HookPublished("a", POST, patches[1], 4, C1),
    )


async def test_a_deny_of_the_background_comes_too_late():
    entry = calling("a", point=POST, capability="guardrail", failure_policy="fail_open", **BEHIND)
    hooks = opened([entry], {"a": saying(no())})

    assert await hooks.ask(told(POST), lambda _: None) == HookRound()
    assert await hooks.aclose() == (HookCompleted("a", POST, 0, C1, ("a: a background hook cannot deny",)),)


async def test_without_a_permit_a_hook_is_skipped():
    gate = Gate()
    entries = [calling(name, **BEHIND) for name in ("a", "b", "c")]
    hooks = opened(entries, dict.fromkeys("abc", gate), background_max_concurrency=2)

    round_ = await hooks.ask(told(), lambda _: None)

    assert round_ == HookRound(
        events=(HookFailed("c", PRE, "skipped: 2 background hooks are running already", call_id=C1),)
    )
    gate.open.set()
    assert await hooks.aclose() == (HookCompleted("a", PRE, 0, C1), HookCompleted("b", PRE, 0, C1))


async def test_a_permit_comes_back():
    hooks = opened([calling("a", **BEHIND)], {"a": saying(None)}, background_max_concurrency=1)
    for _ in range(3):
        await hooks.ask(told(), lambda _: None)
        await settled(hooks)

    assert await hooks.aclose() == (HookCompleted("a", PRE, 0, C1),)


async def test_a_failure_in_the_background_is_told():
    hooks = opened([calling("a", **BEHIND)], {"a": raising(KeyError("x"))})
    await hooks.ask(told(), lambda _: None)

    assert await hooks.aclose() == (HookFailed("a", PRE, "KeyError: 'x'", 0, C1),)


async def test_the_end_stops_what_still_runs():
    gate = Gate()
    hooks = opened([calling("a", **BEHIND)], {"a": gate})
    await hooks.ask(told(), lambda _: None)
    await gate.entered.wait()

    assert await hooks.aclose() == (HookFailed("a", PRE, "stopped: the run is over", call_id=C1),)
    assert await hooks.aclose() == ()


async def test_hooks_of_the_end_of_a_run_get_time_to_end():
    """Nothing follows them: they would always be stopped."""
    gate = Gate()

    async def patient(invocation: HookInvocation) -> None:
        await gate(invocation)

    hooks = opened([calling("a", point="run_completed", **BEHIND)], {"a": patient})
    await hooks.ask(told("run_completed"), lambda _: None)
    asyncio.get_running_loop().call_later(0.3, gate.open.set)

    assert await hooks.aclose() == (HookCompleted("a", "run_completed"),)


async def test_a_cancelled_end_still_leaves_nothing():
    gate = Gate()
    hooks = opened([calling("a", point="run_completed", **BEHIND)], {"a": gate})
    await hooks.ask(told("run_completed"), lambda _: None)
    await gate.entered.wait()
    closing = asyncio.create_task(hooks.aclose())
    await asyncio.sleep(0)
    closing.cancel()

    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not hooks._running


# ---------------------------------------------------------------------------- order and combination

CAPABILITIES: tuple[Capability, ...] = ("observe", "guardrail", "rewrite")
responses = st.builds(
    HookResponse,
    st.sampled_from([None, Allow(), Deny("a"), Deny("b", "schema_violation", "liar")]),
    st.lists(
        st.sampled_from([ToolArgsPatch({"n": 1}), ToolArgsPatch({"n": 2}), ToolResultPatch("x")]), max_size=2
    ).map(tuple),
)
setups = st.lists(st.tuples(st.integers(-2, 2), st.sampled_from(CAPABILITIES), responses), max_size=5)


@given(setups)
def test_a_round_is_the_combination_of_its_answers_in_order(
    setup: list[tuple[int, Capability, HookResponse]],
):
    names = [f"h{index}" for index in range(len(setup))]
    entries = [
        calling(name, priority=priority, capability=capability)
        for name, (priority, capability, _) in zip(names, setup, strict=True)
    ]
    log: list[str] = []
    handlers = {
        name: saying(response, log, name) for name, (_, _, response) in zip(names, setup, strict=True)
    }
    order = sorted(range(len(setup)), key=lambda index: (setup[index][0], index))
    answers = [
        HookAnswer(names[index], setup[index][1], setup[index][2].decision, setup[index][2].patches)
        for index in order
    ]

    round_ = asyncio.run(asked(entries, at=site(handlers=handlers)))

    assert round_.outcome == combine_answers(PRE, answers)
    assert log == [names[index] for index in order][: len(log)]
    denied = [event.hook_id for event in round_.events if isinstance(event, HookDenied)]
    assert denied == ([log[-1]] if round_.outcome.deny else [])
    assert len(log) == len(setup) or denied
    rewrote = tuple(event.patch for event in round_.events if isinstance(event, HookRewrote))
    assert rewrote == round_.outcome.patches


async def test_rounds_beside_each_other_do_not_mix():
    gates = {"x": Gate(no("x")), "y": Gate()}

    def choosing(invocation: HookInvocation) -> Any:
        assert invocation.tool_call is not None
        return gates[invocation.tool_call.name](invocation)

    hooks = opened([calling("a", capability="guardrail", timeout_ms=PATIENCE_MS)], {"a": choosing})
    x, y = (
        asyncio.create_task(hooks.ask(told(tool_call=ToolCallView(CallId(name), name, {})), lambda _: None))
        for name in ("x", "y")
    )
    await asyncio.gather(gates["x"].entered.wait(), gates["y"].entered.wait())
    gates["y"].open.set()
    gates["x"].open.set()

    assert (await x).outcome.deny == Deny("x", hook_id="a")
    assert await y == HookRound(events=(HookCompleted("a", PRE, 0, CallId("y")),))


async def test_a_sub_agent_has_the_hooks_as_they_were_when_the_run_began(tmp_path: Path):
    program = script(tmp_path, "tell({})")
    hooks = create_hooks([running(program, point="run_started")], HookOverride(), site(tmp_path))
    child = hooks.for_child()
    program.write_text("changed")

    asked = await child.ask(told("run_started"), lambda _: None)

    assert child.points == hooks.points
    assert asked.outcome.deny is not None
    assert "was changed since the run started" in asked.outcome.deny.message
    assert await child.aclose() == await hooks.aclose() == ()


@pytest.mark.parametrize(
    ("more", "judged"),
    [
        ({}, False),
        ({"failure_policy": "fail_closed"}, True),
        ({"capability": "guardrail"}, True),
        ({"capability": "rewrite", "failure_policy": "fail_open"}, True),
        (
            {"point": POST, "mode": "background", "capability": "rewrite", "failure_policy": "fail_open"},
            False,
        ),
    ],
)
def test_a_point_is_judged_where_somebody_may_refuse_or_rewrite(more: dict[str, Any], *, judged: bool):
    entry = calling("a", **more)

    assert opened([entry], {"a": saying(None)}).judged == ({entry.point} if judged else set())
