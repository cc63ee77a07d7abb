"""One line for each event other than text and calls."""

import pytest

from bridle.core.hook import ToolArgsPatch
from bridle.core.ids import CallId, RunId
from bridle.core.messages import user_message
from bridle.core.protocol import (
    BudgetWarned,
    Event,
    FilesChanged,
    HookCompleted,
    HookDenied,
    HookFailed,
    HookRewrote,
    MessageAdded,
    ModelSwitched,
    Retrying,
    Rewound,
)
from bridle.core.revision import FileChange, FileState
from bridle.surfaces.shared.event_notes import make_note

RUN = RunId("r")


@pytest.mark.parametrize(
    ("event", "note"),
    [
        (FilesChanged((FileChange("a", None, FileState("file")),)), ("detail", "on disk: created a")),
        (FilesChanged((FileChange("a", None, FileState("file")),), CallId("c")), None),
        (ModelSwitched(RUN, 1, "b/x", "a is down"), ("warning", "going on with b/x: a is down")),
        (Retrying(RUN, 1, 1, 3, "overloaded", "busy", 1500), ("warning", "retrying in 1.5 s: busy")),
        (BudgetWarned("cost", 0.8, 1.0), ("warning", "0.8 of 1 cost used")),
        (
            HookDenied("guard", "pre_tool_execution", "policy_violation", "not\nhere"),
            ("warning", "hook guard refused at pre_tool_execution: not here"),
        ),
        (
            HookFailed("guard", "run_started", "exit 1"),
            ("warning", "hook guard failed at run_started: exit 1"),
        ),
        (
            HookRewrote("tidy", "pre_tool_execution", ToolArgsPatch({})),
            ("detail", "hook tidy rewrote the arguments of the call"),
        ),
        (HookCompleted("guard", "run_started"), None),
        (
            MessageAdded(user_message("Not done yet: it failed.\nlong"), "check"),
            ("detail", "Not done yet: it failed."),
        ),
        (MessageAdded(user_message("hi"), "prompt"), None),
        (
            MessageAdded(user_message("[COMMS MESSAGE from b]\nhi"), "peer"),
            ("detail", "a message from another agent"),
        ),
        (Rewound(7, "files"), ("warning", "back at event 7: files only")),
    ],
)
def test_each_note_is_one_line(event: Event, note: tuple[str, str] | None):
    assert make_note(event) == note
