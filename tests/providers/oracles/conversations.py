"""Random conversations: any that a session can hold, with vendors' signatures, valid or broken."""

import asyncio
from typing import Any

from hypothesis import strategies as st

from bridle.core.codec import GENESIS, decode_record, encode_records
from bridle.core.ids import CallId, RunId
from bridle.core.messages import Media, Message, Part, Reasoning, Text, ToolCall, ToolResult
from bridle.core.model import ModelReply, ModelRequest
from bridle.core.protocol import ModelReplied
from bridle.core.tool import ToolSpec
from bridle.providers.sse import SseParser
from bridle.providers.wire_format import Reader
from tests.providers.raw_server import RawServer

PICTURE = Media("image/png", "aGk=")

EVERYTHING = ModelRequest(
    "m",
    "Be terse.",
    (
        Message(
            "user",
            (
                Text("look at "),
                PICTURE,
                Media("application/pdf", "aGk=", "a.pdf"),
                Media("text/x-python", "aGk=", "a.py"),
                Media("audio/wav", "aGk="),
            ),
        ),
        Message(
            "assistant",
            (
                Reasoning("hm"),
                Text("I call "),
                Text("two"),
                ToolCall(CallId("a"), "f", {"x": "ü"}),
                ToolCall(CallId("b:b"), "g", invalid='{"bro'),
            ),
        ),
        Message("tool", (ToolResult(CallId("b:b"), "g", "two", is_error=True),)),
        Message("tool", (ToolResult(CallId("a"), "f", "one", media=(PICTURE,)),)),
        Message("system", (Text("be quick"),)),
        Message("user", (Text("go on"),)),
    ),
    (ToolSpec("f", "Does f.", {"type": "object", "properties": {}}), ToolSpec("g", "", {"type": "object"})),
    100,
)
"""One of each: files, parallel calls whose results come late and in another order, a foreign id, a steer."""


def stored(reply: ModelReply) -> Message:
    """Return the message of a reply as it comes back from a journal."""
    event = ModelReplied(RunId("r"), 1, reply.message, reply.stop_reason, reply.usage)
    ((_, line),) = encode_records(GENESIS, 1, 0, [event])
    read = decode_record(line).event
    assert isinstance(read, ModelReplied)
    return read.message


def results(message: Message) -> Message:
    """Answer every call of a message."""
    return Message(
        "tool", tuple(ToolResult(call.id, call.name, f"did {call.name}") for call in message.calls)
    )


def read_in_pieces(reader: Reader, stream: bytes, at: int) -> tuple[str, ModelReply]:
    """Read a stream that arrives in two pieces; return the deltas as text, and the reply."""
    parser, shown = SseParser(), ""
    for piece in (stream[:at], stream[at:]):
        for event in parser.feed(piece):
            shown += "".join(str(delta) for delta in reader.read(event.data))
    return shown, reader.reply()


class InTurns(RawServer):
    """Gives each request the next answer."""

    def __init__(self, *answers: bytes) -> None:
        super().__init__(b"", hang_up=True)
        self._answers = list(answers)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answer = self._answers.pop(0)
        await super().serve(reader, writer)


# ---------------------------------------------------------------------------- any conversation

_words = st.sampled_from(["", " ", "\n\n", "a", "Grüße 🦊", "\x00\x1b[31m", '{"a":1}', "x" * 300])
_seals = [
    None,
    "no object",
    {},
    {"signature": "c2ln", "id": "rs_1", "encrypted_content": "sealed", "thoughtSignature": "c2ln"},
    {"signature": "", "id": "", "encrypted_content": "", "thoughtSignature": ""},
    {"signature": 1, "id": None, "encrypted_content": [], "thoughtSignature": 5, "summary": "x"},
    {"redacted": "sealed", "id": "msg_1", "phase": "commentary", "thought": True},
    {"redacted": None, "id": "msg_2", "is_refusal": True, "summary": ["a", "b"]},
]
_ids = st.sampled_from(["", "a", "call_1", "toolu_2", "b:b", "ö", "x" * 65, "c d", "call-3", "4"])
_wires = ["anthropic", "openai", "gemini", "other"]
_metas = st.sampled_from([{}, *({wire: seal, "other": 1} for wire in _wires for seal in _seals)])
_args = st.sampled_from([{}, {"x": 1}, {"": None, "y": ["ü", {"z": 0.5}]}])
_media = st.builds(
    Media,
    mime=st.sampled_from(["image/png", "image/tiff", "application/pdf", "text/plain", "audio/wav", "x"]),
    data=st.sampled_from(["aGk=", "", "/w=="]),
    name=st.sampled_from(["", "a.txt"]),
)
_said = st.one_of(
    st.builds(Text, text=_words, meta=_metas), st.builds(Reasoning, text=_words, meta=_metas), _media
)
_asked = st.builds(
    lambda role, parts: Message(role, tuple(parts)),
    st.sampled_from(["user", "user", "system"]),
    st.lists(st.builds(Text, text=_words) | _media, max_size=3),
)


@st.composite
def _exchange(draw: st.DrawFn, ids: list[CallId]) -> list[Message]:
    """An answer, the results of its calls in any order and grouping, and perhaps a word of the user."""
    calls = [
        ToolCall(
            call_id,
            draw(st.sampled_from(["f", "g"])),
            draw(_args),
            draw(st.sampled_from(["", "{"])),
            draw(_metas),
        )
        for call_id in ids
    ]
    parts: list[Part] = draw(st.permutations([*calls, *draw(st.lists(_said, max_size=3))]))
    answers = draw(
        st.permutations(
            [
                ToolResult(
                    call.id,
                    call.name,
                    draw(_words),
                    draw(st.booleans()),
                    (*draw(st.lists(_media, max_size=1)),),
                )
                for call in calls
            ]
        )
    )
    cut = draw(st.integers(0, len(answers)))
    groups = [Message("tool", tuple(group)) for group in (answers[:cut], answers[cut:]) if group]
    return [Message("assistant", tuple(parts)), *groups, *draw(st.lists(_asked, max_size=2))]


@st.composite
def conversations(draw: st.DrawFn) -> ModelRequest:
    """Give a request of any conversation in which every call has its result."""
    ids: list[Any] = draw(st.lists(_ids, unique=True, max_size=6))
    messages = [Message("user", tuple(draw(st.lists(st.builds(Text, text=_words) | _media, max_size=2))))]
    while ids or draw(st.booleans()):
        count = draw(st.integers(0, min(3, len(ids))))
        messages += draw(_exchange([CallId(name) for name in ids[:count]]))
        ids = ids[max(1, count) :]
    return ModelRequest(
        "m",
        draw(_words),
        tuple(messages),
        EVERYTHING.tools if draw(st.booleans()) else (),
        100,
    )
