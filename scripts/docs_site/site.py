"""All pages of the site, the links between them, and the search index.

```
README.md       -> index.html            docs/x.md  -> x.html
SECURITY.md …   -> security.html …       examples/… -> files/examples/…     other files that pages link to
```
"""

import html
import json
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

from scripts.docs_site.markdown import Rendered, render

ASSETS = Path(__file__).parent
TOP = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Start", ("README.md", "docs/tutorial.md", "docs/cookbook.md", "docs/import.md", "docs/kontekst.md")),
    ("Use", tuple(f"docs/{name}.md" for name in "cli configuration tui web local-models errors".split())),
    ("Agents", tuple(f"docs/{name}.md" for name in "agents skills tools sub-agents context memory".split())),
    ("Control", tuple(f"docs/{name}.md" for name in "safety hooks budgets structured-output".split())),
    ("Connect", tuple(f"docs/{name}.md" for name in "mcp mcp-server language-servers acp comms".split())),
    ("Embed", tuple(f"docs/{name}.md" for name in "surfaces python rest grpc rpc daemon".split())),
    ("Operate", tuple(f"docs/{name}.md" for name in "scale tenancy telemetry benchmarks".split())),
    ("Project", (*TOP[1:], "docs/seeds.md")),
)
MAX_SECTION_CHARS = 3000


@dataclass
class Site:
    """The built site."""

    pages: dict[str, Rendered] = field(default_factory=dict)
    """By the path of the source."""
    dead: list[str] = field(default_factory=list)
    sections: int = 0


