"""Splitting Markdown into blocks: where, and independent of how the text arrives."""

from itertools import pairwise

from hypothesis import example, given, settings
from hypothesis import strategies as st

from bridle.surfaces.tui.conversation.blocks import MAX_BLOCK_CHARS, Block, BlockSplitter

PARTS = st.sampled_from(
    [
        "\n",
        "\n\n",
        "- a",
        "1. b",
        "  - c",
        "    d",
        "# e",
        "```py",
        "```",
        "~~~",
        "> f",
        "|a|b|",
        "|-|-|",
        "word ",
        "*x*",
    ]
)
MARKDOWN = st.lists(PARTS, max_size=25).map("".join)


def split(*pieces: str) -> list[Block]:
    splitter = BlockSplitter()
    return [block for piece in pieces for block in splitter.feed(piece)] + splitter.finish()


def test_paragraphs_headings_lists_and_code_are_blocks_of_their_own():
    text = "# Head\ntext\nmore\n\n- one\n\n  still one\n- two\n```py\na\n\nb\n```\nend"

    assert split(text) == [
        Block("# Head"),
        Block("text\nmore"),
        Block("- one\n\n  still one", has_gap=True),
        Block("- two"),
        Block("a\n\nb", "code", "py"),
        Block("end"),
    ]


def test_code_inside_a_list_stays_with_its_item():
    assert split("- run\n  ```sh\n  ls\n\n  # no heading\n  ```\n- next") == [
        Block("- run\n  ```sh\n  ls\n\n  # no heading\n  ```"),
        Block("- next"),
    ]


def test_code_that_is_not_closed_is_code():
    assert split("~~~\na\n```\nb") == [Block("a\n```\nb", "code")]


def test_the_tail_is_what_may_still_change():
    splitter = BlockSplitter()

    assert splitter.feed("one\n\ntwo\nth") == [Block("one")]
    assert splitter.tail == Block("two\nth", has_gap=True)


def test_the_begin_of_a_closing_fence_is_not_taken_for_code():
    splitter = BlockSplitter()
    splitter.feed("```py\na\n``")

    assert splitter.tail == Block("a", "code", "py")


def test_a_long_table_goes_on_with_its_head():
    blocks = split("|a|b|\n|-|-|\n" + "|1|2|\n" * 1000)

    assert len(blocks) == 3
    assert all(block.text.startswith("|a|b|\n|-|-|\n|1|2|\n") for block in blocks)


def test_a_line_without_end_is_cut_between_words():
    blocks = split("word " * 2000)

    assert max(len(block.text) for block in blocks) <= MAX_BLOCK_CHARS
    assert "".join(block.text for block in blocks) == "word " * 2000


@settings(max_examples=60)
@given(MARKDOWN, st.lists(st.integers(0, 60), max_size=6))
@example("- a\r\n\r\n- b\r\n", [4])
@example("x" * 3 * MAX_BLOCK_CHARS, [10, 20])
@example("```\n" + "y\n" * MAX_BLOCK_CHARS + "```\n", [7])
def test_blocks_do_not_depend_on_how_the_text_arrives(text, cuts):
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    pieces = [text[start:end] for start, end in pairwise(places)]

    assert split(*pieces) == split(text) == split(*text)


@settings(max_examples=60)
@given(MARKDOWN)
def test_no_word_is_lost(text):
    kept = "".join(block.text + block.language for block in split(text))

    for word in ("a", "word", "*x*", "e", "py"):
        assert kept.count(word) >= text.count(word)
