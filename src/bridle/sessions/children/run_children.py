"""The sub-agents of a run: sessions of their own, driven through the same service, that end with it."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from weakref import WeakSet

from bridle.core.agent import Agent
from bridle.core.budget import Budget
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import quote_headers, user_message
from bridle.core.ports import Hooks
from bridle.core.protocol import Decide, PromptQueued, QueueDropped, Record, Reply
from bridle.core.session import RunState
from bridle.core.sub_agent import ChildRequest, ChildStatus, child_session_id
from bridle.core.tenancy import qualify_session, tenant_of
from bridle.sessions.agent_tree import MAIN, AgentNode, AgentTree, ChildPolicy, Sessions
from bridle.sessions.bus import Bus
from bridle.sessions.children.inheritance import bounded_share, related_share
from bridle.sessions.children.orphans import CUT_OFF, end_orphans
from bridle.sessions.children.subagent import SubAgent
from bridle.sessions.children.subagent_start import ParentRun
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.resumed_children import ResumedChild, charge_resumed_children, read_resumed_children
from bridle.sessions.setup import Setup

MAX_MESSAGE_CHARS = 32_000
PARENT_ENDED = "the run that started it has ended"


class SubAgents:
    """Tracks which live sessions are sub-agents, and the sub-agents of each run."""

    def __init__(self, engine: Engine, sessions: Sessions, policy: ChildPolicy, bus: Bus) -> None:
        self._engine = engine
        self._bus = bus
        self._sessions = sessions
        self._policy = policy
        self._members: dict[SessionId, AgentNode] = {}
        """The live sub-agents."""
        self._runs: WeakSet[RunChildren] = WeakSet()
        self._stock: dict[SessionId, tuple[ResumedChild, ...]] = {}
        """The interrupted sub-agents of runs that are about to resume."""

    def is_child(self, session: SessionId) -> bool:
        """Return whether a session is a sub-agent, driven by another session's run."""
        return session in self._members

    def budget_of(self, session: SessionId) -> Budget | None:
        """Return a sub-agent's share of its parent's budget; None for other sessions."""
        member = self._members.get(session)
        return member.budget if member is not None else None

    def hooks_of(self, session: SessionId) -> Hooks | None:
        """Return the hooks of a sub-agent; None for other sessions, which use those of their folder."""
        member = self._members.get(session)
        return member.hooks if member is not None else None

    def children_of(self, journal: Journal, run: RunState, setup: Setup, budget: Budget) -> "RunChildren":
        """Create the list of a run's sub-agents; it is empty unless the run resumes after a crash."""
        member = self._members.get(journal.id)
        if member is None:
            member = AgentTree(self._policy.max_running).add(journal.id, MAIN)
        member.journal = journal
        parent = ParentRun(self._engine, self._sessions, self._bus, self._policy, member, journal, run, setup)
        children = RunChildren(parent, budget, self._members, self._stock.pop(journal.id, ()))
        self._runs.add(children)
        return children

    async def find_interrupted(self, journal: Journal) -> None:
        """Find the sub-agents of an interrupted run before it resumes; raises StoreError."""
        run, member = journal.session.run, self._members.get(journal.id)
        if member is not None and member.resumed_children is not None:
            self._stock[journal.id] = member.resumed_children
        elif run is not None:
            self._stock[journal.id] = await read_resumed_children(self._engine.store, journal.id, run.run_id)

    async def end_orphans(self, journal: Journal) -> None:
        """End the sub-agents that were running when the process died; for a run that will not resume."""
        await end_orphans(self._engine, self._bus, journal)

    def park(self, session: SessionId | None = None) -> None:
        """Stop recording the agents below a session, or all agents, so that they can be resumed."""
        for children in self._of(session):
            children.park()

    async def aclose(self, session: SessionId | None = None) -> None:
        """Stop the remaining sub-agents of a session, or all of them."""
        await asyncio.gather(*(children.aclose() for children in self._of(session)))

    def _of(self, session: SessionId | None) -> "list[RunChildren]":
        return [one for one in self._runs if session is None or one.session == session]


