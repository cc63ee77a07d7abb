"""One sub-agent, from its order to its end.

```
begin ─▶ SessionCreated, ChildStarted ─▶ wait for a slot ─▶ Prompt ─▶ follow: questions go up, answers down
      ─▶ its run has ended ─▶ close the session, give the rest of the budget back ─▶ ChildEnded
                                                                 in the background: its result as a message
```

`work` can be cancelled; `life` outlasts it, puts away what it leaves and is always awaited.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing, suppress

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.agent import Agent
from bridle.core.child import ChildOrder, ChildStage, ChildView
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import RunId, SessionId
from bridle.core.messages import user_message
from bridle.core.permission import Rule
from bridle.core.protocol import (
    Aborted,
    ChildEnded,
    ChildStarted,
    Decide,
    Event,
    KernelSaved,
    MessageAdded,
    Outcome,
    Prompt,
    PromptQueued,
    Record,
    Reply,
    RunEnded,
    RunOptions,
    SessionCreated,
)
from bridle.core.recovery import end_of
from bridle.core.revision import FileChange, net_changes
from bridle.core.session import RunState
from bridle.core.summary import title_from
from bridle.core.turns import changed_files, file_changes
from bridle.sessions.engine import Engine
from bridle.sessions.family import ChildPolicy, Member, Sessions, quoted
from bridle.sessions.inherit import Copy, child_options, inherited_messages, rules_elsewhere
from bridle.sessions.journal import Journal
from bridle.sessions.relay import Relay
from bridle.sessions.setup import Setup
from bridle.sessions.worktree import Worktree, add_worktree

STOP_S = 5.0  # a child that will not stop cannot hold up its parent's end for longer
MAX_TASK_CHARS = 200
MAX_RESULT_CHARS = 32_000  # of a message; agent_status has all of it

STAGES: dict[Outcome, ChildStage] = {"completed": "completed", "cancelled": "cancelled"}
"""Every other outcome is a failure."""


NOTHING_USED = RunEnded(RunId(""), "cancelled")


class Parent(Struct, frozen=True):
    """The run that sub-agents work for."""

    engine: Engine
    sessions: Sessions
    policy: ChildPolicy
    member: Member
    journal: Journal
    run: RunState
    setup: Setup


class SubAgent:
    """A child session and what drives it."""

    def __init__(self, parent: Parent, member: Member, order: ChildOrder, agent: Agent) -> None:
        self.member = member
        self.order = order
        self._parent = parent
        self._agent = agent
        self._relay = Relay(member.id, parent.journal, parent.sessions)
        self._options = RunOptions()
        self._began_s = parent.engine.clock.monotonic_s()
        self._took_ms = 0
        self._inherited = 0
        self._worktree: Worktree | None = None
        self._changes: Sequence[FileChange] = ()
        """What it has changed where its parent works."""
        self._left = ""
        """What is said about a worktree that is kept."""
        self._run_id: RunId | None = None
        self._aborted = ""
        self._stopped = ""
        """Why it was stopped."""
        self._ended: RunEnded | None = None
        self._begun: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._is_announced = False
        self._work = asyncio.create_task(self._perform())
        self._life = asyncio.create_task(self._live(), name=f"sub-agent {member.id}")

    # ------------------------------------------------------------------ outside

    @property
    def is_over(self) -> bool:
        """Tell whether its end is recorded."""
        return self._life.done()

    @property
    def life(self) -> asyncio.Task[None]:
        """Return what lasts until its end is recorded."""
        return self._life

    async def begin(self) -> None:
        """Wait until its session is there and announced; raises ToolError when it cannot be."""
        await asyncio.shield(self._begun)

    async def stop(self, reason: str, *, recorded: bool = True) -> None:
        """Stop it and all below it, and wait for that."""
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
        """Tell whether an answer is for something that it, or one below it, has asked."""
        return self._relay.knows(command.call_id)

    async def answer(self, command: Decide | Reply, stop: Callable[[str], None]) -> None:
        """Pass an answer down; `stop` is called for one that stops the parent too."""
        await self._relay.pass_down(command, stop)

    @property
    def view(self) -> ChildView:
        """Say what is known of it."""
        run = self.member.journal.session.run if self.member.journal is not None else None
        used = self._ended or (end_of(run, "completed", "", "") if run is not None else NOTHING_USED)
        took_s = self._parent.engine.clock.monotonic_s() - self._began_s
        kept = self._worktree.path if self._worktree is not None and (not self.is_over or self._left) else ""
        return ChildView(
            self.member.id,
            self.member.name,
            self._stage,
            self.member.depth,
            agent=self._agent.name,
            model=self._options.model or "",
            text="\n\n".join(filter(None, (self._ended.text, self._left))) if self._ended is not None else "",
            error=_why(self._ended) if self._ended is not None else "",
            running_ms=self._took_ms if self._ended is not None else int(took_s * 1000),
            turns=used.turns,
            usage=used.usage,
            cost=used.cost,
            inherited=self._inherited,
            worktree=kept,
        )

    @property
    def _stage(self) -> ChildStage:
        if self._ended is not None:
            return STAGES.get(self._ended.outcome, "failed")
        return "waiting" if self._relay.is_open else "running"

    # ------------------------------------------------------------------ its work

    async def _perform(self) -> None:
        seq = await self._create()
        self._begun.set_result(None)
        await self.member.take_slot()
        sessions, session = self._parent.sessions, self.member.id
        async with aclosing(sessions.watch(session, seq - 1)) as stream:
            await anext(stream)  # subscribes, so that nothing is missed
            prompt = Prompt(user_message(self.order.prompt), self._options, "reject")
            self._run_id = (await sessions.submit(session, prompt)).run_id
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

    async def _create(self) -> int:
        """Make its session and announce it; returns the number of the session's last record."""
        parent, order = self._parent, self.order
        known = parent.journal.session.known
        cwd = parent.setup.cwd
        assert self.member.budget is not None
        self._options = child_options(
            order,
            parent.run,
            parent.setup,
            self._agent,
            known.granted,
            limits=self.member.budget.limits,
            without=parent.policy.without_tools,
            may_spawn=self.member.depth < parent.policy.max_depth,
        )
        if order.worktree:
            environ = {**parent.engine.environ, **parent.setup.env}
            self._worktree = await add_worktree(cwd, parent.policy.worktrees, self.member.id, environ)
            copy = Copy(self._worktree.top, self._worktree.path, self._worktree.cwd)
            self._options = _apart(self._options, parent.setup.rules_with(known.granted), cwd, copy)
            cwd = self._worktree.cwd
        title = f"{self.member.name}: {title_from(order.prompt)}"
        inherited = inherited_messages(order, parent.journal.session.messages)
        self._inherited = len(inherited)
        events: list[Event] = [
            SessionCreated(self.member.id, cwd, self._agent.name, title, parent.journal.id),
            *(MessageAdded(item.message, "fork", item.tokens) for item in inherited),
        ]
        if order.inherited == "full_history" and known.snapshot:
            events.append(KernelSaved(known.snapshot))
        await parent.engine.store.append(self.member.id, 0, events)
        started = ChildStarted(
            self.member.id,
            self.member.name,
            order.prompt.strip()[:MAX_TASK_CHARS],
            order.call_id,
            self._agent.name,
            self._options.model or "",
            order.background,
        )
        self._is_announced = True  # also when it is cancelled while that is recorded
        await parent.journal.record_whole(started)
        return len(events)

    # ------------------------------------------------------------------ its end

    async def _live(self) -> None:
        await asyncio.wait([self._work])
        failure = self._failure()
        if not self._begun.done():
            self._begun.set_exception(ToolError(failure or self._stopped))
            self._begun.exception()  # who asked for it may be gone
        try:
            await self._put_away(failure)
        finally:
            self._took_ms = int((self._parent.engine.clock.monotonic_s() - self._began_s) * 1000)
            self.member.give_slot()
        if self._is_announced and not self.member.tree.is_parked:
            with suppress(BridleError):  # then its parent cannot go on either, and says so
                await self._parent.journal.record_whole(*self._last_events())

    def _failure(self) -> str:
        if self._work.cancelled():
            return ""
        error = self._work.exception()
        if error is None:
            return self._aborted
        return str(error) if isinstance(error, BridleError) else f"{type(error).__name__}: {error}"

    async def _put_away(self, failure: str) -> None:
        """Close its session, which ends all that it still holds, and settle accounts."""
        member = self.member
        member.has_ended = True
        if not member.tree.is_parked:
            with suppress(BridleError, OSError):  # a program of its that cannot be ended is told of elsewhere
                await self._parent.sessions.let_go(member.id)
        assert member.budget is not None
        member.budget.close()
        self._ended = self._end(failure)
        if self._is_announced and not member.tree.is_parked:
            with suppress(BridleError):  # then only its own session can take them back
                self._changes = await changes_for_parent(self._parent.engine, member.id, self._parent.journal)
        if self._worktree is not None:
            self._left = await self._worktree.leave()

    def _end(self, failure: str) -> RunEnded:
        session = self.member.journal.session if self.member.journal is not None else None
        if session is not None and session.run is not None:  # its end could not be recorded
            return end_of(session.run, "failed", "", failure or "its end could not be recorded")
        if session is not None and session.last is not None:
            return session.last
        outcome: Outcome = "cancelled" if self._stopped and not failure else "failed"
        return RunEnded(RunId(""), outcome, reason=self._stopped or failure)

    def _last_events(self) -> list[Event]:
        ended = self._ended
        assert ended is not None
        events = self._relay.withdraw()
        events += changed_files(self._changes, self.order.call_id)
        events.append(
            ChildEnded(
                self.member.id,
                ended.outcome,
                ended.reason,
                ended.turns,
                ended.tool_calls,
                ended.usage,
                ended.cost,
                self._took_ms,
            )
        )
        if self.order.background and not self._stopped:
            said = "\n\n".join(filter(None, (ended.text, self._left)))
            events.append(
                result_message(self._parent.engine.new_id(), self.member.name, self.member.id, ended, said)
            )
        return events


