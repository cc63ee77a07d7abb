"""The questions of a sub-agent, shown where its parent is watched, and the answers on their way down.

```
child    ApprovalRequested c1 ──────▶ parent   ApprovalRequested <child>/c1 ──────▶ its parent …
         ApprovalDecided   c1 ◀── Decide c1 ── Decide <child>/c1
                              ──────▶          ApprovalDecided   <child>/c1 ──────▶ …
```

Only the agent that has asked takes an answer: the first one it gets, from wherever. What it records is
repeated above it, without the rules that were granted, which hold for the child alone.

After a crash a child asks again under the same names. Who answers before it does is not turned away.
"""

from collections.abc import Callable

from msgspec.structs import replace

from bridle.core.errors import SessionError
from bridle.core.ids import CallId, SessionId
from bridle.core.protocol import (
    Answer,
    ApprovalDecided,
    ApprovalRequested,
    Decide,
    Event,
    QuestionAnswered,
    QuestionAsked,
    Reply,
    ToolFinished,
)
from bridle.core.session import RunState
from bridle.sessions.family import Sessions
from bridle.sessions.journal import Journal

ENDED = "the sub-agent has ended"


class Relay:
    """Repeats what one child asks in the journal of its parent."""

    def __init__(self, child: SessionId, journal: Journal, sessions: Sessions) -> None:
        self._child = child
        self._journal = journal
        self._sessions = sessions
        self._asked: dict[CallId, CallId] = {}
        """From what a call is named in the parent's journal to what the child names it, of all that asked."""
        self._open: dict[CallId, type] = {}
        """What nobody has answered, by its name in the parent's journal."""

    @property
    def is_open(self) -> bool:
        """Tell whether the child waits for a person."""
        return bool(self._open)

    def knows(self, call_id: CallId) -> bool:
        """Tell whether the child has asked about a call of the parent's journal."""
        return call_id in self._asked

    def take_up(self, above: RunState, below: RunState | None) -> None:
        """Know again what the child had asked before a cut, as its parent's run and its own have it."""
        prefix = self._key(CallId(""))
        for key, kind in _open_in(above).items():
            if key.startswith(prefix):
                self._asked[key] = CallId(key.removeprefix(prefix))
                self._open[key] = kind
        if below is not None:
            self._asked.update({self._key(call_id): call_id for call_id in _open_in(below)})

    async def settle(self, below: RunState) -> None:
        """Repeat the answers that the child had got before a cut, and its parent had not heard of."""
        waiting = _open_in(below)
        for inner in [self._asked[key] for key in self._open]:
            if inner in waiting:
                continue
            decided = below.decided.get(inner)
            if decided is None:
                await self._close(inner)
            else:
                await self._close(inner, decided.answer, decided.reason)

    async def see(self, event: Event) -> None:
        """Repeat what the child has recorded, if that is a question or the end of one."""
        match event:
            case ApprovalRequested() | QuestionAsked():
                await self._ask(event)
            case ApprovalDecided():
                await self._close(event.call_id, event.answer, event.reason)
            case QuestionAnswered():
                await self._close(event.call_id, answers=event.answers)
            case ToolFinished():
                await self._close(event.result.call_id)
            case _:
                pass

    async def _ask(self, event: ApprovalRequested | QuestionAsked) -> None:
        key = self._key(event.call_id)
        self._asked[key] = event.call_id
        self._open[key] = type(event)
        asked = replace(event, call_id=key, child=event.child or self._child)
        if isinstance(asked, ApprovalRequested):
            asked = replace(asked, parent=None)  # its code is the child's, not known here
        await self._journal.record_whole(asked)

    async def _close(
        self, call_id: CallId, answer: Answer = "deny", reason: str = ENDED, answers: tuple[str, ...] = ()
    ) -> None:
        key = self._key(call_id)
        kind = self._open.pop(key, None)
        if kind is ApprovalRequested:
            await self._journal.record_whole(ApprovalDecided(key, answer, reason))
        elif kind is QuestionAsked:
            await self._journal.record_whole(QuestionAnswered(key, answers))

    def withdraw(self) -> list[Event]:
        """Return the events that end every open question."""
        ended: list[Event] = [
            ApprovalDecided(key, "deny", ENDED) if kind is ApprovalRequested else QuestionAnswered(key)
            for key, kind in self._open.items()
        ]
        self._open = {}
        return ended

    async def pass_down(self, command: Decide | Reply, stop: Callable[[str], None]) -> None:
        """Give the child an answer; who stops the child's run at such a question stops the parent's too."""
        inner = self._asked[command.call_id]
        try:
            await self._sessions.submit(self._child, replace(command, call_id=inner))
        except SessionError:
            return  # it has ended meanwhile, and so has its question
        if isinstance(command, Decide) and command.answer == "stop":
            stop(command.reason)

    def _key(self, call_id: CallId) -> CallId:
        return CallId(f"{self._child}/{call_id}")


def _open_in(run: RunState) -> dict[CallId, type]:
    """Return what a run waits for a person to answer."""
    asked: dict[CallId, type] = {request.call_id: ApprovalRequested for request in run.pending}
    return asked | dict.fromkeys(run.questions, QuestionAsked)
