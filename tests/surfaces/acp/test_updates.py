"""The session updates that an editor gets."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from bridle.core.context import ContextUsage
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import (
    Media,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    user_message,
)
from bridle.core.protocol import (
    ApprovalDecided,
    ApprovalRequested,
    ChildEnded,
    ChildStarted,
    Delta,
    Event,
    FilesChanged,
    MessageAdded,
    ModelReplied,
    Notice,
    ReasoningDelta,
    Record,
    Retrying,
    Rewound,
    RunEnded,
    SessionTitled,
    TextDelta,
    Todo,
    TodosChanged,
    ToolCallDelta,
    ToolFinished,
    ToolOutputDelta,
    ToolStarted,
    TurnStarted,
)
from bridle.core.revision import FileChange, FileState
from bridle.surfaces.acp.permission_requests import to_json_values
from bridle.surfaces.acp.updates import MAX_PRINTED_CHARS, UpdateTranslator

RUN = RunId("run")
C1, C2 = CallId("c1"), CallId("c2")


def told(*items: Event | Delta, cwd: str = "/p", diff: str = "", **facts: Any) -> list[dict[str, Any]]:
    """Return all updates for some items, as the wire has them."""
    translation = UpdateTranslator(cwd)
    updates = []
    for seq, item in enumerate(items, 1):
        found = item if isinstance(item, Delta) else Record(seq, 1_000, item, "")
        updates += [to_json_values(one) for one in translation.take(found, diff=diff, **facts)]
    return updates


def replied(*parts: Part, cost: float | None = 0.5, window: int = 0) -> ModelReplied:
    context = ContextUsage(window=window)
    message = Message("assistant", parts)
    return ModelReplied(RUN, 1, message, "end_turn", Usage(10, 5), cost, context=context)


def chunk(text: str, kind: str = "message", message_id: str | None = "run-1") -> dict[str, Any]:
    own = {"messageId": message_id} if message_id is not None else {}
    content = {"type": "text", "text": text}
    return {"sessionUpdate": f"agent_{kind}_chunk", "content": content, **own}


def note(text: str) -> dict[str, Any]:
    return chunk(f"{text}\n", "thought", None)


def text_content(text: str) -> dict[str, Any]:
    return {"type": "content", "content": {"type": "text", "text": text}}


def update(call_id: str, status: str, **facts: Any) -> dict[str, Any]:
    return {"sessionUpdate": "tool_call_update", "toolCallId": call_id, "status": status, **facts}


def test_what_was_not_streamed_comes_with_the_reply():
    reply = replied(Reasoning("hm, yes"), Text("Hello, you"), Media("image/png", "aGk="), window=100)

    assert told(TurnStarted(RUN, 1), ReasoningDelta("hm"), TextDelta("Hello"), reply) == [
        chunk("hm", "thought"),
        chunk("Hello"),
        chunk(", yes", "thought"),
        chunk(", you"),
        {
            "sessionUpdate": "agent_message_chunk",
            "messageId": "run-1",
            "content": {"type": "image", "data": "aGk=", "mimeType": "image/png"},
        },
        {
            "sessionUpdate": "usage_update",
            "used": 15,
            "size": 100,
            "cost": {"amount": 0.5, "currency": "USD"},
        },
    ]


def test_what_was_lost_on_the_way_is_said_again_as_a_whole():
    assert told(TurnStarted(RUN, 1), TextDelta("Hel"), TextDelta("you"), replied(Text("Hello, you"))) == [
        chunk("Hel"),
        chunk("you"),
        chunk("Hello, you", message_id="run-1-whole"),
    ]


def test_a_price_that_is_unknown_is_not_said_any_more():
    updates = told(replied(window=9, cost=None), replied(window=9))

    assert updates == [{"sessionUpdate": "usage_update", "used": 9, "size": 9}] * 2


def test_what_was_streamed_before_a_retry_is_another_message():
    retrying = Retrying(RUN, 1, 2, 3, "rate_limited", "slow down", 1_500)
    begun = ToolCallDelta(C1, "bash", "{")

    assert told(
        TurnStarted(RUN, 1), TextDelta("ha"), begun, retrying, TextDelta("hello"), replied(Text("hello"))
    ) == [
        chunk("ha"),
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "bash",
            "kind": "execute",
            "status": "pending",
            "rawInput": {},
        },
        update("c1", "failed"),
        note("retrying in 1.5 s: slow down"),
        chunk("hello", message_id="run-1-2"),
    ]


def test_a_call_from_its_first_letter_to_its_end():
    args = {"path": "src/a.py", "old_str": "x", "new_str": "y"}
    diff = "--- src/a.py\n+++ src/a.py\n@@ -3,1 +3,1 @@\n-x\n+y\n"
    place = {"path": "/p/src/a.py"}

    assert told(
        ToolCallDelta(C1, "edit_file", '{"pa'),
        ToolCallDelta(C1, "edit_file", 'th"'),
        replied(ToolCall(C1, "edit_file", args)),
        ToolStarted(C1, "edit_file", args),
        FilesChanged((FileChange("src/a.py"),), C1),
        ToolFinished(ToolResult(C1, "edit_file", "Edited"), diff=diff),
    ) == [
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "edit_file",
            "kind": "edit",
            "status": "pending",
            "rawInput": {},
        },
        update("c1", "pending", title="edit_file src/a.py", rawInput=args, locations=[place]),
        update("c1", "in_progress"),
        update(
            "c1",
            "completed",
            content=[{"type": "diff", "path": "/p/src/a.py", "oldText": "x", "newText": "y"}],
            locations=[{**place, "line": 3}],
            rawOutput={"output": "Edited", "isError": False},
        ),
    ]


def test_a_command_shows_what_it_prints_and_what_it_changes():
    started = ToolStarted(C1, "bash", {"command": "make"})
    change = FilesChanged((FileChange("out", None, FileState("file")),), C1)
    end = ToolFinished(ToolResult(C1, "bash", "built\n", is_error=True))
    diff = "--- /dev/null\n+++ out\n@@ -0,0 +1,1 @@\n+new\n"

    updates = told(started, ToolOutputDelta(C1, "bu"), ToolOutputDelta(C1, "ilt"), change, end, diff=diff)

    assert updates[1:] == [
        update("c1", "in_progress"),
        update("c1", "in_progress", content=[text_content("bu")]),
        update("c1", "in_progress", content=[text_content("built")]),
        update(
            "c1",
            "failed",
            content=[text_content("built"), {"type": "diff", "path": "/p/out", "newText": "new"}],
            rawOutput={"output": "built\n", "isError": True},
        ),
    ]


def test_of_what_a_command_prints_the_end_is_shown():
    long = ToolOutputDelta(C1, "x" * MAX_PRINTED_CHARS)

    last = told(ToolStarted(C1, "bash", {}), long, ToolOutputDelta(C1, "end"))[-1]

    assert last["content"] == [text_content("x" * (MAX_PRINTED_CHARS - 3) + "end")]


def test_calls_of_code_name_the_call_they_come_from():
    code = ToolStarted(C1, "python", {"code": "await read_file('a')"})
    inner = ToolStarted(C2, "read_file", {"path": "a", "start_line": 4}, parent=C1)
    end = ToolFinished(ToolResult(C2, "read_file", ""), parent=C1)
    last = ToolFinished(ToolResult(C1, "python", ""), answer="42")

    assert told(code, inner, end, last) == [
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c1",
            "title": "python await read_file('a')",
            "kind": "execute",
            "status": "pending",
            "rawInput": {"code": "await read_file('a')"},
            "content": [text_content("```python\nawait read_file('a')\n```")],
        },
        update("c1", "in_progress"),
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "c2",
            "title": "read_file a",
            "kind": "read",
            "status": "pending",
            "rawInput": {"path": "a", "start_line": 4},
            "locations": [{"path": "/p/a", "line": 4}],
            "_meta": {"bridle": {"parent": "c1"}},
        },
        update("c2", "in_progress"),
        update("c2", "completed", content=[], rawOutput={"output": "", "isError": False}),
        update("c1", "completed", content=[], rawOutput={"output": "", "isError": False}),
        chunk("42", message_id=None),
    ]


def test_sub_agents_are_calls_of_their_own():
    child = SessionId("kid")
    asked = ApprovalRequested(CallId("kid/c9"), "bash", {"command": "ls"}, "mode ask", child=child)

    updates = told(
        ChildStarted(child, "scout", "look around", C1),
        asked,
        ApprovalDecided(CallId("kid/c9"), "once"),
        ChildEnded(child, "failed", "lost", cost=0.0),
    )

    assert [(one["toolCallId"], one.get("title"), one["status"]) for one in updates] == [
        ("child-kid", "scout started: look around", "in_progress"),
        ("kid/c9", "scout: bash ls", "pending"),
        ("kid/c9", None, "completed"),
        ("child-kid", None, "failed"),
    ]
    assert updates[0]["_meta"] == {"bridle": {"session": "kid", "parent": "c1"}}


def test_the_end_of_a_run_closes_what_is_open():
    assert told(ToolStarted(C1, "bash", {}), RunEnded(RUN, "cancelled"))[2:] == [update("c1", "failed")]


def test_a_call_that_was_refused_at_once_is_shown():
    refused = ToolFinished(ToolResult(C1, "bash", "no", is_error=True), denied=True)

    assert [one["sessionUpdate"] for one in told(refused)] == ["tool_call", "tool_call_update"]


IDS = st.sampled_from([C1, C2, CallId("kid/c9")])
ITEMS = st.one_of(
    st.builds(TextDelta, st.text(max_size=3)),
    st.builds(ReasoningDelta, st.text(max_size=3)),
    st.builds(ToolCallDelta, IDS, st.sampled_from(["bash", ""]), st.just("{")),
    st.builds(ToolOutputDelta, IDS, st.text(max_size=3)),
    st.builds(lambda turn: TurnStarted(RUN, turn), st.integers(1, 3)),
    st.builds(lambda call_id: replied(Text("hi"), ToolCall(call_id, "bash", {})), IDS),
    st.builds(lambda call_id: ToolStarted(call_id, "bash", {}), IDS),
    st.builds(lambda call_id: ApprovalRequested(call_id, "bash", {}, "why", child=SessionId("kid")), IDS),
    st.builds(lambda call_id: ApprovalDecided(call_id, "deny"), IDS),
    st.builds(lambda call_id: FilesChanged((), call_id), IDS),
    st.builds(lambda call_id: ToolFinished(ToolResult(call_id, "bash", "out")), IDS),
    st.just(Retrying(RUN, 1, 1, 3, "e", "m", 0)),
    st.just(RunEnded(RUN, "completed")),
)


@given(st.lists(ITEMS, max_size=20))
def test_every_call_is_announced_before_it_is_changed_and_closed_at_the_end(items: list[Any]):
    is_open: set[str] = set()
    for one in told(*items, RunEnded(RUN, "completed")):
        match one["sessionUpdate"]:
            case "tool_call" if one["status"] != "completed":
                assert one["toolCallId"] not in is_open
                is_open.add(one["toolCallId"])
            case "tool_call_update":
                assert one["toolCallId"] in is_open
                if one["status"] in ("completed", "failed"):
                    is_open.remove(one["toolCallId"])
            case _:
                pass

    assert is_open == set()


def test_plan_title_and_notes():
    todos = (Todo("a", "completed"), Todo("b"))
    entries = [
        {"content": "a", "priority": "medium", "status": "completed"},
        {"content": "b", "priority": "medium", "status": "pending"},
    ]

    assert told(TodosChanged(todos), SessionTitled("Tea"), Notice("a server is late"), Rewound(1)) == [
        {"sessionUpdate": "plan", "entries": entries},
        {"sessionUpdate": "session_info_update", "title": "Tea", "updatedAt": "1970-01-01T00:00:01.000Z"},
        note("a server is late"),
        {"sessionUpdate": "plan", "entries": []},
        note("back at event 1: files and conversation"),
    ]


def test_messages_of_others_are_shown():
    heard = MessageAdded(user_message("hi"))

    assert told(heard) == [
        {
            "sessionUpdate": "user_message_chunk",
            "messageId": "record-1",
            "content": {"type": "text", "text": "hi"},
        }
    ]
    assert told(heard, is_own=True) == []
    assert told(MessageAdded(user_message("it is done"), source="child")) == [note("it is done")]


def test_what_changed_without_a_call_is_shown_as_one():
    diff = "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n+y\n"
    change = FilesChanged((FileChange("a", FileState("file"), FileState("file", digest="d")),))

    assert told(change, diff=diff) == [
        {
            "sessionUpdate": "tool_call",
            "toolCallId": "files-1",
            "title": "on disk: changed a",
            "kind": "edit",
            "status": "completed",
            "content": [{"type": "diff", "path": "/p/a", "oldText": "x", "newText": "y"}],
        }
    ]
