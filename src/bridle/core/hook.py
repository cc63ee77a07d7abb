"""The contract of hooks: eight named points where the user's code may look, refuse or rewrite.

| class | points |
|---|---|
| pre  | run_started, pre_llm_request, pre_tool_execution, turn_boundary |
| post | post_llm_response, post_tool_execution, run_completed, run_failed |

A hook answers with a decision and patches. What it may do is its capability: `observe` only looks,
`guardrail` may deny, `rewrite` may deny and patch. Hooks run by priority, then registration; the
first deny ends the round; of two patches to one field the later wins.
"""

from collections.abc import Sequence
from typing import Any, Literal

from msgspec import Struct

from bridle.core.ids import SessionId
from bridle.core.messages import ToolCall, ToolResult, Usage

HookPoint = Literal[
    "run_started",
    "pre_llm_request",
    "post_llm_response",
    "pre_tool_execution",
    "post_tool_execution",
    "turn_boundary",
    "run_completed",
    "run_failed",
]
Capability = Literal["observe", "guardrail", "rewrite"]
FailurePolicy = Literal["fail_open", "fail_closed"]
ReasonCode = Literal["policy_violation", "safety_violation", "schema_violation", "timeout", "runtime_error"]

PRE_POINTS: frozenset[HookPoint] = frozenset(
    {"run_started", "pre_llm_request", "pre_tool_execution", "turn_boundary"}
)

DEFAULT_FAILURE_POLICY: dict[Capability, FailurePolicy] = {
    "observe": "fail_open",
    "guardrail": "fail_closed",
    "rewrite": "fail_closed",
}


class HookInvocation(Struct, frozen=True, omit_defaults=True):
    """What a hook is told."""

    point: HookPoint
    session_id: SessionId
    turn: int | None = None
    prompt: str | None = None
    error: str | None = None
    tool_call: ToolCall | None = None
    tool_result: ToolResult | None = None
    assistant_text: str | None = None
    usage: Usage | None = None


class Allow(Struct, frozen=True, tag_field="decision", tag="allow"):
    """No objection."""


class Deny(Struct, frozen=True, tag_field="decision", tag="deny"):
    """Refuse what is about to happen or has just happened."""

    message: str
    reason_code: ReasonCode = "policy_violation"
    hook_id: str = ""


class ToolArgsPatch(Struct, frozen=True, tag_field="patch_type", tag="tool_args"):
    args: dict[str, Any]


class ToolResultPatch(Struct, frozen=True, tag_field="patch_type", tag="tool_result"):
    content: str
    is_error: bool | None = None


class AssistantTextPatch(Struct, frozen=True, tag_field="patch_type", tag="assistant_text"):
    text: str


class ModelRequestPatch(Struct, frozen=True, tag_field="patch_type", tag="llm_request"):
    max_tokens: int | None = None
    temperature: float | None = None
    provider_params: dict[str, Any] | None = None


class RunResultPatch(Struct, frozen=True, tag_field="patch_type", tag="run_result"):
    text: str


Patch = ToolArgsPatch | ToolResultPatch | AssistantTextPatch | ModelRequestPatch | RunResultPatch

PATCH_POINT: dict[type, HookPoint] = {
    ToolArgsPatch: "pre_tool_execution",
    ToolResultPatch: "post_tool_execution",
    AssistantTextPatch: "post_llm_response",
    ModelRequestPatch: "pre_llm_request",
    RunResultPatch: "run_completed",
}


class HookAnswer(Struct, frozen=True):
    """What one hook said."""

    hook_id: str
    capability: Capability
    decision: Allow | Deny | None = None
    patches: tuple[Patch, ...] = ()


class HookOutcome(Struct, frozen=True):
    """What a round of hooks amounts to."""

    deny: Deny | None = None
    patches: tuple[Patch, ...] = ()
    ignored: tuple[str, ...] = ()
    """What was said beyond a hook's capability or at the wrong point, in words."""


def combine(point: HookPoint, answers: Sequence[HookAnswer]) -> HookOutcome:
    """Fold the answers of one round, given in execution order."""
    patches: list[Patch] = []
    ignored: list[str] = []
    for answer in answers:
        if isinstance(answer.decision, Deny):
            if answer.capability != "observe":
                denied = Deny(answer.decision.message, answer.decision.reason_code, answer.hook_id)
                return HookOutcome(denied, (), tuple(ignored))
            ignored.append(f"{answer.hook_id}: an observe hook cannot deny")
        for patch in answer.patches:
            if answer.capability != "rewrite":
                ignored.append(f"{answer.hook_id}: a {answer.capability} hook cannot patch")
            elif PATCH_POINT[type(patch)] != point:
                ignored.append(f"{answer.hook_id}: {type(patch).__name__} does not apply at {point}")
            else:
                patches.append(patch)
    return HookOutcome(None, tuple(patches), tuple(ignored))
