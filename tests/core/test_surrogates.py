"""Lone surrogates are found anywhere in a value and replaced; everything else stays the same."""

import pytest

from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall
from bridle.core.protocol import TextDelta
from bridle.core.surrogates import has_surrogates, replace_surrogates


def message(text: str) -> Message:
    call = ToolCall(CallId(text), text, {text: [text, {"n": 1, "deep": text}]})
    return Message("assistant", (Text(text), Reasoning(text), call))


@pytest.mark.parametrize("code_point", [0xD800, 0xDCFF, 0xDFFF])
def test_a_half_character_is_replaced_wherever_it_stands(code_point: int):
    broken = message(f"a{chr(code_point)}b")

    assert has_surrogates(broken)
    assert replace_surrogates(broken) == message("a\ufffdb")
    assert replace_surrogates(TextDelta(chr(code_point))) == TextDelta("\ufffd")


def test_a_whole_value_is_returned_as_it_is():
    whole = message("naïve 😀 \x00 \ufffd")

    assert not has_surrogates(whole)
    assert replace_surrogates(whole) is whole
