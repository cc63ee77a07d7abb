"""A browser's view of a page, limited to what the page could do."""

from html.parser import HTMLParser

ALLOWED: dict[str, frozenset[str]] = {
    tag: frozenset(attributes.split())
    for tag, attributes in {
        "html": "lang", "head": "", "meta": "charset name content http-equiv", "title": "", "style": "",
        "body": "", "header": "", "main": "", "footer": "", "section": "class id", "nav": "aria-label",
        "h1": "", "h2": "", "h3": "", "h4": "", "h5": "", "h6": "", "dl": "class", "dt": "", "dd": "",
        "ul": "class", "ol": "start", "li": "", "p": "class", "div": "class", "span": "class aria-hidden",
        "b": "", "strong": "", "em": "", "s": "", "time": "", "code": "", "pre": "tabindex", "br": "",
        "hr": "", "blockquote": "", "table": "", "thead": "", "tbody": "", "tr": "", "th": "class",
        "td": "class", "a": "href title rel", "img": "alt src", "details": "class open", "summary": "",
        "figure": "", "figcaption": "", "rect": "class x y width height",
        "svg": "class viewbox preserveaspectratio role aria-label aria-hidden",
    }.items()
}  # fmt: skip
"""All that a page is made of: nothing here runs anything, and nothing asks for anything by itself."""
ALONE = frozenset({"meta", "img", "br", "hr"})
IN_LINE = frozenset({"a", "b", "code", "em", "s", "span", "strong"})
SAFE_LINKS = ("http://", "https://", "mailto:", "#said-")
PICTURES = tuple(f"data:image/{kind};base64," for kind in ("png", "jpeg", "gif", "webp"))


class Reader(HTMLParser):
    """Reads a page and fails at what must not be in one."""

    def __init__(self, page: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.links: list[str] = []
        self._text: list[str] = []
        self._open: list[str] = []
        self.feed(page)
        self.close()
        assert self._open == []
        assert all(character.isprintable() or character in "\n\t" for character in page if character < "\xa0")

    @property
    def text(self) -> str:
        """Everything there is to read, its white space as single spaces."""
        return " ".join("".join(self._text).split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        assert len(values) == len(attrs)
        assert values.keys() <= ALLOWED[tag], (tag, attrs)
        self.tags.append(tag)
        if tag == "a":
            link = values["href"] or ""
            assert link.lower().startswith(SAFE_LINKS), link
            self.links.append(link)
        if tag == "img":
            assert (values["src"] or "").startswith(PICTURES)
        if tag not in ALONE:
            self._open.append(tag)
        self._part(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        self._part(tag)

    def _part(self, tag: str) -> None:
        if tag not in IN_LINE:
            self._text.append(" ")

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self._text.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def unknown_decl(self, data: str) -> None:
        raise AssertionError(f"a declaration: {data}")

    def handle_pi(self, data: str) -> None:
        raise AssertionError(f"an instruction: {data}")
