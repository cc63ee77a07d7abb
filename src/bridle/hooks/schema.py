"""The JSON Schema of hook invocations and responses, and a sample invocation, for each point."""

from typing import Any, get_args

import msgspec
from msgspec.structs import replace

from bridle.core.hook import (
    PATCH_POINT,
    HookEntry,
    HookInvocation,
    HookOverride,
    HookPoint,
    HookResponse,
    ModelReplyView,
    ModelRequestView,
    ToolCallView,
    ToolResultView,
)
from bridle.core.ids import CallId, SessionId
from bridle.core.messages import Usage

# ---------------------------------------------------------------------------- samples
# A sample invocation for each hook point, to test a hook.


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


# ---------------------------------------------------------------------------- schema


ALWAYS = ("point", "session_id")
EVERYWHERE = (*ALWAYS, "turn_number", "cwd", "agent", "parent")
TOLD: dict[HookPoint, tuple[str, ...]] = {
    "run_started": ("prompt",),
    "pre_llm_request": ("llm_request",),
    "post_llm_response": ("llm_response",),
    "pre_tool_execution": ("tool_call",),
    "post_tool_execution": ("tool_result",),
    "turn_boundary": (),
    "run_completed": ("text",),
    "run_failed": ("error",),
}
"""The required fields of an invocation at each point, besides the common ones."""

ALSO_TOLD: dict[HookPoint, tuple[str, ...]] = {"post_tool_execution": ("tool_call",)}
"""Optional fields at a point."""


def hook_schema() -> dict[str, Any]:
    """Return one document: invocation and response for each point, and the format of an entry."""
    schemas, shared = msgspec.json.schema_components(
        [HookInvocation, HookResponse, HookEntry, HookOverride], ref_template="#/$defs/{name}"
    )
    invocation, response = shared.pop("HookInvocation"), shared.pop("HookResponse")
    points: tuple[HookPoint, ...] = get_args(HookPoint)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Bridle hooks",
        "points": {
            point: {
                "invocation": _invocation_schema(invocation, point),
                "response": _response_schema(response, point),
            }
            for point in points
        },
        "entry": schemas[2],
        "override": schemas[3],
        "$defs": shared,
    }


def _invocation_schema(invocation: dict[str, Any], point: HookPoint) -> dict[str, Any]:
    names = (*EVERYWHERE, *TOLD[point], *ALSO_TOLD.get(point, ()))
    properties = {name: _without_null(invocation["properties"][name]) for name in names}
    return {
        **invocation,
        "properties": {**properties, "point": {"const": point}},
        "required": [*ALWAYS, *TOLD[point]],
    }


def _response_schema(response: dict[str, Any], point: HookPoint) -> dict[str, Any]:
    own = [kind.__name__ for kind, where in PATCH_POINT.items() if where == point]
    items: dict[str, Any] = {"$ref": f"#/$defs/{own[0]}"} if own else {}
    patches = {"type": "array", "items": items} if own else {"type": "array", "maxItems": 0}
    return {**response, "properties": {**response["properties"], "patches": patches}}


def _without_null(schema: dict[str, Any]) -> dict[str, Any]:
    """Remove null from a schema: an invocation omits fields instead of setting null."""
    kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
    return kinds[0] if len(kinds) == 1 else schema
