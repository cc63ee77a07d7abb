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
from contextlib import aclosing

from msgspec import Struct

from bridle.core.budget import Level, Spend
from bridle.core.codeact import read_reply
from bridle.core.context import ContextUsage, estimate_message
from bridle.core.errors import BridleError, ProviderError, SessionBusy
from bridle.core.loop import (
    Action,
    Backoff,
    BackoffEnded,
    Begin,
    CallModel,
    CancelRequested,
    Drained,
    DrainTurn,
    EndRun,
    Execute,
    Input,
    Loop,
    ModelFailed,
    Prepare,
    Refuse,
    Refused,
    Replied,
    Settled,
    StopWork,
    SwitchModel,
)
from bridle.core.messages import Message, Usage, final_text, with_unique_call_ids
from bridle.core.model import ModelReply, ModelRequest, cost_of
from bridle.core.protocol import (
    BudgetExhausted,
    BudgetWarned,
    Checkpoint,
    Decide,
    MessageAdded,
    ModelReplied,
    ModelSwitched,
    Reply,
    Retrying,
    RunResumed,
    TextDelta,
    TurnEnded,
    TurnStarted,
)
from bridle.core.recovery import cut_off_reply, end_of, plan_resume
from bridle.core.session import RunState
from bridle.core.surrogates import mended
from bridle.sessions.calls import Calls, Effect, Finished, Left, Previewed
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.nested import Abandoned
from bridle.sessions.setup import Backend, Setup

MAX_WAITING = 1_024
CANCEL_GRACE_S = 0.15  # cancelled work gets this long before the run is recorded as ended


class _Switched(Struct, frozen=True):
    backend: Backend
    reason: str


class _DeadlineReached(Struct, frozen=True):
    pass


_Happening = (
    Input
    | ModelReply
    | Decide
    | Reply
    | Previewed
    | Finished
    | Left
    | Abandoned
    | _Switched
    | _DeadlineReached
)


class Driver:
    """Performs one run from its first turn to its RunEnded."""

    def __init__(self, engine: Engine, journal: Journal, run: RunState, setup: Setup) -> None:
        self._engine = engine
        self._journal = journal
        self._run = run
        self._setup = setup
        self._loop = Loop(setup.policy)
        self._budget = setup.budget_left(run, engine.clock)
        self._inbox: asyncio.Queue[_Happening] = asyncio.Queue()  # bounded by its tasks and `post`
        self._effects: list[Effect] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._streamed = bytearray()  # a list of a long answer's fragments would cost ten times its text
        self._reserved = Spend()
        self._backend = setup.backend
        self._calls = Calls(
            engine,
            journal,
            run,
            setup,
            budget=self._budget,
            count=self._count,
            later=self._do_later,
            tell=self._inbox.put,
            post=self._inbox.put_nowait,
        )
        self._context = ContextUsage(window=self._backend.window.tokens)

    # ------------------------------------------------------------------ outside

    def post(self, happening: _Happening) -> None:
        """Hand the run something that happened; raises SessionBusy for more answers than it can take."""
        if isinstance(happening, Decide | Reply) and self._inbox.qsize() >= MAX_WAITING:
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
        self._calls.begin_previews()
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

    def _do_later(self, effect: Effect) -> None:
        self._effects.append(effect)

    async def _count(self, text: str) -> list[int]:
        return await self._backend.count(text)

    def _drop_effects(self) -> None:
        for effect in self._effects:
            effect.close()
        self._effects = []
        self._calls.drop_previews()

    def _taken(self, happening: _Happening) -> list[Input]:
        """Record what happened and put it into the loop's words."""
        match happening:
            case ModelReply():
                return [Replied(self._record_reply(happening))]
            case Previewed() | Decide() | Reply() | Abandoned() if self._loop.state != "waiting_for_ops":
                return []
            case Abandoned():
                return self._calls.abandon(happening)
            case Previewed():
                return self._calls.ask(happening)
            case Finished():
                return [self._calls.finish(happening)]
            case Left():
                self._calls.record_changes(happening.changes)
                return []
            case Decide():
                return self._calls.decide(happening)
            case Reply():
                self._calls.reply(happening)
                return []
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
                return self._calls.prepare(action.call)
            case Execute():
                return self._calls.execute(action.call)
            case Refuse():
                return self._calls.refuse(action.call, action.reason, denied=True)
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
        message = mended(reply.message)
        if self._setup.code:
            message = read_reply(message, reply.stop_reason)
        message = with_unique_call_ids(message, used, self._loop.turn)
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
                self._context,
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
        is_over = self._run.answer or (self._run.options.approve_each and self._calls.was_one_denied)
        if is_over and not steered:
            return Drained(stop=Refused("completed", ""))
        if wants_another_turn and (spent := self._budget.exhausted(now_s)):
            return Drained(stop=self._exhausted(spent))
        return Drained(more=steered)

    def _apply_steering(self) -> bool:
        waiting = [item for item in self._journal.session.known.queue if item.delivery == "steer"]
        for item in waiting:
            tokens = estimate_message(item.message)
            self._journal.stage(MessageAdded(item.message, item.source or "steer", tokens, item.item_id))
        return bool(waiting)

    def _exhausted(self, level: Level, needed: str = "") -> Refused:
        self._journal.stage(BudgetExhausted(level.kind, level.used, level.limit))
        used = f"{level.used:g} of {level.limit:g} used"
        reason = f"{needed} ({used})" if needed else f"the {level.kind} limit is reached: {used}"
        return Refused("budget_exhausted", reason)

    # ------------------------------------------------------------------ the end

    def _end(self, ending: EndRun) -> None:
        run, session = self._run, self._journal.session
        if ending.outcome != "completed" and self._streamed:
            self._journal.stage(cut_off_reply(run, self._streamed.decode()))
        self._calls.close(f"the run ended ({ending.outcome})")
        if run.replied is not None and not run.turn_ended:
            self._journal.stage(TurnEnded(run.run_id, run.turn, run.replied.usage, self._context))
        said = final_text([item.message for item in session.messages[run.first_message :]])
        self._journal.stage(Checkpoint(session.known))
        self._journal.stage(end_of(run, ending.outcome, run.answer or said, ending.reason))

    async def _stop_work(self) -> None:
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_GRACE_S)
        await self._calls.stop()
        await self._inbox.put(Settled())

    # ------------------------------------------------------------------ time

    async def _after(self, delay_s: float, happening: Input) -> None:
        await asyncio.sleep(delay_s)
        await self._inbox.put(happening)

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
        # The time until now is not the run's.
        self._budget = self._calls.budget = self._setup.budget_left(self._run, self._engine.clock)
        self._loop = Loop(self._setup.policy, plan.turn)
        return [Begin(plan.replay)]
