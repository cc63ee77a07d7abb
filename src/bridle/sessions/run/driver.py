"""The driver: performs the loop's actions, one step at a time.

```
input ─▶ loop.feed ─▶ actions ─▶ staged events + effects
                                   │               │
                            one append          then started: model stream, tools, previews, hooks, timers
                                                   │
input ◀────────────────────────────────────────────┘
```

A step awaits nothing but the append: an effect starts only after the events that announce it are durable, and
its outcome comes back as the next input. So `ToolStarted` is stored before a tool acts, and `ToolFinished`
before the model gets the result.

The parts `model_calls`, `approvals`, `tool_calls` and `boundary` implement the actions.
"""

import asyncio
from collections import deque

from msgspec.structs import replace

from bridle.core.errors import SessionBusy
from bridle.core.hook import HookPoint, RunResultPatch
from bridle.core.loop import (
    Action,
    Backoff,
    BackoffEnded,
    Begin,
    CallModel,
    CancelRequested,
    DrainTurn,
    EndRun,
    Execute,
    Input,
    Loop,
    ModelFailed,
    Prepare,
    Refuse,
    Refused,
    Settled,
    StopWork,
    SwitchModel,
)
from bridle.core.model import Model, ModelReply
from bridle.core.ports import HookRound
from bridle.core.protocol import Checkpoint, Decide, Reply, RunResumed, TurnEnded
from bridle.core.recovery import make_run_end, plan_resume
from bridle.core.session import RunState
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.run.approvals import Approvals, CallForeseen, CallPreviewed, CallVetted
from bridle.sessions.run.boundary import (
    Boundary,
    BoundaryHooksAnswered,
    ChildArrived,
    UntilChecked,
    peer_messages,
)
from bridle.sessions.run.context import DriverInput, EffectOutcome, RunContext, refusal
from bridle.sessions.run.file_changes import FileChanges, InterruptedChanges
from bridle.sessions.run.model_calls import (
    CompactionEnded,
    CompactionRequested,
    ModelCalls,
    Screened,
    Switched,
    exhausted,
)
from bridle.sessions.run.nested_calls import Abandoned
from bridle.sessions.run.tool_calls import CallFinished, Questions, ToolCalls
from bridle.sessions.setup import Setup

MAX_WAITING = 1_024
CANCEL_HOOKS_S = 1.0  # hooks get this long after a cancel
CANCEL_GRACE_S = 0.15  # cancelled work gets this long to stop before the run is recorded as ended


class _Greeted(EffectOutcome, frozen=True):
    round: HookRound


class _DeadlineReached(EffectOutcome, frozen=True):
    pass


