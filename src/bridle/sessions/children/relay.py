"""Relays a sub-agent's approvals and questions up to its parent's session, and the answers down.

```
child    ApprovalRequested c1 ──────▶ parent   ApprovalRequested <child>/c1 ──────▶ its parent …
         ApprovalDecided   c1 ◀── Decide c1 ── Decide <child>/c1
                              ──────▶          ApprovalDecided   <child>/c1 ──────▶ …
```

Only the agent that asked takes an answer: the first one it gets, from any session. What it records is
repeated above it, without the granted rules, which apply to the sub-agent alone.

After a crash a sub-agent asks again under the same names. An answer that comes before that is accepted.
"""

from collections.abc import Callable

from msgspec.structs import replace

from bridle.core.errors import SessionError
from bridle.core.ids import CallId, SessionId
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Decide,
    Event,
    QuestionAnswered,
    QuestionAsked,
    Reply,
)
from bridle.core.session import RunState, settled_call
from bridle.sessions.agent_tree import Sessions
from bridle.sessions.journal import Journal

ENDED = "the sub-agent has ended"


class QuestionRelay:
    """Repeats one sub-agent's approvals and questions in its parent's journal."""

    def __init__(self, child: SessionId, journal: Journal, sessions: Sessions) -> None:
        self._child = child
        self._journal = journal
        self._sessions = sessions
        self._asked: dict[CallId, CallId] = {}
        """Maps the parent's name of every call that was asked about to the sub-agent's name of it."""
        self._open: dict[CallId, type] = {}
        """The unanswered approvals and questions, by their name in the parent's journal."""

    @property
    def is_open(self) -> bool:
        """True while the sub-agent waits for a person."""
        return bool(self._open)

    def knows(self, call_id: CallId) -> bool:
        """Return whether the sub-agent asked about a call named in the parent's journal."""
        return call_id in self._asked

    def take_up(self, above: RunState, below: RunState | None) -> None:
        """Restore what the sub-agent had asked before a crash, from its parent's run and its own."""
        prefix = self._key(CallId(""))
        for key, kind in _open_in(above).items():
            if key.startswith(prefix):
                self._asked[key] = CallId(key.removeprefix(prefix))
                self._open[key] = kind
        if below is not None:
            self._asked.update({self._key(call_id): call_id for call_id in _open_in(below)})

    async def settle(self, below: RunState) -> None:
        """Repeat the answers that the sub-agent got before a crash and its parent did not record."""
        waiting = _open_in(below)
        for inner in [self._asked[key] for key in self._open]:
            if inner not in waiting:
                await self._close(inner, below.decided.get(inner))

    async def see(self, event: Event) -> None:
        """Repeat a sub-agent's event if it opens or closes an approval or question."""
        if isinstance(event, ApprovalRequested | QuestionAsked):
            await self._ask(event)
        elif (call_id := settled_call(event)) is not None:
            await self._close(call_id, event)

    async def _ask(self, event: ApprovalRequested | QuestionAsked) -> None:
        key = self._key(event.call_id)
        self._asked[key] = event.call_id
        self._open[key] = type(event)
        asked = replace(event, call_id=key, child=event.child or self._child)
        if isinstance(asked, ApprovalRequested):
            asked = replace(asked, parent=None)  # the calling code belongs to the sub-agent
        await self._journal.record_whole(asked)

    async def _close(self, call_id: CallId, by: Event | None) -> None:
        """Repeat an answer; an approval or question that something else closes gets none."""
        key = self._key(call_id)
        kind = self._open.pop(key, None)
        if kind is ApprovalRequested:
            answer, reason = (by.answer, by.reason) if isinstance(by, ApprovalDecided) else ("deny", ENDED)
            await self._journal.record_whole(ApprovalDecided(key, answer, reason))
        elif kind is QuestionAsked:
            answers = by.answers if isinstance(by, QuestionAnswered) else ()
            await self._journal.record_whole(QuestionAnswered(key, answers))

    def withdraw(self) -> list[Event]:
        """Return the events that close every open approval and question."""
        ended: list[Event] = [
            ApprovalDecided(key, "deny", ENDED) if kind is ApprovalRequested else QuestionAnswered(key)
            for key, kind in self._open.items()
        ]
        self._open = {}
        return ended

    async def pass_down(self, command: Decide | Reply, stop: Callable[[str], None]) -> None:
        """Pass an answer to the sub-agent; an answer that stops its run stops the parent's too."""
        inner = self._asked[command.call_id]
        try:
            await self._sessions.submit(self._child, replace(command, call_id=inner))
        except SessionError:
            return  # it has ended meanwhile, and its question with it
        if isinstance(command, Decide) and command.answer == "stop":
            stop(command.reason)

    def _key(self, call_id: CallId) -> CallId:
        return CallId(f"{self._child}/{call_id}")


def _open_in(run: RunState) -> dict[CallId, type]:
    """Return the approvals and questions that a run waits for."""
    asked: dict[CallId, type] = {request.call_id: ApprovalRequested for request in run.pending}
    return asked | dict.fromkeys(run.questions, QuestionAsked)
