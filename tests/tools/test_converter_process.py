"""HTML converted to readable text, however broken it is."""

import asyncio
from pathlib import Path

import pytest

from bridle.core.errors import ToolError
from bridle.tools.converter_process import convert_html
from tests.patience import PATIENCE_S

BASE = "https://h.example/a/b.html"

PAGE = """<!doctype html><html><head><title>T</title><style>p { color: red }</style></head><body>
<nav>menu</nav><header><h1>Head &amp; Tail</h1></header>
<p>See <a href="c.html">this</a>, <a href="/d?e=f">that</a> and <a href="//o.example/">others</a>.<br>
<b>Bold</b> <em>soft</em> <code>x = 1</code> <img src="/i.png" alt="pic">
<img src="data:image/png;base64,AAAA" alt="in"> end</p>
<script>alert(1)</script><noscript>ns</noscript><form>name <input><button>Go</button></form>
<svg><text>drawn</text></svg><iframe src="x">framed</iframe><aside>ads</aside><div hidden>hidden</div>
<ul><li>one<li>two<ol><li>deep</ol></ul>
<table><tr><th>k<th>v<tr><td>1<td>a|b</table>
<pre><code class="language-py">def f():
    return 1
</code></pre><blockquote>said</blockquote><footer>imprint</footer></body></html>"""

MARKDOWN = """# Head & Tail

See [this](https://h.example/a/c.html), [that](https://h.example/d?e=f) and [others](https://o.example/).  
**Bold** *soft* `x = 1` ![pic](https://h.example/i.png) in end

- one
- two
  1. deep

| k | v |
| --- | --- |
| 1 | a\\|b |

```py
def f():
    return 1
```

> said"""  # noqa: W291  two spaces break a line

PLAIN = """Head & Tail

See this, that and others.
Bold soft x = 1 pic in end

- one
- two
  1. deep

k\tv
1\ta|b

def f():
    return 1

    said"""


async def test_a_page_becomes_markdown():
    assert await convert_html(PAGE, "markdown", base_url=BASE, limit=10_000) == MARKDOWN


async def test_a_page_becomes_plain_text():
    assert await convert_html(PAGE, "plain", base_url=BASE, limit=10_000) == PLAIN


async def test_the_text_is_cut_between_characters():
    assert await convert_html("<p>aüü", "markdown", base_url=BASE, limit=4) == "aü"


@pytest.mark.parametrize(
    "html", ["", "\0", "<", "<!--", "<p", "&#0;&#xD800;&#x110000;", "\ud800", "<base href='::'><a href=x>"]
)
async def test_any_text_is_a_page(html: str):
    text = await convert_html(html, "markdown", base_url=BASE, limit=1000)

    text.encode()


@pytest.mark.parametrize(
    "html", ["<div>" * 50_000, "<ul><li>" * 20_000 + "x", "<a href='" * 50_000, "<table><tr><td>" * 9000]
)
async def test_deep_or_broken_pages_are_converted(html: str):
    assert len(await convert_html(html, "markdown", base_url=BASE, limit=5000)) <= 5000


@pytest.mark.parametrize(
    "html", ["<p>x" * 1_000_000, "<p " + " ".join(f"a{number}" for number in range(300_000)) + ">x"]
)
async def test_a_page_that_takes_too_much_ends_in_an_error(html: str):
    with pytest.raises(ToolError) as caught:
        await convert_html(
            html, "markdown", base_url=BASE, limit=1000, memory_bytes=100 * 1024 * 1024, cpu_s=1
        )

    assert str(caught.value) == f'{BASE} is too complex to convert (hint: ask for the format "html")'


async def test_who_is_cancelled_leaves_no_process():
    before = children()
    converting = asyncio.create_task(convert_html("<p>x" * 1_000_000, "markdown", base_url=BASE, limit=1000))
    async with asyncio.timeout(PATIENCE_S):
        while children() == before:  # noqa: ASYNC110  nothing tells of it
            await asyncio.sleep(0)

    converting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await converting

    assert children() == before


def children() -> set[str]:
    return set(
        Path(f"/proc/self/task/{Path('/proc/thread-self').resolve().name}/children").read_text().split()
    )
