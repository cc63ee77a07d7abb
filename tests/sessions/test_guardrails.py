"""No way around a hook: interrupted, resumed, corrected and nested calls are judged like all others."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

import pytest
from msgspec.structs import replace

from bridle.core.budget import Limits
from bridle.core.errors import ProviderError
from bridle.core.hook import (
    AssistantTextPatch,
    Deny,
    HookEntry,
    HookInvocation,
    HookOverride,
    InProcessRuntime,
    ModelRequestPatch,
    RunResultPatch,
    ToolResultPatch,
)
from bridle.core.ids import RunId
from bridle.core.messages import Message, Usage, user_message
from bridle.core.model import Model, ModelReply, ModelRequest, Price
from bridle.core.ports import HookRound, Provider, ToolContext, ToolOutput
from bridle.core.protocol import (
    Cancel,
    ChildEnded,
    Delta,
    HookStarted,
    ModelReplied,
    Notice,
    Prompt,
    ReasoningDelta,
    Record,
    Rename,
    ReplyLost,
    Resume,
    RunEnded,
    RunOptions,
    SessionTitled,
    TextDelta,
    ToolFinished,
)
from bridle.core.queries import Records
from bridle.core.session import RunState
from bridle.core.tool import Access, ToolSpec
from bridle.core.usage import UsageCollector
from bridle.sessions.command_checks import resumed_options
from bridle.sessions.engine import NoHooks
from bridle.sessions.run.hook_patches import apply_request_patches
from bridle.stores.ephemeral import EphemeralStore
from bridle.surfaces.shared.session_calls import read_session
from tests.sessions.stage import USAGE, Cast, FixedClock, Play, SmallTool, Stage, call, says
from tests.sessions.test_hooks import Listener, stage_with
from tests.sessions.troupe import Troupe, use


class Slow(Listener):
    """Does not come to an answer at one point."""

    def __init__(self, point: str, **answers: Any) -> None:
        super().__init__(**{point: lambda told: None}, **answers)
        self.point = point
        self.asking = asyncio.Event()

    async def ask(self, invocation: HookInvocation, show: Callable[[HookStarted], None]) -> HookRound:
        if invocation.point != self.point:
            return await super().ask(invocation, show)
        self.asking.set()
        await asyncio.Event().wait()
        raise AssertionError("nobody ends the wait")


# ---------------------------------------------------------------------------- what was cut off


async def cut_off(listener: Listener) -> tuple[RunEnded, list[Any]]:
    play = Play(says("the secret"), hold=True)
    async with Stage(play, open_hooks=lambda cwd, override: listener) as stage:
        ended = await stage.run("hi", limits=Limits(duration_s=0.2))
        return ended, await stage.log()


async def test_a_refused_result_is_withheld_also_when_it_was_cut_off():
    listener = Listener(run_completed=lambda told: Deny("no secrets"))

    ended, _ = await cut_off(listener)

    assert [told.text for told in listener.asked] == ["the secret"]
    assert (ended.outcome, ended.text) == ("denied", "")


async def test_a_rewritten_result_is_the_text_also_when_it_was_cut_off():
    listener = Listener(run_completed=lambda told: RunResultPatch("***"))

    ended, _ = await cut_off(listener)

    assert (ended.outcome, ended.text) == ("budget_exhausted", "***")


async def test_half_a_reply_is_shown_to_hooks_before_it_is_recorded():
    listener = Listener(post_llm_response=lambda told: Deny("no secrets"))

    ended, log = await cut_off(listener)

    assert [told.llm_response.assistant_text for told in listener.asked] == ["the secret"]
    assert "the secret" not in repr(log)
    assert (ended.outcome, ended.text) == (
        "budget_exhausted",
        "[withheld: hook h refused (policy_violation): no secrets]",
    )


async def test_a_reply_that_nobody_had_judged_is_withheld_and_paid_for():
    listener = Slow("post_llm_response")
    async with stage_with(listener, says("the secret")) as stage:
        run_id = await stage.prompt("hi")
        await listener.asking.wait()
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)
        log = await stage.log()

    assert "the secret" not in repr(log)
    assert (ended.outcome, ended.turns, ended.usage) == ("cancelled", 1, USAGE)


async def test_a_value_is_read_from_what_hooks_have_made_of_the_answer():
    schema = {"type": "object", "required": ["name"]}
    listener = Listener(run_completed=lambda told: RunResultPatch('{"name": "***"}'))
    async with stage_with(listener, says('{"name": "Ann"}')) as stage:
        ended = await stage.run("hi", output_schema=schema)

    assert (ended.outcome, ended.structured, ended.text) == ("completed", {"name": "***"}, '{"name": "***"}')


async def test_a_run_fails_whose_answer_hooks_have_made_unfit():
    listener = Listener(run_completed=lambda told: RunResultPatch("***"))
    async with stage_with(listener, says('{"name": "Ann"}')) as stage:
        ended = await stage.run("hi", output_schema={"type": "object"})

    assert (ended.outcome, ended.structured, ended.text) == ("failed", None, "***")
    assert "the answer, as changed by hooks, does not match" in ended.reason


# ---------------------------------------------------------------------------- tools


class Answering(SmallTool):
    """Gives the final answer of the run, as code can."""

    async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
        return ToolOutput("printed", answer="the secret")


async def answered(listener: Listener) -> RunEnded:
    play = (says("", call("c1", "code")), says("done"))
    async with stage_with(listener, *play, tools=[Answering("code", str)]) as stage:
        return await stage.run("hi")


async def test_an_answer_of_code_is_withheld_with_the_result_it_came_with():
    ended = await answered(Listener(post_tool_execution=lambda told: Deny("no secrets")))

    assert (ended.outcome, ended.text) == ("completed", "done")


async def test_an_answer_of_code_is_what_hooks_have_made_of_its_result():
    ended = await answered(Listener(post_tool_execution=lambda told: ToolResultPatch("***")))

    assert (ended.outcome, ended.text) == ("completed", "***")


async def test_an_answer_of_code_stays_when_hooks_leave_its_result():
    ended = await answered(Listener(post_tool_execution=lambda told: None))

    assert (ended.outcome, ended.text) == ("completed", "the secret")


async def test_hooks_judge_the_arguments_that_would_be_used():
    class Counter(SmallTool):
        spec = ToolSpec(
            "count",
            "Counts.",
            {"type": "object", "properties": {"to": {"type": "integer"}}, "required": ["to"]},
        )

        def __init__(self) -> None:
            self.calls: list[Any] = []
            self._access = "read"

        def access(self, args: dict[str, Any], context: ToolContext) -> Access:
            return Access("count", "read")

        async def run(self, args: dict[str, Any], context: ToolContext) -> ToolOutput:
            self.calls.append(args["to"])
            return ToolOutput("counted")

    def at_most_ten(told: HookInvocation) -> Deny | None:
        to = told.tool_call.args["to"]
        return Deny("too far") if isinstance(to, int) and to > 10 else None

    tool = Counter()
    wanted = replace(call("c1", "count"), args={"to": "1000"})
    listener = Listener(pre_tool_execution=at_most_ten)
    async with stage_with(listener, says("", wanted), says("done"), tools=[tool]) as stage:
        await stage.run("hi")

    assert [told.tool_call.args for told in listener.asked] == [{"to": 1000}]
    assert tool.calls == []


# ---------------------------------------------------------------------------- resumed runs


async def cut_while_asked(point: str) -> EphemeralStore:
    """Return the record of a run that ends during a hook call."""
    store = EphemeralStore(FixedClock())
    listener = Slow(point)
    async with stage_with(listener, store=store) as stage:
        await stage.prompt("hi")
        await listener.asking.wait()
        await stage.service.park(0)
    return store


@pytest.mark.parametrize("point", ["run_started", "pre_llm_request", "pre_tool_execution", "turn_boundary"])
async def test_a_hook_that_was_being_asked_when_the_process_ended_is_asked_again(point: str):
    store = await cut_while_asked(point)
    listener = Listener(**{point: lambda told: Deny("no")})
    play = Play(says("", call("c1", "look")), says("done"))
    tool = SmallTool("look", lambda on: f"saw {on}")
    async with Stage(play, tools=[tool], store=store, open_hooks=lambda cwd, override: listener) as stage:
        run_id = await stage.submit_run(Resume())
        await stage.service.wait(stage.session, run_id)
        ran = [event for event in await stage.log() if isinstance(event, ToolFinished) and not event.denied]

    assert [told.point for told in listener.asked] == [point]
    assert len(ran) == (point == "turn_boundary")
    assert len(play.requests) == (point == "pre_tool_execution")


def test_a_resumed_run_keeps_the_hooks_it_was_started_with():
    guard, other, newer = (HookEntry(InProcessRuntime(name), id=name) for name in ("guard", "other", "newer"))
    changed = HookEntry(InProcessRuntime("changed"), id="other")
    run = RunState(
        RunId("r"), "m", "ask", Limits(), 0, 0, RunOptions(hooks=HookOverride((guard, other), ("audit",)))
    )

    def after(hooks: HookOverride) -> HookOverride:
        return resumed_options(run, RunOptions(hooks=hooks)).hooks

    assert after(HookOverride()) == run.options.hooks
    assert after(HookOverride((newer,))) == HookOverride((guard, other, newer), ("audit",))
    assert after(HookOverride((changed,), ("style",))) == HookOverride((guard, changed), ("audit", "style"))
    assert after(HookOverride(disable=("guard",))) == HookOverride((other,), ("audit", "guard"))


# ---------------------------------------------------------------------------- titles


def titled_stage(titles: Play, listener: Listener | None = None) -> Stage:
    hooks = {} if listener is None else {"open_hooks": lambda cwd, override: listener}
    return Stage(Play(says("hello")), understudy=titles, titles_by="scripted/understudy", **hooks)


@pytest.mark.parametrize("point", ["run_started", "pre_llm_request"])
async def test_a_refused_prompt_is_not_sent_for_a_title_either(point: str):
    titles = Play(says("Secrets"))
    async with titled_stage(titles, Listener(**{point: lambda told: Deny("no")})) as stage:
        await stage.run("the secret")

    assert titles.requests == []


@pytest.mark.parametrize("limits", [Limits(cost=0.0), Limits(tokens=0)])
async def test_a_limit_of_nothing_pays_for_no_title(limits: Limits):
    titles = Play(says("Greetings"))
    async with titled_stage(titles) as stage:
        ended = await stage.run("hi", limits=limits)

    assert (ended.outcome, titles.requests) == ("budget_exhausted", [])


async def test_a_session_that_has_a_title_gets_no_other():
    titles = Play(says("Greetings"))
    async with titled_stage(titles) as stage:
        named = await stage.service.create(cwd="/", title="mine")
        receipt = await stage.service.submit(named, Prompt(user_message("hi")))
        assert receipt.run_id is not None
        await stage.service.wait(named, receipt.run_id)

    assert titles.requests == []


async def test_a_title_that_comes_too_late_is_paid_for():
    titles = Play(says("Greetings"), hold=True)
    async with titled_stage(titles) as stage:
        await stage.run("hi")
        await titles.streaming.wait()
        await stage.service.submit(stage.session, Rename("mine"))
        titles.go.set()
        await stage.until(SessionTitled, 2)
        session = await read_session(stage.service, stage.session)

    assert (session.known.title, session.known.totals.usage) == ("mine", USAGE + USAGE)


async def test_a_title_may_come_while_everything_ends():
    titles = Play(says("Greetings"), hold=True)
    async with titled_stage(titles) as stage:
        await stage.run("hi")
        await titles.streaming.wait()
        asyncio.get_running_loop().call_later(0.05, titles.go.set)  # while the title is waited for
        await stage.service.aclose()
        kept = await stage.store.read(stage.session)

    assert isinstance(kept[-1].event, SessionTitled)


# ---------------------------------------------------------------------------- sub-agents


async def test_the_hooks_of_a_run_hold_for_its_sub_agents_whatever_their_folder_says_by_then():
    listener = Listener(run_started=lambda told: Deny("no children") if told.parent else None)
    opened: list[Any] = [listener]  # only once: the next folder, or the same one later, has none
    parts = {"go": [says("", use("s", "agent_spawn", prompt="count")), says("done")], "count": [says("1")]}
    async with Troupe(
        parts, open_hooks=lambda cwd, override: opened.pop() if opened else NoHooks()
    ) as troupe:
        await troupe.run("go")
        [ended] = await troupe.all_of(ChildEnded)

    assert (ended.outcome, ended.reason) == ("denied", "hook h refused (policy_violation): no children")
    assert troupe.model.requests["count"] == []


# ---------------------------------------------------------------------------- money


PRICE = Price(input=1_000_000, output=1_000_000)  # a dollar for each token


class Broken(Play):
    """Breaks off in the middle of its first answer, and continues forever with the second."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta | ModelReply, None]:
        self.requests.append(request)
        yield ReasoningDelta("hm, ")
        yield TextDelta("half")
        if len(self.requests) == 1:
            raise ProviderError("gone", kind="connection_reset")
        self.streaming.set()
        await asyncio.Event().wait()


