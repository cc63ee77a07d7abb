from bridle.core.ids import CallId
from bridle.core.messages import ToolCall, ToolResult
from bridle.core.protocol import Rewound
from bridle.surfaces.shared.nested_calls import CodeCall, NestedCall, collect_code_calls
from tests.surfaces.records import CELL, INNER, code_session, records


def test_the_calls_of_code_are_found_by_the_call_that_ran_it():
    assert collect_code_calls(code_session()) == {
        CELL: CodeCall(
            calls=(
                NestedCall(
                    ToolCall(INNER, "read_file", {"path": "a.txt"}),
                    ToolResult(INNER, "read_file", "1: hello"),
                ),
                NestedCall(
                    ToolCall(CallId("call_2.2"), "edit_file", {"path": "b.txt"}),
                    ToolResult(CallId("call_2.2"), "edit_file", "the user said no", is_error=True),
                ),
                NestedCall(
                    ToolCall(CallId("call_2.3"), "bash"),
                    ToolResult(CallId("call_2.3"), "bash", "denied by rule deny bash", is_error=True),
                ),
                NestedCall(ToolCall(CallId("call_2.4"), "wait", {"seconds": 1})),
            ),
            answer="It says hello.",
        )
    }


def test_what_was_rewound_is_left_out():
    events = [record.event for record in code_session()]

    assert collect_code_calls(records([*events, Rewound(2)])) == {}
