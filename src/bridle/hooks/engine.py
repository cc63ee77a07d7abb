"""Runs the hooks of one run, in order or in the background.

```
ask ─▶ collect the results of finished background hooks
    ─▶ foreground hooks, one by one, by priority, then registration; each sees the earlier rewrites
         a deny, or a failure of a hook that fails closed, ends the round
    ─▶ start background hooks, up to the limit; their results come with a later round, or at the end
```
"""

import asyncio
import re
from collections import deque
from collections.abc import Awaitable, Callable, Iterable

from msgspec import Struct

from bridle.core.errors import HookError
from bridle.core.hook import (
    Deny,
    HookAnswer,
    HookEntry,
    HookInvocation,
    HookOutcome,
    HookPoint,
    ReasonCode,
    apply_patches,
    combine_answers,
)
from bridle.core.ids import CallId
from bridle.core.ports import Clock, HookEvent, HookRound
from bridle.core.protocol import (
    HookCompleted,
    HookDenied,
    HookFailed,
    HookPublished,
    HookRewrote,
    HookStarted,
)
from bridle.hooks.response import Runner, one_line
from bridle.system.tasks import is_cancelled

GRACE_S = 0.1  # a cancelled run must end within 0.2 s
END_GRACE_S = 2.0
"""The time for background hooks at the end of a run, because nothing follows that they could run beside."""

END_POINTS: frozenset[HookPoint] = frozenset({"run_completed", "run_failed"})

Show = Callable[[HookStarted], None]


class ReadyHook(Struct, frozen=True):
    """One hook that is ready to run."""

    entry: HookEntry
    run: Runner
    timeout_s: float
    tools: re.Pattern[str] | None = None
    """The tools it applies to; None means all."""

    @property
    def judges(self) -> bool:
        """True if the hook may deny or rewrite, even if only by failing."""
        return self.entry.capability != "observe" or self.entry.policy == "fail_closed"

    def applies_to(self, invocation: HookInvocation) -> bool:
        """Return True if the hook applies to this invocation."""
        about = invocation.tool_call or invocation.tool_result
        return self.tools is None or about is None or self.tools.fullmatch(about.name) is not None


class _HookResult(Struct, frozen=True):
    """The result of one hook."""

    outcome: HookOutcome
    duration_ms: int
    error: str = ""


