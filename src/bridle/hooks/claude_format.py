"""Claude Code's format for command hooks: the input of such a program, and the meaning of its result.

| exit status | output | meaning |
|---|---|---|
| 2 | the reason, on stderr | deny |
| 0 | nothing, or plain text | no decision |
| 0 | `{"decision": "block", "reason": …}`, or `{"continue": false, "stopReason": …}` | deny |
| 0 | `{"hookSpecificOutput": {"permissionDecision": "deny"}}`, or `"ask"` | deny |
| 0 | the same with `"allow"`, optionally `updatedInput` | allow, with the new arguments |
| other | | the hook failed |

"ask" means deny because a hook cannot request an approval in Bridle; a rule can. Output for the model is
ignored.
"""

from typing import Any, Literal

import msgspec
from msgspec import Struct, field

from bridle.core.claude_code import EVENT_AT, from_claude_arguments, to_claude_arguments, to_claude_tool
from bridle.core.errors import HookError
from bridle.core.hook import Allow, Deny, HookInvocation, HookResponse, Patch, ToolArgsPatch
from bridle.core.malformed import MALFORMED
from bridle.hooks.response import one_line

DENIED = 2
_NO_REASON = "the hook gave no reason"


class ClaudeInput(Struct, frozen=True, omit_defaults=True):
    """The input of such a hook."""

    session_id: str
    cwd: str
    hook_event_name: str
    transcript_path: str | None = None
    tool_name: str | None = None
    tool_input: dict[str, Any] | None = None
    tool_response: dict[str, Any] | None = None
    tool_use_id: str | None = None
    prompt: str | None = None


class _Specific(Struct, frozen=True):
    permission: Literal["allow", "deny", "ask", "defer"] | None = field(
        default=None, name="permissionDecision"
    )
    reason: str | None = field(default=None, name="permissionDecisionReason")
    updated_input: dict[str, Any] | None = field(default=None, name="updatedInput")


class _ClaudeOutput(Struct, frozen=True):
    goes_on: bool = field(default=True, name="continue")
    stop_reason: str | None = field(default=None, name="stopReason")
    decision: Literal["approve", "block"] | None = None
    reason: str | None = None
    specific: _Specific = field(default_factory=_Specific, name="hookSpecificOutput")


def encode_claude_input(invocation: HookInvocation) -> bytes:
    """Return an invocation as JSON in Claude Code's format."""
    call, result = invocation.tool_call, invocation.tool_result
    about = call or result
    return msgspec.json.encode(
        ClaudeInput(
            session_id=invocation.session_id,
            cwd=invocation.cwd,
            hook_event_name=EVENT_AT.get(invocation.point, invocation.point),
            tool_name=to_claude_tool(about.name) if about else None,
            tool_input=to_claude_arguments(call.name, call.args, invocation.cwd) if call else None,
            tool_response={"content": result.content, "is_error": result.is_error} if result else None,
            tool_use_id=about.tool_use_id if about else None,
            prompt=invocation.prompt,
        )
    )


def parse_claude_output(
    status: int, output: bytes, errors: bytes, invocation: HookInvocation
) -> HookResponse:
    """Return the response of such a program; raises HookError if its output is invalid."""
    if status == DENIED:
        return HookResponse(Deny(errors.decode(errors="replace").strip() or _NO_REASON))
    if not output.lstrip().startswith(b"{"):
        return HookResponse()
    try:
        answer = msgspec.json.decode(output, type=_ClaudeOutput)
    except MALFORMED as error:
        raise HookError(f"its answer is invalid: {one_line(str(error))}", raw=output) from error
    specific = answer.specific
    if not answer.goes_on:
        return HookResponse(Deny(answer.stop_reason or answer.reason or _NO_REASON))
    if answer.decision == "block" or specific.permission == "deny":
        return HookResponse(Deny(specific.reason or answer.reason or _NO_REASON))
    if specific.permission == "ask":
        why = specific.reason or _NO_REASON
        return HookResponse(Deny(f"the hook asked for confirmation, which hooks cannot do: {why}"))
    patches: tuple[Patch, ...] = ()
    if specific.updated_input is not None and (call := invocation.tool_call):
        patches = (ToolArgsPatch(from_claude_arguments(call.name, specific.updated_input)),)
    is_allowed = answer.decision == "approve" or specific.permission == "allow"
    return HookResponse(Allow() if is_allowed else None, patches)
