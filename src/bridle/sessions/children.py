"""The sub-agents of a run: sessions of their own, driven through the same service, that end with it."""

import asyncio
from collections.abc import Callable, Collection
from contextlib import suppress
from itertools import count
from weakref import WeakSet

from bridle.core.agent import Agent
from bridle.core.budget import Budget
from bridle.core.child import ChildOrder, ChildView, child_session
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import user_message
from bridle.core.ports import Hooks
from bridle.core.protocol import Decide, PromptQueued, QueueDropped, Record, Reply
from bridle.core.session import RunState
from bridle.core.tenancy import session_in, tenant_of
from bridle.sessions.beginning import Parent
from bridle.sessions.bus import Bus
from bridle.sessions.engine import Engine
from bridle.sessions.family import MAIN, ChildPolicy, Member, Sessions, Tree, quoted
from bridle.sessions.heirs import Heir, count_heirs, read_heirs
from bridle.sessions.inherit import bounded_share, related_share
from bridle.sessions.journal import Journal
from bridle.sessions.orphans import CUT_OFF, end_orphans
from bridle.sessions.setup import Setup
from bridle.sessions.subagent import SubAgent

MAX_MESSAGE_CHARS = 32_000
PARENT_ENDED = "the run that started it has ended"


class Family:
    """Knows which of the live sessions are sub-agents, and keeps the children of each run."""

    def __init__(self, engine: Engine, sessions: Sessions, policy: ChildPolicy, bus: Bus) -> None:
        self._engine = engine
        self._bus = bus
        self._sessions = sessions
        self._policy = policy
        self._members: dict[SessionId, Member] = {}
        """The sub-agents that live."""
        self._runs: WeakSet[RunChildren] = WeakSet()
        self._stock: dict[SessionId, tuple[Heir, ...]] = {}
        """What runs that are about to go on have left of their children."""

    def is_child(self, session: SessionId) -> bool:
        """Tell whether a session is driven by the run of another one."""
        return session in self._members

    def budget_of(self, session: SessionId) -> Budget | None:
        """Return what a sub-agent may use of its parent's budget; None for other sessions."""
        member = self._members.get(session)
        return member.budget if member is not None else None

    def hooks_of(self, session: SessionId) -> Hooks | None:
        """Return the hooks of a sub-agent; None for other sessions, which have those of their folder."""
        member = self._members.get(session)
        return member.hooks if member is not None else None

    def children_of(self, journal: Journal, run: RunState, setup: Setup, budget: Budget) -> "RunChildren":
        """Begin the list of a run's children, which is empty unless it goes on after a cut."""
        member = self._members.get(journal.id)
        if member is None:
            member = Tree(self._policy.max_running).add(journal.id, MAIN)
        member.journal = journal
        parent = Parent(self._engine, self._sessions, self._bus, self._policy, member, journal, run, setup)
        children = RunChildren(parent, budget, self._members, self._stock.pop(journal.id, ()))
        self._runs.add(children)
        return children

    async def take_stock(self, journal: Journal) -> None:
        """Find what a run that was cut off has left of its children, before it goes on; raises StoreError."""
        run, member = journal.session.run, self._members.get(journal.id)
        if member is not None and member.heirs is not None:
            self._stock[journal.id] = member.heirs
        elif run is not None:
            self._stock[journal.id] = await read_heirs(self._engine.store, journal.id, run.run_id)

    async def end_orphans(self, journal: Journal) -> None:
        """End the children that a run had when its process ended; for a run that is closed."""
        await end_orphans(self._engine, self._bus, journal)

    def park(self, session: SessionId | None = None) -> None:
        """Record nothing any more of the agents below a session, or all of them: they are to be resumed."""
        for children in self._of(session):
            children.park()

    async def aclose(self, session: SessionId | None = None) -> None:
        """Stop the sub-agents that are left of a session, or all of them."""
        await asyncio.gather(*(children.aclose() for children in self._of(session)))

    def _of(self, session: SessionId | None) -> "list[RunChildren]":
        return [one for one in self._runs if session is None or one.session == session]


