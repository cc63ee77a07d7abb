"""A small session as records, for tests that only read."""

from collections.abc import Iterable
from typing import Any

import msgspec

from bridle.core.codec import GENESIS, encode_records
from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, Usage, user_message
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    MessageAdded,
    ModelReplied,
    Record,
    RunEnded,
    RunStarted,
    SessionCreated,
    ToolFinished,
    ToolStarted,
    TurnEnded,
    TurnStarted,
)
from bridle.surfaces.shared.output_format import Result, ResultBuilder

SESSION = SessionId("019a8536-2b7c-7000-8000-000000000001")
RUN = RunId("019a8536-2b7d-7000-8000-000000000002")
CALL = CallId("call_1")
AT = 1_763_190_000_000
EDIT = {"path": "greet.py", "old_str": "helo", "new_str": "hello"}
DIFF = "--- greet.py\n+++ greet.py\n@@ -1,1 +1,1 @@\n-helo\n+hello\n"


def records(events: Iterable[Event]) -> list[Record]:
    """Number, date and chain events."""
    return [record for record, _ in encode_records(GENESIS, 1, AT, events)]


def edit_session(
    said: str = "Done.", *, output: str = "Replaced 1 occurrence(s) in greet.py"
) -> list[Record]:
    """Return a session in which a file was edited after an approval."""
    return records(
        [
            SessionCreated(SESSION, "/work", "default"),
            RunStarted(RUN, "scripted/x"),
            MessageAdded(user_message("fix the greeting"), "prompt", 5),
            TurnStarted(RUN, 1),
            ModelReplied(
                RUN,
                1,
                Message("assistant", (Text("I change it."), ToolCall(CALL, "edit_file", EDIT))),
                "tool_use",
                Usage(100, 10),
                tokens=10,
            ),
            ApprovalRequested(CALL, "edit_file", EDIT, "writes a file (mode ask)", DIFF, ("edit_file(*)",)),
            ApprovalDecided(CALL, "once"),
            ToolStarted(CALL, "edit_file", EDIT),
            ToolFinished(ToolResult(CALL, "edit_file", output), 3, 8),
            TurnEnded(RUN, 1, Usage(100, 10), ContextUsage(1000)),
            TurnStarted(RUN, 2),
            ModelReplied(RUN, 2, Message("assistant", (Text(said),)), "end_turn", Usage(120, 5), tokens=5),
            TurnEnded(RUN, 2, Usage(120, 5), ContextUsage(1000)),
            RunEnded(RUN, "completed", said, turns=2, tool_calls=1, usage=Usage(220, 15)),
        ]
    )


def result(**changes: Any) -> Result:
    """Return what that session came to, with some of it changed."""
    ledger = ResultBuilder(SESSION, RUN)
    for record in edit_session():
        ledger.add(record)
    assert ledger.result is not None
    return msgspec.structs.replace(ledger.result, **changes)


CELL, INNER = CallId("call_2"), CallId("call_2.1")
CODE = 'text = await read_file("a.txt")\nprint(text)'


def code_session(*, fenced: bool = False) -> list[Record]:
    """Return a session in which code called four tools: one ran, two were refused, one was cut off."""
    edit, shell, wait = (CallId(f"{CELL}.{number}") for number in (2, 3, 4))
    call = ToolCall(CELL, "python", {"code": CODE}, meta={"fenced": True} if fenced else {})
    said = f"I look.\n\n```python\n{CODE}\n```" if fenced else "I look."
    return records(
        [
            SessionCreated(SESSION, "/work", "default"),
            RunStarted(RUN, "scripted/x"),
            MessageAdded(user_message("look"), "prompt", 5),
            TurnStarted(RUN, 1),
            ModelReplied(RUN, 1, Message("assistant", (Text(said), call)), "tool_use", Usage(100, 10)),
            ToolStarted(CELL, "python", {"code": CODE}),
            ToolStarted(INNER, "read_file", {"path": "a.txt"}, parent=CELL),
            ToolFinished(ToolResult(INNER, "read_file", "1: hello"), 2, parent=CELL),
            ApprovalRequested(edit, "edit_file", {"path": "b.txt"}, "writes a file (mode ask)", parent=CELL),
            ApprovalDecided(edit, "deny"),
            ToolFinished(
                ToolResult(edit, "edit_file", "the user said no", is_error=True), denied=True, parent=CELL
            ),
            ToolFinished(
                ToolResult(shell, "bash", "denied by rule deny bash", is_error=True), denied=True, parent=CELL
            ),
            ToolStarted(wait, "wait", {"seconds": 1}, parent=CELL),
            ToolFinished(ToolResult(CELL, "python", "1: hello"), 30, answer="It says hello."),
            TurnEnded(RUN, 1, Usage(100, 10), ContextUsage(1000)),
            RunEnded(RUN, "completed", "It says hello.", turns=1, tool_calls=3, usage=Usage(100, 10)),
        ]
    )
