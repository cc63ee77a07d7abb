"""A sample invocation for each hook point, to test a hook."""

from msgspec.structs import replace

from bridle.core.hook import (
    HookInvocation,
    HookPoint,
    ModelReplyView,
    ModelRequestView,
    ToolCallView,
    ToolResultView,
)
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Usage

_SESSION = SessionId("019a8536-2b7c-7000-8000-000000000000")
_CALL = ToolCallView(CallId("call_1"), "bash", {"command": "rm -rf build"})
_RESULT = ToolResultView(CallId("call_1"), "bash", "removed 12 files", is_error=False)
_REQUEST = ModelRequestView(max_tokens=8192, message_count=3, temperature=0.2)
_REPLY = ModelReplyView("I will look first.", ("bash",), "tool_use", Usage(1200, 40))

_SAMPLES: dict[HookPoint, HookInvocation] = {
    "run_started": HookInvocation("run_started", _SESSION, prompt="Tidy up this folder"),
    "pre_llm_request": HookInvocation("pre_llm_request", _SESSION, 1, llm_request=_REQUEST),
    "post_llm_response": HookInvocation("post_llm_response", _SESSION, 1, llm_response=_REPLY),
    "pre_tool_execution": HookInvocation("pre_tool_execution", _SESSION, 1, tool_call=_CALL),
    "post_tool_execution": HookInvocation(
        "post_tool_execution", _SESSION, 1, tool_call=_CALL, tool_result=_RESULT
    ),
    "turn_boundary": HookInvocation("turn_boundary", _SESSION, 1),
    "run_completed": HookInvocation("run_completed", _SESSION, 2, text="The folder is tidy."),
    "run_failed": HookInvocation("run_failed", _SESSION, 2, error="the model cannot be reached"),
}


def sample(point: HookPoint, cwd: str) -> HookInvocation:
    """Return a sample invocation for a point."""
    return replace(_SAMPLES[point], cwd=cwd, agent="default")
