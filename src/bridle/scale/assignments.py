"""Runs jobs: claim a session, submit a command, drive the session until its run ends or rests.

```
job   ─▶ does another worker drive it? ─▶ pass it on
     └─▶ is a run open? resume it ─▶ submit the command ─▶ taken ─▶ … ─▶ the run ended ─▶ done
                                                                   └─▶ it waits for a person: let go
                                                                   └─▶ we are stopping: order another job
```

While a job drives a session, further commands come here directly (`submit`). A command that arrives when
the job is about to end is refused with NotDrivenHere, and becomes a new job.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing, suppress
from typing import Protocol

import msgspec
from msgspec.structs import replace

from bridle.core.errors import (
    BridleError,
    NotDrivenHere,
    SessionBusy,
    SessionConflict,
    SessionNotRunning,
    StoreError,
    WorkspaceLost,
)
from bridle.core.ids import SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    Archive,
    Command,
    Compact,
    Compacted,
    Configure,
    Decide,
    DropQueued,
    EditQueued,
    Label,
    Pin,
    Prompt,
    QuestionAnswered,
    QuestionAsked,
    Record,
    Rename,
    Reply,
    Resume,
    Rewind,
    Rewound,
    RunEnded,
)
from bridle.core.queries import IsRunning, Records, Status
from bridle.core.session_api import Receipt
from bridle.core.session_status import SessionStatus
from bridle.scale.jobs import Job, decode_job, encode_outcome
from bridle.sessions.service import SessionService

# ---------------------------------------------------------------------------- assignment
# The state of a session that this worker drives.


AROUND_RUNS = (Rename, Pin, Configure, Label, Archive, EditQueued, DropQueued)
"""Commands that do not need a resting run to be resumed."""


class DrivenSession:
    """A session that this worker drives."""

    def __init__(self) -> None:
        self.taking = 0
        self.is_ending = False
        self.quiet = asyncio.Event()
        self.quiet.set()
        self.ready = asyncio.Event()
        """Set once other commands may follow: an unfinished run has resumed by now, or never will."""
        self.is_awake = False
        self.rested: tuple[int, float] | None = None
        """The record after which it rests, and since when."""

    def wake(self) -> None:
        """Allow all commands: no unfinished run is left, which a prompt would end."""
        self.is_awake = True
        self.ready.set()

    def takes(self, command: Command) -> bool:
        """Return whether a command that has waited can be submitted."""
        return not self.is_ending and (self.is_awake or isinstance(command, AROUND_RUNS))

    def hold(self) -> None:
        """Note that a command is being submitted."""
        self.taking += 1
        self.quiet.clear()

    def release(self) -> None:
        """Note that a command was submitted."""
        self.taking -= 1
        if not self.taking:
            self.quiet.set()


# ---------------------------------------------------------------------------- assignments


MAX_TRIES = 10  # attempts to resume a run
ANSWER_S = 20.0  # for an answer to be recorded
AGAIN_S = 0.05
LEAVE_S = 1.0
BUSY_S = 30.0  # for a session that another worker is about to release

PASSING = (SessionBusy, SessionConflict, SessionNotRunning, StoreError)
"""Errors that stop a run here and now; it may continue later, or on another worker."""

log = logging.getLogger("bridle.scale")

Tell = Callable[[str], Awaitable[None]]


class StepRecorder(Protocol):
    """Records the steps of a session's job."""

    def begin(self, session: SessionId) -> None:
        """Mark the start of a session's job here."""
        ...

    def end(self, session: SessionId) -> None:
        """Mark the end of a session's job."""
        ...


class ClusterPort(Protocol):
    """The operations of the cluster that a job needs."""

    async def forward(self, session: SessionId, command: Command) -> Receipt:
        """Send a command to the worker that drives the session; raises NotDrivenHere if there is none."""
        ...

    async def order(self, order: Job, assignment: str) -> None:
        """Order another job, after a short delay."""
        ...

    async def bring(self, session: SessionId, folder: str) -> None:
        """Make sure that a session's folder exists here; raises WorkspaceLost."""
        ...


