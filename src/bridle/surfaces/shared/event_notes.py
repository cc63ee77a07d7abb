"""One-line notes on events of a run other than messages and calls."""

from typing import Literal

from bridle.core.hook import PATCH_POINT, Patch
from bridle.core.protocol import (
    BudgetWarned,
    Compacted,
    CompactionFailed,
    Event,
    FilesChanged,
    HookDenied,
    HookFailed,
    HookRewrote,
    MessageAdded,
    ModelSwitched,
    OutputsCleared,
    Pinned,
    Retrying,
    RewindScope,
    Rewound,
)
from bridle.surfaces.shared.full_transcript import describe_note
from bridle.surfaces.shared.terminal import one_line
from bridle.surfaces.shared.text_format import describe_changes

Weight = Literal["detail", "warning"]

SCOPE_WORDS: dict[RewindScope, str] = {
    "all": "files and conversation",
    "files": "files only",
    "conversation": "conversation only",
}
"""Names of rewind scopes."""


def make_note(event: Event) -> tuple[Weight, str] | None:
    """Return the weight and text of an event's note; None if it has none."""
    match event:
        case BudgetWarned():
            return "warning", f"{event.used:g} of {event.limit:g} {event.kind} used"
        case Compacted() | OutputsCleared() | Pinned():
            return "detail", describe_note(event)
        case CompactionFailed():
            return "warning", describe_note(event)
        case FilesChanged(call_id=None):
            return "detail", f"on disk: {describe_changes(event.changes)}"
        case HookDenied():
            return "warning", one_line(f"hook {event.hook_id} refused at {event.point}: {event.message}")
        case HookFailed():
            return "warning", one_line(f"hook {event.hook_id} failed at {event.point}: {event.error}")
        case HookRewrote():
            return "detail", f"hook {event.hook_id} rewrote the {_patched(event.patch)}"
        case MessageAdded(source="peer"):
            return "detail", "a message from another agent"
        case MessageAdded(source="check"):
            return "detail", one_line(event.message.text.partition("\n")[0])
        case MessageAdded(source="extract"):
            return "detail", "the answer does not fit the schema yet: the model is asked for one that does"
        case ModelSwitched():
            return "warning", f"going on with {event.model}: {event.reason}"
        case Retrying():
            return "warning", f"retrying in {event.delay_ms / 1000:.1f} s: {event.message}"
        case Rewound():
            return "warning", f"back at event {event.to_seq}: {SCOPE_WORDS[event.scope]}"
        case _:
            return None


def _patched(patch: Patch) -> str:
    return {
        "pre_llm_request": "request",
        "post_llm_response": "reply",
        "pre_tool_execution": "arguments of the call",
        "post_tool_execution": "result of the call",
        "run_completed": "answer",
    }[PATCH_POINT[type(patch)]]
