"""Runs the tool calls of a run and records their results.

```
execute ─▶ ToolStarted ─▶ the tool ─▶ hooks see its result ─▶ finish ─▶ ToolFinished
refuse ─────────────────────────────────────────────────────────────▶ ToolFinished
```

`approvals.py` decides whether a call may run. Calls made by code take the same path (`nested_calls.py`).
"""

import asyncio
from collections.abc import Awaitable
from contextlib import suppress
from functools import partial
from typing import Any

from msgspec.structs import replace

from bridle.core.budget import Spend
from bridle.core.context import MESSAGE_FRAME_TOKENS, answer_reserve, estimate_message, estimate_tokens
from bridle.core.deferred_tools import unwrap_call
from bridle.core.errors import BridleError, ToolError
from bridle.core.hook import ModelReplyView, ModelRequestView, ToolCallView, ToolResultPatch, ToolResultView
from bridle.core.ids import CallId
from bridle.core.loop import Input, Returned
from bridle.core.messages import Message, ToolCall, ToolResult, Usage
from bridle.core.model import Model, ModelReply, ModelRequest
from bridle.core.ports import HookEvent, Provider, ToolContext, ToolOutput
from bridle.core.protocol import (
    ModelSampled,
    Question,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
)
from bridle.core.recovery import close_calls, make_failed_call
from bridle.core.revision import FileChange
from bridle.core.sampling_request import SampleReply, SampleRequest, SampleTooLongError
from bridle.core.surrogates import replace_surrogates
from bridle.sessions.dispatch import CheckedCall
from bridle.sessions.run.context import EffectOutcome, RunContext, refusal, refusal_for_model
from bridle.sessions.run.file_changes import FileChanges
from bridle.sessions.run.hook_patches import apply_reply_outcome, apply_request_patches
from bridle.sessions.run.metered_calls import MeteredCalls
from bridle.sessions.run.nested_calls import Abandoned, NestedCalls

# ---------------------------------------------------------------------------- questions
# The questions that a run's tools ask the user, and the answers.


class Questions:
    """Asks each question of a running call and returns its answer."""

    def __init__(self, kit: RunContext) -> None:
        self._kit = kit
        self._open: dict[CallId, asyncio.Future[tuple[str, ...]]] = {}
        self._replied: dict[CallId, Reply] = {}
        """Answers that arrived after a crash, before the question was asked again."""

    async def put(self, call_id: CallId, question: Question) -> tuple[str, ...]:
        """Ask the user and wait for the answer."""
        journal = self._kit.journal
        if (reply := self._replied.pop(call_id, None)) is not None:
            await journal.record_whole(QuestionAnswered(call_id, reply.answers))
            return reply.answers
        answered: asyncio.Future[tuple[str, ...]] = asyncio.get_running_loop().create_future()
        self._open[call_id] = answered
        try:
            await journal.record_whole(QuestionAsked(call_id, question))
            return await answered
        finally:
            self._open.pop(call_id, None)

    def reply(self, reply: Reply) -> None:
        """Record the first answer to a question; ignore unknown calls and later answers."""
        if reply.call_id not in self._kit.run.questions:
            return
        if reply.call_id in self._open:
            self._kit.journal.stage(QuestionAnswered(reply.call_id, reply.answers))
            self._kit.later(self._hand_over(reply))
        else:
            self._replied.setdefault(reply.call_id, reply)

    async def _hand_over(self, reply: Reply) -> None:
        answered = self._open.get(reply.call_id)
        if answered is not None and not answered.done():
            answered.set_result(reply.answers)


# ---------------------------------------------------------------------------- sampling requests
# Model requests that tool calls make, within the run's limits, screened by hooks, recorded.


async def sample(kit: RunContext, call_id: CallId, order: SampleRequest) -> SampleReply:
    """Ask a model on behalf of a tool or server; raises ToolError if that fails or is refused."""
    provider, model = await _asked_model(kit, order)
    request = await _screen_request(kit, _request(kit, order, model))
    bill = MeteredCalls(kit.budget)
    try:
        reply = await bill.ask(provider, model, request)
    except BridleError as error:
        raise ToolError(f"{order.by} could not ask the model: {error}") from error
    finally:
        if bill.usage != Usage():
            other = "" if model.ref == kit.backend.model.ref else model.ref
            turn = kit.run.run_id, kit.run.turn
            await kit.journal.record_whole(
                ModelSampled(*turn, call_id, order.by, bill.usage, bill.cost, other)
            )
    message = await _screen_reply(kit, reply)
    return SampleReply(replace_surrogates(message).text, model.name, reply.stop_reason)


