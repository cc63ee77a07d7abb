"""The calls of a run for a follower: requested, started and ended."""

from bridle.core.ids import CallId
from bridle.core.messages import Message, ToolCall, ToolResult, Usage
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    FilesChanged,
    ModelReplied,
    ToolFinished,
    ToolStarted,
)
from bridle.core.revision import FileChange, FileState
from bridle.surfaces.shared.view_model.bounded_text import LINE_CHARS, OUTPUT_CHARS
from bridle.surfaces.shared.view_model.calls import RunCalls
from bridle.surfaces.shared.view_model.view_types import Call
from tests.surfaces.records import CALL, RUN, records

INNER = CallId("inner")
CODE = "x = 1\n" * OUTPUT_CHARS


def added(*events: Event) -> tuple[RunCalls, list[Call]]:
    """Give the events to a fold; return it and what the last event changed."""
    calls, changed = RunCalls(), []
    for record in records(events):
        changed = calls.add(record)
    return calls, changed


def replied(tool: str, args: dict[str, object]) -> ModelReplied:
    return ModelReplied(RUN, 1, Message("assistant", (ToolCall(CALL, tool, args),)), "tool_use", Usage(), 0)


def change(path: str) -> FilesChanged:
    return FilesChanged((FileChange(path, None, FileState("file")),), CALL)


def test_texts_are_whole():
    command = "e" * 2 * LINE_CHARS
    _, [requested] = added(replied("python", {"code": CODE}))
    _, [started] = added(ToolStarted(CALL, "bash", {"command": command}))
    _, [ended] = added(ToolFinished(ToolResult(CALL, "python", CODE), diff=CODE, answer=CODE))

    assert requested.code == CODE.rstrip()
    assert started.brief == command
    assert (ended.output, ended.diff, ended.answer) == (CODE, CODE, CODE)


def test_a_call_is_open_from_its_request_to_its_end():
    request, start = replied("bash", {"command": "ls"}), ToolStarted(CALL, "bash", {"command": "ls"})
    end = ToolFinished(ToolResult(CALL, "bash", "a", is_error=True), 7)
    seen = [added(*events) for events in ([request], [request, start], [request, start, end])]

    assert [[call.call_id for call in calls.open] for calls, _ in seen] == [[CALL], [CALL], []]
    assert [(call.state, bool(call.started_at)) for _, [call] in seen] == [
        ("running", False),
        ("running", True),
        ("failed", True),
    ]


def test_a_refused_call_ends_with_its_result():
    asked = ApprovalRequested(INNER, "bash", {"command": "ls"}, "why", parent=CALL)
    denied = ApprovalDecided(INNER, "deny", "no")
    end = ToolFinished(ToolResult(INNER, "bash", "no", is_error=True), denied=True, parent=CALL)

    assert [call.brief for call in added(asked)[1]] == ["ls"]
    assert added(asked, denied)[1] == []
    assert [(call.state, call.parent) for call in added(asked, denied, end)[1]] == [("denied", CALL)]


def test_all_changes_of_a_call_are_named():
    start = ToolStarted(CALL, "bash", {"command": "make"})
    _, [ended] = added(start, change("a"), change("b"), ToolFinished(ToolResult(CALL, "bash", "")))

    assert ended.changed == "created a, created b"
