"""The sub-agents of a run: sessions of their own, driven through the same door, that end with it."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from weakref import WeakSet

from msgspec.structs import replace

from bridle.core.budget import Budget, Share
from bridle.core.child import ChildOrder, ChildView
from bridle.core.errors import BridleError, ToolError
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.ports import Hooks
from bridle.core.protocol import Decide, PromptQueued, QueueDropped, Record, Reply
from bridle.core.session import RunState
from bridle.sessions.bus import Bus
from bridle.sessions.engine import Engine
from bridle.sessions.family import MAIN, ChildPolicy, Member, Sessions, Tree, quoted
from bridle.sessions.inherit import bounded_share
from bridle.sessions.journal import Journal
from bridle.sessions.orphans import end_orphans
from bridle.sessions.setup import Setup
from bridle.sessions.subagent import Parent, SubAgent

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
        """Begin the (empty) list of a run's children."""
        member = self._members.get(journal.id)
        if member is None:
            member = Tree(self._policy.max_running).add(journal.id, MAIN)
        member.journal = journal
        parent = Parent(self._engine, self._sessions, self._policy, member, journal, run, setup)
        children = RunChildren(parent, budget, self._members)
        self._runs.add(children)
        return children

    async def end_orphans(self, journal: Journal, *, goes_on: bool) -> None:
        """End the children that a run had when its process ended; for a run that goes on or is closed."""
        await end_orphans(self._engine, self._bus, journal, goes_on=goes_on)

    def park(self) -> None:
        """Record nothing any more: the runs that sub-agents work for are to be resumed."""
        for children in self._runs:
            children.park()

    async def aclose(self) -> None:
        """Stop the sub-agents that are left."""
        await asyncio.gather(*(children.aclose() for children in list(self._runs)))


class RunChildren:
    """The sub-agents of one run."""

    def __init__(self, parent: Parent, budget: Budget, members: dict[SessionId, Member]) -> None:
        self.budget = budget
        """What the children's budgets are parts of."""
        self._parent = parent
        self._members = members
        self._agents: dict[SessionId, SubAgent] = {}
        self._answering: set[asyncio.Task[None]] = set()

    # ------------------------------------------------------------------ for the tools

    async def start(self, order: ChildOrder) -> ChildView:
        """Begin a child; raises ToolError when a limit of depth, number or budget stands in the way."""
        agent = self._new(order)
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
    def running(self) -> bool:
        """Tell whether a child works in the background."""
        return bool(self._in_background())

    async def next_result(self) -> bool:
        """Wait for something that the model must read; False when nobody is left to send it."""
        journal, lives = self._parent.journal, self._in_background()
        if any(item.delivery == "steer" for item in journal.session.known.queue):
            return True
        if not lives:
            return False
        arrival = asyncio.create_task(self._arrival(journal.session.seq))
        try:
            async with self._parent.member.resting():
                await asyncio.wait([arrival, *lives], return_when=asyncio.FIRST_COMPLETED)
        finally:
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
        parent = self._parent
        engine, above = parent.engine, parent.member
        name = order.agent or parent.run.options.agent or parent.journal.session.known.created.agent
        try:
            profile = engine.load_agent(name, parent.setup.cwd)
            now_s = engine.clock.monotonic_s()
            share = bounded_share(self._share(order), profile, parent.policy.max_tokens)
            budget = self.budget.share(share, now_s)
        except BridleError as error:
            raise ToolError(str(error)) from error
        if spent := budget.exhausted(now_s):
            budget.close()
            used = f"{spent.used:g} of {spent.limit:g} {spent.kind} used"
            raise ToolError(f"no budget is left for a sub-agent: {used}", hint="finish without it")
        number = len(self._agents) + 1
        session = engine.new_session_id()
        label = f"agent-{number}" if above.parent is None else f"{above.name}.{number}"
        member = self._members[session] = above.tree.add(session, label, above)
        member.budget = budget
        member.hooks = parent.setup.hooks.for_child()
        agent = self._agents[session] = SubAgent(parent, member, order, profile)
        agent.life.add_done_callback(lambda _: self._members.pop(session, None))
        return agent

    def _share(self, order: ChildOrder) -> Share:
        """Put a share into relation with those that other calls of the same reply get."""
        reply = self._parent.run.replied
        calls = {call.id: call for call in reply.message.calls} if reply is not None else {}
        others = [agent.order for agent in self._agents.values() if agent.order.call_id in calls]
        share = order.share
        if share.policy == "equal":
            begun = {other.call_id for other in others}
            equal = [call for call in calls.values() if call.args.get("budget_policy") == "equal"]
            return replace(share, among=max(1, sum(call.id not in begun for call in equal)))
        if share.policy == "proportional":
            given = sum(
                other.share.weight
                for other in others
                if other.share.policy == "proportional" and other.share.weights == share.weights
            )
            return replace(share, weights=max(share.weight, share.weights - given))
        return share

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
