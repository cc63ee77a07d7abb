"""Does what the loop decides, one step at a time.

```
input ─▶ loop.feed ─▶ actions ─▶ staged events + effects
                                   │               │
                            one append          then started: model stream, tools, previews, timers
                                                   │
input ◀────────────────────────────────────────────┘
```

Within a step nothing is awaited but the append: an effect starts only after the events that
announce it are durable, and its outcome comes back as the next input. So `ToolStarted` is stored
before a tool acts, and `ToolFinished` before the model hears of it.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine
from contextlib import aclosing

from msgspec import Struct

from bridle.core.budget import Budget, Level, Spend
from bridle.core.context import MESSAGE_FRAME_TOKENS, ContextUsage, estimate_message
from bridle.core.errors import BridleError, ProviderError, SessionBusy
from bridle.core.ids import CallId
from bridle.core.loop import (
    Action,
    Backoff,
    BackoffEnded,
    Begin,
    CallModel,
    CancelRequested,
    Decided,
    Drained,
    DrainTurn,
    EndRun,
    Execute,
    Input,
    Loop,
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
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, final_text, with_unique_call_ids
from bridle.core.model import ModelReply, ModelRequest, cost_of
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    BudgetExhausted,
    BudgetWarned,
    Checkpoint,
    Decide,
    MessageAdded,
    ModelReplied,
    ModelSwitched,
    Retrying,
    RunResumed,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.core.recovery import close_calls, end_of, failed, plan_resume
from bridle.core.session import RunState
from bridle.core.surrogates import mended
from bridle.sessions.dispatch import Checked
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Backend, Setup

MAX_WAITING = 1_024
CANCEL_GRACE_S = 0.15  # cancelled work gets this long before the run is recorded as ended


class _Previewed(Struct, frozen=True):
    checked: Checked
    preview: str


class _Finished(Struct, frozen=True):
    result: ToolResult
    duration_ms: int
    tokens: int


class _Switched(Struct, frozen=True):
    backend: Backend
    reason: str


class _DeadlineReached(Struct, frozen=True):
    pass


_Happening = Input | ModelReply | Decide | _Previewed | _Finished | _Switched | _DeadlineReached
_Effect = Coroutine[None, None, None]


class Driver:
    """Performs one run from its first turn to its RunEnded."""

    def __init__(self, engine: Engine, journal: Journal, run: RunState, setup: Setup) -> None:
        self._engine = engine
        self._journal = journal
        self._run = run
        self._setup = setup
        self._loop = Loop(setup.policy)
        self._budget = self._budget_left()
        self._inbox: asyncio.Queue[_Happening] = asyncio.Queue()  # bounded by its tasks and `post`
        self._effects: list[_Effect] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._streamed = bytearray()  # a list of a long answer's fragments would cost ten times its text
        self._checked: dict[CallId, Checked] = {}
        self._to_ask: list[Checked] = []
        self._reserved = Spend()
        self._backend = setup.backend
        self._context = ContextUsage(window=self._backend.window.tokens)

    # ------------------------------------------------------------------ outside

    def post(self, happening: _Happening) -> None:
        """Hand the run something that happened; raises SessionBusy for more answers than it can take."""
        if isinstance(happening, Decide) and self._inbox.qsize() >= MAX_WAITING:
            raise SessionBusy(f"session {self._journal.id} has too many answers waiting")
        self._inbox.put_nowait(happening)

    async def run(self, *, resumed: bool = False) -> None:
        """Perform the run, or what is left of it, until it has ended and its end is recorded."""
        first: list[Input] = self._go_on() if resumed else [Begin()]
        timer = self._start_deadline()
        try:
            async with asyncio.TaskGroup() as group:
                await self._step(group, first)
                while self._loop.state != "completed":
                    await self._step(group, self._taken(await self._inbox.get()))
        finally:
            if timer is not None:
                timer.cancel()

    # ------------------------------------------------------------------ one step

    async def _step(self, group: asyncio.TaskGroup, inputs: list[Input]) -> None:
        pending = deque(inputs)
        while pending:
            for action in self._loop.feed(pending.popleft()):
                pending.extend(self._act(action))
        if self._to_ask:
            self._effects.append(self._preview(self._to_ask))
            self._to_ask = []
        try:
            await self._journal.flush()
        except BaseException:
            self._drop_effects()  # what was not announced must not happen
            raise
        for effect in self._effects:
            task = group.create_task(effect)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._effects = []

    def _drop_effects(self) -> None:
        for effect in self._effects:
            effect.close()
        self._effects, self._to_ask = [], []

    def _taken(self, happening: _Happening) -> list[Input]:
        """Record what happened and put it into the loop's words."""
        match happening:
            case ModelReply():
                return [Replied(self._record_reply(happening))]
            case _Previewed() | Decide() if self._loop.state != "waiting_for_ops":
                return []
            case _Previewed():
                return [self._ask(happening)]
            case _Finished():
                self._record_result(happening.result, happening.duration_ms, happening.tokens)
                return [Returned(happening.result)]
            case Decide():
                return self._record_decision(happening)
            case _Switched():
                self._switch_model(happening)
                return [BackoffEnded()]
            case _DeadlineReached():
                return self._pass_deadline()
            case _:
                return [happening]

    def _act(self, action: Action) -> list[Input]:
        """Stage what an action records, line up its effect, return what is known at once."""
        match action:
            case CallModel():
                return self._call_model(action.turn)
            case SwitchModel():
                self._settle(Spend())
                self._effects.append(self._find_model(action))
            case Backoff():
                self._announce_retry(action)
                self._effects.append(self._after(action.delay_s, BackoffEnded()))
            case Prepare():
                return self._prepare(action.call)
            case Execute():
                return self._execute(action.call)
            case Refuse():
                return self._refuse(action.call, action.reason, denied=True)
            case DrainTurn():
                return [self._drain(action.turn)]
            case StopWork():
                self._drop_effects()
                self._effects.append(self._stop_work())
            case EndRun():
                self._end(action)
        return []

    # ------------------------------------------------------------------ the model

    def _call_model(self, turn: int) -> list[Input]:
        session = self._journal.session
        try:
            fitted = self._backend.fit(session.messages, self._run.first_message)
        except ProviderError as error:
            return [Refused("failed", str(error))]
        wanted = Spend(tokens=fitted.usage.total)
        if level := self._budget.reserve(wanted):
            needed = f"the next turn needs about {fitted.usage.total:,} tokens, more than are left"
            return [self._exhausted(level, needed)]
        self._reserved = wanted
        self._context = fitted.usage
        if self._run.turn != turn or self._run.replied is not None:
            self._journal.stage(TurnStarted(self._run.run_id, turn))
        left = self._budget.remaining_tokens()
        most = self._backend.model.max_output_tokens
        most = most if left is None else max(1, min(most, left))
        self._effects.append(self._stream(self._setup.request(self._backend, fitted, most)))
        return []

    async def _stream(self, request: ModelRequest) -> None:
        self._streamed = bytearray()
        show, streamed = self._journal.show, self._streamed
        try:
            async with aclosing(self._backend.provider.stream(request)) as stream:
                async for item in stream:
                    if isinstance(item, ModelReply):
                        if not item.message.parts:
                            raise ProviderError("the model answered nothing", kind="empty_reply")
                        await self._inbox.put(item)
                        return
                    item = mended(item)
                    if isinstance(item, TextDelta):
                        streamed += item.text.encode()
                    show(item)
            raise ProviderError("the model's stream ended without a reply", kind="connection_reset")
        except ProviderError as error:
            await self._inbox.put(
                ModelFailed(error.kind, str(error), self._engine.chance.jitter(), error.retry_after_s)
            )

    def _record_reply(self, reply: ModelReply) -> Message:
        used = self._journal.session.transcript.call_ids
        message = with_unique_call_ids(mended(reply.message), used, self._loop.turn)
        cost = cost_of(reply.usage, self._backend.model.price)
        self._journal.stage(
            ModelReplied(
                self._run.run_id,
                self._loop.turn,
                message,
                reply.stop_reason,
                reply.usage,
                cost,
                reply.usage.output or estimate_message(message),
            )
        )
        self._settle(Spend(tokens=reply.usage.context, cost=cost or 0.0))
        self._streamed = bytearray()
        return message

    def _settle(self, actual: Spend) -> None:
        self._budget.settle(self._reserved, actual)
        self._reserved = Spend()

    def _announce_retry(self, action: Backoff) -> None:
        self._settle(Spend())
        self._streamed = bytearray()
        self._journal.stage(
            Retrying(
                self._run.run_id,
                self._loop.turn,
                action.attempt,
                self._setup.policy.retry.max_retries,
                action.failure.kind,
                action.failure.message,
                int(action.delay_s * 1000),
            )
        )

    async def _find_model(self, action: SwitchModel) -> None:
        ref = self._setup.agent.fallbacks[action.model - 1]
        try:
            backend = await self._setup.find_backend(ref)
        except BridleError as error:
            await self._inbox.put(ModelFailed("unknown", f"{action.failure.message}; {ref}: {error}"))
        else:
            await self._inbox.put(_Switched(backend, action.failure.message))

    def _switch_model(self, switched: _Switched) -> None:
        self._backend = switched.backend
        self._streamed = bytearray()
        self._journal.stage(
            ModelSwitched(self._run.run_id, self._loop.turn, self._backend.model.ref, switched.reason)
        )

    # ------------------------------------------------------------------ tools

    def _prepare(self, call: ToolCall) -> list[Input]:
        if finished := self._run.finished.get(call.id):
            return [Returned(finished.result)]  # it ran before this process took over
        checked = self._checked[call.id] = self._check(call)
        if checked.action == "deny":
            return self._refuse(call, checked.why, denied=checked.denied)
        if checked.action == "allow":
            return [Prepared(call.id, "allow", parallel=checked.parallel)]
        if decided := self._run.decided.get(call.id):
            asked = Prepared(call.id, "ask", parallel=checked.parallel)
            return [asked, Decided(call.id, decided.answer, decided.reason)]
        self._to_ask.append(checked)
        return []

    def _check(self, call: ToolCall) -> Checked:
        rules = self._setup.rules_with(self._journal.session.known.granted)
        return self._setup.dispatcher.check(call, rules, self._setup.mode)

    async def _preview(self, to_ask: list[Checked]) -> None:
        """Make the previews one after the other, so that questions come in the order of the calls."""
        for checked in to_ask:
            preview = await self._setup.dispatcher.preview(checked.call)
            await self._inbox.put(_Previewed(checked, preview))

    def _ask(self, asked: _Previewed) -> Prepared:
        call, checked = asked.checked.call, asked.checked
        if self._check(call).action == "allow":  # a rule was granted while the preview was made
            return Prepared(call.id, "allow", parallel=checked.parallel)
        self._journal.stage(
            ApprovalRequested(call.id, call.name, call.args, checked.why, asked.preview, checked.suggestion)
        )
        return Prepared(call.id, "ask", parallel=checked.parallel)

    def _record_decision(self, decision: Decide) -> list[Input]:
        """Record the first answer to an approval; unknown calls and later answers are ignored."""
        request = self._run.requested.get(decision.call_id)
        if request is None or decision.call_id in self._run.decided:
            return []
        rule = request.suggestion if decision.answer == "session" else ""
        self._journal.stage(ApprovalDecided(decision.call_id, decision.answer, decision.reason, rule))
        decided: list[Input] = [Decided(decision.call_id, decision.answer, decision.reason)]
        return decided + (self._answer_by_rule(rule) if rule else [])

    def _answer_by_rule(self, rule: str) -> list[Input]:
        """A rule granted for the session also answers the other open questions it covers."""
        waiting = {request.call_id for request in self._run.pending}
        reply = self._run.replied
        calls = [call for call in reply.message.calls if call.id in waiting] if reply is not None else []
        covered = [call for call in calls if self._check(call).action == "allow"]
        for call in covered:
            self._journal.stage(ApprovalDecided(call.id, "once", f"rule {rule}"))
        return [Decided(call.id, "once") for call in covered]

    def _execute(self, call: ToolCall) -> list[Input]:
        if level := self._budget.reserve(Spend(tool_calls=1)):
            return self._refuse(call, f"not run: the limit of {level.limit:g} tool calls is reached")
        checked = self._checked[call.id]
        self._journal.stage(ToolStarted(call.id, call.name, checked.call.args, checked.repeatable))
        self._effects.append(self._run_tool(checked.call))
        return []

    async def _run_tool(self, call: ToolCall) -> None:
        began_s = self._engine.clock.monotonic_s()
        result = await self._setup.dispatcher.run(call)
        duration_ms = int((self._engine.clock.monotonic_s() - began_s) * 1000)
        [tokens] = await self._backend.count(result.output)
        await self._inbox.put(_Finished(result, duration_ms, tokens + MESSAGE_FRAME_TOKENS))

    def _refuse(self, call: ToolCall, reason: str, *, denied: bool = False) -> list[Input]:
        result = failed(call.id, call.name, reason).result
        self._record_result(result, 0, estimate_message(Message("tool", (result,))), denied=denied)
        return [Returned(result)]

    def _record_result(
        self, result: ToolResult, duration_ms: int, tokens: int, *, denied: bool = False
    ) -> None:
        if result.call_id in self._run.started:
            self._budget.settle(Spend(tool_calls=1), Spend(tool_calls=1))
        self._journal.stage(ToolFinished(result, duration_ms, tokens, denied))

    # ------------------------------------------------------------------ the turn boundary

    def _drain(self, turn: int) -> Drained:
        """Do the boundary work in its fixed order: results, steering, budget."""
        reply = self._run.replied
        usage = reply.usage if reply is not None else Usage()
        self._journal.stage(TurnEnded(self._run.run_id, turn, usage, self._context))
        steered = self._apply_steering()
        now_s = self._engine.clock.monotonic_s()
        for level in self._budget.new_warnings(now_s):
            self._journal.stage(BudgetWarned(level.kind, level.used, level.limit))
        wants_another_turn = steered or (reply is not None and bool(reply.message.calls))
        if wants_another_turn and (spent := self._budget.exhausted(now_s)):
            return Drained(stop=self._exhausted(spent))
        return Drained(more=steered)

    def _apply_steering(self) -> bool:
        waiting = [item for item in self._journal.session.known.queue if item.delivery == "steer"]
        for item in waiting:
            tokens = estimate_message(item.message)
            self._journal.stage(MessageAdded(item.message, "steer", tokens, item.item_id))
        return bool(waiting)

    def _exhausted(self, level: Level, needed: str = "") -> Refused:
        self._journal.stage(BudgetExhausted(level.kind, level.used, level.limit))
        used = f"{level.used:g} of {level.limit:g} used"
        reason = f"{needed} ({used})" if needed else f"the {level.kind} limit is reached: {used}"
        return Refused("budget_exhausted", reason)

    # ------------------------------------------------------------------ the end

    def _end(self, ending: EndRun) -> None:
        run, session = self._run, self._journal.session
        if ending.outcome != "completed":
            self._keep_partial_text()
        reason = f"not finished: the run ended ({ending.outcome})"
        self._journal.stage(*close_calls(run, begun=reason, not_begun=reason))
        if run.replied is not None and not run.turn_ended:
            self._journal.stage(TurnEnded(run.run_id, run.turn, run.replied.usage, self._context))
        text = final_text([item.message for item in session.messages[run.first_message :]])
        self._journal.stage(Checkpoint(session.known))
        self._journal.stage(end_of(run, ending.outcome, text, ending.reason))

    def _keep_partial_text(self) -> None:
        """Keep what the user had seen of a reply that was cut off."""
        text = self._streamed.decode()
        if text:
            message = Message("assistant", (Text(text),))
            tokens = estimate_message(message)
            self._journal.stage(
                ModelReplied(self._run.run_id, self._run.turn, message, "cancelled", Usage(), None, tokens)
            )

    async def _stop_work(self) -> None:
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_GRACE_S)
        await self._inbox.put(Settled())

    # ------------------------------------------------------------------ time

    async def _after(self, delay_s: float, happening: Input) -> None:
        await asyncio.sleep(delay_s)
        await self._inbox.put(happening)

    def _budget_left(self) -> Budget:
        """Return what the run may still use; a resumed one has used some of it already."""
        elapsed_ms = self._engine.clock.now_ms() - self._run.started_at
        started_s = self._engine.clock.monotonic_s() - max(0, elapsed_ms) / 1000
        return Budget(self._setup.limits, started_s, self._run.spent)

    def _start_deadline(self) -> asyncio.TimerHandle | None:
        left_s = self._budget.remaining_s(self._engine.clock.monotonic_s())
        if left_s is None:
            return None
        return asyncio.get_running_loop().call_later(left_s, self.post, _DeadlineReached())

    def _pass_deadline(self) -> list[Input]:
        level = self._budget.exhausted(self._engine.clock.monotonic_s())
        if level is None or self._loop.state in ("cancelling", "completed"):
            return []
        stop = self._exhausted(level)
        return [CancelRequested(stop.outcome, stop.reason)]

    # ------------------------------------------------------------------ going on after a cut

    def _go_on(self) -> list[Input]:
        """Replay the open turn: calls with a result keep it, interrupted ones get one that says so."""
        plan = plan_resume(self._run, self._journal.session.messages[-1].message)
        lost = tuple(finished.result.call_id for finished in plan.lost)
        self._journal.stage(RunResumed(self._run.run_id, lost), *plan.lost)
        self._budget = self._budget_left()  # the time until now is not the run's
        self._loop = Loop(self._setup.policy, plan.turn)
        return [Begin(plan.replay)]
