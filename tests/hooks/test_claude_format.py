import json
from typing import Any

import pytest

from bridle.core.errors import HookError
from bridle.core.hook import Allow, Deny, HookInvocation, HookResponse, ToolArgsPatch, ToolCallView
from bridle.core.ids import CallId
from bridle.hooks.command_hooks import encode_claude_input, parse_claude_output
from tests.hooks.stage import RESULT, told

EDIT = told(tool_call=ToolCallView(CallId("c1"), "edit_file", {"path": "a", "old_str": "x"}), cwd="/w")
COMMON = {"session_id": "s", "cwd": "/w"}


@pytest.mark.parametrize(
    ("invocation", "read"),
    [
        (
            EDIT,
            {
                "hook_event_name": "PreToolUse",
                "tool_name": "Edit",
                "tool_input": {"file_path": "/w/a", "old_string": "x"},
                "tool_use_id": "c1",
            },
        ),
        (
            told("post_tool_execution", cwd="/w"),
            {
                "hook_event_name": "PostToolUse",
                "tool_name": "Bash",
                "tool_response": {"content": RESULT.content, "is_error": False},
                "tool_use_id": "c1",
            },
        ),
        (told("run_started", prompt="hi", cwd="/w"), {"hook_event_name": "UserPromptSubmit", "prompt": "hi"}),
        (told("run_completed", text="done", cwd="/w"), {"hook_event_name": "Stop"}),
    ],
)
def test_it_is_told_in_its_own_words(invocation: HookInvocation, read: dict[str, Any]):
    assert json.loads(encode_claude_input(invocation)) == {**COMMON, **read}


def specific(**parts: Any) -> dict[str, Any]:
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **parts}}


@pytest.mark.parametrize(
    ("output", "response"),
    [
        ("", HookResponse()),
        ("formatted 3 files\n", HookResponse()),
        ({}, HookResponse()),
        ({"suppressOutput": True, "systemMessage": "hi"}, HookResponse()),
        ({"decision": "approve"}, HookResponse(Allow())),
        ({"decision": "block", "reason": "no"}, HookResponse(Deny("no"))),
        ({"decision": "block"}, HookResponse(Deny("the hook gave no reason"))),
        ({"continue": False, "stopReason": "enough"}, HookResponse(Deny("enough"))),
        ({"continue": False, "decision": "approve"}, HookResponse(Deny("the hook gave no reason"))),
        (specific(permissionDecision="allow"), HookResponse(Allow())),
        (specific(permissionDecision="deny", permissionDecisionReason="no"), HookResponse(Deny("no"))),
        (
            specific(permissionDecision="ask", permissionDecisionReason="sure?"),
            HookResponse(Deny("the hook asked for confirmation, which hooks cannot do: sure?")),
        ),
        (specific(additionalContext="be kind"), HookResponse()),
        (
            specific(permissionDecision="allow", updatedInput={"file_path": "b", "old_string": "y"}),
            HookResponse(Allow(), (ToolArgsPatch({"path": "b", "old_str": "y"}),)),
        ),
    ],
)
def test_its_answers_mean_what_they_mean_there(output: Any, response: HookResponse):
    printed = output if isinstance(output, str) else json.dumps(output)

    assert parse_claude_output(0, printed.encode(), b"", EDIT) == response


@pytest.mark.parametrize(
    ("errors", "message"), [(b" not that\n", "not that"), (b"", "the hook gave no reason"), (b"\xff", "�")]
)
def test_exit_status_2_is_a_deny_whatever_was_printed(errors: bytes, message: str):
    assert parse_claude_output(2, b'{"decision": "approve"}', errors, EDIT) == HookResponse(Deny(message))


@pytest.mark.parametrize(
    "output",
    [
        b"{",
        b'{"decision": "deny"}',
        b'{"decision": {"decision": "deny"}}',
        b'{"continue": "no"}',
        b'{"hookSpecificOutput": {"permissionDecision": "perhaps"}}',
        b'{"hookSpecificOutput": []}',
        b"{} {}",
    ],
)
def test_json_that_makes_no_sense_is_an_error(output: bytes):
    with pytest.raises(HookError, match="its answer is invalid"):
        parse_claude_output(0, output, b"", EDIT)
