"""What the parts of one run share: the engine, the journal, the budget, and the driver's inbox.

A part stages events, schedules effects with `later` and returns the inputs for the loop. An effect starts
when the events staged with it are durable, and reports its outcome to the driver with `post`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from bridle.core.hook import Deny, HookInvocation, HookPoint
from bridle.core.ids import CallId, SessionId
from bridle.core.loop import Input
from bridle.core.messages import final_text
from bridle.core.model import ModelReply
from bridle.core.ports import HookEvent, HookRound, Hooks
from bridle.core.protocol import Decide, HookDenied, Reply
from bridle.core.session import RunState
from bridle.core.tenancy import tenant_of
from bridle.core.tool import PEER_TOOLS
from bridle.sessions.children.run_children import SubAgents
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Setup

Effect = Coroutine[Any, Any, None]


class EffectOutcome(Struct, frozen=True):
    """The outcome of an effect, for the driver."""


DriverInput = EffectOutcome | Input | ModelReply | Decide | Reply


class RunContext:
    """One run's engine, journal, budget and inbox."""

    def __init__(
        self, engine: Engine, journal: Journal, run: RunState, setup: Setup, family: SubAgents
    ) -> None:
        self.engine = engine
        self.journal = journal
        self.run = run
        self.setup = setup
        self.backend = setup.backend
        """The model in use."""
        self._share = family.budget_of(journal.id)
        self.budget = self._share or setup.budget_left(run, engine)
        """The run's budget; a sub-agent's is a share of its parent's."""
        self.children = family.children_of(journal, run, setup, self.budget)
        self.hooks = RunHooks(setup.hooks, journal, run, setup)
        self.inbox: asyncio.Queue[DriverInput] = (
            asyncio.Queue()
        )  # bounded by the run's tasks and by `Driver.post`
        self.effects: list[Effect] = []
        self.peers = engine.peers if _writes_to_peers(setup, journal.id) else None
        """Messages from agents of other processes; None if the run gets none."""
        self.let_through: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Resolves to True once limits and hooks let a model request through, to False if none was."""

    def later(self, effect: Effect) -> None:
        """Schedule an effect to start once the step's events are durable."""
        self.effects.append(effect)

    def step(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Schedule a model call or tool call, tracked by `engine.steps` if that is set."""
        steps = self.engine.steps
        self.later(work() if steps is None else steps.perform(self.journal.id, name, work))

    def post(self, happening: DriverInput) -> None:
        """Post an effect's outcome to the driver."""
        self.inbox.put_nowait(happening)

    def env_of(self, call_id: CallId | None) -> Mapping[str, str]:
        """Return the extra environment variables for programs of a call or, for None, of the run."""
        observer, env = self.engine.observer, self.setup.env
        return env if observer is None else {**env, **observer.environment(self.journal.id, call_id)}

    def resolve_let_through(self, *, passed: bool) -> None:
        """Resolve `let_through`, once."""
        if not self.let_through.done():
            self.let_through.set_result(passed)

    def renew_budget(self) -> None:
        """Recompute what the run may still use; a sub-agent's share is already up to date."""
        if self._share is not None:
            return
        self.budget = self.children.budget = self.setup.budget_left(self.run, self.engine)

    def drop_effects(self) -> None:
        """Discard the scheduled effects."""
        for effect in self.effects:
            effect.close()
        self.effects = []

    def answer(self) -> str:
        """Return the run's answer if it ended now."""
        of_run = self.journal.session.messages[self.run.first_message :]
        return self.run.answer or final_text([item.message for item in of_run])

    def now_s(self) -> float:
        """Return the monotonic clock, in seconds."""
        return self.engine.clock.monotonic_s()


def _writes_to_peers(setup: Setup, session: SessionId) -> bool:
    """Return whether a run has the tools for peers; they belong to the user, not to a tenant."""
    return not tenant_of(session) and any(name in PEER_TOOLS for name in setup.dispatcher.names)


class RunHooks:
    """Calls the hooks of a run with the run's details filled in."""

    def __init__(self, hooks: Hooks, journal: Journal, run: RunState, setup: Setup) -> None:
        self._hooks = hooks
        self._journal = journal
        self._run = run
        self._setup = setup

    @property
    def is_empty(self) -> bool:
        """True if the run has no hooks."""
        return not self._hooks.points

    def has_hook_at(self, point: HookPoint) -> bool:
        """Return whether a hook runs at this point."""
        return point in self._hooks.points

    def can_change_at(self, point: HookPoint) -> bool:
        """Return whether a hook may refuse or rewrite at this point."""
        return point in self._hooks.judged

    async def ask(self, point: HookPoint, **told: Any) -> HookRound:
        """Run the hooks of a point."""
        created = self._journal.session.known.created
        invocation = HookInvocation(
            point,
            self._journal.id,
            self._run.turn or None,
            cwd=self._setup.cwd,
            agent=self._setup.agent.name,
            parent=created.parent if created.forked_at is None else None,
            **told,
        )
        return await self._hooks.ask(invocation, self._journal.show)

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Stop the hooks that still run; returns the events left to record."""
        return await self._hooks.aclose()


def refusal(deny: Deny | HookDenied) -> str:
    """Return which hook refused, and why."""
    return f"hook {deny.hook_id} refused ({deny.reason_code}): {deny.message}"


def refusal_for_model(deny: Deny) -> str:
    """Return the text that replaces a refused result: which hook refused, and why, as JSON."""
    told: dict[str, Any] = {
        "error": "hook_denied",
        "reason_code": deny.reason_code,
        "message": deny.message,
        "hook_id": deny.hook_id,
    }
    if deny.payload is not None:
        told["payload"] = deny.payload
    return encode(told).decode()