async def _asked_model(kit: RunContext, order: SampleRequest) -> tuple[Provider, Model]:
    """Return the small model if it is wanted and known, otherwise the run's own."""
    small = kit.setup.agent.small_model
    if order.small and small and small != kit.backend.model.ref:
        with suppress(BridleError):
            return await kit.engine.models.resolve(small)
    return kit.backend.provider, kit.backend.model


def _request(kit: RunContext, order: SampleRequest, model: Model) -> ModelRequest:
    sent = estimate_tokens(order.system) + sum(map(estimate_message, order.messages))
    reserve = answer_reserve(model.window_tokens, model.max_output_tokens)
    if sent + reserve > model.window_tokens:
        raise SampleTooLongError(
            f"{order.by} could not ask the model: its request does not fit into the window"
        )
    params: dict[str, Any] = {} if order.small else {**kit.setup.params}
    if order.temperature is not None:
        params["temperature"] = order.temperature
    most = max(1, min(order.max_tokens, model.max_output_tokens))
    return ModelRequest(model.name, order.system, order.messages, max_output_tokens=most, params=params)


async def _screen_request(kit: RunContext, request: ModelRequest) -> ModelRequest:
    if not kit.hooks.has_hook_at("pre_llm_request"):
        return request
    params = request.params
    seen = ModelRequestView(
        request.max_output_tokens, len(request.messages), params.get("temperature"), params
    )
    asked = await kit.hooks.ask("pre_llm_request", llm_request=seen)
    await kit.journal.record_whole(*asked.events)
    if asked.outcome.deny is not None:
        raise ToolError(refusal(asked.outcome.deny))
    return apply_request_patches(request, asked.outcome.patches)


async def _screen_reply(kit: RunContext, reply: ModelReply) -> Message:
    if not kit.hooks.has_hook_at("post_llm_response"):
        return reply.message
    seen = ModelReplyView(reply.message.text, (), reply.stop_reason, reply.usage)
    asked = await kit.hooks.ask("post_llm_response", llm_response=seen)
    await kit.journal.record_whole(*asked.events)
    if asked.outcome.deny is not None:
        raise ToolError(refusal(asked.outcome.deny))
    return apply_reply_outcome(reply.message, asked.outcome)


# ---------------------------------------------------------------------------- tool calls


MAX_PRINTED_CHARS = 4_000


class CallFinished(EffectOutcome, frozen=True):
    """A call has run; this is its result."""

    result: ToolResult
    output: ToolOutput
    changes: tuple[FileChange, ...]
    duration_ms: int
    tokens: int
    events: tuple[HookEvent, ...] = ()
    """Events from hooks about its result."""


