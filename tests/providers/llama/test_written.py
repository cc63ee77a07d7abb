"""The arguments of a call written as text are streamed, at every split of the text."""

import json

import pytest

from bridle.core.messages import ToolCall, Usage
from bridle.providers.llama.provider import CallParser
from bridle.providers.reply_builder import ReplyBuilder

ARGS = {"path": "a}", "deep": {"x": {"y": [1, {}]}}}
TEXT = json.dumps({"tool": "read_file", "arguments": ARGS}, indent=2) + "\n"


def read(pieces: list[str]) -> tuple[str, ToolCall]:
    builder = ReplyBuilder("llama", 0)
    call = CallParser(builder)
    deltas = [delta for piece in pieces for delta in call.feed(piece)] + call.finish()
    assert {delta.name for delta in deltas} == {"read_file"}
    return "".join(delta.args for delta in deltas), builder.finish("end_turn", Usage(), "").message.calls[0]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_whole_call(size: int) -> None:
    shown, call = read([TEXT[at : at + size] for at in range(0, len(TEXT), size)])

    assert json.loads(shown) == ARGS
    assert (call.name, call.args) == ("read_file", ARGS)


@pytest.mark.parametrize("end", range(TEXT.index('"path"'), len(TEXT) - 3))
def test_a_call_that_was_cut_off_is_invalid(end: int) -> None:
    _, call = read([TEXT[:end]])

    assert call.invalid
    assert call.args == {}
