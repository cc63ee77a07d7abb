import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridle.surfaces.shared.export.html_items import MAX_CHARS, render_markdown
from tests.surfaces.shared.export.reader import Reader

PIECES = (
    *("<script>", "</pre>", "<img src=x onerror=a>", "javascript:a", "data:text/html,x", "&#x202e;", "&#27;"),
    *(
        "[",
        "](",
        ")",
        "![",
        "<",
        ">",
        '"',
        "'",
        "`",
        "```",
        "```js\n",
        "~~~",
        "**",
        "_",
        "~~",
        "\\",
        "|",
        "|-|-|\n",
    ),
    *(
        "\n",
        "\n\n",
        "    ",
        "> ",
        "- ",
        "1. ",
        "9. ",
        "# ",
        "a",
        "http://b.c",
        "<http://x",
        "\x1b[2J",
        "\u202e",
        "\x00",
    ),
    *("[a]: javascript:b\n", "[a]", "onclick=x", " style=x", "&lt;", "&amp;", "é", "\u2028", "\ud83d"),
)


TABLE = "|a|b|\n|:-:|-:|\n|c|d|"
TABLE_HTML = """\
<table><thead><tr><th class="centre">a</th>
<th class="right">b</th>
</tr>
</thead>
<tbody><tr><td class="centre">c</td>
<td class="right">d</td>
</tr>
</tbody>
</table>
"""


@given(st.lists(st.sampled_from(PIECES), max_size=30).map("".join))
def test_whatever_the_text_is_nothing_but_known_tags_comes_out(text: str):
    Reader(render_markdown(text))


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a *b* **c** ~~d~~ `e<`", "<p>a <em>b</em> <strong>c</strong> <s>d</s> <code>e&lt;</code></p>\n"),
        ("# one\n###### six", "<h3>one</h3>\n<h6>six</h6>\n"),
        ("- a\n- b", "<ul><li>a</li>\n<li>b</li>\n</ul>\n"),
        ("7. a", '<ol start="7"><li>a</li>\n</ol>\n'),
        ("a\nb  \nc\n\n---", "<p>a\nb<br>\nc</p>\n<hr>\n"),
        ("> a", "<blockquote><p>a</p>\n</blockquote>\n"),
        (TABLE, TABLE_HTML),
        ("<b>x</b>", "<p>&lt;b&gt;x&lt;/b&gt;</p>\n"),
        ("&#x202e;", "<p>\\u202e</p>\n"),
        ("[text]()", "<p>text</p>\n"),
        ('![a *b*](http://x/y.png "t")', '<p><span class="media">[a b]</span></p>\n'),
        ("![](x)", "<p>![](x)</p>\n"),
        (
            "```python\nx = 1\n```",
            '<pre tabindex="0">x = <span class="number">1</span></pre>\n',
        ),
    ],
)
def test_markdown_becomes_html(text: str, html: str):
    assert render_markdown(text) == html


@pytest.mark.parametrize("target", ["http://a.b/c?d=1&e", "HTTPS://a.b", "mailto:a@b.c"])
def test_links_lead_to_pages_and_mail_and_say_where(target: str):
    shown = target.replace("&", "&amp;")

    assert render_markdown(f"[x]({target})") == (
        f'<p><a href="{shown}" title="{shown}" rel="noopener noreferrer">x</a></p>\n'
    )


@pytest.mark.parametrize(
    "target",
    ["javascript:a", "JaVaScRiPt:a", "data:text/html,x", "file:///etc/passwd", "//a.b", "#said-1", "a.md"],
)
def test_other_links_stay_text(target: str):
    assert render_markdown(f"[x]({target})") == f"<p>[x]({target})</p>\n"


@pytest.mark.parametrize("piece", ["![", "*_", "`` ` ", "> "])
def test_hostile_text_takes_bounded_time(piece: str):
    began = time.process_time()

    render_markdown((piece * MAX_CHARS)[:MAX_CHARS])

    assert time.process_time() - began < 10


def test_a_text_without_end_is_shown_as_it_was_written():
    html = render_markdown("**a** " * MAX_CHARS)

    assert html.startswith('<pre tabindex="0">**a** **a**')
    assert len(html) < 60_000
