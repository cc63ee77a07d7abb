"""Renders Markdown as safe HTML: a closed set of tags, no raw HTML, nothing loaded.

Headings are placed below those of the page. An image is named, not fetched. A link leads to http, https or
mail; any other stays text.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from bridle.surfaces.export.html_code import escaped, render_block

MAX_CHARS = 50_000  # of one text: a second at worst; longer texts are shown verbatim
TAGS = frozenset("p h1 h2 h3 h4 h5 h6 ul ol li blockquote table thead tbody tr th td strong em s".split())
HEADINGS = {f"h{level}": f"h{min(6, level + 2)}" for level in range(1, 7)}
ALIGNED = {"text-align:right": ' class="right"', "text-align:center": ' class="centre"'}
SAFE_LINK = re.compile(r"(?:https?://|mailto:)", re.IGNORECASE)


def render_markdown(text: str) -> str:
    """Return a Markdown text as HTML."""
    if len(text) > MAX_CHARS:
        return render_block(text)
    return "".join(_written(_parser().parse(text)))


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    parser.validateLink = lambda url: SAFE_LINK.match(url) is not None  # type: ignore[method-assign]
    return parser


def _written(tokens: Iterable[Token]) -> Iterator[str]:
    is_safe = False  # of the open link; `[text]()` parses as a link without an address
    for token in tokens:
        match token.type:
            case "inline":
                yield from _written(token.children or ())
            case "code_inline":
                yield f"<code>{escaped(token.content)}</code>"
            case "fence" | "code_block":
                yield render_block(token.content, token.info.partition(" ")[0]) + "\n"
            case "softbreak":
                yield "\n"
            case "hardbreak":
                yield "<br>\n"
            case "hr":
                yield "<hr>\n"
            case "image":
                yield f'<span class="media">[{escaped(_alternative(token))}]</span>'
            case "link_open":
                href = str(token.attrGet("href") or "")
                if is_safe := SAFE_LINK.match(href) is not None:
                    yield f'<a href="{escaped(href)}" title="{escaped(href)}" rel="noopener noreferrer">'
            case "link_close":
                if is_safe:
                    yield "</a>"
            case _ if token.tag in TAGS:
                yield _tag(token)
            case _:
                yield escaped(token.content)


def _tag(token: Token) -> str:
    if token.hidden:  # the paragraph of a list item without blank lines
        return ""
    tag = HEADINGS.get(token.tag, token.tag)
    if token.nesting < 0:
        return f"</{tag}>" + ("\n" if token.block else "")
    aligned = ALIGNED.get(str(token.attrGet("style")), "")
    start = token.attrGet("start")
    return f'<{tag} start="{start:d}">' if isinstance(start, int) else f"<{tag}{aligned}>"


def _alternative(image: Token) -> str:
    return "".join(child.content for child in image.children or ()) or "picture"
