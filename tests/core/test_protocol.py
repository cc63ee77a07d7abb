import re
from hashlib import sha256
from typing import Any, get_args

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import NODEFAULT
from msgspec.structs import FieldInfo, fields

from bridle.core.budget import Limits
from bridle.core.codec import (
    GENESIS,
    command_schema,
    decode_record,
    encode,
    encode_records,
    stream_schema,
    verify_line,
)
from bridle.core.context import ContextUsage
from bridle.core.errors import StoreCorrupt
from bridle.core.ids import CallId, RunId, SessionId
from bridle.core.messages import Message, Part, Text, ToolCall, ToolResult, Usage, final_text, user_message
from bridle.core.protocol import (
    Cancel,
    Command,
    Decide,
    Delta,
    Event,
    MessageAdded,
    ModelReplied,
    Prompt,
    Question,
    QueuedPrompt,
    Record,
    RunEnded,
    RunOptions,
    SessionFacts,
    SessionOptions,
    SessionTitled,
    TextDelta,
    Todo,
    ToolStarted,
    Totals,
)
from bridle.core.revision import FileChange, FileState
from tests.core.values import json_values, values_of

COMMANDS: tuple[type, ...] = get_args(Command)
EVENTS: tuple[type, ...] = get_args(Event)
DELTAS: tuple[type, ...] = get_args(Delta)

NESTED: tuple[type, ...] = (
    RunOptions,
    Limits,
    ContextUsage,
    QueuedPrompt,
    SessionFacts,
    SessionOptions,
    Totals,
    Usage,
    FileState,
    FileChange,
    Question,
    Todo,
    *get_args(Part),
)

events = st.one_of(*map(values_of, EVENTS))
hashes = st.text("0123456789abcdef", min_size=64, max_size=64)

LINE = (
    b'{"seq":7,"at":1763190000000,"event":{"type":"tool_started","call_id":"c1","tool":"bash",'
    b'"args":{"command":"ls"},"repeatable":true},'
    b'"hash":"d2a6b1bc0e9ed3c8c1ef4dd5e2c9ba10d4ab2dd10ef0a2e0a3e8c8a45a0cb31b"}'
)
STARTED = ToolStarted(CallId("c1"), "bash", {"command": "ls"}, repeatable=True)


def lines_of(*stored: Event, prev_hash: str = GENESIS) -> list[bytes]:
    return [line for _, line in encode_records(prev_hash, 1, 1000, stored)]


def name_of(kind: type) -> str:
    return kind.__name__


# ---------------------------------------------------------------------------- codec


@pytest.mark.parametrize("kind", COMMANDS, ids=name_of)
@settings(max_examples=25)
@given(st.data())
def test_a_command_survives_the_codec(kind: type, data: st.DataObject):
    command = data.draw(values_of(kind))

    assert msgspec.json.decode(encode(command), type=Command) == command
    assert msgspec.json.decode(encode(command).decode(), type=Command) == command


@pytest.mark.parametrize("kind", EVENTS, ids=name_of)
@settings(max_examples=25)
@given(st.data())
def test_an_event_survives_the_codec(kind: type, data: st.DataObject):
    event, prev_hash = data.draw(values_of(kind)), data.draw(hashes)

    [(record, line)] = encode_records(prev_hash, 3, 99, [event])

    assert decode_record(line) == record == Record(3, 99, event, record.hash)
    assert encode(record) == line


@pytest.mark.parametrize("kind", DELTAS, ids=name_of)
@settings(max_examples=25)
@given(st.data())
def test_a_delta_survives_the_codec(kind: type, data: st.DataObject):
    delta = data.draw(values_of(kind))

    assert msgspec.json.decode(encode(delta), type=Delta) == delta


@given(events)
def test_an_event_is_one_line(event: Event):
    """A store may put one record per line."""
    [line] = lines_of(event)

    assert b"\n" not in line


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS, *DELTAS], ids=name_of)
def test_a_tag_is_the_name_in_snake_case(kind: type):
    words = re.findall("[A-Z][a-z]*", kind.__name__)

    assert kind.__struct_config__.tag == "_".join(words).lower()