class ToolCalls:
    """Takes each call of a run from its start to its recorded result."""

    def __init__(self, kit: RunContext, questions: Questions, changes: FileChanges) -> None:
        self._kit = kit
        self._engine = kit.engine
        self._journal = kit.journal
        self._run = kit.run
        self._setup = kit.setup
        self.nested = NestedCalls(kit.run, kit.post)
        self._questions = questions
        self._changes = changes
        self._printed: dict[CallId, str] = {}
        """The last output of each running call."""

    def context(self, call: ToolCall) -> ToolContext:
        """Return the context of a call: what its tool may read and use."""
        facts = self._journal.session.known
        keeper = self._setup.keeper
        is_nested = self.nested.parent_of(call.id) is not None

        def make(name: str, args: dict[str, Any]) -> Awaitable[ToolResult]:
            made = unwrap_call(ToolCall(call.id, name, args), self._setup.dispatcher.deferred)
            return self.nested.call(call.id, made.name, made.args, self._perform)

        context = ToolContext(
            session=self._journal.id,
            cwd=self._setup.cwd,
            emit=lambda text: self._show(call.id, self._engine.mask(text)),
            call_id=call.id,
            rules=self._setup.rules_with(facts.granted),
            mode=self._setup.mode,
            seen=facts.seen,
            ask=lambda question: self._questions.put(call.id, question),
            todos=facts.todos,
            sees_images=bool(self._setup.backend.model.images),
            env=self._kit.env_of(call.id),
            tools=self._setup.dispatcher.functions,
            call=None if is_nested else make,
            snapshot=facts.snapshot,
            rewinds=facts.rewinds,
            children=self._kit.children,
            sample=lambda order: sample(self._kit, call.id, order),
        )
        return context if keeper is None else replace(context, keep=keeper.keep)

    def _show(self, call_id: CallId, text: str) -> None:
        self._printed[call_id] = (self._printed.get(call_id, "") + text)[-MAX_PRINTED_CHARS:]
        self._journal.show(ToolOutputDelta(call_id, text))

    def execute(self, checked: CheckedCall) -> list[Input]:
        """Record a call's start and schedule it, unless the limit of tool calls is reached."""
        call = checked.call
        parent = self.nested.parent_of(call.id)
        if not self._kit.children.goes_on(call.id):  # else call and sub-agent started before the crash
            if level := self._kit.budget.reserve(Spend(tool_calls=1)):
                return self.refuse(call, f"not run: the limit of {level.limit:g} tool calls is reached")
            self._journal.stage(ToolStarted(call.id, call.name, call.args, checked.repeatable, parent))
        if parent is None:
            self._kit.step(f"tool {call.name}", partial(self._perform, checked))
        else:
            self._kit.later(self.nested.clear(call.id, checked))
        return []

    async def _perform(self, checked: CheckedCall) -> None:
        began_s = self._engine.clock.monotonic_s()
        call = checked.call
        outcome = await self._setup.dispatcher.run(call, self.context(call))
        output = outcome.output
        result, events = await self._screen(call, outcome.result)
        if output.answer and result != outcome.result:  # hooks changed it; the answer must follow
            output = replace(output, answer="" if result.is_error else result.output)
        changes: tuple[FileChange, ...] = ()
        if not checked.repeatable:
            try:
                changes = await self._changes.find()
            except BridleError as error:
                text = f"{result.output}\n[its changes cannot be undone: {error}]"
                result = replace(result, output=text)
        duration_ms = int((self._engine.clock.monotonic_s() - began_s) * 1000)
        [tokens] = await self._kit.backend.count(result.output)
        tokens += MESSAGE_FRAME_TOKENS
        self._kit.post(CallFinished(result, output, changes, duration_ms, tokens, events))

    async def _screen(self, call: ToolCall, result: ToolResult) -> tuple[ToolResult, tuple[HookEvent, ...]]:
        """Pass a result to hooks, which may change or refuse it."""
        if not self._kit.hooks.has_hook_at("post_tool_execution"):
            return result, ()
        seen = ToolResultView(result.call_id, result.name, result.output, result.is_error)
        made = ToolCallView(call.id, call.name, call.args)
        asked = await self._kit.hooks.ask("post_tool_execution", tool_call=made, tool_result=seen)
        if (deny := asked.outcome.deny) is not None:
            withheld = ToolResult(result.call_id, result.name, refusal_for_model(deny), is_error=True)
            return withheld, asked.events
        for patch in asked.outcome.patches:
            if isinstance(patch, ToolResultPatch):
                is_error = result.is_error if patch.is_error is None else patch.is_error
                result = replace(result, output=patch.content, is_error=is_error)
        return result, asked.events

    def close(self, reason: str) -> None:
        """Give each unfinished call a result at the end of the run, with its last output."""
        for closed in close_calls(self._run, begun=f"not finished: {reason}", not_begun=f"not run: {reason}"):
            result = closed.result
            if printed := self._printed.get(result.call_id, "").strip():
                result = replace(result, output=f"{result.output}; the last it had printed was:\n{printed}")
            tokens = estimate_message(Message("tool", (result,)))
            self._journal.stage(replace(closed, result=result, tokens=tokens))

    def finish(self, finished: CallFinished) -> Returned:
        """Record a call's result and the files it changed."""
        call_id = finished.result.call_id
        self._journal.stage(*finished.events, *finished.output.notes)
        self._changes.record(finished.changes, call_id)
        self._printed.pop(call_id, None)
        self._settle(call_id)
        self._end(
            ToolFinished(
                finished.result,
                finished.duration_ms,
                finished.tokens,
                diff=finished.output.diff,
                answer=finished.output.answer,
            )
        )
        return Returned(finished.result)

    def abandon(self, abandoned: Abandoned) -> list[Input]:
        """Record that the code which made a call no longer waits for it."""
        if self.nested.parent_of(abandoned.call.id) is None:
            return []  # it has already ended
        return self.refuse(abandoned.call, "not finished: the code that called it no longer waits")

    def refuse(self, call: ToolCall, reason: str, *, denied: bool = False) -> list[Input]:
        """Record that a call does not run, and why."""
        result = make_failed_call(call.id, call.name, reason).result
        tokens = estimate_message(Message("tool", (result,)))
        self._settle(call.id)
        self._end(ToolFinished(result, 0, tokens, denied))
        return [Returned(result)]

    def _end(self, finished: ToolFinished) -> None:
        parent = self.nested.parent_of(finished.result.call_id)
        if parent is not None:
            finished = replace(finished, parent=parent, answer="")
            self._kit.later(self.nested.end(finished.result))
        self._journal.stage(finished)

    def _settle(self, call_id: CallId) -> None:
        if call_id in self._run.started and not self._kit.children.goes_on(call_id):
            self._kit.budget.settle(Spend(tool_calls=1), Spend(tool_calls=1))