class Priced(Cast):
    async def resolve(self, ref: str) -> tuple[Provider, Model]:
        provider, model = await super().resolve(ref)
        return provider, replace(model, price=PRICE)


async def test_answers_that_break_off_are_paid_for():
    play = Broken()
    async with Stage(play, models=Priced(play, window_tokens=10_000)) as stage:
        run_id = await stage.prompt("hi", limits=Limits(cost=1_000.0))
        await play.streaming.wait()
        await stage.service.submit(stage.session, Cancel())
        ended = await stage.service.wait(stage.session, run_id)
        log = await stage.log()
        totals = (await read_session(stage.service, stage.session)).known.totals

    [lost] = [event for event in log if isinstance(event, ReplyLost)]
    [kept] = [event for event in log if isinstance(event, ModelReplied)]
    assert lost.usage == kept.usage == Usage(input=lost.usage.input, output=3)
    assert lost.usage.input > 0
    assert lost.cost == kept.cost == lost.usage.context
    assert (ended.outcome, ended.turns, ended.text) == ("cancelled", 1, "half")
    assert (ended.usage, ended.cost) == (lost.usage + kept.usage, 2 * lost.usage.context)
    assert (totals.usage, totals.cost) == (ended.usage, ended.cost)


async def test_an_answer_that_breaks_off_counts_against_the_limit():
    play = Broken()
    async with Stage(play, models=Priced(play, window_tokens=10_000)) as stage:
        first = await stage.run("hi", limits=Limits(cost=15.0))
        log = await stage.log()

    [lost] = [event for event in log if isinstance(event, ReplyLost)]
    assert (first.outcome, len(play.requests)) == ("budget_exhausted", 1)
    assert first.cost == lost.cost