@pytest.mark.parametrize("union", [COMMANDS, EVENTS, DELTAS], ids=["commands", "events", "deltas"])
def test_tags_differ(union: tuple[type, ...]):
    assert len({kind.__struct_config__.tag for kind in union}) == len(union)


def test_an_event_and_a_delta_cannot_be_confused():
    """Both may appear on one stream; a record has no tag and a delta always has one."""
    assert "type" not in msgspec.json.decode(lines_of(SessionTitled("x"))[0])
    assert msgspec.json.decode(encode(TextDelta("x"))) == {"type": "text_delta", "text": "x"}


@pytest.mark.parametrize("kind", [*COMMANDS, *EVENTS, *DELTAS, *NESTED], ids=name_of)
def test_values_are_frozen_and_defaults_are_not_written(kind: type):
    assert (kind.__struct_config__.frozen, kind.__struct_config__.omit_defaults) == (True, True)


def test_defaults_never_change():
    """A stored line leaves them out, so a changed default would rewrite the past.

    A new field may be added with its own default, and then belongs in this list.
    """
    stored = {
        "SessionCreated": {
            "agent": "default",
            "title": "",
            "parent": None,
            "forked_at": None,
            "options": SessionOptions(),
            "labels": {},
        },
        "SessionTitled": {"model": "", "usage": Usage(), "cost": None},
        "PromptQueued": {"options": RunOptions(), "delivery": "queue"},
        "RunStarted": {"mode": "ask", "limits": Limits()},
        "RunResumed": {"interrupted": ()},
        "MessageAdded": {"source": "prompt", "tokens": 0, "item_id": None},
        "ModelReplied": {"cost": None, "tokens": 0},
        "ModelSampled": {"cost": None, "model": ""},
        "ApprovalRequested": {"preview": "", "suggestions": ()},
        "ApprovalDecided": {"reason": "", "rules": ()},
        "QuestionAnswered": {"answers": ()},
        "FilesChanged": {"call_id": None, "rewind": False},
        "Rewound": {"scope": "all", "todos": (), "left": ()},
        "FileState": {"mode": 0, "digest": "", "size": 0, "kept": True},
        "FileChange": {"before": None, "after": None},
        "Question": {"choices": (), "several": False},
        "Todo": {"status": "pending"},
        "ToolStarted": {"repeatable": False},
        "ToolFinished": {"duration_ms": 0, "tokens": 0, "denied": False, "diff": ""},
        "RunEnded": {
            "text": "",
            "reason": "",
            "turns": 0,
            "tool_calls": 0,
            "usage": Usage(),
            "cost": None,
        },
        "RunOptions": {
            "model": None,
            "mode": None,
            "allow": (),
            "ask": (),
            "deny": (),
            "limits": Limits(),
            "params": {},
        },
        "SessionOptions": {"code": None, "system": None, "builtins": None, "without_builtins": ()},
        "Limits": {"tokens": None, "duration_s": None, "tool_calls": None, "cost": None, "turns": None},
        "ContextUsage": {
            "system": 0,
            "tools": 0,
            "earlier": 0,
            "run": 0,
            "reserve": 0,
            "earlier_messages": 0,
            "run_messages": 0,
            "dropped_messages": 0,
        },
        "QueuedPrompt": {"options": RunOptions(), "delivery": "queue"},
        "SessionFacts": {
            "created_at": 0,
            "title": "",
            "model": "",
            "archived": False,
            "granted": (),
            "queue": (),
            "totals": Totals(),
            "todos": (),
            "seen": {},
        },
        "Totals": {
            "messages": 0,
            "runs": 0,
            "turns": 0,
            "tool_calls": 0,
            "usage": Usage(),
            "cost": 0.0,
            "unpriced_turns": 0,
        },
        "Usage": {"input": 0, "output": 0, "cache_read": 0, "cache_write": 0, "reasoning": 0},
        "Text": {"meta": {}},
        "Reasoning": {"meta": {}},
        "Media": {"name": ""},
        "ToolCall": {"args": {}, "invalid": "", "meta": {}},
        "ToolResult": {"is_error": False, "media": ()},
    }
    now = {
        kind.__name__: {field.name: default_of(field) for field in fields(kind) if not field.required}
        for kind in (*EVENTS, *NESTED)
    }

    assert {name: {**now[name], **defaults} for name, defaults in stored.items()} == {
        name: now[name] for name in stored
    }


