"""One page of Markdown: its HTML with anchors, its sections for the search, its links."""

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token

_PUNCTUATION = re.compile(r"[^\w\- ]")


@dataclass
class Section:
    """A heading and the text below it."""

    title: str
    anchor: str
    level: int
    text: list[str] = field(default_factory=list)


@dataclass
class Rendered:
    """A page as HTML, with its title and sections."""

    title: str
    body: str
    sections: list[Section]

    @property
    def anchors(self) -> set[str]:
        """Return the anchors that links may name."""
        return {section.anchor for section in self.sections}


def render(text: str, link: Callable[[str], str]) -> Rendered:
    """Render a page; `link` returns the target of each link and picture."""
    parser = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    tokens = parser.parse(text)
    sections = [Section("", "", 0)]
    taken: dict[str, int] = {}
    for index, token in enumerate(tokens):
        if token.type == "heading_open":
            title = _words(tokens[index + 1])
            anchor = _anchor(title, taken)
            token.attrSet("id", anchor)
            sections.append(Section(title, anchor, int(token.tag[1])))
        elif token.type == "inline":
            _relink(token.children or [], link)
            if tokens[index - 1].type != "heading_open":
                sections[-1].text.append(_words(token))
        elif token.type == "fence":
            sections[-1].text.append(token.content)
    parser.add_render_rule("heading_close", _heading_close)
    parser.add_render_rule("fence", _fence)
    parser.add_render_rule("table_open", lambda *_: '<div class="table"><table>\n')
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    title = next((section.title for section in sections if section.level == 1), "")
    body = parser.renderer.render(tokens, parser.options, {})
    return Rendered(title, body, [section for section in sections if section.level or section.text])


def _relink(children: Sequence[Token], link: Callable[[str], str]) -> None:
    for child in children:
        for name in ("href", "src"):
            if (value := child.attrGet(name)) is not None:
                child.attrSet(name, link(str(value)))


def _words(token: Token) -> str:
    return "".join(
        " " if child.type in ("softbreak", "hardbreak") else child.content for child in token.children or []
    )


def _anchor(title: str, taken: dict[str, int]) -> str:
    """Return the anchor of a heading like code hosts do: lower case, dashes, a number if it is not unique."""
    base = _PUNCTUATION.sub("", title.lower()).replace(" ", "-")
    number = taken.get(base, 0)
    taken[base] = number + 1
    return f"{base}-{number}" if number else base


def _heading_close(renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    anchor = tokens[index - 2].attrGet("id")
    return f'<a class="anchor" href="#{anchor}" aria-label="link to heading">#</a></{tokens[index].tag}>\n'


def _fence(renderer: object, tokens: Sequence[Token], index: int, *_: object) -> str:
    token = tokens[index]
    language = token.info.split()[0] if token.info.split() else ""
    lines = []
    for line in token.content.splitlines():
        escaped = html.escape(line, quote=False)
        is_typed = language == "console" and line.startswith(("$ ", "> "))
        lines.append(f"<b>{escaped}</b>" if is_typed else escaped)
    shown = "\n".join(lines)
    return f'<pre class="{html.escape(language)}"><code>{shown}</code></pre>\n'
