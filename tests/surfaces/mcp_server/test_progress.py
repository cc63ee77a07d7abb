"""Progress messages during a run."""

from bridle.core.ids import CallId, RunId
from bridle.core.messages import ToolResult
from bridle.core.protocol import (
    Event,
    Notice,
    ReasoningDelta,
    Record,
    TextDelta,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from bridle.surfaces.mcp_server.progress import MAX_LINES, MAX_TEXT_CHARS, ProgressLines


def record(event: Event) -> Record:
    return Record(1, 1, event, "")


def test_text_that_was_not_taken_comes_in_one_piece():
    news = ProgressLines()
    for item in (
        record(TurnStarted(RunId("r"), 1)),
        TextDelta("Let "),
        ReasoningDelta("hm"),
        TextDelta("me see."),
        record(ToolStarted(CallId("c1"), "bash", {"command": "ls"})),
        record(ToolFinished(ToolResult(CallId("c1"), "bash", "no", is_error=True))),
        Notice("waiting for a model"),
        TextDelta("done"),
    ):
        news.add(item)

    assert news.take() == [
        "turn 1",
        "Let me see.",
        "bash ls",
        "bash failed",
        "waiting for a model",
        "done",
    ]
    assert news.take() == []


def test_what_nobody_takes_stays_small():
    news = ProgressLines()
    for number in range(1000):
        news.add(TextDelta("x" * 1000))
        news.add(Notice(f"{number}" * 1000))
    for _ in range(100):
        news.add(TextDelta("y" * 1000))

    lines = news.take()

    assert len(lines) == MAX_LINES
    assert max(map(len, lines)) == MAX_TEXT_CHARS
    assert lines[-1] == "y" * MAX_TEXT_CHARS
