"""The model calls of a run: fits, budgets, screens, retries and records them.

```
call ─▶ too long? ─▶ compact ─▶ call
     ─▶ fits and is affordable ─▶ TurnStarted ─▶ pre_llm_request ─▶ stream ─▶ post_llm_response ─▶ record
     ─▶ the vendor says it is too long ─▶ compact ─▶ call, once
```
"""

import asyncio
from contextlib import aclosing, suppress
from functools import partial

from msgspec.structs import replace

from bridle.core.budget import Level, Spend, max_spend
from bridle.core.codeact import read_reply
from bridle.core.context import ContextUsage, Fitted, estimate_message
from bridle.core.deferred_tools import unwrap_calls
from bridle.core.errors import BridleError, ProviderError
from bridle.core.hook import ModelReplyView, ModelRequestView
from bridle.core.loop import Backoff, BackoffEnded, Input, ModelFailed, Refused, Replied, SwitchModel
from bridle.core.messages import Message, Text, Usage, with_unique_call_ids
from bridle.core.model import ModelReply, ModelRequest, cost_of
from bridle.core.ports import HookRound
from bridle.core.protocol import (
    BudgetExhausted,
    CompactionFailed,
    CompactionStarted,
    CompactionTrigger,
    Event,
    ModelReplied,
    ModelSwitched,
    Notice,
    ReplyLost,
    Retrying,
    TextDelta,
    TurnStarted,
)
from bridle.core.recovery import cut_off_reply
from bridle.core.surrogates import replace_surrogates
from bridle.sessions.run.compaction import CANCELLED, compact, failed, plan_compaction
from bridle.sessions.run.context import EffectOutcome, RunContext, refusal
from bridle.sessions.run.hook_patches import (
    UNJUDGED,
    apply_reply_outcome,
    apply_request_patches,
    length_of,
    withheld,
    without_calls,
)
from bridle.sessions.run.metered_calls import MeteredCalls
from bridle.sessions.setup import Backend

CHARS_PER_TOKEN = 4


class Screened(EffectOutcome, frozen=True):
    """Hooks have answered about a request or a reply."""

    round: HookRound
    reply: ModelReply | None = None


class Switched(EffectOutcome, frozen=True):
    """The next fallback model is ready."""

    backend: Backend
    reason: str


class CompactionEnded(EffectOutcome, frozen=True):
    """A compaction has ended, with success or not."""

    events: tuple[Event, ...]
    failure: ModelFailed | None = None
    """The failure that caused the compaction, returned if the compaction fails too."""


class CompactionRequested(EffectOutcome, frozen=True):
    """A compaction is requested before the next call."""

    keep: str


