"""Kontekst's session files, byte for byte as it writes them, and damaged ones."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.context import Counted
from bridle.core.ids import SessionId
from bridle.core.messages import Message, Text, ToolCall, ToolResult, user_message
from bridle.core.protocol import MessageAdded, SessionCreated
from bridle.stores.kontekst_format import encode_event, encode_message
from bridle.stores.kontekst_reader import (
    MAX_TOKENS,
    NEVER_MADE,
    NO_CALL,
    NO_JSON,
    NO_ROLE,
    NO_WORDS,
    TOO_LONG,
    KontekstConversation,
    list_sessions,
    read_conversation,
    read_file,
)

ID = SessionId("sess_20260101T093000.123456789_0a1b2c3d4e5f")
WRITTEN = (
    rb'{"role":"user","content":"what is in \u003ca.txt\u003e \u0026 b","agent_name":"coder","tokens":9}'
    b"\n"
    rb'{"role":"assistant","content":"I look","tool_calls":[{"id":"call_0a1b2c3d4e5f","name":"read_file",'
    rb'"arguments":{"path":"a.txt"}},{"id":"call_ffffffffffff","name":"list_files"}],"agent_name":"coder",'
    rb'"tokens":31}'
    b"\n"
    rb'{"role":"tool","content":"1: x\u003cy","tool_result":{"call_id":"call_0a1b2c3d4e5f",'
    rb'"name":"read_file","output":"1: x\u003cy"},"agent_name":"coder","tokens":5}'
    b"\n"
    rb'{"role":"tool","content":"missing pattern","tool_result":{"call_id":"call_ffffffffffff",'
    rb'"name":"list_files","output":"missing pattern","is_error":true},"agent_name":"coder","tokens":3}'
    b"\n"
    rb'{"role":"assistant","content":"It holds \"x\u003cy\".","agent_name":"coder","tokens":12}'
    b"\n"
)
"""As Go's encoder writes it: fields in this order, empty ones left out, three characters escaped."""

CALLS = (
    ToolCall("call_0a1b2c3d4e5f", "read_file", {"path": "a.txt"}),
    ToolCall("call_ffffffffffff", "list_files"),
)
RESULTS = (
    ToolResult("call_0a1b2c3d4e5f", "read_file", "1: x<y"),
    ToolResult("call_ffffffffffff", "list_files", "missing pattern", is_error=True),
)
READ = [
    MessageAdded(user_message("what is in <a.txt> & b"), "import", 9),
    MessageAdded(Message("assistant", (Text("I look"), *CALLS)), "import", 31),
    MessageAdded(Message("tool", RESULTS), "import", 8),
    MessageAdded(Message("assistant", (Text('It holds "x<y".'),)), "import", 12),
]


def line(role: str, content: str = "", **fields: object) -> bytes:
    return json.dumps({"role": role, "content": content, **fields}).encode() + b"\n"


def result(call_id: str, output: str = "out") -> bytes:
    return line("tool", output, tool_result={"call_id": call_id, "name": "t", "output": output})


def asked(*ids: str) -> bytes:
    return line("assistant", "hm", tool_calls=[{"id": call_id, "name": "t"} for call_id in ids])


def told(data: bytes) -> list[tuple[str, ...]]:
    """Return each message as its role and its words."""
    messages = [item.message for item in read_conversation(data).messages]
    return [(message.role, *map(_words, message.parts)) for message in messages]


def _words(part: Text | ToolCall | ToolResult) -> str:
    match part:
        case Text():
            return part.text
        case ToolCall():
            return f"call {part.id}"
        case ToolResult():
            return f"{part.call_id}: {part.output}"


# ---------------------------------------------------------------------------- files


def write(folder: Path, data: bytes, meta: bytes | None = None) -> None:
    (folder / f"{ID}.jsonl").write_bytes(data)
    if meta is not None:
        (folder / f"{ID}.meta.json").write_bytes(meta)


def test_a_file_becomes_the_events_of_a_session(tmp_path: Path):
    write(tmp_path, WRITTEN)

    found = read_file(tmp_path, ID)

    assert found is not None
    assert found.size_bytes == len(WRITTEN)
    assert found.events(ID, "/work") == [
        SessionCreated(ID, "/work", "coder", "what is in <a.txt> & b"),
        *READ,
    ]


def test_these_events_are_the_same_lines_again():
    """But for the tokens of results: they are counted together, with the first."""
    events = read_conversation(WRITTEN).added

    lines = b"".join(encode_event(event, "coder") for event in events)

    assert lines == WRITTEN.replace(b'"tokens":5}', b'"tokens":8}').replace(b',"tokens":3}', b"}")


