"""The end of a turn, in a fixed order: hooks, steering, the budget, and whether the run is over.

```
TurnEnded ─▶ turn_boundary hooks ─▶ steering, results of sub-agents, messages of peers ─▶ warnings
          ─▶ the turn made calls, or a message arrived ─▶ budget ─▶ next turn
          ─▶ the model is done:  sub-agents still work ─▶ wait for one, start over
                                 the `until` command fails ─▶ its output is the next message
                                 no value that fits the schema ─▶ the request for one is the next message
```
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from msgspec import Struct

from bridle.core.context import estimate_message
from bridle.core.errors import ConfigError
from bridle.core.loop import Drained, EndRun, Input, Refused
from bridle.core.messages import Usage, user_message
from bridle.core.ports import HookRound, PeerMessages
from bridle.core.protocol import BudgetWarned, MessageAdded, MessageSource, Notice, TurnEnded
from bridle.sessions.run.context import EffectOutcome, RunContext, refusal
from bridle.sessions.run.model_calls import ModelCalls, exhausted
from bridle.sessions.structured_output import Extraction

# ---------------------------------------------------------------------------- until
# The `until` check: a user's command that decides whether a run is over.


TIMEOUT_S = 600.0
MAX_OUTPUT_BYTES = 16 * 1024
KEPT_HEAD_BYTES = 4 * 1024


class UntilResult(Struct, frozen=True):
    """The result of the command."""

    passed: bool
    text: str = ""
    """The message to the model after a failure."""


async def run_check(
    command: str, cwd: str, env: Mapping[str, str], *, timeout_s: float = TIMEOUT_S
) -> UntilResult:
    """Run a shell command as the user would; it passes if it exits with 0."""
    try:
        process = await asyncio.create_subprocess_exec(
            "/bin/sh",
            "-c",
            command,
            cwd=cwd,
            env=env,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            start_new_session=True,
        )
    except OSError as error:
        return UntilResult(passed=False, text=_failure_text(command, f"could not be started: {error}", ""))
    assert process.stdout is not None
    output = _HeadAndTail()
    try:
        async with asyncio.timeout(timeout_s):
            while chunk := await process.stdout.read(64 * 1024):
                output.add(chunk)
            status = await process.wait()
    except TimeoutError:
        return UntilResult(
            passed=False, text=_failure_text(command, f"did not end within {timeout_s:g} s", output.text)
        )
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
    if status == 0:
        return UntilResult(passed=True)
    return UntilResult(passed=False, text=_failure_text(command, f"exited with {status}", output.text))


class _HeadAndTail:
    """Keeps the beginning and the end of a program's output."""

    def __init__(self) -> None:
        self._head = b""
        self._tail = b""
        self._dropped = 0

    def add(self, chunk: bytes) -> None:
        room = KEPT_HEAD_BYTES - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:] if room > 0 else chunk
        over = len(self._tail) - (MAX_OUTPUT_BYTES - KEPT_HEAD_BYTES)
        if over > 0:
            self._dropped += over
            self._tail = self._tail[over:]

    @property
    def text(self) -> str:
        gap = f"\n[{self._dropped:,} bytes left out]\n".encode() if self._dropped else b""
        return (self._head + gap + self._tail).decode(errors="replace").strip()


def _failure_text(command: str, ended: str, output: str) -> str:
    printed = f" It printed:\n{output}" if output else " It printed nothing."
    return f"Not done yet: the check `{command}` {ended}.{printed}\nContinue until it passes."


# ---------------------------------------------------------------------------- boundary


MAX_PEER_MESSAGES = 100
"""How often one run takes in messages from peers: two agents that thank each other would never stop."""


@asynccontextmanager
async def peer_messages(kit: RunContext) -> AsyncIterator[None]:
    """Receive messages from peers while the context is open, if the run has the tools to write to them."""
    if (peers := kit.peers) is None:
        yield
        return
    try:
        await peers.open()
    except ConfigError as error:  # the run can still write to peers
        kit.journal.show(Notice(f"no messages from peers reach this process: {error}"))
    with peers.taking(kit.journal.id):
        yield


OVER = Drained(stop=Refused("completed", ""))


class BoundaryHooksAnswered(EffectOutcome, frozen=True):
    """The turn_boundary hooks have answered."""

    round: HookRound


class ChildArrived(EffectOutcome, frozen=True):
    """A sub-agent that the run waited for has ended, or a message has arrived."""


class UntilChecked(EffectOutcome, frozen=True):
    """The `until` command has ended."""

    check: UntilResult