class RunChildren:
    """The sub-agents of one run."""

    def __init__(
        self,
        parent: Parent,
        budget: Budget,
        members: dict[SessionId, Member],
        heirs: tuple[Heir, ...] = (),
    ) -> None:
        self.budget = budget
        """What the children's budgets are parts of."""
        self.session = parent.journal.id
        self._parent = parent
        self._members = members
        self._heirs = heirs
        """The children of before a cut."""
        self._agents: dict[SessionId, SubAgent] = {}
        self._orders: list[ChildOrder] = []
        """Of those that have their share."""
        self._again: frozenset[CallId] = frozenset()
        """The calls that have started a child before a cut, and run again."""
        self._answering: set[asyncio.Task[None]] = set()
        self._is_waiting = False

    # ------------------------------------------------------------------ for the tools

    async def start(self, order: ChildOrder) -> ChildView:
        """Begin a child; raises ToolError when a limit of depth, number or budget stands in the way."""
        agent = self._called_again(order) or self._new(order)
        try:
            await agent.begin()
        except asyncio.CancelledError:
            await self._stop(agent, "its start was cancelled")
            raise
        return agent.view

    async def wait(self, child: SessionId) -> ChildView:
        """Wait for its end; who is cancelled while waiting cancels the child."""
        agent = self._find(child)
        try:
            async with self._parent.member.resting():
                await asyncio.wait([agent.life])
        except asyncio.CancelledError:
            await self._stop(agent, "nobody waits for it any more")
            raise
        return agent.view

    def views(self) -> tuple[ChildView, ...]:
        """Return every child of the run, the first first."""
        return tuple(agent.view for agent in self._agents.values())

    async def cancel(self, child: SessionId, reason: str = "") -> ChildView:
        """Stop a child and all below it, and wait for that; raises ToolError for an unknown one."""
        agent = self._find(child)
        await self._stop(agent, reason or "cancelled by its parent")
        return agent.view

    async def send(self, to: str, text: str) -> str:
        """Give an agent of the same tree a message for its next turn; says who got it, raises ToolError."""
        if not text.strip():
            raise ToolError("the message is empty")
        if len(text) > MAX_MESSAGE_CHARS:
            raise ToolError(f"the message has more than {MAX_MESSAGE_CHARS:,} characters")
        sender = self._parent.member
        receiver = sender.tree.find(to, sender)
        journal = sender.tree.count_message(receiver)
        message = user_message(f"[message from {sender.name}]\n{quoted(text)}")
        item_id = self._parent.engine.new_id()
        await journal.record_whole(PromptQueued(item_id, message, delivery="steer", source="peer"))
        return receiver.name

    # ------------------------------------------------------------------ for the driver

    @property
    def calls(self) -> frozenset[CallId]:
        """Return the calls that have started a child before a cut."""
        return frozenset(heir.started.call_id for heir in self._heirs if heir.started.call_id is not None)

    def take_up(self, again: Collection[CallId]) -> None:
        """Go on with the children of before a cut that work in the background, or whose calls run again.

        Nobody waits for the others any more: they are ended.
        """
        self._again = self.calls.intersection(again)
        count_heirs(self.budget, self._heirs, self._parent.engine.clock.monotonic_s())
        self._orders += [heir.order for heir in self._heirs if not heir.is_new]
        for heir in self._heirs:
            self._adopt(heir)

    def goes_on(self, call_id: CallId) -> bool:
        """Tell whether a call had started a child before a cut, and waits for it again."""
        return call_id in self._again

    @property
    def running(self) -> bool:
        """Tell whether a child works in the background."""
        return bool(self._in_background())

    @property
    def rest(self) -> bool:
        """Tell whether every child has ended, or can do nothing before a person has answered."""
        return all(agent.is_over or agent.rests for agent in self._agents.values())

    @property
    def are_awaited(self) -> bool:
        """Tell whether the run does nothing but wait for them."""
        return self._is_waiting

    def waits_for(self, call_id: CallId) -> bool:
        """Tell whether a call waits for a child that has not ended."""
        agents = self._agents.values()
        return any(
            one.order.call_id == call_id and not one.is_over for one in agents if not one.order.background
        )

    async def next_result(self) -> bool:
        """Wait for something that the model must read; False when nobody is left to send it."""
        journal, lives = self._parent.journal, self._in_background()
        if any(item.delivery == "steer" for item in journal.session.known.queue):
            return True
        if not lives:
            return False
        arrival = asyncio.create_task(self._arrival(journal.session.seq))
        self._is_waiting = True
        try:
            async with self._parent.member.resting():
                await asyncio.wait([arrival, *lives], return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._is_waiting = False
            arrival.cancel()
            await asyncio.wait([arrival])
        return True

    def answer(self, command: Decide | Reply, stop: Callable[[str], None]) -> bool:
        """Pass on an answer that is for a child; False when no child has asked.

        `stop` is called with the reason once an answer has stopped the child, as it is to stop the run too.
        """
        agent = next((agent for agent in self._agents.values() if agent.takes(command)), None)
        if agent is None:
            return False
        task = asyncio.create_task(agent.answer(command, stop))
        self._answering.add(task)
        task.add_done_callback(self._answering.discard)
        return True

    async def aclose(self) -> None:
        """Stop every child and all below it, await that, and take no more messages; twice is once."""
        self._parent.member.has_ended = True
        await asyncio.gather(*(self._stop(agent, PARENT_ENDED) for agent in self._agents.values()))
        for task in self._answering:
            task.cancel()
        if self._answering:
            await asyncio.wait(self._answering)
        journal = self._parent.journal
        unread = [item for item in journal.session.known.queue if item.source in ("child", "peer")]
        if unread and not self._parent.member.tree.is_parked:
            with suppress(BridleError):  # then the run cannot record its end either, and says so
                await journal.record_whole(*(QueueDropped(item.item_id) for item in unread))

    def park(self) -> None:
        """Record nothing of the children any more."""
        self._parent.member.tree.is_parked = True

    # ------------------------------------------------------------------ inside

    def _new(self, order: ChildOrder) -> SubAgent:
        """Check an order, make room for it and begin; raises ToolError."""
        self._require_room(order)
        profile, budget = self._equip(order)
        member = self._join(self._new_session(order), self._new_name(), budget)
        return self._keep(SubAgent(self._parent, member, order, profile))

    def _equip(self, order: ChildOrder) -> tuple[Agent, Budget]:
        """Find the profile of a child and set its budget aside; raises ToolError."""
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
        """Return a name that no child has; one that was not announced before a cut has left a gap."""
        above, taken = self._parent.member, {agent.member.name for agent in self._agents.values()}
        prefix = "agent-" if above.parent is None else f"{above.name}."
        return next(name for number in count(1) if (name := f"{prefix}{number}") not in taken)

    def _new_session(self, order: ChildOrder) -> SessionId:
        parent, call_id = self._parent, order.call_id
        if call_id is None:
            return session_in(tenant_of(self.session), parent.engine.new_session_id())
        place = sum(agent.order.call_id == call_id for agent in self._agents.values())
        created_at = parent.journal.session.known.created_at
        return child_session(self.session, created_at, parent.run.run_id, call_id, place)

    def _join(self, session: SessionId, name: str, budget: Budget | None) -> Member:
        """Make an agent a member of the tree, for as long as it lives."""
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

    def _adopt(self, heir: Heir) -> None:
        """Take up a child of before a cut where it was, or end it."""
        is_awaited = heir.started.call_id in self._again or heir.order.background
        profile: Agent | None = None
        if heir.ended is None and (not is_awaited or not heir.seq or (heir.is_new and not heir.order.prompt)):
            heir.lost = CUT_OFF
        elif heir.is_new:
            try:
                profile, heir.budget = self._equip(heir.order)
            except ToolError as error:
                heir.lost = str(error)
        member = self._join(heir.started.child, heir.started.name, heir.budget)
        member.heirs = heir.heirs
        self._keep(SubAgent(self._parent, member, heir.order, profile, heir))

    def _called_again(self, order: ChildOrder) -> SubAgent | None:
        """Return the child that a call had started before a cut, each once."""
        if order.call_id not in self._again:
            return None
        found = [agent for agent in self._agents.values() if agent.order.call_id == order.call_id]
        agent = next((agent for agent in found if agent.is_inherited and not agent.was_called), None)
        if agent is not None:
            agent.call_again()
        return agent

    def _require_room(self, order: ChildOrder) -> None:
        policy, member = self._parent.policy, self._parent.member
        if member.has_ended:
            raise ToolError("the run is ending and can start no more sub-agents")
        if member.depth >= policy.max_depth:
            levels = f"{policy.max_depth} level{'s' * (policy.max_depth != 1)}"
            raise ToolError(f"sub-agents may go {levels} deep, no deeper", hint="do the work yourself")
        if len(self._agents) >= policy.max_children:
            raise ToolError(f"this run has started {len(self._agents)} sub-agents, which is all it may")
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
        """Stop a child, or leave it: a first run that cannot record anything is to be resumed with them."""
        if self._parent.member.parent is None and await self._parent.journal.has_failed():
            self.park()
        await agent.stop(reason, recorded=not self._parent.member.tree.is_parked)

    def _in_background(self) -> list[asyncio.Task[None]]:
        agents = self._agents.values()
        return [agent.life for agent in agents if agent.order.background and not agent.is_over]

    async def _arrival(self, after: int) -> None:
        """Wait for a message to the run, of whomever."""
        async for item in self._parent.sessions.watch(self._parent.journal.id, after):
            match item:
                case Record(event=PromptQueued(delivery="steer")):
                    return
                case _:
                    pass