@pytest.mark.parametrize(
    ("meta", "agent"),
    [
        (b'{"default_agent":"reviewer"}', "reviewer"),
        (b"{}", "coder"),
        (b'{"default_agent":"../../etc"}', "coder"),
        (b"not json", "coder"),
        (b"", "coder"),
        (None, "coder"),
    ],
)
def test_the_agent_is_that_of_the_meta_file_or_who_spoke_last(meta: bytes | None, agent: str, tmp_path: Path):
    write(tmp_path, WRITTEN, meta)

    found = read_file(tmp_path, ID)

    assert found is not None
    assert found.agent == agent


def test_without_any_agent_it_is_the_usual_one(tmp_path: Path):
    write(tmp_path, line("user", "hi"))

    found = read_file(tmp_path, ID)

    assert found is not None
    assert found.agent == "default"


@pytest.mark.parametrize("data", [b"", b"\n\n", b"garbage\n", line("system", "x")])
def test_a_file_without_a_message_is_no_session(data: bytes, tmp_path: Path):
    write(tmp_path, data)

    assert read_file(tmp_path, ID) is None


def test_what_is_not_a_file_is_no_session(tmp_path: Path):
    os.mkfifo(tmp_path / f"{ID}.jsonl")

    assert read_file(tmp_path, ID) is None
    assert list_sessions(tmp_path) == []
    assert list_sessions(tmp_path / "none") == []


def test_the_file_that_was_changed_last_is_listed_last(tmp_path: Path):
    for name, at in (("b.jsonl", 1), ("a.jsonl", 2), ("a.meta.json", 3), ("c.jsonl", 0)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (at, at))

    assert list_sessions(tmp_path) == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("plain words", "plain words"),
        ("<project-instructions>\nBe kind.\n</project-instructions>\n\nsay hi", "say hi"),
        ("[Skill: review]\nBase path: /s\n\nLook.\n\n---\n\nat this", "/review at this"),
        (
            "<project-instructions>\nA\n</project-instructions>\n\n[Skill: x]\nBase path: /s\n\nB\n\n---\n\n",
            "/x",
        ),
    ],
)
def test_the_title_is_what_the_user_typed(said: str, title: str, tmp_path: Path):
    write(tmp_path, line("user", said))

    found = read_file(tmp_path, ID)

    assert found is not None
    assert found.events(ID, "/")[0] == SessionCreated(ID, "/", "default", title)


# ---------------------------------------------------------------------------- lines


def test_lines_that_cannot_be_read_are_left_out_and_counted():
    data = b"".join(
        [
            line("user", "one"),
            b'{"role":"user","content":"cut o\n',
            b"[1]\n",
            b"\xff\n",
            line("system", "be kind"),
            line("tool", "no result"),
            result("call_x"),
            line("assistant"),
            line("user", "two")[:-1],
        ]
    )

    assert read_conversation(data) == KontekstConversation(
        (Counted(user_message("one"), 0), Counted(user_message("two"), 0)),
        "",
        {NO_JSON: 3, NO_ROLE: 1, NO_CALL: 2, NO_WORDS: 1},
    )


def test_deep_nesting_and_strange_numbers_are_just_lines_that_cannot_be_read():
    deep = b'{"role":"user","content":"x","future":' + b"[" * 100_000 + b"]" * 100_000 + b"}\n"

    assert read_conversation(deep + line("user", "x", tokens=1.5)).skipped == {NO_JSON: 2}


def test_what_go_reads_as_nothing_is_nothing():
    data = b'{"role":"assistant","content":null,"tool_calls":[{"id":"c","name":"t","arguments":null}]}\n'

    assert read_conversation(data).messages[0].message == Message("assistant", (ToolCall("c", "t"),))


def test_bytes_that_are_not_utf8_are_replaced_as_go_does():
    assert told(b'{"role":"user","content":"a\xffb"}\n') == [("user", "a�b")]


@pytest.mark.parametrize(("said", "counted"), [(-5, 0), (0, 0), (10**18, MAX_TOKENS)])
def test_tokens_stay_within_bounds(said: int, counted: int):
    assert [item.tokens for item in read_conversation(line("user", "x", tokens=said)).messages] == [counted]


def test_a_file_that_is_too_long_begins_with_a_whole_line():
    found = read_conversation(b'"rest of a line"}\n' + line("user", "x"), is_cut=True)

    assert found == KontekstConversation((Counted(user_message("x"), 0),), "", {TOO_LONG: 1})


def test_no_line_is_lost_wherever_a_chunk_begins():
    """Kontekst reads chunks of 8192 bytes and loses two lines when one begins at a newline."""
    for length in range(8150, 8200):
        data = line("user", "x" * length) + line("user", "b") + line("user", "c")

        assert [words[1][:1] for words in told(data)] == ["x", "b", "c"]


