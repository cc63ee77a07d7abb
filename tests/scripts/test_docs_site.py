"""The documentation as a site: no dead links, and a search that works without a server."""

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from scripts.docs_site.markdown import render
from scripts.docs_site.site import build, find_pages, grouped
from tests.surfaces.web.stage import chromium

ROOT = Path(__file__).parents[2]


class Links(HTMLParser):
    """Collects the links and the anchors of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.anchors: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name in ("href", "src") and value:
                self.links.append(value)
            elif name == "id" and value:
                self.anchors.add(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("site")
    assert build(ROOT, target).dead == []
    return target


def test_every_link_of_the_built_pages_leads_somewhere(site: Path):
    pages = {path: Links(path.read_text()) for path in site.rglob("*.html")}
    dead = []
    for path, page in pages.items():
        for link in page.links:
            if "://" in link or link.startswith("mailto:"):
                continue
            name, _, anchor = unquote(link).partition("#")
            target = (path.parent / name).resolve() if name else path.resolve()
            if not target.is_file() or (
                anchor and anchor not in pages[site / target.relative_to(site)].anchors
            ):
                dead.append((str(path.relative_to(site)), link))

    assert len(pages) >= len(find_pages(ROOT))
    assert dead == []


def test_every_page_is_in_the_menu_once():
    pages = find_pages(ROOT)

    listed = [name for _, names in grouped(pages) for name in names]

    assert sorted(listed) == sorted(pages)


def test_nothing_is_fetched_from_elsewhere(site: Path):
    for path in site.rglob("*.html"):
        assert 'src="http' not in path.read_text().replace('<img src="http', ""), path


def test_what_leads_nowhere_is_named(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(
        "# One\n\n[a](docs/two.md#here) [b](docs/none.md) [c](#one) [d](docs)\n"
    )
    (tmp_path / "docs/two.md").write_text("# Two\n\n## There\n\n[up](../README.md#one) [out](../../x)\n")

    built = build(tmp_path, tmp_path / "out")

    assert built.dead == ["README.md: docs/none.md", "docs/two.md: ../x", "README.md: docs/two.md#here"]
    assert 'href="two.html#here"' in (tmp_path / "out/index.html").read_text()
    assert 'href="index.html#one"' in (tmp_path / "out/two.html").read_text()


def test_headings_are_named_as_elsewhere_and_code_is_words():
    page = render(
        "# A `b` & c!\n\n## Same\n\n## Same\n\n```console\n$ echo '<b>'\n<b>\n```\n", lambda link: link
    )

    assert [section.anchor for section in page.sections] == ["a-b--c", "same", "same-1"]
    assert "<b>$ echo '&lt;b&gt;'</b>\n&lt;b&gt;" in page.body


@pytest.mark.slow
async def test_the_search_works_without_a_server(site: Path):
    async with chromium() as browser:
        page = await browser.new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        await page.goto((site / "index.html").as_uri())
        await page.keyboard.press("/")
        await page.keyboard.type("fix a failing test")
        await page.locator("#found a").first.wait_for()
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/cookbook.html#1-fix-a-failing-test")
        before = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        await page.click("#theme")
        after = await page.evaluate("getComputedStyle(document.body).backgroundColor")

    assert problems == []
    assert before != after
