from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.shared.export.html_code import (
    LEXERS,
    MAX_CHARS,
    MAX_LINES,
    TAIL_LINES,
    render_block,
    split_long_text,
)
from tests.surfaces.shared.export.reader import Reader

DIFF = "--- a\n+++ b\n@@ -1 +1 @@\n same\n-<old>\n+<new>\n+more\n\\ No newline"


def test_a_diff_has_its_lines_by_what_became_of_them():
    assert render_block(DIFF, "diff") == (
        '<pre tabindex="0"><span class="line strong">--- a\n+++ b\n</span>'
        '<span class="line name">@@ -1 +1 @@\n</span><span class="line same"> same\n</span>'
        '<span class="line removed">-&lt;old&gt;\n</span>'
        '<span class="line added">+&lt;new&gt;\n+more\n</span>'
        '<span class="line detail">\\ No newline\n</span></pre>'
    )


@pytest.mark.parametrize("language", ["python", "Python", "js", "bash", "diff", "", "no-such-language"])
@given(text=st.text(alphabet="ab<>&\"' \n\t#=+-@/*`{}$", max_size=60))
def test_colours_change_nothing_of_the_text(language: str, text: str):
    html = render_block(text, language)

    shown = "".join(piece.partition(">")[2] for piece in f">{html}".split("<"))
    assert unescape(shown).strip("\n") == text.strip("\n")
    Reader(html)


def test_code_has_colours_where_its_language_is_known():
    assert render_block('const a = "b" // c', "js") == (
        '<pre tabindex="0"><span class="keyword">const</span> a = <span class="string">&quot;b&quot;</span>'
        ' <span class="comment">// c</span></pre>'
    )
    assert render_block('const a = "b"', "brainfuck") == '<pre tabindex="0">const a = &quot;b&quot;</pre>'


@pytest.mark.parametrize("language", sorted(set(LEXERS.values())))
def test_every_language_has_a_reader(language: str):
    assert render_block("x", language).startswith('<pre tabindex="0">')


@given(st.integers(0, 3 * MAX_LINES), st.integers(0, 200))
def test_nothing_is_lost_where_a_text_is_parted(lines: int, width: int):
    text = "\n".join(f"{number:0{width}d}" for number in range(lines))

    head, left_out, tail = split_long_text(text)

    assert head + left_out + tail == text
    assert len(head.split("\n")) <= MAX_LINES + TAIL_LINES


def test_how_much_is_left_out_is_said():
    long = render_block("\n".join(map(str, range(1000))))
    wide = render_block("x" * (MAX_CHARS + 10_000))

    assert "\n399<" in long
    assert '<span class="more">… 560 more lines, which the JSON export has\n</span>' in long
    assert long.endswith("\n999</pre>")
    assert "… 6,000 more characters, which the JSON export has" in wide