class RunChildren:
    """The sub-agents of one run."""

    def __init__(
        self,
        parent: ParentRun,
        budget: Budget,
        members: dict[SessionId, AgentNode],
        resumed_children: tuple[ResumedChild, ...] = (),
    ) -> None:
        self.budget = budget
        """The budget that the sub-agents share."""
        self.session = parent.journal.id
        self._parent = parent
        self._members = members
        self._resumed_children = resumed_children
        """The sub-agents that were started before the process died."""
        self._agents: dict[SessionId, SubAgent] = {}
        self._orders: list[ChildRequest] = []
        """The orders of the sub-agents that have their budget."""
        self._again: frozenset[CallId] = frozenset()
        """The calls that started a sub-agent before the process died, and now run again."""
        self._answering: set[asyncio.Task[None]] = set()
        self._is_waiting = False

    # ------------------------------------------------------------------ for the tools

    async def start(self, order: ChildRequest) -> ChildStatus:
        """Start a sub-agent; raises ToolError when the depth, count or budget limit forbids it."""
        agent = self._called_again(order) or self._new(order)
        try:
            await agent.begin()
        except asyncio.CancelledError:
            await self._stop(agent, "its start was cancelled")
            raise
        return agent.view

    async def wait(self, child: SessionId) -> ChildStatus:
        """Wait for a sub-agent's end; cancelling the wait cancels the sub-agent."""
        agent = self._find(child)
        try:
            async with self._parent.member.without_slot():
                await asyncio.wait([agent.life])
        except asyncio.CancelledError:
            await self._stop(agent, "nothing waits for it any more")
            raise
        return agent.view

    def views(self) -> tuple[ChildStatus, ...]:
        """Return the sub-agents of the run, oldest first."""
        return tuple(agent.view for agent in self._agents.values())

    async def cancel(self, child: SessionId, reason: str = "") -> ChildStatus:
        """Stop a sub-agent and all below it, and wait for that; raises ToolError for an unknown one."""
        agent = self._find(child)
        await self._stop(agent, reason or "cancelled by its parent")
        return agent.view

    async def send(self, to: str, text: str) -> str:
        """Queue a message for another agent of the tree's next turn; return its name; raises ToolError."""
        if not text.strip():
            raise ToolError("the message is empty")
        if len(text) > MAX_MESSAGE_CHARS:
            raise ToolError(f"the message has more than {MAX_MESSAGE_CHARS:,} characters")
        sender = self._parent.member
        receiver = sender.tree.find(to, sender)
        journal = sender.tree.count_message(receiver)
        message = user_message(f"[message from {sender.name}]\n{quote_headers(text)}")
        item_id = self._parent.engine.new_id()
        await journal.record_whole(PromptQueued(item_id, message, delivery="steer", source="peer"))
        return receiver.name

    # ------------------------------------------------------------------ for the driver

    @property
    def calls(self) -> frozenset[CallId]:
        """The calls that started a sub-agent before the process died."""
        return frozenset(
            resumed.started.call_id
            for resumed in self._resumed_children
            if resumed.started.call_id is not None
        )

    def take_up(self, again: Collection[CallId]) -> None:
        """Resume the interrupted sub-agents that work in the background, or whose calls run again.

        End the others: no call waits for them any more.
        """
        self._again = self.calls.intersection(again)
        charge_resumed_children(self.budget, self._resumed_children, self._parent.engine.clock.monotonic_s())
        self._orders += [resumed.order for resumed in self._resumed_children if not resumed.is_new]
        for resumed in self._resumed_children:
            self._resume_child(resumed)

    def goes_on(self, call_id: CallId) -> bool:
        """Return whether a call started a sub-agent before the process died, and waits for it again."""
        return call_id in self._again

    @property
    def running(self) -> bool:
        """True while a sub-agent works in the background."""
        return bool(self._in_background())

    @property
    def rest(self) -> bool:
        """True if every sub-agent has ended or waits for a person."""
        return all(agent.is_over or agent.rests for agent in self._agents.values())

    @property
    def are_awaited(self) -> bool:
        """True while the run does nothing but wait for its sub-agents."""
        return self._is_waiting

    def waits_for(self, call_id: CallId) -> bool:
        """Return whether a call waits for a sub-agent that has not ended."""
        agents = self._agents.values()
        return any(
            one.order.call_id == call_id and not one.is_over for one in agents if not one.order.background
        )

    async def next_result(self) -> bool:
        """Wait for a message or result for the model; return False if no sub-agent is left to send one."""
        journal, lives = self._parent.journal, self._in_background()
        if any(item.delivery == "steer" for item in journal.session.known.queue):
            return True
        if not lives:
            return False
        arrival = asyncio.create_task(self._arrival(journal.session.seq))
        self._is_waiting = True
        try:
            async with self._parent.member.without_slot():
                await asyncio.wait([arrival, *lives], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._is_waiting = False
            arrival.cancel()
            await asyncio.wait([arrival])
        return True

    def answer(self, command: Decide | Reply, stop: Callable[[str], None]) -> bool:
        """Pass on an answer that is for a sub-agent; return False if no sub-agent asked for it.

        `stop` is called with the reason when the answer has stopped the sub-agent: it stops the run too.
        """
        agent = next((agent for agent in self._agents.values() if agent.takes(command)), None)
        if agent is None:
            return False
        task = asyncio.create_task(agent.answer(command, stop))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return True

    async def aclose(self) -> None:
        """Stop every sub-agent and all below it, wait for that, and refuse further messages; idempotent."""
        self._parent.member.has_ended = True
        await asyncio.gather(*(self._stop(agent, PARENT_ENDED) for agent in self._agents.values()))
        for task in self._answering:
            task.cancel()
        if self._answering:
            await asyncio.wait(self._answering)
        journal = self._parent.journal
        unread = [item for item in journal.session.known.queue if item.source in ("child", "peer")]
        if unread and not self._parent.member.tree.is_parked:
            with suppress(BridleError):  # then the run cannot record its end either, and reports it
                await journal.record_whole(*(QueueDropped(item.item_id) for item in unread))

    def park(self) -> None:
        """Stop recording the sub-agents."""
        self._parent.member.tree.is_parked = True

    # ------------------------------------------------------------------ internal

    def _new(self, order: ChildRequest) -> SubAgent:
        """Check an order, reserve its budget and start the sub-agent; raises ToolError."""
        self._require_room(order)
        profile, budget = self._load_profile_and_budget(order)
        member = self._join(self._new_session(order), self._new_name(), budget)
        return self._keep(SubAgent(self._parent, member, order, profile))

    def _load_profile_and_budget(self, order: ChildRequest) -> tuple[Agent, Budget]:
        """Load a sub-agent's profile and reserve its budget; raises ToolError."""
        parent = self._parent
        engine = parent.engine
        name = order.agent or parent.run.options.agent or parent.journal.session.known.created.agent
        try:
            profile = engine.load_agent(name, parent.setup.cwd)
            now_s = engine.clock.monotonic_s()
            share = related_share(order, parent.run.replied, self._orders)
            budget = self.budget.share(bounded_share(share, profile, parent.policy.max_tokens), now_s)
        except BridleError as error:
            raise ToolError(str(error)) from error
        if spent := budget.exhausted(now_s):
            budget.close()
            used = f"{spent.used:g} of {spent.limit:g} {spent.kind} used"
            raise ToolError(f"no budget is left for a sub-agent: {used}", hint="finish without it")
        self._orders.append(order)
        return profile, budget

    def _new_name(self) -> str:
        """Return an unused name; an agent not announced before a crash leaves a gap in the numbers."""
        above, taken = self._parent.member, {agent.member.name for agent in self._agents.values()}
        prefix = "agent-" if above.parent is None else f"{above.name}."
        return next(name for number in count(1) if (name := f"{prefix}{number}") not in taken)

    def _new_session(self, order: ChildRequest) -> SessionId:
        parent, call_id = self._parent, order.call_id
        if call_id is None:
            return qualify_session(tenant_of(self.session), parent.engine.new_session_id())
        place = sum(agent.order.call_id == call_id for agent in self._agents.values())
        created_at = parent.journal.session.known.created_at
        return child_session_id(self.session, created_at, parent.run.run_id, call_id, place)

    def _join(self, session: SessionId, name: str, budget: Budget | None) -> AgentNode:
        """Add an agent to the tree, for as long as it lives."""
        above = self._parent.member
        member = self._members[session] = above.tree.add(session, name, above)
        member.budget = budget
        member.hooks = self._parent.setup.hooks.for_child()
        return member

    def _keep(self, agent: SubAgent) -> SubAgent:
        session = agent.member.id
        self._agents[session] = agent
        agent.life.add_done_callback(lambda _: self._members.pop(session, None))
        return agent

    def _resume_child(self, resumed: ResumedChild) -> None:
        """Resume an interrupted sub-agent, or end it."""
        is_awaited = resumed.started.call_id in self._again or resumed.order.background
        profile: Agent | None = None
        if resumed.ended is None and (
            not is_awaited or not resumed.seq or (resumed.is_new and not resumed.order.prompt)
        ):
            resumed.lost = CUT_OFF
        elif resumed.is_new:
            try:
                profile, resumed.budget = self._load_profile_and_budget(resumed.order)
            except ToolError as error:
                resumed.lost = str(error)
        member = self._join(resumed.started.child, resumed.started.name, resumed.budget)
        member.resumed_children = resumed.children
        self._keep(SubAgent(self._parent, member, resumed.order, profile, resumed))

    def _called_again(self, order: ChildRequest) -> SubAgent | None:
        """Return a sub-agent that this call started before the process died, each one once."""
        if order.call_id not in self._again:
            return None
        found = [agent for agent in self._agents.values() if agent.order.call_id == order.call_id]
        agent = next((agent for agent in found if agent.is_inherited and not agent.was_called), None)
        if agent is not None:
            agent.reattach()
        return agent

    def _require_room(self, order: ChildRequest) -> None:
        policy, member = self._parent.policy, self._parent.member
        if member.has_ended:
            raise ToolError("the run is ending and can start no more sub-agents")
        if member.depth >= policy.max_depth:
            levels = f"{policy.max_depth} level{'s' * (policy.max_depth != 1)}"
            raise ToolError(f"sub-agents may be nested {levels} deep", hint="do the work yourself")
        if len(self._agents) >= policy.max_children:
            raise ToolError(f"this run has started {len(self._agents)} sub-agents, the maximum")
        if order.model and policy.models and order.model not in policy.models:
            provider, allowed = order.model.partition("/")[0], ", ".join(policy.models)
            raise ToolError(
                f"Model '{order.model}' is not in allowlist for provider '{provider}'. "
                f"Allowed models: {allowed}"
            )

    def _find(self, child: SessionId) -> SubAgent:
        agent = self._agents.get(child)
        if agent is None:
            raise ToolError(f"this run has no sub-agent {child[:80]!r}", hint="agent_list names them")
        return agent

    async def _stop(self, agent: SubAgent, reason: str) -> None:
        """Stop a sub-agent, or park it: a root run that cannot record is resumed with its sub-agents."""
        if self._parent.member.parent is None and await self._parent.journal.has_failed():
            self.park()
        await agent.stop(reason, recorded=not self._parent.member.tree.is_parked)

    def _in_background(self) -> list[asyncio.Task[None]]:
        agents = self._agents.values()
        return [agent.life for agent in agents if agent.order.background and not agent.is_over]

    async def _arrival(self, after: int) -> None:
        """Wait until any message is queued for the run."""
        async for item in self._parent.sessions.watch(self._parent.journal.id, after):
            match item:
                case Record(event=PromptQueued(delivery="steer")):
                    return
                case _:
                    pass
