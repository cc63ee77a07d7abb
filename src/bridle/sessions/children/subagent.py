"""One sub-agent, from its order to its end.

```
begin ─▶ SessionCreated, ChildStarted ─▶ wait for a slot ─▶ Prompt ─▶ follow: questions go up, answers down
      ─▶ its run has ended ─▶ close the session, return the rest of the budget ─▶ ChildEnded
                                                                 in the background: its result as a message

after a crash ─▶ its call runs again, or it is in the background ─▶ wait for a slot ─▶ Resume ─▶ follow …
```

The task `_work` can be cancelled; the task `life` outlasts it, cleans up after it and is always awaited.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress

from bridle.core.agent import Agent
from bridle.core.errors import BridleError, SessionBusy, ToolError
from bridle.core.ids import RunId
from bridle.core.messages import user_message
from bridle.core.ports import DurableSteps
from bridle.core.protocol import (
    Aborted,
    ChildStarted,
    Command,
    Decide,
    Event,
    Outcome,
    Prompt,
    Record,
    Reply,
    Resume,
    RunEnded,
    RunOptions,
)
from bridle.core.recovery import make_run_end
from bridle.core.revision import FileChange
from bridle.core.session_api import Receipt
from bridle.core.sub_agent import ChildRequest, ChildStage, ChildStatus
from bridle.core.turns import make_change_events
from bridle.sessions.agent_tree import AgentNode
from bridle.sessions.children.inheritance import inherited_messages
from bridle.sessions.children.orphans import changes_for_parent, child_ended, end_child
from bridle.sessions.children.relay import QuestionRelay
from bridle.sessions.children.subagent_start import (
    ParentRun,
    create_child_worktree,
    failure_reason,
    find_child_worktree,
    first_options,
    make_result_message,
    make_session,
    options_after_cut,
    options_of_child_session,
    stage_of,
)
from bridle.sessions.children.worktree import Worktree
from bridle.sessions.resumed_children import ResumedChild

LET_GO_S = 5.0
RETRY_S = 0.05
STOP_S = 5.0  # a sub-agent that does not stop delays its parent's end no longer than this
MAX_TASK_CHARS = 200
UNRECORDED = "its end could not be recorded"

NOTHING_USED = RunEnded(RunId(""), "cancelled")


class SubAgent:
    """A sub-agent's session and the tasks that drive it."""

    def __init__(
        self,
        parent: ParentRun,
        member: AgentNode,
        order: ChildRequest,
        agent: Agent | None,
        resumed: ResumedChild | None = None,
    ) -> None:
        """Start at once; `agent` is required unless the sub-agent's run has already started."""
        self.member = member
        self.order = order
        self._parent = parent
        self._agent = agent
        self._resumed = resumed
        self._relay = QuestionRelay(member.id, parent.journal, parent.sessions)
        self._options = RunOptions()
        self._began_s = parent.engine.clock.monotonic_s()
        self._took_ms = 0
        self._inherited = 0
        self._worktree: Worktree | None = None
        self._changes: Sequence[FileChange] = ()
        """Its file changes in its parent's folder."""
        self._left = ""
        """The note about a worktree that is kept."""
        self._run_id: RunId | None = None
        self._aborted = ""
        self._stopped = ""
        """Why it was stopped; empty if it was not."""
        self._ended: RunEnded | None = None
        loop = asyncio.get_running_loop()
        self._begun: asyncio.Future[None] = loop.create_future()
        self._may_go_on = asyncio.Event()
        """Set when an interrupted sub-agent may continue: its call waits for it again, or none needs to."""
        self.was_called = False
        """True once the call that started it waits for it again."""
        self._driven: asyncio.Future[None] = loop.create_future()
        """Resolves when its run accepts answers."""
        self._is_announced = False
        if resumed is not None:
            self._inherit(resumed)
        self._work = asyncio.create_task(self._perform())
        self._lives = False
        steps = parent.engine.steps
        life = self._live() if steps is None or self._is_recorded else self._live_tracked(steps)
        self._life = asyncio.create_task(life, name=f"sub-agent {member.id}")

    def _inherit(self, resumed: ResumedChild) -> None:
        """Restore its state from before the crash."""
        self._is_announced = True
        self._begun.set_result(None)
        self._began_s -= resumed.used_ms / 1000
        self._inherited = resumed.inherited
        self._options = RunOptions(model=resumed.started.model)
        self._relay.take_up(self._parent.run, resumed.run)
        if resumed.is_recorded:
            self._ended = resumed.ended
            self.member.has_ended = True
        if self.order.background or resumed.lost or resumed.ended is not None:
            self._may_go_on.set()

    # ------------------------------------------------------------------ public

    @property
    def is_over(self) -> bool:
        """True once its end is recorded."""
        return self._life.done()

    @property
    def is_inherited(self) -> bool:
        """True if it was started before a crash."""
        return self._resumed is not None

    @property
    def life(self) -> asyncio.Task[None]:
        """The task that runs until its end is recorded."""
        return self._life

    @property
    def rests(self) -> bool:
        """True while it waits for a person."""
        return self._relay.is_open and self._parent.sessions.rests(self.member.id)

    async def begin(self) -> None:
        """Wait until its session exists and is announced; raises ToolError if it cannot be created."""
        await asyncio.shield(self._begun)

    def reattach(self) -> None:
        """Continue it: the call that started it waits for it again."""
        self.was_called = True
        self._may_go_on.set()

    async def stop(self, reason: str, *, recorded: bool = True) -> None:
        """Stop it and all below it, and wait for that; with `recorded`, let its run record the end."""
        if self.is_over:
            return
        self._stopped = self._stopped or reason
        if self._run_id is not None and recorded:
            with suppress(TimeoutError, BridleError):
                async with asyncio.timeout(STOP_S):
                    await self._parent.sessions.interrupt(self.member.id, reason)
                    await asyncio.wait([self._work])
        self._work.cancel()
        await asyncio.wait([self._life])

    def takes(self, command: Decide | Reply) -> bool:
        """Return whether an answer is for something that it, or an agent below it, asked."""
        return self._relay.knows(command.call_id)

    async def answer(self, command: Decide | Reply, stop: Callable[[str], None]) -> None:
        """Pass an answer down once its run accepts answers; `stop` is called if the parent must stop too."""
        if not self._driven.done():
            await asyncio.wait([self._driven, self._life], return_when=asyncio.FIRST_COMPLETED)
        if not self.is_over:
            await self._relay.pass_down(command, stop)

    @property
    def view(self) -> ChildStatus:
        """Its current status."""
        run = self.member.journal.session.run if self.member.journal is not None else None
        used = self._ended or (make_run_end(run, "completed", "", "") if run is not None else NOTHING_USED)
        took_s = self._parent.engine.clock.monotonic_s() - self._began_s
        kept = self._worktree.path if self._worktree is not None and (not self.is_over or self._left) else ""
        return ChildStatus(
            self.member.id,
            self.member.name,
            self._stage,
            self.member.depth,
            agent=self._agent_name,
            model=self._options.model or "",
            text="\n\n".join(filter(None, (self._ended.text, self._left))) if self._ended is not None else "",
            error=failure_reason(self._ended) if self._ended is not None else "",
            running_ms=self._took_ms if self._ended is not None else int(took_s * 1000),
            turns=used.turns,
            usage=used.usage,
            cost=used.cost,
            inherited=self._inherited,
            worktree=kept,
        )

    @property
    def _agent_name(self) -> str:
        if self._agent is not None:
            return self._agent.name
        return self._resumed.started.agent if self._resumed is not None else ""

    @property
    def _stage(self) -> ChildStage:
        if self._ended is not None:
            return stage_of(self._ended)
        return "waiting" if self._relay.is_open else "running"

    # ------------------------------------------------------------------ work

    async def _perform(self) -> None:
        if self._resumed is None:
            seq = await self._create()
            self._begun.set_result(None)
        else:
            seq = await self._find_again(self._resumed)
        if self._resumed is not None and self._resumed.ended is not None:
            return
        await self.member.take_slot()
        sessions, session = self._parent.sessions, self.member.id
        async with aclosing(sessions.watch(session, seq - 1)) as stream:
            await anext(stream)  # subscribe first, so that nothing is missed
            self._run_id = (await self._begin()).run_id
            self._driven.set_result(None)
            async for item in stream:
                match item:
                    case Record(event=RunEnded(run_id=self._run_id)):
                        return
                    case Record():
                        await self._relay.see(item.event)
                    case Aborted(run_id=self._run_id):
                        self._aborted = item.reason
                        return
                    case _:
                        pass

    async def _begin(self) -> Receipt:
        """Submit its first command, retrying while another process still holds a resumed session."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + LET_GO_S
        while True:
            try:
                return await self._parent.sessions.submit(self.member.id, self._first_command())
            except SessionBusy:
                if self._resumed is None or loop.time() > deadline:
                    raise
            await asyncio.sleep(RETRY_S)

    def _first_command(self) -> Command:
        run = self._resumed.run if self._resumed is not None else None
        if run is None:
            return Prompt(user_message(self.order.prompt), self._options, "reject")
        return Resume(self._options)

    async def _find_again(self, resumed: ResumedChild) -> int:
        """Wait until it may continue and find its worktree; returns the number of its last record."""
        await self._may_go_on.wait()
        if resumed.lost:
            raise ToolError(resumed.lost)
        self._worktree = await find_child_worktree(self._parent, resumed)
        if resumed.run is not None:
            await self._relay.settle(resumed.run)
            self._options = options_after_cut(self._parent, self.order, resumed.run, self._worktree)
        elif resumed.ended is None:
            assert self._agent is not None
            self._options = first_options(self._parent, self.member, self.order, self._agent, self._worktree)
        return resumed.seq

    async def _create(self) -> int:
        """Create and announce its session; returns the number of the session's last record."""
        parent, order, agent = self._parent, self.order, self._agent
        assert agent is not None
        if order.worktree:
            self._worktree = await create_child_worktree(parent, self.member.id)
        self._options = first_options(parent, self.member, order, agent, self._worktree)
        cwd = self._worktree.cwd if self._worktree is not None else parent.setup.cwd
        inherited = inherited_messages(order, parent.journal.session.messages)
        self._inherited = len(inherited)
        kept = options_of_child_session(self._options)
        seq = await make_session(
            parent, self.member, order, inherited, cwd=cwd, agent=agent.name, options=kept
        )
        started = ChildStarted(
            self.member.id,
            self.member.name,
            order.prompt.strip()[:MAX_TASK_CHARS],
            order.call_id,
            agent.name,
            self._options.model or "",
            order.background,
            self._worktree.base if self._worktree is not None else "",
        )
        self._is_announced = True  # also if it is cancelled during the recording
        await parent.journal.record_whole(started)
        return seq

    # ------------------------------------------------------------------ end

    @property
    def _is_recorded(self) -> bool:
        """True if its end was recorded before the crash."""
        return self._resumed is not None and self._resumed.is_recorded

    async def _live_tracked(self, steps: DurableSteps) -> None:
        """Run `_live` as a tracked step of the parent, or untracked if the tracking fails."""
        try:
            await steps.child(self._parent.journal.id, self.member.id, self._live)
        finally:
            if not self._lives:
                await self._live()

    async def _live(self) -> None:
        self._lives = True
        await asyncio.wait([self._work])
        failure = self._failure()
        if not self._begun.done():
            self._begun.set_exception(ToolError(failure or self._stopped))
            self._begun.exception()  # marks it as retrieved: the caller may be gone
        try:
            await self._put_away(failure)
        finally:
            self._took_ms = int((self._parent.engine.clock.monotonic_s() - self._began_s) * 1000)
            self.member.release_slot()
        if self._is_announced and not self._is_recorded and not self.member.tree.is_parked:
            with suppress(BridleError):  # then its parent cannot continue either, and reports it
                await self._parent.journal.record_whole(*self._last_events())

    def _failure(self) -> str:
        if self._work.cancelled():
            return ""
        error = self._work.exception()
        if error is None:
            return self._aborted
        return str(error) if isinstance(error, BridleError) else f"{type(error).__name__}: {error}"

    async def _put_away(self, failure: str) -> None:
        """Close its session, which ends everything it holds, and settle its budget."""
        member, sessions = self.member, self._parent.sessions
        member.has_ended = True
        is_parked = member.tree.is_parked
        if not self._is_recorded:
            with suppress(BridleError, OSError):  # a program that does not end is reported elsewhere
                await sessions.let_go(member.id, resumable=is_parked)
        if member.budget is not None:
            member.budget.close()
        if is_parked:
            return
        self._ended = await self._end(failure)
        if self._is_announced and not self._is_recorded:
            with suppress(BridleError):  # then only its own session can undo them
                self._changes = await changes_for_parent(self._parent.engine, member.id, self._parent.journal)
        if self._worktree is not None:
            self._left = await self._worktree.leave()

    async def _end(self, failure: str) -> RunEnded:
        resumed = self._resumed
        if resumed is not None and resumed.ended is not None:
            return resumed.ended
        journal = self.member.journal
        session = journal.session if journal is not None else None
        is_lost = journal is not None and journal.is_stale  # its in-memory state is not what is stored
        if session is not None and not is_lost and session.run is None and session.last is not None:
            return session.last
        outcome: Outcome = "cancelled" if self._stopped and not failure else "failed"
        run = session.run if session is not None else None
        if is_lost or run is not None or resumed is not None:  # its end is not recorded, or its run is open
            engine, reason = self._parent.engine, failure or self._stopped or UNRECORDED
            with suppress(BridleError):
                return await end_child(engine, self._parent.bus, self.member.id, outcome, reason)
        if run is not None:
            return make_run_end(run, "failed", "", failure or UNRECORDED)
        return RunEnded(RunId(""), outcome, reason=self._stopped or failure)

    def _last_events(self) -> list[Event]:
        ended = self._ended
        assert ended is not None
        events = self._relay.withdraw()
        events += make_change_events(self._changes, self.order.call_id)
        events.append(child_ended(self.member.id, ended, self._took_ms))
        if self.order.background and not self._stopped:
            said = "\n\n".join(filter(None, (ended.text, self._left)))
            events.append(
                make_result_message(
                    self._parent.engine.new_id(), self.member.name, self.member.id, ended, said
                )
            )
        return events
