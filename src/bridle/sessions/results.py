"""The message and status that a parent gets when a sub-agent ends."""

from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Outcome, PromptQueued, RunEnded
from bridle.core.sub_agent import ChildStage
from bridle.sessions.agent_tree import quoted

MAX_RESULT_CHARS = 32_000  # in the message; agent_status returns the full text

STAGES: dict[Outcome, ChildStage] = {"completed": "completed", "cancelled": "cancelled"}
"""Every other outcome is a failure."""


def make_result_message(
    item_id: str, name: str, child: SessionId, ended: RunEnded, said: str
) -> PromptQueued:
    """Return the message that gives the parent's model the result of a background sub-agent."""
    text = quoted("\n\n".join(filter(None, (failure_reason(ended), said)))) or "(no answer)"
    if len(text) > MAX_RESULT_CHARS:
        text = f"{text[:MAX_RESULT_CHARS]}\n[cut off here: agent_status has all of it]"
    message = user_message(f"[result of {name} ({child}): {stage_of(ended)}]\n{text}")
    return PromptQueued(item_id, message, delivery="steer", source="child")


def stage_of(ended: RunEnded) -> ChildStage:
    """Return the stage that an ended sub-agent is in."""
    return STAGES.get(ended.outcome, "failed")


def failure_reason(ended: RunEnded) -> str:
    """Return why a run has no result or only part of one; empty for a completed run."""
    if ended.outcome == "completed":
        return ""
    return ended.reason if ended.outcome == "failed" else f"{ended.outcome}: {ended.reason}".rstrip(": ")