async def test_an_empty_answer_is_paid_for():
    empty = ModelReply(Message("assistant", ()), "end_turn", Usage(input=7, reasoning=9, output=9))
    async with Stage(Play([empty, says("hello")])) as stage:
        ended = await stage.run("hi")

    assert (ended.text, ended.usage) == ("hello", USAGE + Usage(input=7, reasoning=9, output=9))


async def test_what_an_answer_used_that_broke_off_is_told_as_the_agents_own():
    play = Broken()
    async with Stage(play, models=Priced(play, window_tokens=10_000)) as stage:
        ended = await stage.run("hi", limits=Limits(cost=15.0))
        account = UsageCollector()
        account.add_all(await stage.service.ask(Records(stage.session)))

    assert (account.own.tokens, account.own.cost) == (ended.usage.context, ended.cost)
    assert account.models["scripted/play"].cost == ended.cost


# ---------------------------------------------------------------------------- what is seen live


async def seen_live(listener: Listener, **options: Any) -> list[Delta]:
    async with stage_with(listener, says("the secret")) as stage:
        stream = stage.service.watch(stage.session)
        await anext(stream)
        await stage.prompt("hi", **options)
        deltas: list[Delta] = []
        async for item in stream:
            if isinstance(item, TextDelta | Notice):
                deltas.append(item)
            if isinstance(item, Record) and isinstance(item.event, RunEnded):
                break
    return deltas