async def changes_for_parent(engine: Engine, child: SessionId, parent: Journal) -> Sequence[FileChange]:
    """Return what a sub-agent has changed: who takes back its parent's turn takes that back too.

    Not where the two work in different folders. Raises StoreError.
    """
    records = await engine.store.read(child)
    created = records[0].event if records else None
    is_apart = not isinstance(created, SessionCreated) or created.cwd != parent.session.known.created.cwd
    return () if is_apart else net_changes(file_changes(records))


def result_message(item_id: str, name: str, child: SessionId, ended: RunEnded, said: str) -> PromptQueued:
    """Say to the parent's model what came of a sub-agent in the background."""
    text = quoted("\n\n".join(filter(None, (_why(ended), said)))) or "(it said nothing)"
    if len(text) > MAX_RESULT_CHARS:
        text = f"{text[:MAX_RESULT_CHARS]}\n[cut off here: agent_status has all of it]"
    stage = STAGES.get(ended.outcome, "failed")
    message = user_message(f"[result of {name} ({child}): {stage}]\n{text}")
    return PromptQueued(item_id, message, delivery="steer", source="child")


def _apart(options: RunOptions, rules: Sequence[Rule], cwd: str, copy: Copy) -> RunOptions:
    """Keep forbidden what is so in the parent's folder, although the child works elsewhere."""
    there = rules_elsewhere(rules, cwd, copy)
    ask = tuple(str(rule) for rule in there if rule.action == "ask")
    deny = tuple(str(rule) for rule in there if rule.action == "deny")
    return replace(options, ask=options.ask + ask, deny=options.deny + deny)


def _why(ended: RunEnded) -> str:
    """Say why a run has no result, or not all of it."""
    if ended.outcome == "completed":
        return ""
    return ended.reason if ended.outcome == "failed" else f"{ended.outcome}: {ended.reason}".rstrip(": ")