def default_of(field: FieldInfo) -> Any:
    return field.default if field.default is not NODEFAULT else field.default_factory()


def test_a_command_without_options_is_short():
    assert encode(Prompt(user_message("hi"))) == (
        b'{"type":"prompt","message":{"role":"user","parts":[{"type":"text","text":"hi"}]}}'
    )
    assert encode(Cancel()) == b'{"type":"cancel"}'


def test_a_command_is_read_as_a_client_writes_it():
    data = (
        '{"type":"prompt","message":{"role":"user","parts":[{"type":"text","text":"hi"}]},'
        '"options":{"mode":"plan","deny":["bash"]},"if_busy":"reject"}'
    )

    assert msgspec.json.decode(data, type=Command) == Prompt(
        user_message("hi"), RunOptions(mode="plan", deny=("bash",)), if_busy="reject"
    )


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ("", "Input data was truncated"),
        ("not json", "JSON is malformed: invalid character (byte 4)"),
        ("[]", "Expected `object`, got `array`"),
        ("{}", "Object missing required field `type`"),
        ('{"type":"explode"}', "Invalid value 'explode' - at `$.type`"),
        ('{"type":"text_delta","text":"x"}', "Invalid value 'text_delta' - at `$.type`"),
        ('{"type":"rename"}', "Object missing required field `title`"),
        ('{"type":"rename","title":7}', "Expected `str`, got `int` - at `$.title`"),
        (
            '{"type":"decide","call_id":"c","answer":"maybe"}',
            "Invalid enum value 'maybe' - at `$.answer`",
        ),
    ],
    ids=range(9),
)
def test_what_is_not_a_command_is_refused_with_the_place(data: str, told: str):
    with pytest.raises(msgspec.DecodeError) as caught:
        msgspec.json.decode(data, type=Command)

    assert str(caught.value) == told


@given(events, st.dictionaries(st.text(min_size=1).map("x_{}".format), json_values, min_size=1, max_size=3))
def test_unknown_fields_of_an_event_are_ignored(event: Event, unknown: dict[str, Any]):
    """A session written by a newer version can still be read."""
    [line] = lines_of(event)
    stored = msgspec.json.decode(line)
    newer = {**stored, **unknown, "event": {**stored["event"], **unknown}}

    assert decode_record(msgspec.json.encode(newer)) == decode_record(line)


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"\x00\x00\x00",
        b"\xff\xfe",
        b"null",
        b"{}",
        LINE[:-1],
        LINE[:40],
        LINE + LINE,
        LINE.replace(b"bash", b"ba\xffsh"),
        LINE.replace(b"tool_started", b"Tool started"),
        LINE.replace(b'"seq":7', b'"seq":"7"'),
        LINE.replace(b'{"command":"ls"}', b'{"command":' + b"[" * 100_000),
    ],
    ids=range(12),
)
def test_a_line_that_is_no_record_is_corrupt(line: bytes):
    with pytest.raises(StoreCorrupt, match=r"^stored event is not readable: "):
        decode_record(line)


@given(st.binary())
def test_random_bytes_are_corrupt(line: bytes):
    with pytest.raises(StoreCorrupt):
        decode_record(line)


# ---------------------------------------------------------------------------- the hash chain