class JobRunner:
    """Runs all jobs of one worker."""

    def __init__(self, service: SessionService, track: StepRecorder, around: ClusterPort) -> None:
        self._service = service
        self._track = track
        self._around = around
        self._driven: dict[SessionId, DrivenSession] = {}
        self.is_stopping = False
        """True once the worker is stopping: unfinished runs continue on another worker."""

    @property
    def sessions(self) -> tuple[SessionId, ...]:
        """The sessions driven here."""
        return tuple(self._driven)

    async def submit(self, session: SessionId, command: Command) -> Receipt:
        """Submit a command to a session that is driven here; raises NotDrivenHere."""
        driven = self._driven.get(session)
        if driven is None and self._service.is_busy(session):  # a sub-agent, driven by the job of its parent
            driven = DrivenSession()
            driven.wake()
        if driven is None or driven.is_ending:
            raise NotDrivenHere(f"session {session} is not driven here")
        driven.hold()
        try:
            await driven.ready.wait()
            if not driven.takes(command):
                raise NotDrivenHere(f"session {session} is not driven here")
            return await self._confirmed(session, command)
        except BridleError as error:
            now = self._driven.get(session)
            is_leaving = now is not driven or now.is_ending
            raise self._as_refused(session, error, is_leaving=is_leaving) from error
        finally:
            driven.release()

    async def drive(self, name: str, text: str, tell: Tell) -> str:
        """Run a job to its end; `tell` gets the outcome of the command."""
        try:
            order = decode_job(text)
        except msgspec.MsgspecError as error:
            log.error("assignment %s is invalid: %s", name, error)
            hint = "upgrade the workers"
            await tell(encode_outcome(BridleError("a worker did not understand the request", hint=hint)))
            return "refused"
        if self.is_stopping:
            return await self._give_back(order, name, tell)
        session, driven = order.session, DrivenSession()
        try:
            outcome = await self._outcome(order, driven, name)
            await tell(encode_outcome(outcome))
            is_refused = isinstance(outcome, Exception)
            if self._driven.get(session) is not driven:
                return "refused" if is_refused else "passed on"
            await self._until_rest(session, driven)
            left = await self._left(order, name)
            return "refused" if is_refused and left == "ended" else left
        finally:
            self._let_go(session, driven)

    async def _outcome(self, order: Job, driven: DrivenSession, name: str) -> Receipt | Exception:
        """Have the command taken; return the outcome for the sender."""
        driven.hold()
        try:
            return await self._take_or_pass_on(order, driven)
        except BridleError as error:
            return self._as_refused(order.session, error)
        except Exception as error:
            log.exception("assignment %s of session %s failed", name, order.session)
            return error
        finally:
            driven.ready.set()
            driven.release()

    async def _give_back(self, order: Job, name: str, tell: Tell) -> str:
        """Requeue a job that arrived while we are stopping, for another worker."""
        try:
            await self._around.order(order, name)
        except BridleError as error:
            await tell(encode_outcome(error))
            return "refused"
        # The sender orders it once more; a command with the same key is taken once.
        await tell(encode_outcome(NotDrivenHere(f"session {order.session} continues elsewhere")))
        return "continues elsewhere"

    def _as_refused(self, session: SessionId, error: BridleError, *, is_leaving: bool = False) -> BridleError:
        """Return NotDrivenHere if the sender should find another worker, else the error unchanged."""
        is_closed = isinstance(error, SessionNotRunning) and (is_leaving or self.is_stopping)
        is_held = isinstance(error, SessionBusy) and not self._service.is_busy(session)
        if (
            isinstance(error, SessionConflict) or is_closed or is_held
        ):  # a conflict: another worker appended to the session
            return NotDrivenHere(f"session {session} is not driven here any more: {error.message}")
        return error

    async def set_aside_resting(self, after_s: float) -> None:
        """Release the sessions whose runs have waited this long for a person."""
        now = time.monotonic()
        for session, driven in list(self._driven.items()):
            if driven.taking or driven.is_ending or not self._service.rests(session):
                driven.rested = None
                continue
            seq = (await self._service.ask(Status(session))).seq
            if driven.rested is None or driven.rested[0] != seq:
                driven.rested = (seq, now)
            elif now - driven.rested[1] >= after_s and not driven.taking:
                driven.is_ending = True
                await self._service.set_aside(session)

    # ------------------------------------------------------------------ start

    async def _enter(self, session: SessionId, driven: DrivenSession) -> bool:
        """Start to drive the session; False if it is already driven."""
        if session in self._driven or await self._service.ask(IsRunning(session)) or session in self._driven:
            return False
        self._driven[session] = driven
        self._track.begin(session)
        return True

    def _let_go(self, session: SessionId, driven: DrivenSession) -> None:
        if self._driven.get(session) is driven:
            del self._driven[session]
            self._track.end(session)

    async def _take_or_pass_on(self, order: Job, driven: DrivenSession) -> Receipt:
        """Have the command taken, by this job if no worker drives the session yet, else by that worker."""
        deadline = time.monotonic() + BUSY_S
        session = order.session
        while True:
            try:
                if await self._enter(session, driven):
                    return await self._take(order, driven)
                if session in self._driven:
                    return await self.submit(session, order.command)
                return await self._around.forward(session, order.command)
            except NotDrivenHere:
                is_late = time.monotonic() > deadline
            except SessionBusy:  # from a worker that was faster, or from the run itself
                if self._driven.get(session) is not driven or self._service.is_busy(session):
                    raise
                is_late = time.monotonic() > deadline
            self._let_go(session, driven)
            if is_late:
                raise SessionBusy(
                    f"session {session} is held by a worker that does not answer", hint="bridle scale status"
                )
            await asyncio.sleep(AGAIN_S)

    async def _take(self, order: Job, driven: DrivenSession) -> Receipt:
        """Submit the command, after resuming an unfinished run."""
        session, command = order.session, order.command
        status = await self._service.ask(Status(session))
        if not isinstance(command, AROUND_RUNS):
            try:
                await self._around.bring(session, status.facts.created.cwd)
            except WorkspaceLost as error:
                await self._lose(session, status, str(error))
                raise
        if await self._is_done(order):
            return Receipt(status.seq)
        resumed: Receipt | None = None
        if status.run is not None and not isinstance(command, AROUND_RUNS):
            resumed = await self._go_on(order, status)
        if status.run is None or resumed is not None:
            driven.wake()
        if isinstance(command, Resume) and (resumed is not None or order.tries):
            receipt = resumed or Receipt(status.seq)
        else:
            receipt = await self._confirmed(session, command)
        if not isinstance(command, AROUND_RUNS):
            driven.wake()
            if status.facts.queue:
                await self._service.begin_queued(session)
        return receipt

    async def _go_on(self, order: Job, status: SessionStatus) -> Receipt | None:
        options = order.command.options if isinstance(order.command, Resume) else Resume().options
        try:
            return await self._service.submit(order.session, Resume(options))
        except BridleError as error:
            if order.tries >= MAX_TRIES:
                await self._lose(order.session, status, f"it could not continue: {error}")
            if not isinstance(order.command, Prompt) or isinstance(error, PASSING):
                raise
            return None  # the prompt ends the run that cannot be resumed

    async def _lose(self, session: SessionId, status: SessionStatus, why: str) -> None:
        if status.run is not None:
            log.warning("session %s: %s", session, why)
            await self._service.give_up(session, why)

    async def _is_done(self, order: Job) -> bool:
        """Return whether the command already took effect in an earlier attempt of this job."""
        kind = {Rewind: Rewound, Compact: Compacted}.get(type(order.command))
        if kind is None:
            return False
        since = await self._service.ask(Records(order.session, after=order.seq))
        return any(isinstance(record.event, kind) for record in since)

    # ------------------------------------------------------------------ answers

    async def _confirmed(self, session: SessionId, command: Command) -> Receipt:
        """Submit a command; return for a person's answer only once it is recorded."""
        if not isinstance(command, Decide | Reply):
            return await self._service.submit(session, command)
        status = await self._service.ask(Status(session))
        if not _is_asked(status, command):
            return await self._service.submit(session, command)
        try:
            async with asyncio.timeout(ANSWER_S):
                return await self._recorded(session, command, status.seq)
        except TimeoutError:
            raise SessionBusy(f"session {session} did not accept the answer in time") from None

    async def _recorded(self, session: SessionId, command: Decide | Reply, seq: int) -> Receipt:
        receipt = await self._service.submit(session, command)
        async with aclosing(self._service.watch(session, seq)) as items:
            async for item in items:
                if not isinstance(item, Record):
                    continue
                match item.event:
                    case ApprovalDecided(call_id=call_id) | QuestionAnswered(call_id=call_id):
                        if call_id == command.call_id:
                            return replace(receipt, seq=item.seq)
                    case QuestionAsked(call_id=call_id) if call_id == command.call_id:
                        with suppress(SessionNotRunning):  # asked again by a resumed run
                            await self._service.submit(session, command)
                    case RunEnded():
                        return replace(receipt, seq=item.seq)
                    case _:
                        pass
        return receipt

    # ------------------------------------------------------------------ end

    async def _until_rest(self, session: SessionId, driven: DrivenSession) -> None:
        """Wait until no run is active and no command is being submitted."""
        while not driven.is_ending:
            await self._service.until_free(session)
            await driven.quiet.wait()
            if not (driven.taking or self._service.is_busy(session)):
                driven.is_ending = True
            elif self.is_stopping:  # a run whose end was cut off never becomes free
                await asyncio.sleep(AGAIN_S)

    async def _left(self, order: Job, name: str) -> str:
        """Leave the session and requeue unfinished work, retrying for as long as the database is away."""
        while True:
            try:
                return await self._leave(order, name)
            except StoreError as error:
                log.warning("session %s cannot be handed over: %s", order.session, error)
                await asyncio.sleep(LEAVE_S)
            except BridleError as error:  # another worker has it, it is deleted, or its machine is gone
                log.warning("session %s is left as it is: %s", order.session, error)
                return "left"

    async def _leave(self, order: Job, name: str) -> str:
        """Make sure that a run which neither ended nor waits for a person continues on some worker."""
        status = await self._service.ask(Status(order.session))
        if status.run is None and (order.tries >= MAX_TRIES or not _has_next(status)):
            return "ended"
        if status.run is not None and not self.is_stopping and (status.run.approvals or status.run.questions):
            return "rests"
        if order.tries >= MAX_TRIES:
            await self._lose(order.session, status, "it failed too often")
            return "given up"
        tries = max(1, order.tries) if self.is_stopping else order.tries + 1
        await self._around.order(Job(order.session, Resume(), status.seq, tries), name)
        return "continues elsewhere"


def _is_asked(status: SessionStatus, answer: Decide | Reply) -> bool:
    if status.run is None:
        return False
    asked = status.run.approvals if isinstance(answer, Decide) else status.run.questions
    return any(one.call_id == answer.call_id for one in asked)


def _has_next(status: SessionStatus) -> bool:
    """Return whether a queued prompt is due to run."""
    was_stopped = status.last is not None and status.last.outcome in ("cancelled", "denied")
    return bool(status.facts.queue) and not was_stopped