def build(root: Path, target: Path) -> Site:
    """Render every page into a folder, which is replaced; the result contains the dead links."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    sources = find_pages(root)
    links = _Links(root, target, {source: address_of(source) for source in sources})
    site = Site()
    for source in sources:
        site.pages[source] = render((root / source).read_text(), links.of(source))
    site.dead = [*links.dead, *_dead_anchors(links, site)]
    menu = grouped(sources)
    for source, page in site.pages.items():
        _write(target / address_of(source), _whole(source, page, site, menu))
    entries = [entry for source, page in site.pages.items() for entry in _entries(source, page)]
    site.sections = len(entries)
    _write(target / "search-index.js", f"window.SECTIONS = {json.dumps(entries, ensure_ascii=False)};\n")
    for name in ("site.css", "site.js"):
        shutil.copy(ASSETS / name, target / name)
    return site


def find_pages(root: Path) -> list[str]:
    """Return the sources of all pages, relative to the project."""
    found = [name for name in TOP if (root / name).is_file()]
    return found + sorted(str(path.relative_to(root)) for path in root.glob("docs/**/*.md"))


def grouped(sources: list[str]) -> list[tuple[str, list[str]]]:
    """Return the menu: every page once, under More if no group names it."""
    menu = [(title, [name for name in names if name in sources]) for title, names in GROUPS]
    named = {name for _, names in menu for name in names}
    decisions = [name for name in sources if name.startswith("docs/decisions/")]
    more = [name for name in sources if name not in named and name not in decisions]
    return [(title, names) for title, names in (*menu, ("More", more), ("Decisions", decisions)) if names]


def address_of(source: str) -> str:
    """Return the path of a page in the site."""
    if source == "README.md":
        return "index.html"
    return source.removeprefix("docs/").removesuffix(".md").lower() + ".html"


class _Links:
    """Resolves links, and copies linked files that are not pages."""

    def __init__(self, root: Path, target: Path, addresses: dict[str, str]) -> None:
        self._root = root
        self._target = target
        self._addresses = addresses
        self.dead: list[str] = []
        self.anchors: list[tuple[str, str, str]] = []
        """Page, the page that it links to, and the place there."""

    def of(self, source: str) -> Callable[[str], str]:
        """Return a function that resolves the links of a page."""
        return lambda link: self._resolve(source, link)

    def _resolve(self, source: str, link: str) -> str:
        if "://" in link or link.startswith("mailto:"):
            return link
        path, _, anchor = unquote(link).partition("#")
        wanted = os.path.normpath(os.path.join(os.path.dirname(source), path)) if path else source
        if anchor:
            self.anchors.append((source, wanted, anchor))
        address = self._addresses.get(wanted) or self._copied(source, wanted)
        here = os.path.dirname(self._addresses[source])
        return os.path.relpath(address, here or ".") + (f"#{anchor}" if anchor else "")

    def _copied(self, source: str, wanted: str) -> str:
        place = self._root / wanted
        if wanted.startswith("..") or not place.exists():
            self.dead.append(f"{source}: {wanted}")
            return wanted
        if place.is_file():
            copy = self._target / "files" / wanted
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(place, copy)
            return f"files/{wanted}"
        return self._listing(source, wanted)

    def _listing(self, source: str, folder: str) -> str:
        """Write a page that lists a folder."""
        address = f"files/{folder}/index.html"
        if not (self._target / address).exists():
            _write(self._target / address, "")  # marks the folder as listed
            names = sorted(str(path.relative_to(self._root)) for path in (self._root / folder).rglob("*"))
            files = [name for name in names if (self._root / name).is_file() and "__pycache__" not in name]
            links = {name: self._addresses.get(name) or self._copied(source, name) for name in files}
            items = "".join(
                f'<li><a href="{os.path.relpath(to, os.path.dirname(address))}">{html.escape(name)}</a></li>'
                for name, to in links.items()
            )
            style = os.path.relpath("site.css", os.path.dirname(address))
            _write(
                self._target / address,
                f'<!doctype html><meta charset="utf-8"><title>{folder}</title>'
                f'<link rel="stylesheet" href="{style}"><main><h1>{folder}</h1><ul>{items}</ul></main>\n',
            )
        return address


def _dead_anchors(links: _Links, site: Site) -> list[str]:
    return [
        f"{source}: {wanted}#{anchor}"
        for source, wanted, anchor in links.anchors
        if wanted in site.pages and anchor not in site.pages[wanted].anchors
    ]


def _entries(source: str, page: Rendered) -> list[list[str]]:
    """Return the search entries of a page: page, heading, address, text."""
    return [
        [
            page.title,
            section.title,
            address_of(source) + (f"#{section.anchor}" if section.level > 1 else ""),
            " ".join(" ".join(section.text).split())[:MAX_SECTION_CHARS],
        ]
        for section in page.sections
    ]


def _whole(source: str, page: Rendered, site: Site, menu: list[tuple[str, list[str]]]) -> str:
    here = os.path.dirname(address_of(source))

    def to(address: str) -> str:
        return os.path.relpath(address, here or ".")

    groups = []
    for title, names in menu:
        items = "".join(
            f'<li><a href="{to(address_of(name))}"{" aria-current=page" if name == source else ""}>'
            f"{html.escape(site.pages[name].title)}</a></li>"
            for name in names
        )
        is_open = source in names or title not in ("Decisions",)
        groups.append(
            f"<details{' open' if is_open else ''}><summary>{title}</summary><ul>{items}</ul></details>"
        )
    contents = "".join(
        f'<li><a href="#{section.anchor}">{html.escape(section.title)}</a></li>'
        for section in page.sections
        if section.level == 2
    )
    return PAGE.format(
        title=html.escape(page.title),
        root=to("index.html").removesuffix("index.html"),
        menu="".join(groups),
        contents=f"<nav class=contents aria-label='on this page'><ul>{contents}</ul></nav>"
        if contents
        else "",
        body=page.body,
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · Bridle</title>
<link rel="stylesheet" href="{root}site.css">
<script>document.documentElement.dataset.theme = localStorage.getItem("theme") || "";</script>
</head>
<body data-root="{root}">
<header>
<a class="home" href="{root}index.html">Bridle</a>
<input id="search" type="search" placeholder="Search ( / )" aria-label="search" autocomplete="off">
<button id="theme" type="button" aria-label="dark or light">◐</button>
</header>
<div id="found" hidden></div>
<div class="columns">
<nav class="menu" aria-label="pages">{menu}</nav>
<main>{body}</main>
{contents}
</div>
<script src="{root}search-index.js" defer></script>
<script src="{root}site.js" defer></script>
</body>
</html>
"""