class Boundary:
    """Decides what follows a turn."""

    def __init__(self, kit: RunContext, model_calls: ModelCalls) -> None:
        self._kit = kit
        self._model_calls = model_calls
        self._has_passed = False
        self._taken = 0
        self.value: Any = None
        """The value that fits the output schema."""

    def drain(self, turn: int) -> list[Input]:
        """Record a turn's end, and return what follows."""
        kit = self._kit
        reply = kit.run.replied
        usage = reply.usage if reply is not None else Usage()
        if not kit.run.turn_ended:  # already recorded if the run was interrupted at this boundary
            kit.journal.stage(TurnEnded(kit.run.run_id, turn, usage, self._model_calls.context))
        if kit.hooks.has_hook_at("turn_boundary"):
            kit.later(self._ask_hooks())
            return []
        return self.decide()

    async def _ask_hooks(self) -> None:
        self._kit.post(BoundaryHooksAnswered(await self._kit.hooks.ask("turn_boundary")))

    def answered(self, answered: BoundaryHooksAnswered) -> list[Input]:
        """Record the hooks' answers, and continue unless one refuses."""
        self._kit.journal.stage(*answered.round.events)
        if (deny := answered.round.outcome.deny) is not None:
            return [Drained(stop=Refused("denied", refusal(deny)))]
        return self.decide()

    def decide(self) -> list[Input]:
        """Return whether there is another turn; an empty list means that something must finish first."""
        kit = self._kit
        is_denied = kit.run.options.approve_each and kit.run.has_denial
        has_news = self._take_in(from_peers=not is_denied)
        for level in kit.budget.new_warnings(kit.now_s()):
            kit.journal.stage(BudgetWarned(level.kind, level.used, level.limit))
        if has_news:
            self._has_passed = False  # the model may change what was checked
            return [self._go_on(more=True)]
        if is_denied:
            return [OVER]
        reply = kit.run.replied
        has_calls = reply is not None and bool(reply.message.calls)
        return [self._go_on(more=False)] if has_calls and not kit.run.answer else self._finish()

    def _go_on(self, *, more: bool) -> Drained:
        if spent := self._kit.budget.exhausted(self._kit.now_s()):
            return Drained(stop=exhausted(self._kit, spent))
        return Drained(more=more)

    def _take_in(self, *, from_peers: bool) -> bool:
        """Add steering and the messages of peers to the conversation; returns whether there were any."""
        journal = self._kit.journal
        waiting = [item for item in journal.session.known.queue if item.delivery == "steer"]
        for item in waiting:
            tokens = estimate_message(item.message)
            journal.stage(MessageAdded(item.message, item.source or "steer", tokens, item.item_id))
        return (from_peers and self._take_from_peers()) or bool(waiting)

    @property
    def _peers(self) -> PeerMessages | None:
        """Where messages from peers come from; None once the run has read enough."""
        return self._kit.peers if self._taken < MAX_PEER_MESSAGES else None

    def _take_from_peers(self) -> bool:
        peers = self._peers
        if peers is None:
            return False
        text = peers.take(self._kit.journal.id)
        if text:
            self._taken += 1
            message = user_message(self._kit.engine.mask(text))
            self._kit.journal.stage(MessageAdded(message, "peer", estimate_message(message)))
        return bool(text)

    # ------------------------------------------------------------------ the model is done

    def _finish(self) -> list[Input]:
        kit = self._kit
        if kit.children.running:
            kit.later(self._wait_for_children())
            return []
        if kit.run.options.until and not self._has_passed:
            kit.later(self._check())
            return []
        return self._extract(kit.setup.extraction) if kit.setup.extraction is not None else [OVER]

    async def _wait_for_children(self) -> None:
        waits: list[asyncio.Task[object]] = [asyncio.create_task(self._kit.children.next_result())]
        if self._peers is not None:
            waits.append(asyncio.create_task(self._peers.arrival(self._kit.journal.id)))
        try:
            done, _ = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
            await asyncio.wait(waits)
        for wait in done:
            wait.result()
        self._kit.post(ChildArrived())

    async def _check(self) -> None:
        setup = self._kit.setup
        environ = {**self._kit.engine.environ, **self._kit.env_of(None)}
        self._kit.post(UntilChecked(await run_check(self._kit.run.options.until, setup.cwd, environ)))

    def checked(self, checked: UntilChecked) -> list[Input]:
        """Continue the run unless the `until` command passed."""
        self._has_passed = checked.check.passed
        if self._has_passed:
            return self.decide()
        return [self._say(self._kit.engine.mask(checked.check.text), "check")]

    def _extract(self, extraction: Extraction) -> list[Input]:
        run, answer = self._kit.run, self._kit.answer()
        fits, value, error = extraction.read(answer, asked=run.extracting)
        if fits:
            self.value = value
            return [OVER]
        request = extraction.ask(error, run.extractions)
        if request is None:
            return [Drained(stop=Refused("failed", extraction.failure(error, answer)))]
        return [self._say(request, "extract")]

    def reread(self, text: str, ending: EndRun) -> EndRun:
        """Read the value from the answer as hooks rewrote it; if there is none, the run fails."""
        extraction = self._kit.setup.extraction
        if extraction is None or ending.outcome != "completed":
            return ending
        fits, self.value, error = extraction.read(text)
        reason = f"structured output: the answer, as changed by hooks, does not match: {error}"
        return ending if fits else EndRun("failed", reason)

    def _say(self, text: str, source: MessageSource) -> Drained:
        message = user_message(text)
        self._kit.journal.stage(MessageAdded(message, source, estimate_message(message)))
        return self._go_on(more=True)
