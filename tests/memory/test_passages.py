from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bridle.core.ids import CallId
from bridle.core.messages import Message, Reasoning, Text, ToolCall
from bridle.core.protocol import Compacted, Event, MessageAdded, Record
from bridle.memory.passages import (
    MAX_OUTPUT_CHARS,
    MAX_PASSAGE_CHARS,
    MAX_TEXT_CHARS,
    OVERLAP_CHARS,
    Passage,
    SplitRecords,
    passages_of,
    split,
)
from tests.memory.stage import created, ended, gave, replied, said, started


def records(*events: Event) -> list[Record]:
    return [Record(seq, 1000 + seq, event, "") for seq, event in enumerate(events, 1)]


def taken(*events: Event) -> list[tuple[str, str]]:
    return [(item.role, item.text) for item in passages_of(records(*events), str).passages]


def test_what_was_said_becomes_passages_with_their_turns():
    summary = Compacted(
        Message("user", (Text("They spoke of tea."),)),
        0,
        1,
        messages_before=3,
        messages_after=1,
        tokens_before=9,
        tokens_after=1,
    )
    events = (created(), started(), said("Green tea?"), replied("Yes."), gave("two cups"), ended(), summary)
    more = (started(), said("And milk?"))

    assert passages_of(records(*events, *more), str) == SplitRecords(
        (
            Passage(3, 0, 1, "user", 1003, "Green tea?"),
            Passage(4, 0, 1, "assistant", 1004, "Yes."),
            Passage(5, 0, 1, "tool", 1005, "two cups"),
            Passage(7, 0, 2, "summary", 1007, "They spoke of tea."),
            Passage(9, 0, 2, "user", 1009, "And milk?"),
        ),
        turns=1,
        recent=8,
    )


def test_later_records_go_on_where_the_earlier_ones_ended():
    later = passages_of(records(said("again")), str, turns=7, recent=40)

    assert later == SplitRecords((Passage(1, 0, 8, "user", 1001, "again"),), 7, 40)


def test_what_is_no_part_of_the_talk_is_left_out():
    thought = Message("assistant", (Reasoning("hmm"), ToolCall(CallId("c"), "bash", {"command": "ls"})))
    nested = replace(gave("inside of a cell"), parent=CallId("c"))
    denied = replace(gave("denied by a rule"), denied=True)
    copied = MessageAdded(Message("user", (Text("of the parent"),)), "fork")
    asked = MessageAdded(Message("user", (Text("now as JSON"),)), "extract")
    recalled = gave('[{"content":"old"}]', name="memory_search")

    assert taken(replace(replied(""), message=thought), nested, denied, copied, asked, recalled) == []


def test_only_the_beginning_of_an_output_is_taken():
    passages = passages_of(records(gave("word " * 10_000)), str).passages

    assert passages[0].text.startswith("word word")
    assert sum(len(item.text) for item in passages) <= MAX_OUTPUT_CHARS + OVERLAP_CHARS * len(passages)


def test_a_text_is_cleaned_before_it_is_cut():
    """A secret across the place of a cut would be shown in halves."""
    secret = "s" * 50
    text = "x" * (MAX_OUTPUT_CHARS - 25) + secret + " end"

    cleaned = passages_of(records(gave(text)), lambda all_of_it: all_of_it.replace(secret, "***")).passages

    assert not any("sss" in item.text for item in cleaned)
    assert cleaned[-1].text.endswith("*** end")


def test_a_text_without_end_is_bounded():
    passages = passages_of(records(said("abc def. " * 100_000)), str).passages

    assert sum(len(item.text) for item in passages) <= MAX_TEXT_CHARS * 1.3


def test_control_characters_and_halves_of_characters_are_left_out():
    assert taken(said("a\x1b[31mred\x00 \ud800end\r\nnext\tcell")) == [("user", "a[31mred ?end\nnext\tcell")]


def test_a_text_without_words_is_no_passage():
    assert taken(said("  \n-- ?! --\n"), said("")) == []


def test_cuts_are_made_between_paragraphs_then_sentences():
    paragraph = "One sentence of some words. " * 24
    text = f"{paragraph.strip()}\n\n{paragraph.strip()}"

    first, second = split(text)[:2]

    assert first == paragraph.strip()
    assert second.endswith("words.")
    assert split("No end here " * 200)[0].split()[-1] in ("No", "end", "here")


@given(st.text(alphabet=st.sampled_from("ab .\n!é漢"), max_size=6000))
def test_passages_are_short_and_together_hold_every_word(text: str):
    pieces = split(text)

    assert all(0 < len(piece) <= MAX_PASSAGE_CHARS for piece in pieces)
    assert all(piece in text for piece in pieces)
    position = 0
    for piece in pieces:
        start = text.index(piece, max(0, position - OVERLAP_CHARS - len(piece)))
        gap = text[position:start]
        assert not any(c.isalnum() for c in gap) or len(gap.strip()) < 3
        position = max(position, start + len(piece))
    rest = text[position:].strip()
    assert not any(c.isalnum() for c in rest) or len(rest) < 3