async def test_a_reply_is_not_seen_before_it_is_let_through():
    withheld = "[withheld: hook h refused (policy_violation): no]"

    assert await seen_live(Listener(post_llm_response=lambda told: Deny("no"))) == [TextDelta(withheld)]
    assert await seen_live(Listener(post_llm_response=lambda told: AssistantTextPatch("***"))) == [
        TextDelta("***")
    ]


async def test_a_reply_that_hooks_only_look_at_is_seen_as_it_comes():
    listener = Slow("post_llm_response")
    listener.judged = frozenset()
    async with stage_with(listener, says("hello")) as stage:
        stream = stage.service.watch(stage.session)
        await anext(stream)
        await stage.prompt("hi")
        async for item in stream:
            if isinstance(item, TextDelta):
                break
        await listener.asking.wait()

    assert item == TextDelta("hello")


async def test_a_cost_limit_that_cannot_hold_is_told_of_once():
    said = await seen_live(Listener(), limits=Limits(cost=1.0))

    text = "the price of scripted/play is unknown, so the cost limit does not apply to it"
    assert said == [Notice(text), TextDelta("the secret")]


def test_a_request_cannot_become_dearer_in_the_words_of_a_vendor():
    request = ModelRequest("m", "", (), max_output_tokens=10, params={"top_p": 1.0})
    dearer = {"model": "dear", "n": 9, "max_tokens": 99, "max_completion_tokens": 99, "top_p": 0.5}

    assert apply_request_patches(request, (ModelRequestPatch(provider_params=dearer),)) == replace(
        request, params={"top_p": 0.5}
    )
