"""What the parts of one run share: its world, its record, and the way to the driver.

A part stages events, lines up effects with `later` and returns what the loop is to hear at once. An effect
starts when the events staged with it are durable, and tells the driver what came of it with `post`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from typing import Any

from msgspec import Struct
from msgspec.json import encode

from bridle.core.hook import Deny, HookInvocation, HookPoint
from bridle.core.ids import CallId
from bridle.core.loop import Input
from bridle.core.messages import final_text
from bridle.core.model import ModelReply
from bridle.core.ports import HookEvent, HookRound, Hooks
from bridle.core.protocol import Decide, HookDenied, Reply
from bridle.core.session import RunState
from bridle.sessions.children import Family
from bridle.sessions.engine import Engine
from bridle.sessions.journal import Journal
from bridle.sessions.setup import Setup

Effect = Coroutine[Any, Any, None]


class Happening(Struct, frozen=True):
    """Something that came of an effect, for the driver to take in."""


Posted = Happening | Input | ModelReply | Decide | Reply


class RunKit:
    """One run's world, record and inbox."""

    def __init__(self, engine: Engine, journal: Journal, run: RunState, setup: Setup, family: Family) -> None:
        self.engine = engine
        self.journal = journal
        self.run = run
        self.setup = setup
        self.backend = setup.backend
        """The model in use."""
        self._share = family.budget_of(journal.id)
        self.budget = self._share or setup.budget_left(run, engine.clock)
        """A sub-agent's is a share of its parent's."""
        self.children = family.children_of(journal, run, setup, self.budget)
        self.hooks = HookDesk(setup.hooks, journal, run, setup)
        self.inbox: asyncio.Queue[Posted] = asyncio.Queue()  # bounded by the run's tasks and the driver
        self.effects: list[Effect] = []
        self.let_through: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        """Whether limits and hooks have let a request to the model through; False at the end if none."""

    def later(self, effect: Effect) -> None:
        """Line up what is to start once the step's events are durable."""
        self.effects.append(effect)

    def step(self, name: str, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Line up a model call or a tool call, of which whoever keeps track of the run is to know."""
        steps = self.engine.steps
        self.later(work() if steps is None else steps.perform(self.journal.id, name, work))

    def post(self, happening: Posted) -> None:
        """Tell the driver what came of an effect."""
        self.inbox.put_nowait(happening)

    def env_of(self, call_id: CallId | None) -> Mapping[str, str]:
        """Return the variables that programs of a call, or of the run, get beside the usual ones."""
        observer, env = self.engine.observer, self.setup.env
        return env if observer is None else {**env, **observer.environment(self.journal.id, call_id)}

    def settle_passage(self, *, passed: bool) -> None:
        """Tell who waits for it that a request was let through, or that none will be."""
        if not self.let_through.done():
            self.let_through.set_result(passed)

    def renew_budget(self) -> None:
        """Take stock anew of what the run may still use; who gave a share of its own has done so."""
        if self._share is not None:
            return
        self.budget = self.children.budget = self.setup.budget_left(self.run, self.engine.clock)

    def drop_effects(self) -> None:
        """Start nothing of what was lined up."""
        for effect in self.effects:
            effect.close()
        self.effects = []

    def answer(self) -> str:
        """Return what the run would answer if it ended now."""
        of_run = self.journal.session.messages[self.run.first_message :]
        return self.run.answer or final_text([item.message for item in of_run])

    def now_s(self) -> float:
        """Return the clock for durations."""
        return self.engine.clock.monotonic_s()


class HookDesk:
    """Asks the hooks of a run, and puts what they say into words."""

    def __init__(self, hooks: Hooks, journal: Journal, run: RunState, setup: Setup) -> None:
        self._hooks = hooks
        self._journal = journal
        self._run = run
        self._setup = setup

    @property
    def is_empty(self) -> bool:
        """Tell whether nobody listens anywhere."""
        return not self._hooks.points

    def listen_at(self, point: HookPoint) -> bool:
        """Tell whether anybody wants to be asked there."""
        return point in self._hooks.points

    def judge_at(self, point: HookPoint) -> bool:
        """Tell whether anybody may refuse or rewrite what there is."""
        return point in self._hooks.judged

    async def ask(self, point: HookPoint, **told: Any) -> HookRound:
        """Ask everybody who listens at a point."""
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
        """Stop those that still run; returns what is left to record."""
        return await self._hooks.aclose()


def refusal(deny: Deny | HookDenied) -> str:
    """Say who refused, and why."""
    return f"hook {deny.hook_id} refused ({deny.reason_code}): {deny.message}"


def refusal_for_model(deny: Deny) -> str:
    """Say in the place of a result who refused it, and why."""
    told: dict[str, Any] = {
        "error": "hook_denied",
        "reason_code": deny.reason_code,
        "message": deny.message,
        "hook_id": deny.hook_id,
    }
    if deny.payload is not None:
        told["payload"] = deny.payload
    return encode(told).decode()
