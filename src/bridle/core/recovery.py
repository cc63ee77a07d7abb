"""Crash recovery of a run: which calls are lost, where the run resumes, how it is closed.

| a call that | after a crash |
|---|---|
| has a result | keeps it and never runs again |
| had started and only reads | runs again |
| had started and started a sub-agent | runs again, finds the sub-agent and waits for it |
| had started and may have changed something | gets a result that says so |
| had not started | runs if the run is resumed |
"""

from collections.abc import Collection

from msgspec import Struct
from msgspec.structs import replace

from bridle.core.context import estimate_message
from bridle.core.errors import ProviderErrorKind
from bridle.core.ids import CallId
from bridle.core.messages import Message, Text, ToolResult, Usage
from bridle.core.protocol import ModelReplied, Outcome, RunEnded, ToolFinished
from bridle.core.session import RunState

INTERRUPTED = (
    "interrupted: the process ended while this was running; it may or may not have taken effect, "
    "so check before doing it again"
)
NOT_RUN = "not run: the run was cut off before it"


class ResumePlan(Struct, frozen=True):
    """How an interrupted run resumes."""

    turn: int
    """The last turn that is complete."""
    replay: Message | None
    """The reply of the next turn, if the model had already answered."""
    lost: tuple[ToolFinished, ...]
    """Results for the calls whose effect is unknown."""
    again: frozenset[CallId] = frozenset()
    """The calls of the reply to run, for the first time or again."""


def plan_resume(run: RunState, last: Message, with_children: Collection[CallId] = ()) -> ResumePlan:
    """Decide where a run resumes, from its newest message and the calls that started sub-agents."""
    lost = tuple(
        replace(make_failed_call(start.call_id, start.tool, INTERRUPTED), parent=start.parent)
        for start in run.interrupted
        if not (start.repeatable or start.call_id in with_children)
        or start.parent is not None  # the code that made this call does not continue
    )
    reply = run.replied
    if reply is None:
        return ResumePlan(max(0, run.turn - 1), None, lost)
    if run.turn_ended and last.role == "user":  # the message belongs to the next turn; this one is complete
        return ResumePlan(run.turn, None, lost)
    over = {*run.finished, *(finished.result.call_id for finished in lost)}
    again = frozenset(call.id for call in reply.message.calls if call.id not in over)
    return ResumePlan(run.turn - 1, reply.message, lost, again)


def close_calls(run: RunState, *, begun: str, not_begun: str) -> list[ToolFinished]:
    """Give every open call of the turn a result, because a call without one makes the session unusable."""
    calls = run.replied.message.calls if run.replied is not None else ()
    made_by_code = [start for start in run.interrupted if start.parent is not None]
    return [
        *(
            replace(make_failed_call(start.call_id, start.tool, begun), parent=start.parent)
            for start in made_by_code
        ),
        *(
            make_failed_call(call.id, call.name, begun if call.id in run.started else not_begun)
            for call in calls
            if call.id not in run.finished
        ),
    ]


def cut_off_reply(run: RunState, text: str, usage: Usage, cost: float | None) -> ModelReplied:
    """Return a reply with the part that the user saw before it was cut off."""
    message = Message("assistant", (Text(text),))
    tokens = estimate_message(message)
    return ModelReplied(run.run_id, run.turn, message, "cancelled", usage, cost, tokens)


def make_run_end(
    run: RunState, outcome: Outcome, text: str, reason: str, error: ProviderErrorKind | None = None
) -> RunEnded:
    """Return a run's last event, with totals from its recorded state."""
    spent = run.spent
    return RunEnded(
        run.run_id, outcome, text, reason, spent.turns, spent.tool_calls, run.usage, run.cost, error=error
    )


def make_failed_call(call_id: CallId, name: str, reason: str) -> ToolFinished:
    """Return the event of a call that did not finish."""
    return ToolFinished(ToolResult(call_id, name, reason, is_error=True))
