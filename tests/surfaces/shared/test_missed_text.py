"""The rest of a reply is sent once, however much of it was streamed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.core.ids import RunId
from bridle.core.messages import Message, Reasoning, Text, Usage
from bridle.core.protocol import Event, ModelReplied, ReasoningDelta, Record, Retrying, TextDelta
from bridle.surfaces.shared.missed_text import MissedText

RUN = RunId("run")
REPLY = ModelReplied(
    RUN, 1, Message("assistant", (Reasoning("Let me think."), Text("It is done."))), "end_turn", Usage()
)
AGAIN = Retrying(RUN, 1, 1, 3, "server_error", "try again", 0)


def record(event: Event) -> Record:
    return Record(1, 0, event, "")


@pytest.mark.parametrize(
    ("streamed", "rest"),
    [
        ([], ("It is done.", "Let me think.")),
        ([ReasoningDelta("Let me think."), TextDelta("It is "), TextDelta("done.")], ("", "")),
        ([ReasoningDelta("Let me"), TextDelta("It is")], (" done.", " think.")),
        ([TextDelta("done.")], ("It is done.", "Let me think.")),
        ([TextDelta("It is not"), record(AGAIN), TextDelta("It is done.")], ("", "Let me think.")),
    ],
    ids=["nothing", "all", "the beginning", "the end alone", "a try before"],
)
def test_what_was_missed_is_said_with_the_reply(streamed: list[Record | TextDelta], rest: tuple[str, str]):
    unsaid = MissedText()
    assert [unsaid.take(item) for item in streamed] == [("", "")] * len(streamed)

    assert unsaid.take(record(REPLY)) == rest
    assert unsaid.take(record(REPLY)) == ("It is done.", "Let me think.")


@given(st.lists(st.text()), st.text())
def test_pieces_of_any_characters_are_not_said_again(pieces: list[str], rest: str):
    unsaid = MissedText()
    for piece in pieces:
        unsaid.take(TextDelta(piece))
        unsaid.take(ReasoningDelta(piece))

    whole = "".join([*pieces, rest])
    message = Message("assistant", (Reasoning(whole), Text(whole)))
    assert unsaid.take(record(ModelReplied(RUN, 1, message, "end_turn", Usage()))) == (rest, rest)