# ---------------------------------------------------------------------------- the order of a conversation


def test_results_come_in_the_order_of_their_calls():
    assert told(asked("a", "b") + result("b", "2") + result("a", "1")) == [
        ("assistant", "hm", "call a", "call b"),
        ("tool", "a: 1", "b: 2"),
    ]


def test_a_call_without_its_result_gets_one():
    """Kontekst leaves it when a run is cancelled; models want an answer to each call."""
    assert told(asked("a", "b") + result("a", "1") + line("user", "go on")) == [
        ("assistant", "hm", "call a", "call b"),
        ("tool", "a: 1", f"b: {NEVER_MADE}"),
        ("user", "go on"),
    ]


def test_a_skill_that_was_loaded_comes_after_the_result_of_the_call():
    """Kontekst writes it before, which no model that knows the role of tools takes."""
    assert told(asked("a") + line("user", "[Skill: x]") + result("a", "loaded") + line("user", "ok")) == [
        ("assistant", "hm", "call a"),
        ("tool", "a: loaded"),
        ("user", "[Skill: x]"),
        ("user", "ok"),
    ]


def test_a_second_result_for_the_same_call_is_left_out():
    data = asked("a", "b") + result("a", "1") + result("a", "2") + result("b", "3")

    assert told(data)[1] == ("tool", "a: 1", "b: 3")
    assert read_conversation(data).skipped == {NO_CALL: 1}


def test_calls_with_the_same_id_or_none_get_ids_of_their_own():
    [reply, results] = read_conversation(asked("a", "a", "")).messages

    ids = [call.id for call in reply.message.calls]
    assert len(set(ids)) == 3
    assert [part.call_id for part in results.message.parts] == ids


def test_an_id_may_come_again_in_a_later_reply():
    assert told(asked("a") + result("a", "1") + asked("a") + result("a", "2")) == [
        ("assistant", "hm", "call a"),
        ("tool", "a: 1"),
        ("assistant", "hm", "call a"),
        ("tool", "a: 2"),
    ]


# ---------------------------------------------------------------------------- anything

_texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
_values = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | _texts
_args = st.dictionaries(_texts, _values | st.lists(_values, max_size=2), max_size=3)
_tokens = st.integers(0, 10_000)


@st.composite
def _exchanges(draw: st.DrawFn) -> list[Counted]:
    """Draw a prompt, or a reply with calls and all of their results."""
    if draw(st.booleans()):
        return [Counted(user_message(draw(_texts)), draw(_tokens))]
    ids = draw(st.lists(st.sampled_from("abc"), max_size=3, unique=True))
    calls = [ToolCall(call_id, draw(_texts), draw(_args)) for call_id in ids]
    reply = Counted(Message("assistant", (Text(draw(_texts)), *calls)), draw(_tokens))
    results = [ToolResult(call.id, call.name, draw(_texts), draw(st.booleans())) for call in calls]
    return [reply, *([Counted(Message("tool", tuple(results)), draw(_tokens))] if results else [])]


@given(st.lists(_exchanges(), max_size=8).map(lambda found: [item for items in found for item in items]))
def test_what_is_written_is_read_again(conversation: list[Counted]):
    data = b"".join(encode_message(item, "coder") for item in conversation)

    found = read_conversation(data)

    assert list(found.messages) == conversation
    assert found.skipped == {}
    assert b"".join(encode_event(event, "coder") for event in found.added) == data


_fields = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system", ""]), "content": _texts | st.just("")},
    optional={
        "tool_calls": st.lists(
            st.fixed_dictionaries({"id": st.sampled_from(["a", "b", ""]), "name": _texts}), max_size=3
        ),
        "tool_result": st.fixed_dictionaries({"call_id": st.sampled_from(["a", "b", "c"]), "name": _texts}),
        "tokens": st.integers(),
        "agent_name": _texts,
    },
)


@given(
    st.lists(_fields.map(lambda fields: json.dumps(fields).encode()) | st.binary(max_size=30), max_size=12)
)
def test_whatever_lines_there_are_a_model_can_be_asked(lines: list[bytes]):
    """Each call is followed by one result, and no result lacks its call."""
    messages = [item.message for item in read_conversation(b"\n".join(lines)).messages]

    for before, message in zip([None, *messages], messages, strict=False):
        calls = [call.id for call in before.calls] if before else []
        results = [part.call_id for part in message.parts if isinstance(part, ToolResult)]
        assert results == calls
        assert message.parts
    assert not messages or not messages[-1].calls