def test_a_record_is_stored_as_one_line_that_ends_with_its_hash():
    [(record, line)] = encode_records(GENESIS, 7, 1763190000000, [STARTED])

    assert line == LINE.replace(LINE[-66:-2], record.hash.encode())
    assert record == Record(7, 1763190000000, STARTED, record.hash)
    assert decode_record(line) == record


def test_the_hash_is_of_the_one_before_and_the_line_so_far():
    """The format is published: this must not change by accident."""
    body = b'{"seq":1,"at":0,"event":{"type":"session_titled","title":"x"}'
    expected = sha256(b"0" * 64 + body).hexdigest()

    [(record, line)] = encode_records(GENESIS, 1, 0, [SessionTitled("x")])

    assert (record.hash, line) == (expected, body + b',"hash":"' + expected.encode() + b'"}')


@settings(max_examples=40)
@given(st.lists(events, max_size=4), hashes, st.integers(1, 10**6))
def test_a_chain_is_the_same_however_it_is_appended_and_each_line_verifies(
    stored: list[Event], prev_hash: str, first_seq: int
):
    one_by_one, last = [], prev_hash
    for seq, event in enumerate(stored, first_seq):
        [(record, line)] = encode_records(last, seq, 5, [event])
        assert verify_line(last, line) == record.hash
        one_by_one.append((record, line))
        last = record.hash

    assert encode_records(prev_hash, first_seq, 5, stored) == one_by_one


@given(events, st.data())
def test_every_edit_of_one_byte_is_noticed(event: Event, data: st.DataObject):
    [line] = lines_of(event)
    place = data.draw(st.integers(0, len(line) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda byte: byte != line[place]))

    assert verify_line(GENESIS, line[:place] + bytes([byte]) + line[place + 1 :]) is None
    assert verify_line(GENESIS, line[:place] + line[place + 1 :]) is None


def test_every_place_of_a_line_is_guarded():
    [line] = lines_of(STARTED)
    edits = [line[:place] + bytes([line[place] ^ 1]) + line[place + 1 :] for place in range(len(line))]
    insertions = [line[:place] + b" " + line[place:] for place in range(len(line) + 1)]

    assert [verify_line(GENESIS, edit) for edit in edits + insertions] == [None] * (2 * len(line) + 1)


def test_a_hash_inside_the_event_is_not_taken_for_the_lines_own():
    tricky = ToolStarted(CallId("c"), "bash", {"a": 1, "hash": "0" * 64})
    [(record, line)] = encode_records(GENESIS, 1, 0, [tricky])

    assert verify_line(GENESIS, line) == record.hash


@pytest.mark.parametrize("prev_hash", ["", "1" + GENESIS[1:], GENESIS[:-1] + "1", "é"])
def test_a_line_after_another_line_is_not_the_same_line(prev_hash: str):
    [line] = lines_of(STARTED)

    assert verify_line(prev_hash, line) is None


def test_a_line_that_was_removed_or_moved_is_noticed():
    first, second, third = encode_records(GENESIS, 1, 0, [SessionTitled("a"), SessionTitled("b"), STARTED])

    assert verify_line(first[0].hash, third[1]) is None
    assert verify_line(GENESIS, second[1]) is None


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{}",
        b',"hash":"',
        b',"hash":""}',
        LINE[:-2],
        LINE + b"\n",
        sha256(GENESIS.encode()).hexdigest().encode() + b'"}',
    ],
)
def test_what_has_no_hash_at_its_end_is_not_verified(line: bytes):
    assert verify_line(GENESIS, line) is None


# ---------------------------------------------------------------------------- schemas


STREAM = jsonschema_rs.validator_for(stream_schema())
COMMAND = jsonschema_rs.validator_for(command_schema())


@pytest.mark.parametrize("schema", [stream_schema(), command_schema()])
def test_a_published_schema_is_a_valid_schema(schema: dict[str, Any]):
    jsonschema_rs.meta.validate({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema})