class ModelCalls:
    """Takes each turn of a run from the loop's action to the recorded reply."""

    def __init__(self, kit: RunContext) -> None:
        self._kit = kit
        self._turn = 0
        self._streamed = bytearray()  # a list of a long answer's fragments would take ten times its text
        self._begun = 0
        """How many characters of a reply have arrived, of any kind."""
        self._empty = Usage()
        """The usage of a reply that was empty."""
        self._reserved = Spend()
        self._unpriced: set[str] = set()
        self._shortened_at = -1
        """The last turn that was preceded by a compaction."""
        self._overflowed_at = -1
        self.wanted: CompactionRequested | None = None
        """A requested compaction that has not started."""
        replied = kit.run.replied
        self.context = ContextUsage(window=kit.backend.window.tokens) if replied is None else replied.context

    def record_partial_reply(self) -> None:
        """Record the part of an unfinished reply that arrived, and its usage."""
        kit, text = self._kit, self._streamed.decode()
        if not text:
            self.give_up()
            return
        usage, cost = self._lost()
        kit.journal.stage(cut_off_reply(kit.run, text, usage, cost))
        self._end_call(Spend(tokens=usage.context, cost=cost or 0.0, turns=1))

    async def screen_partial_reply(self, timeout_s: float | None) -> None:
        """Let hooks change that part of the reply before it is recorded."""
        hooks, text = self._kit.hooks, self._streamed.decode()
        if not text or not hooks.has_hook_at("post_llm_response"):
            return
        message = withheld(UNJUDGED)
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                seen = ModelReplyView(text, (), "cancelled")
                asked = await hooks.ask("post_llm_response", llm_response=seen)
            self._kit.journal.stage(*asked.events)
            message = apply_reply_outcome(Message("assistant", (Text(text),)), asked.outcome)
        self._streamed = bytearray(message.text.encode())

    # ------------------------------------------------------------------ the request

    def call(self, turn: int) -> list[Input]:
        """Schedule the model call of a turn, after a compaction if one is due."""
        self._turn = turn
        wanted, self.wanted = self.wanted, None
        if wanted is not None:
            if self._begin_compaction("manual", keep=wanted.keep):
                return []
            self._kit.journal.show(Notice("not compacted: nothing to compact yet"))
        is_due = turn != self._shortened_at and self._kit.budget.exhausted(self._kit.now_s()) is None
        if is_due and self._begin_compaction("automatic"):
            return []
        return self._send()

    def want_compaction(self, wanted: CompactionRequested) -> None:
        """Compact before the next call."""
        self.wanted = wanted

    def _send(self) -> list[Input]:
        kit, backend = self._kit, self._kit.backend
        try:
            fitted = backend.fit(kit.journal.session.messages, kit.run.first_message)
        except ProviderError as error:
            failure = ModelFailed("context_length_exceeded", str(error))
            return [] if self._shorten_after(failure) else [Refused("failed", str(error))]
        most = self._reserve(fitted)
        if isinstance(most, Refused):
            return [most]
        self.context = fitted.usage
        if kit.run.turn != self._turn or kit.run.replied is not None:
            kit.journal.stage(TurnStarted(kit.run.run_id, self._turn))
        request = kit.setup.request(backend, fitted, most, extracting=kit.run.extracting)
        kit.step(f"model {backend.model.ref}", partial(self._stream, request))
        return []

    def _reserve(self, fitted: Fitted) -> int | Refused:
        """Reserve what the call may cost; returns the most tokens its answer may have."""
        kit, price = self._kit, self._kit.backend.model.price
        self._warn_of_unknown_price()
        sent, wanted = fitted.usage.total, kit.backend.model.max_output_tokens
        most = kit.budget.affordable_output(sent, price, wanted) or 1
        reserved = max_spend(sent, most, price)
        if level := kit.budget.reserve(reserved):
            return exhausted(kit, level, _needed(level, reserved, sent))
        self._reserved = reserved
        return most

    def _warn_of_unknown_price(self) -> None:
        """Warn once per model with an unknown price that the cost limit does not stop it."""
        ref, price = self._kit.backend.model.ref, self._kit.backend.model.price
        if price is None and ref not in self._unpriced and self._kit.budget.remaining_cost():
            self._unpriced.add(ref)
            self._kit.journal.show(
                Notice(f"the price of {ref} is unknown, so the cost limit does not apply to it")
            )

    async def _stream(self, request: ModelRequest) -> None:
        try:
            asked = await self._screen_request(request)
            if asked is not None:
                self._kit.resolve_let_through(passed=True)
                reply = await self._receive(asked)
                await self._screen_reply(reply)
        except ProviderError as error:
            failure = (error.kind, str(error), self._kit.engine.chance.jitter(), error.retry_after_s)
            self._kit.post(ModelFailed(*failure))

    async def _screen_request(self, request: ModelRequest) -> ModelRequest | None:
        """Let hooks change a request; None if one refuses it."""
        hooks = self._kit.hooks
        if not hooks.has_hook_at("pre_llm_request"):
            return request
        seen = ModelRequestView(
            request.max_output_tokens,
            len(request.messages),
            request.params.get("temperature"),
            request.params,
        )
        asked = await hooks.ask("pre_llm_request", llm_request=seen)
        self._kit.post(Screened(asked))
        return (
            None if asked.outcome.deny is not None else apply_request_patches(request, asked.outcome.patches)
        )

    async def _receive(self, request: ModelRequest) -> ModelReply:
        show, streamed = self._kit.journal.show, self._streamed
        is_held = self._kit.hooks.can_change_at("post_llm_response")  # until hooks let it through
        async with aclosing(self._kit.backend.provider.stream(request)) as stream:
            async for item in stream:
                if isinstance(item, ModelReply):
                    if not item.message.parts:
                        self._empty = item.usage
                        raise ProviderError("the model sent an empty answer", kind="empty_reply")
                    return item
                if not (isinstance(item, TextDelta) and item.text.isascii()):  # most fragments are ASCII
                    item = replace_surrogates(item)
                self._begun += length_of(item)
                if isinstance(item, TextDelta):
                    streamed += item.text.encode()
                if not is_held:
                    show(item)
        raise ProviderError("the model's stream ended without a reply", kind="connection_reset")

    async def _screen_reply(self, reply: ModelReply) -> None:
        hooks = self._kit.hooks
        if not hooks.has_hook_at("post_llm_response"):
            self._kit.post(reply)
            return
        message = unwrap_calls(reply.message, self._kit.setup.dispatcher.deferred)
        names = tuple(call.name for call in message.calls)
        seen = ModelReplyView(reply.message.text, names, reply.stop_reason, reply.usage)
        try:
            asked = await hooks.ask("post_llm_response", llm_response=seen)
        except asyncio.CancelledError:  # it is paid for, but no hook has let it through
            self._kit.post(replace(reply, message=withheld(UNJUDGED)))
            raise
        self._kit.post(Screened(asked, reply))

    # ------------------------------------------------------------------ the reply

    def screened(self, screened: Screened) -> list[Input]:
        """Record the hooks' answers about a request or a reply."""
        self._kit.journal.stage(*screened.round.events)
        deny, reply = screened.round.outcome.deny, screened.reply
        if reply is None:
            if deny is None:
                return []
            self.give_up()
            return [Refused("denied", refusal(deny))]
        message = apply_reply_outcome(reply.message, screened.round.outcome)
        if message.text and self._kit.hooks.can_change_at("post_llm_response"):
            self._kit.journal.show(TextDelta(message.text))
        replied = self.record(replace(reply, message=message))
        return replied if deny is None else [Refused("denied", refusal(deny))]

    def record(self, reply: ModelReply) -> list[Input]:
        """Record a reply and what it cost."""
        kit = self._kit
        used = kit.journal.session.transcript.call_ids
        message = replace_surrogates(reply.message)
        if kit.setup.code:
            message = read_reply(message, reply.stop_reason)
        message = unwrap_calls(message, kit.setup.dispatcher.deferred)
        if kit.run.extracting:
            message = without_calls(message)
        message = with_unique_call_ids(message, used, self._turn)
        cost = reply.cost_at(kit.backend.model.price)
        kit.journal.stage(
            ModelReplied(
                kit.run.run_id,
                self._turn,
                message,
                reply.stop_reason,
                reply.usage,
                cost,
                reply.usage.output or estimate_message(message),
                self.context,
            )
        )
        self._end_call(Spend(tokens=reply.usage.context, cost=cost or 0.0, turns=1))
        return [Replied(message)]

    def _end_call(self, actual: Spend) -> None:
        """Settle the call's reservation with its actual use."""
        self._kit.budget.settle(self._reserved, actual)
        self._reserved = Spend()
        self._streamed = bytearray()
        self._begun, self._empty = 0, Usage()

    # ------------------------------------------------------------------ when it fails

    def failed(self, failure: ModelFailed) -> list[Input]:
        """Compact and retry a request that was too long, once per turn; leave other failures to the loop."""
        if failure.kind == "context_length_exceeded" and self._shorten_after(failure):
            return []
        return [failure]

    def give_up(self) -> None:
        """Settle a failed call, and record its usage if its reply had begun."""
        kit = self._kit
        usage, cost = self._lost()
        if usage != Usage():
            kit.journal.stage(ReplyLost(kit.run.run_id, self._turn, usage, cost))
        self._end_call(Spend(tokens=usage.context, cost=cost or 0.0))

    def _lost(self) -> tuple[Usage, float | None]:
        """Return the usage and cost of a lost reply: vendors charge for what they have sent."""
        usage = self._empty
        if self._begun and usage == Usage():
            usage = Usage(input=self.context.total, output=self._begun // CHARS_PER_TOKEN + 1)
        return usage, cost_of(usage, self._kit.backend.model.price)

    def announce_retry(self, action: Backoff) -> None:
        """Record that the call is retried."""
        self.give_up()
        self._kit.journal.stage(
            Retrying(
                self._kit.run.run_id,
                self._turn,
                action.attempt,
                self._kit.setup.policy.retry.max_retries,
                action.failure.kind,
                action.failure.message,
                int(action.delay_s * 1000),
            )
        )

    async def find_model(self, action: SwitchModel) -> None:
        """Resolve the agent's next fallback model."""
        ref = self._kit.setup.agent.fallbacks[action.model - 1]
        try:
            backend = await self._kit.setup.find_backend(ref)
        except BridleError as error:
            self._kit.post(ModelFailed("unknown", f"{action.failure.message}; {ref}: {error}"))
        else:
            self._kit.post(Switched(backend, action.failure.message))

    def switch(self, switched: Switched) -> list[Input]:
        """Continue the run with a fallback model."""
        kit = self._kit
        kit.backend = switched.backend
        kit.journal.stage(
            ModelSwitched(kit.run.run_id, self._turn, switched.backend.model.ref, switched.reason)
        )
        return [BackoffEnded()]

    # ------------------------------------------------------------------ compaction

    def _shorten_after(self, failure: ModelFailed) -> bool:
        if self._overflowed_at == self._turn:
            return False
        self._overflowed_at = self._turn
        self.give_up()
        return self._begin_compaction("overflow", failure=failure)

    def _begin_compaction(
        self, trigger: CompactionTrigger, *, keep: str = "", failure: ModelFailed | None = None
    ) -> bool:
        kit = self._kit
        policy = kit.engine.settings.compaction
        last = self._shortened_at
        started = plan_compaction(
            kit.journal.session,
            kit.backend,
            policy,
            trigger=trigger,
            turn=self._turn,
            last_turn=last,
            compactor=kit.engine.compactor,
        )
        if started is None:
            return False
        self._shortened_at = self._turn
        kit.journal.stage(started)
        kit.later(self._compact(started, keep, failure))
        return True

    async def _compact(self, started: CompactionStarted, keep: str, failure: ModelFailed | None) -> None:
        kit, bill = self._kit, MeteredCalls(self._kit.budget)
        session, trigger = kit.journal.session, started.trigger
        try:
            events = await compact(
                kit.engine, kit.setup, kit.backend, session, trigger=trigger, bill=bill, keep=keep
            )
        except asyncio.CancelledError:
            kit.post(CompactionEnded((failed(bill, CANCELLED),), failure))
            raise
        kit.post(CompactionEnded(events, failure))

    def shortened(self, shortened: CompactionEnded, *, is_late: bool) -> list[Input]:
        """Record how a compaction ended, and make the waiting call unless the run is over."""
        kit = self._kit
        kit.journal.stage(*shortened.events)
        if kit.engine.memory is not None:
            kit.engine.memory.note(kit.journal.id, kit.setup.cwd)
        has_failed = any(isinstance(event, CompactionFailed) for event in shortened.events)
        if has_failed and shortened.failure is not None:
            return [shortened.failure]
        return [] if is_late else self._send()


def exhausted(kit: RunContext, level: Level, needed: str = "") -> Refused:
    """Record which limit is reached, and return the refusal that ends the run."""
    kit.journal.stage(BudgetExhausted(level.kind, level.used, level.limit))
    used = f"{level.used:g} of {level.limit:g} used"
    reason = f"{needed} ({used})" if needed else f"the {level.kind} limit is reached: {used}"
    return Refused("budget_exhausted", reason)


def _needed(level: Level, reserved: Spend, sent: int) -> str:
    """Return why a call is unaffordable; empty if the limit is simply used up."""
    if level.used >= level.limit:
        return ""
    if level.kind == "cost":
        return f"the next turn may cost ${reserved.cost:.4g}, more than is left"
    return f"the next turn needs about {sent:,} tokens, more than are left"
