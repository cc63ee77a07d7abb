"""What the parent of a sub-agent hears of its end."""

from bridle.core.child import ChildStage
from bridle.core.ids import SessionId
from bridle.core.messages import user_message
from bridle.core.protocol import Outcome, PromptQueued, RunEnded
from bridle.sessions.family import quoted

MAX_RESULT_CHARS = 32_000  # of a message; agent_status has all of it

STAGES: dict[Outcome, ChildStage] = {"completed": "completed", "cancelled": "cancelled"}
"""Every other outcome is a failure."""


def result_message(item_id: str, name: str, child: SessionId, ended: RunEnded, said: str) -> PromptQueued:
    """Say to the parent's model what came of a sub-agent in the background."""
    text = quoted("\n\n".join(filter(None, (why(ended), said)))) or "(it said nothing)"
    if len(text) > MAX_RESULT_CHARS:
        text = f"{text[:MAX_RESULT_CHARS]}\n[cut off here: agent_status has all of it]"
    message = user_message(f"[result of {name} ({child}): {stage_of(ended)}]\n{text}")
    return PromptQueued(item_id, message, delivery="steer", source="child")


def stage_of(ended: RunEnded) -> ChildStage:
    """Say in one word how a sub-agent has ended."""
    return STAGES.get(ended.outcome, "failed")


def why(ended: RunEnded) -> str:
    """Say why a run has no result, or not all of it."""
    if ended.outcome == "completed":
        return ""
    return ended.reason if ended.outcome == "failed" else f"{ended.outcome}: {ended.reason}".rstrip(": ")