class RunHooks:
    """Implements `Hooks` for one run, which must close it."""

    def __init__(
        self,
        hooks: Iterable[ReadyHook],
        clock: Clock,
        *,
        max_background: int = 32,
        close: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._clock = clock
        self._max_background = max_background
        self._close = close
        self._hooks = tuple(hooks)
        self._foreground: dict[HookPoint, list[ReadyHook]] = {}
        self._background: dict[HookPoint, list[ReadyHook]] = {}
        # sorted() is stable: equal priorities keep the registration order.
        for hook in sorted(self._hooks, key=lambda hook: hook.entry.priority):
            modes = self._foreground if hook.entry.mode == "foreground" else self._background
            modes.setdefault(hook.entry.point, []).append(hook)
        self.points: frozenset[HookPoint] = frozenset({*self._foreground, *self._background})
        self.judged: frozenset[HookPoint] = frozenset(
            point for point, asked in self._foreground.items() if any(one.judges for one in asked)
        )
        self._running: dict[asyncio.Task[None], HookPoint] = {}
        self._finished: deque[HookEvent] = deque()
        self._published = 0

    async def ask(self, invocation: HookInvocation, show: Show) -> HookRound:
        """Run every hook of a point; raises only if the caller is cancelled, once the hook has stopped."""
        point = invocation.point
        events = self._drain()
        outcome = HookOutcome()
        for hook in self._foreground.get(point, ()):
            if not hook.applies_to(invocation):
                continue
            show(HookStarted(hook.entry.id, point))
            result = await self._run_hook(hook, invocation)
            events += _hook_events(hook.entry, result, invocation)
            ignored = outcome.ignored + result.outcome.ignored
            if result.outcome.deny is not None:
                # A deny discards earlier rewrites: they never took effect.
                kept = tuple(event for event in events if not isinstance(event, HookRewrote))
                return HookRound(HookOutcome(result.outcome.deny, (), ignored), kept)
            invocation = apply_patches(invocation, result.outcome.patches)
            outcome = HookOutcome(None, outcome.patches + result.outcome.patches, ignored)
        for hook in self._background.get(point, ()):
            if hook.applies_to(invocation):
                events += self._start(hook, invocation, show)
        return HookRound(outcome, tuple(events))

    def for_child(self) -> "RunHooks":
        """Return the same hooks for a sub-agent, as they were when the run started."""
        return RunHooks(self._hooks, self._clock, max_background=self._max_background)

    async def aclose(self) -> tuple[HookEvent, ...]:
        """Wait briefly for background hooks, stop the rest, and return the events left to record."""
        try:
            for grace_s, points in ((END_GRACE_S, END_POINTS), (GRACE_S, self.points)):
                if waited := [task for task, point in self._running.items() if point in points]:
                    await asyncio.wait(waited, timeout=grace_s)
        finally:
            stopped = list(self._running)
            for task in stopped:
                task.cancel()
            await asyncio.gather(*stopped, return_exceptions=True)
            if self._close is not None:
                await self._close()
        return tuple(self._drain())

    def _drain(self) -> list[HookEvent]:
        events = list(self._finished)
        self._finished.clear()
        return events

    async def _run_hook(self, hook: ReadyHook, invocation: HookInvocation) -> _HookResult:
        """Run one hook; its policy decides what a failure means."""
        entry = hook.entry
        began = self._clock.monotonic_s()
        scope = asyncio.timeout(hook.timeout_s)
        try:
            async with scope:
                response = (await hook.run(invocation)).response
        except (Exception, asyncio.CancelledError) as error:  # a hook may raise anything
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            code, reason = _failure(error, hook.timeout_s if scope.expired() else None)
            # This also applies to an observing hook that fails closed, such as a required audit log.
            deny = Deny(reason, code, entry.id) if entry.policy == "fail_closed" else None
            return _HookResult(HookOutcome(deny), self._ms_since(began), reason)
        answer = HookAnswer(entry.id, entry.capability, response.decision, response.patches)
        return _HookResult(combine_answers(invocation.point, [answer]), self._ms_since(began))

    def _ms_since(self, began: float) -> int:
        return round((self._clock.monotonic_s() - began) * 1000)

    def _start(self, hook: ReadyHook, invocation: HookInvocation, show: Show) -> list[HookEvent]:
        """Start a hook in the background, or return a HookFailed if too many are running."""
        entry, point = hook.entry, invocation.point
        if len(self._running) >= self._max_background:
            reason = f"skipped: {self._max_background} background hooks are running already"
            return [HookFailed(entry.id, point, reason, call_id=_call_of(invocation))]
        show(HookStarted(entry.id, point))
        task = asyncio.create_task(self._run_in_background(hook, invocation))
        self._running[task] = point
        task.add_done_callback(self._running.pop)
        return []

    async def _run_in_background(self, hook: ReadyHook, invocation: HookInvocation) -> None:
        entry, point, call = hook.entry, invocation.point, _call_of(invocation)
        try:
            result = await self._run_hook(hook, invocation)
        except asyncio.CancelledError:
            self._finished.append(HookFailed(entry.id, point, "stopped: the run is over", call_id=call))
            raise
        outcome = result.outcome
        if outcome.deny is not None:
            note = f"{entry.id}: a background hook cannot deny"
            outcome = HookOutcome(None, (), (*outcome.ignored, note))
        told = _hook_events(entry, _HookResult(outcome, result.duration_ms, result.error), invocation)
        for event in told:
            if isinstance(event, HookRewrote):
                self._published += 1
                event = HookPublished(entry.id, point, event.patch, self._published, call)
            self._finished.append(event)


def _hook_events(entry: HookEntry, result: _HookResult, invocation: HookInvocation) -> list[HookEvent]:
    """Return the events to record for one hook."""
    point, call, outcome = invocation.point, _call_of(invocation), result.outcome
    told: list[HookEvent] = []
    if result.error:
        told.append(HookFailed(entry.id, point, result.error, result.duration_ms, call))
    else:
        told.append(HookCompleted(entry.id, point, result.duration_ms, call, outcome.ignored))
    if deny := outcome.deny:
        told.append(HookDenied(entry.id, point, deny.reason_code, deny.message, deny.payload, call))
    told += (HookRewrote(entry.id, point, patch, call) for patch in outcome.patches)
    return told


def _failure(error: BaseException, expired_s: float | None) -> tuple[ReasonCode, str]:
    if expired_s is not None:
        return "timeout", f"hook timed out after {round(expired_s * 1000)} ms"
    if isinstance(error, HookError):
        return "runtime_error", one_line(error.message)
    return "runtime_error", one_line(f"{type(error).__name__}: {error}")


def _call_of(invocation: HookInvocation) -> CallId | None:
    about = invocation.tool_call or invocation.tool_result
    return about.tool_use_id if about is not None else None
