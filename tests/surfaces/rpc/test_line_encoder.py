"""The messages to a client, never in lines that it cannot read."""

import json
from typing import Any
from uuid import UUID

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, ToolCall, ToolResult, Usage
from bridle.core.protocol import ModelReplied, Record, RunEnded, TextDelta, ToolFinished
from bridle.surfaces.meerkat.contract import parse_contract
from bridle.surfaces.rpc.server_context import RpcContext
from bridle.surfaces.rpc.streams import EventLines, RecordLines
from bridle.surfaces.shared.folder_info import Folders
from bridle.surfaces.shared.truncation import encode_truncated

SESSION = SessionId("0199f6d0-0000-7000-8000-000000000001")
API: Any = None


def desk(contract: str) -> RpcContext:
    return RpcContext(
        api=API,
        folders=Folders({}, "/"),
        contract=parse_contract(contract),
        keeps_runs=False,
        now_ms=lambda: 5,
        new_id=lambda: UUID(int=1),
    )


def told(contract: str, *items: Any, stream: str = "") -> list[Any]:
    lines = EventLines(desk(contract), SESSION, stream)
    found = [line for item in items for line in lines.of(item)]
    assert all(len(line) <= parse_contract(contract).max_line_bytes for line in found)
    assert all(line.endswith(b"\n") and line.count(b"\n") == 1 for line in found)
    return [json.loads(line) for line in found]


def test_events_are_bare_before_0_8_1():
    assert told("0.5.2", TextDelta('a "b"\n')) == [
        {
            "jsonrpc": "2.0",
            "method": "session/event",
            "params": {"session_id": SESSION, "event": {"type": "text_delta", "delta": 'a "b"\n'}},
        }
    ]


def test_and_enveloped_since():
    [message] = told("0.9.6", TextDelta("a"))

    assert message["params"]["event"] == {
        "event_id": "00000000-0000-0000-0000-000000000001",
        "source_id": SESSION,
        "source": {"type": "session", "session_id": SESSION},
        "seq": 1,
        "timestamp_ms": 5,
        "payload": {"type": "text_delta", "delta": "a"},
    }


def test_streams_that_a_client_opens_are_always_enveloped():
    [message] = told("0.5.2", Record(3, 77, RunEnded(RunId("r"), "completed", "x"), ""), stream="st")

    assert (message["method"], message["params"]["stream_id"]) == ("session/stream_event", "st")
    event = message["params"]["event"]
    assert (event["payload"]["type"], event["timestamp_ms"]) == ("run_completed", 77)


@given(st.integers(0, 400_000), st.sampled_from(["a", "\u0001", "ä", "𝄞", '"', "\n"]))
def test_a_long_fragment_is_told_in_several(size: int, letter: str):
    messages = told("0.5.2", TextDelta(letter * size))

    assert "".join(one["params"]["event"]["delta"] for one in messages) == letter * size


def test_long_texts_in_other_events_are_cut_and_say_so():
    call = ToolCall(CallId("a"), "write_file", {"path": "x", "content": "y" * 100_000, "n": [1] * 90_000})
    result = ToolResult(CallId("a"), "glob", "z" * 200_000)
    replied = ModelReplied(RunId("r"), 1, Message("assistant", (call,)), "tool_use", Usage())

    finished = ToolFinished(result)
    requested, _, completed, _ = told("0.5.2", Record(1, 0, replied, ""), Record(2, 0, finished, ""))

    args = requested["params"]["event"]["args"]
    assert args["path"] == "x"
    assert args["content"].startswith("yyyy")
    assert args["content"].endswith("characters left out]")
    assert completed["params"]["event"]["result"].endswith("… [183616 characters left out]")


def test_newer_clients_get_all_of_it():
    result = ToolResult(CallId("a"), "glob", "z" * 200_000)

    [completed, _] = told("0.8.26", Record(1, 0, ToolFinished(result), ""))

    assert completed["params"]["event"]["payload"]["content"][0]["text"] == result.output


def test_our_own_words_are_told_as_they_are():
    record = Record(1, 7, RunEnded(RunId("r"), "completed", "x"), "h")
    lines = RecordLines(desk("0.9.6"), SESSION, "st")

    messages = [json.loads(line) for item in (record, TextDelta("a")) for line in lines.of(item)]

    where = {"stream_id": "st", "session_id": SESSION}
    assert [message["params"] for message in messages] == [
        {**where, "record": msgspec.to_builtins(record)},
        {**where, "delta": {"type": "text_delta", "text": "a"}},
    ]


def test_what_cannot_be_cut_short_enough_is_given_up():
    wide = {str(number): {str(other): 1 for other in range(60)} for number in range(60)}

    assert encode_truncated(wide, msgspec.json.encode, 1_000) is None
    assert encode_truncated({"a": "x" * 5_000}, msgspec.json.encode, 1_000) is not None
