"""A session of 100,000 records, like months of work."""

from bridle.core.context import ContextUsage
from bridle.core.facts import facts_after
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.ports import Store
from bridle.core.protocol import (
    Checkpoint,
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    RunEnded,
    RunStarted,
    SessionFacts,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)

RECORDS = 100_000
TURNS_OF_A_RUN = 50
RECORDS_OF_A_RUN = 5 * TURNS_OF_A_RUN + 4
CONTEXT = ContextUsage(window=200_000, system=900, tools=4_000, earlier=20_000, run=3_000, reserve=8_000)
USAGE = Usage(input=27_000, output=120)


async def write_long_session(store: Store, session: SessionId, records: int = RECORDS) -> int:
    """Add runs to a session until it has so many records; returns its newest."""
    (first,) = await store.read(session, limit=1)
    facts = facts_after(None, first)
    seq, number = first.seq, 0
    while seq < records:
        added = await store.append(session, seq, [*_run(number), Checkpoint(facts)])
        facts = _after(facts, added[:-1])
        seq = added[-1].seq
        number += 1
    return seq


def _after(facts: SessionFacts, records: list[Record]) -> SessionFacts:
    for record in records:
        facts = facts_after(facts, record)
    return facts


def _run(number: int) -> list[Event]:
    run = RunId(f"run-{number}")
    events: list[Event] = [RunStarted(run, "scripted/long"), MessageAdded(user_message(f"Prompt {number}"))]
    for turn in range(1, TURNS_OF_A_RUN + 1):
        call = CallId(f"call-{number}-{turn}")
        args = {"path": f"file{turn}.txt"}
        said = Message("assistant", (Text(f"Run {number}, step {turn}."), ToolCall(call, "read_file", args)))
        events += [
            TurnStarted(run, turn),
            ModelReplied(run, turn, said, "tool_use", USAGE, 0.01, 40, CONTEXT),
            ToolStarted(call, "read_file", args),
            ToolFinished(ToolResult(call, "read_file", f"line {turn}\n" * 8), duration_ms=3, tokens=20),
            TurnEnded(run, turn, USAGE, CONTEXT),
        ]
    return [*events, RunEnded(run, "completed", f"Done with {number}.")]
