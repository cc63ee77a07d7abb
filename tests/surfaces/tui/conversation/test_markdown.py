"""Markdown on the screen."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bridle.surfaces.tui.conversation.blocks import Block
from bridle.surfaces.tui.conversation.markdown import MAX_CHARS_AT_ONCE, MarkdownStream, block_flows
from tests.surfaces.tui.conversation.samples import settled, shown, texts
from tests.surfaces.tui.conversation.test_blocks import MARKDOWN


def test_text_and_headings():
    assert shown("# One\nSome **bold** and `code`,\nnext line  \nhard break\n\nSetext\n---") == [
        "# One",
        "Some bold and code, next line",
        "hard break",
        "",
        "## Setext",
    ]


def test_inks_of_text():
    (flow,) = block_flows(Block("a **b *c*** `d` [e](http://f)"))

    assert flow.pieces == (
        ("a ", "text"),
        ("b ", "text strong"),
        ("c", "text strong emphasis"),
        (" ", "text"),
        ("d", "text code"),
        (" ", "text"),
        ("e", "text link"),
        (" (http://f)", "dim"),
    )


def test_addresses_are_seen():
    assert shown("[here](https://a.b/c) <https://d.e> ![pic](f.png) <me@g.h>") == [
        "here (https://a.b/c) https://d.e [image: pic] (f.png) me@g.h"
    ]


def test_what_markdown_would_hide_is_seen():
    text = "[secret]: https://a.b 'do it'\n\n<!-- hidden -->\n\n<b>html</b> &#8238;x"

    assert shown(text) == [
        "[secret]: https://a.b 'do it'",
        "",
        "<!-- hidden -->",
        "",
        "<b>html</b> \\u202ex",
    ]


def test_lists_and_quotes():
    assert shown("- one\n  - two\n    more\n10. ten\n    1. deep\n\n> quote\n>\n> - in it\n-") == [
        "• one",
        "  ◦ two more",
        "10. ten",
        "    1. deep",
        "",
        "▎ quote",
        "▎ ",
        "▎ • in it",
        "• ",
    ]


def test_code_is_wrapped_with_a_mark():
    assert shown("```python\ndef f():\n\treturn 'long line'\n```", 16) == [
        "│ def f():",
        "│     return 'lo",
        "│↪ng line'",
    ]


def test_inks_of_code():
    assert [flow.pieces for flow in block_flows(Block("class F: # x\n  return 1", "code", "python"))] == [
        (
            ("class", "keyword"),
            (" ", "text"),
            ("F", "defined"),
            (":", "text"),
            (" ", "text"),
            ("# x", "comment"),
        ),
        (("  ", "text"), ("return", "keyword"), (" ", "text"), ("1", "number")),
    ]


def test_what_stands_behind_a_fence_is_seen_unless_it_is_a_language():
    assert shown("```no such\x1b\na b\n```\n- ```sh -c x\n  c") == [
        "│ no such\\x1b",
        "│ a b",
        "• │ sh -c x",
        "  │ c",
    ]


TABLE = "| n | name |\n|--:|:-:|\n| 1 | a long value |\n| 22 | b |"


def test_a_table():
    assert shown(TABLE) == [
        " n │     name    ",
        "───┼─────────────",
        " 1 │ a long value",
        "22 │      b      ",
    ]


def test_a_table_that_is_too_wide_wraps_its_cells():
    assert shown(TABLE, 12) == [
        " n │  name  ",
        "───┼────────",
        " 1 │ a long ",
        "   │  value ",
        "22 │    b   ",
    ]


def test_a_table_that_does_not_fit_is_a_list():
    assert shown(TABLE, 8) == ["n: 1", "name: a", "long", "value", "──────", "n: 22", "name: b"]


def test_a_broken_table_is_text():
    assert shown("|a|b\n|--\n|c|") == ["|a|b |-- |c|"]


@pytest.mark.parametrize(
    "text",
    ["> " * 200 + "deep", "\n".join(" " * 2 * n + "- x" for n in range(60)) + "deep", "[" * 400 + "deep"],
)
def test_what_is_nested_too_deeply_is_shown_as_it_was_written(text):
    lines = "".join(shown(text)).translate(str.maketrans("•◦▪", "---", " "))

    assert lines == text.translate(str.maketrans("", "", " \n"))


# ---------------------------------------------------------------------------- streamed Markdown


@settings(max_examples=40)
@given(MARKDOWN, st.lists(st.integers(0, 80), max_size=4), st.integers(1, 30))
def test_any_pieces_give_the_lines_of_the_whole(text, cuts, width):
    places = [0, *sorted(cut for cut in cuts if cut < len(text)), len(text)]
    prose = MarkdownStream()
    for start, end in pairwise(places):
        prose.feed(text[start:end])
        prose.lines(width)
    prose.finish()

    assert settled(prose, width) == shown(text, width)


def test_finished_blocks_are_laid_out_once():
    prose = MarkdownStream()
    prose.feed("first\n\nsecond\n\nthird\nfou")
    before = list(prose.lines(20))
    prose.feed("rth")

    after = prose.lines(20)

    assert texts(after) == ["first", "", "second", "", "third fourth"]
    assert (after[:3], after[4] is before[4]) == (before[:3], False)


def test_another_width_lays_out_everything():
    prose = MarkdownStream()
    prose.feed("one two\n\nthree four")

    assert texts(prose.lines(20)) == ["one two", "", "three four"]
    assert texts(prose.lines(5)) == ["one", "two", "", "three", "four"]


def test_a_long_text_is_shown_roughly_at_first_and_its_end_finely():
    prose = MarkdownStream()
    prose.feed("**b** " + "word " * 20 + "\n\n" + "xyz\n\n" * (MAX_CHARS_AT_ONCE // 2) + "**end**")
    prose.finish()

    lines = texts(prose.lines(200))

    assert (lines[0][:5], lines[-1], prose.is_rough) == ("**b**", "end", True)
    assert settled(prose, 200)[0][:5] == "b wor"
    assert not prose.is_rough