def test_the_stream_schema_names_every_event_and_every_delta():
    names = {kind.__name__ for kind in (Record, *EVENTS, *DELTAS)}

    assert names <= set(stream_schema()["$defs"])
    assert {choice["$ref"] for choice in stream_schema()["anyOf"]} == {
        f"#/$defs/{kind.__name__}" for kind in (Record, *DELTAS)
    }


@settings(max_examples=150)
@given(st.one_of(events, *map(values_of, DELTAS)))
def test_every_line_of_a_stream_is_valid(item: Event | Delta):
    line = encode(item) if isinstance(item, DELTAS) else lines_of(item)[0]

    assert STREAM.is_valid(msgspec.json.decode(line))


@given(values_of(Command))
def test_every_command_is_valid(command: Command):
    assert COMMAND.is_valid(msgspec.json.decode(encode(command)))


@given(json_values | st.dictionaries(st.text(), json_values))
def test_junk_is_not_valid(junk: Any):
    assert not STREAM.is_valid(junk)


@given(events, st.sampled_from(["seq", "at", "event", "hash"]))
def test_a_record_without_one_of_its_fields_is_not_valid(event: Event, field: str):
    stored = msgspec.json.decode(lines_of(event)[0])
    del stored[field]

    assert not STREAM.is_valid(stored)


@pytest.mark.parametrize(
    "junk",
    [
        {"type": "text_delta"},
        {"type": "text_delta", "text": 1},
        {"type": "result", "text": "x"},
        {"seq": 1, "at": 1, "event": {"type": "nonsense"}, "hash": "x"},
        {"seq": "1", "at": 1, "event": {"type": "session_titled", "title": "x"}, "hash": "x"},
        {"seq": 1, "at": 1, "event": {"type": "session_titled"}, "hash": "x"},
        {"seq": 1, "at": 1, "event": {"type": "run_ended", "run_id": "r", "outcome": "fine"}, "hash": "x"},
        encode(Decide(CallId("c"), "once")),
    ],
)
def test_what_only_looks_like_a_line_is_not_valid(junk: Any):
    assert not STREAM.is_valid(msgspec.json.decode(junk) if isinstance(junk, bytes) else junk)


# ---------------------------------------------------------------------------- texts


@pytest.mark.parametrize(
    ("messages", "text"),
    [
        ([], ""),
        ([user_message("hi")], ""),
        ([Message("assistant", (Text("a"),)), user_message("more")], "a"),
        ([Message("assistant", (Text("a"),)), Message("assistant", (Text("b"), Text("c")))], "bc"),
        ([Message("assistant", (Text("a"),)), Message("assistant", (ToolCall(CallId("c"), "x"),))], "a"),
    ],
)
def test_the_final_text_is_the_last_that_the_model_said(messages: list[Message], text: str):
    assert final_text(messages) == text


def test_an_ended_run_tells_everything_about_itself():
    ended = RunEnded(RunId("r"), "limit", "text", "why", 3, 2, Usage(input=5), 0.5)

    assert msgspec.json.decode(encode(ended)) == {
        "type": "run_ended",
        "run_id": "r",
        "outcome": "limit",
        "text": "text",
        "reason": "why",
        "turns": 3,
        "tool_calls": 2,
        "usage": {"input": 5},
        "cost": 0.5,
    }


def test_metadata_of_a_vendor_comes_back_unchanged():
    """Thought signatures must be sent back exactly as they came."""
    message = Message("assistant", (Text("x", {"signature": "ab+/=", "n": [1, 2.5, None, {"é": True}]}),))
    replied = ModelReplied(RunId("r"), 1, message, "end_turn", Usage())

    assert decode_record(lines_of(replied)[0]).event == replied


def test_results_with_every_kind_of_character_survive():
    text = "".join(map(chr, [*range(0x300), 0x2028, 0x2029, 0xFFFF, 0x1F600]))
    added = MessageAdded(Message("tool", (ToolResult(CallId("c"), "bash", text),)))

    assert decode_record(lines_of(added)[0]).event == added


def test_a_session_id_is_plain_text_on_the_wire():
    assert encode(SessionId("s")) == b'"s"'