class Driver:
    """Performs one run from its first turn to its RunEnded."""

    def __init__(
        self, engine: Engine, journal: Journal, run: RunState, setup: Setup, family: SubAgents
    ) -> None:
        self._kit = RunContext(engine, journal, run, setup, family)
        self._loop = Loop(setup.policy)
        self._tasks: set[asyncio.Task[None]] = set()
        self._questions = Questions(self._kit)
        self._changes = FileChanges(self._kit)
        self._calls = ToolCalls(self._kit, self._questions, self._changes)
        self._judging = Approvals(self._kit, self._calls)
        self._model_calls = ModelCalls(self._kit)
        self._boundary = Boundary(self._kit, self._model_calls)
        self._ending: EndRun | None = None
        self._farewell: asyncio.Timeout | None = None
        self._late_cancel: CancelRequested | None = None

    # ------------------------------------------------------------------ public

    def post(self, happening: DriverInput) -> None:
        """Post an input to the run; raises SessionBusy when too many answers are waiting."""
        if isinstance(happening, Decide | Reply) and self._kit.inbox.qsize() >= MAX_WAITING:
            raise SessionBusy(f"session {self._kit.journal.id} has too many answers waiting")
        is_ending = self._ending is not None and self._ending.outcome != "cancelled"
        if isinstance(happening, CancelRequested) and is_ending:
            self._late_cancel = happening
            if self._farewell is not None and not self._farewell.expired():
                self._farewell.reschedule(asyncio.get_running_loop().time())
        self._kit.post(happening)

    @property
    def rests(self) -> bool:
        """True while the run waits for a person."""
        run, children = self._kit.run, self._kit.children
        if not (run.pending or run.questions) or not children.rest:
            return False
        if self._loop.state == "draining_events":
            return children.are_awaited
        begun = [start.call_id for start in run.interrupted]
        works = any(one not in run.questions and not children.waits_for(one) for one in begun)
        return self._loop.state == "waiting_for_ops" and not works

    @property
    def model(self) -> Model:
        """The model of the next turn."""
        return self._kit.backend.model

    async def is_let_through(self) -> bool:
        """Wait until limits and hooks let a model request through; False if the run ends without one."""
        return await asyncio.shield(self._kit.let_through)

    def compact(self, keep: str) -> None:
        """Compact the conversation before the next turn."""
        self._kit.post(CompactionRequested(keep))

    def left_to_compact(self) -> CompactionRequested | None:
        """Return a requested compaction that came too late for a turn of this run."""
        while not self._kit.inbox.empty():
            if isinstance(left := self._kit.inbox.get_nowait(), CompactionRequested):
                self._model_calls.want_compaction(left)
        return self._model_calls.wanted

    async def run(self, *, resumed: bool = False) -> None:
        """Perform the run, or the rest of a resumed one, until its end is recorded."""
        first = self._go_on() if resumed else self._begin()
        timer = self._start_deadline()
        try:
            async with peer_messages(self._kit), asyncio.TaskGroup() as group:
                await self._step(group, first)
                while self._loop.state != "completed":
                    await self._step(group, self._taken(await self._kit.inbox.get()))
                if self._ending is not None:
                    await self._finish(self._ending)
        except Exception:
            await self._kit.children.aclose()
            await self._kit.hooks.aclose()
            raise
        except asyncio.CancelledError:  # the run stays resumable; its `SubAgents` ends its sub-agents
            await self._kit.hooks.aclose()
            raise
        finally:
            self._kit.resolve_let_through(passed=False)
            if timer is not None:
                timer.cancel()

    # ------------------------------------------------------------------ one step

    async def _step(self, group: asyncio.TaskGroup, inputs: list[Input]) -> None:
        pending = deque(inputs)
        while pending:
            for action in self._loop.feed(pending.popleft()):
                pending.extend(self._act(action))
        self._judging.end_step()
        try:
            await self._kit.journal.flush()
        except BaseException:
            self._drop_effects()  # an effect that was not announced must not happen
            raise
        effects, self._kit.effects = self._kit.effects, []
        for effect in effects:
            task = group.create_task(effect)
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _drop_effects(self) -> None:
        self._kit.drop_effects()
        self._judging.drop_previews()

    def _taken(self, happening: DriverInput) -> list[Input]:
        """Record an input and translate it into the loop's inputs."""
        match happening:
            case ModelReply():
                return self._model_calls.record(happening)
            case CallVetted() | CallForeseen() | CallPreviewed() | Abandoned() if (
                self._loop.state != "waiting_for_ops"
            ):
                return []
            case CallVetted():
                return self._judging.vetted(happening)
            case CallForeseen():
                return self._judging.foreseen(happening)
            case Abandoned():
                return self._calls.abandon(happening)
            case CallPreviewed():
                return self._judging.ask(happening)
            case CallFinished():
                return [self._calls.finish(happening)]
            case InterruptedChanges():
                self._changes.record(happening.changes)
                return []
            case Decide() | Reply():
                return self._answered(happening)
            case CompactionRequested():
                self._model_calls.want_compaction(happening)
                return []
            case _DeadlineReached():
                return self._pass_deadline()
            case _:
                return self._taken_between_calls(happening)

    def _taken_between_calls(self, happening: DriverInput) -> list[Input]:
        is_late = self._loop.state in ("cancelling", "completed")
        match happening:
            case Screened():
                return self._model_calls.screened(happening)
            case CompactionEnded():
                return self._model_calls.shortened(happening, is_late=is_late)
            case EffectOutcome() if is_late:
                return []
            case _Greeted():
                return self._greeted(happening.round)
            case Switched():
                return self._model_calls.switch(happening)
            case ModelFailed() if self._loop.state == "calling_llm":
                return self._model_calls.failed(happening)
            case BoundaryHooksAnswered():
                return self._boundary.answered(happening)
            case ChildArrived():
                return self._boundary.decide()
            case UntilChecked():
                return self._boundary.checked(happening)
            case EffectOutcome() | ModelReply() | Decide() | Reply():
                return []
            case _:
                return [happening]

    def _answered(self, answer: Decide | Reply) -> list[Input]:
        """Handle a person's answer, for a call of this run or of a sub-agent."""
        if self._kit.children.answer(answer, self._stopped_below) or self._loop.state != "waiting_for_ops":
            return []
        if isinstance(answer, Decide):
            return self._judging.decide(answer)
        self._questions.reply(answer)
        return []

    def _stopped_below(self, reason: str) -> None:
        """Stop the run, because the user stopped it while answering a sub-agent's question."""
        self._kit.post(CancelRequested("denied", reason or "stopped by the user"))

    def _act(self, action: Action) -> list[Input]:
        """Stage an action's events, schedule its effect, and return the inputs known at once."""
        kit = self._kit
        match action:
            case CallModel():
                return self._model_calls.call(action.turn)
            case SwitchModel():
                self._model_calls.give_up()
                kit.later(self._model_calls.find_model(action))
            case Backoff():
                self._model_calls.announce_retry(action)
                kit.later(self._after(action.delay_s, BackoffEnded()))
            case Prepare():
                return self._judging.prepare(action.call)
            case Execute():
                return self._judging.execute(action.call)
            case Refuse():
                return self._calls.refuse(action.call, action.reason, denied=True)
            case DrainTurn():
                return self._boundary.drain(action.turn)
            case StopWork():
                self._drop_effects()
                kit.later(self._stop_work())
            case EndRun():
                self._end(action)
        return []

    # ------------------------------------------------------------------ the beginning

    def _begin(self) -> list[Input]:
        if not self._kit.hooks.has_hook_at("run_started"):
            return [Begin()]
        self._kit.later(self._greet())
        return []

    async def _greet(self) -> None:
        messages = self._kit.journal.session.messages[self._kit.run.first_message :]
        prompt = messages[0].message.text if messages else ""
        self._kit.post(_Greeted(await self._kit.hooks.ask("run_started", prompt=prompt)))

    def _greeted(self, asked: HookRound) -> list[Input]:
        self._kit.journal.stage(*asked.events)
        deny = asked.outcome.deny
        return [Begin()] if deny is None else [Refused("denied", refusal(deny))]

    def _go_on(self) -> list[Input]:
        """Replay the open turn: calls with a result keep it, interrupted ones get one that says so."""
        kit = self._kit
        plan = plan_resume(kit.run, kit.journal.session.messages[-1].message, kit.children.calls)
        lost = tuple(finished.result.call_id for finished in plan.lost)
        kit.journal.stage(RunResumed(kit.run.run_id, lost), *plan.lost)
        kit.renew_budget()  # the time the run was interrupted does not count
        kit.children.take_up(plan.again)
        self._loop = Loop(kit.setup.policy, plan.turn)
        if kit.run.denied is not None:
            return [Refused("denied", refusal(kit.run.denied))]
        return self._begin() if kit.run.turn == 0 else [Begin(plan.replay)]

    # ------------------------------------------------------------------ the end

    def _end(self, ending: EndRun) -> None:
        """Record the end at once, or after hooks and sub-agents have finished."""
        if self._kit.hooks.is_empty and not self._kit.children.views():
            self._model_calls.record_partial_reply()
            self._record_end(ending, self._kit.answer())
        else:
            self._ending = ending

    async def _finish(self, ending: EndRun) -> None:
        kit = self._kit
        timeout_s = CANCEL_HOOKS_S if ending.outcome == "cancelled" else None
        await kit.children.aclose()
        await self._model_calls.screen_partial_reply(timeout_s)
        self._model_calls.record_partial_reply()
        ending, text = await self._ask_end_hooks(ending, kit.answer(), timeout_s)
        kit.journal.stage(*await kit.hooks.aclose())
        self._record_end(ending, text)
        await kit.journal.flush()

    async def _ask_end_hooks(self, ending: EndRun, text: str, timeout_s: float | None) -> tuple[EndRun, str]:
        """Ask hooks about the end; returns the final ending and answer."""
        kit = self._kit
        has_result = ending.outcome in ("completed", "budget_exhausted", "limit")
        point: HookPoint = "run_completed" if has_result else "run_failed"
        if not kit.hooks.has_hook_at(point):
            return ending, text
        if self._late_cancel is not None:
            timeout_s = 0.0
        told = {"text": text} if has_result else {"error": ending.reason or ending.outcome}
        try:
            async with asyncio.timeout(timeout_s) as self._farewell:
                asked = await kit.hooks.ask(point, **told)
        except TimeoutError:
            if has_result and self._late_cancel is not None:  # no hook has approved the result
                return EndRun("cancelled", self._late_cancel.reason), ""
            return ending, text
        finally:
            self._farewell = None
        kit.journal.stage(*asked.events)
        if has_result and (deny := asked.outcome.deny) is not None:
            return EndRun("denied", refusal(deny)), ""
        for patch in asked.outcome.patches:
            if isinstance(patch, RunResultPatch):
                text = patch.text
                ending = self._boundary.reread(text, ending)
        return ending, text

    def _record_end(self, ending: EndRun, text: str) -> None:
        kit, run, session = self._kit, self._kit.run, self._kit.journal.session
        self._calls.close(f"the run ended ({ending.outcome})")
        if run.replied is not None and not run.turn_ended:
            context = self._model_calls.context
            kit.journal.stage(TurnEnded(run.run_id, run.turn, run.replied.usage, context))
        kit.journal.stage(Checkpoint(session.known))
        end = make_run_end(run, ending.outcome, text, ending.reason, ending.error)
        if (extraction := kit.setup.extraction) is not None:
            value = self._boundary.value if ending.outcome == "completed" else None
            end = replace(end, structured=value, schema_warnings=extraction.warnings)
        kit.journal.stage(end)
        if kit.engine.memory is not None:
            kit.engine.memory.note(kit.journal.id, kit.setup.cwd)

    async def _stop_work(self) -> None:
        tasks = self._tasks - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=CANCEL_GRACE_S)
        await self._kit.children.aclose()
        await self._changes.find_left()
        self._kit.post(Settled())

    # ------------------------------------------------------------------ time

    async def _after(self, delay_s: float, happening: Input) -> None:
        steps = self._kit.engine.steps
        await (asyncio.sleep(delay_s) if steps is None else steps.pause(self._kit.journal.id, delay_s))
        self._kit.post(happening)

    def _start_deadline(self) -> asyncio.TimerHandle | None:
        left_s = self._kit.budget.remaining_s(self._kit.now_s())
        if left_s is None:
            return None
        return asyncio.get_running_loop().call_later(left_s, self._kit.post, _DeadlineReached())

    def _pass_deadline(self) -> list[Input]:
        level = self._kit.budget.exhausted(self._kit.now_s())
        if level is None or self._loop.state in ("cancelling", "completed"):
            return []
        stop = exhausted(self._kit, level)
        return [CancelRequested(stop.outcome, stop.reason)]
