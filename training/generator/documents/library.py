"""All kinds of pages by weight, and folders of them."""

import random
from collections.abc import Callable, Sequence

from training.generator.documents.code import code
from training.generator.documents.home import HOME
from training.generator.documents.logs import LOGS
from training.generator.documents.page import Page
from training.generator.documents.project import PROJECT
from training.generator.documents.settings import settings
from training.generator.documents.tables import table

__all__ = ["foldered", "neighbours", "some_page", "words_of"]

Maker = Callable[[random.Random], Page]
KINDS: tuple[tuple[float, tuple[Maker, ...]], ...] = (
    (30, (table,)),
    (17, (settings,)),
    (20, (code,)),
    (24, HOME),
    (20, PROJECT),
    (5, LOGS),
)
FOLDERS = {
    "py js ts go rs c java rb sh php lua kt swift cs h": "src lib app core tools scripts game bin".split(),
    "toml ini cfg conf yaml yml json env properties xml": "config conf etc settings deploy env/prod".split(),
    "csv tsv json": "data tables export sheets db lists in/2025".split(),
    "md txt srt log eml bib tex": "docs notes texts archive private stuff doc/old misc home club".split(),
    "html css svg": "web public site static www".split(),
}
MAX_LINES, MAX_CHARS = 58, 1750


def some_page(rng: random.Random, makers: Sequence[Maker] = ()) -> Page:
    """A page of any kind, or of one of these, that is not too long."""
    while True:
        chosen = makers or rng.choices([kinds for _, kinds in KINDS], [weight for weight, _ in KINDS])[0]
        page = rng.choice(chosen)(rng)
        while not page.lines[-1]:
            page.lines.pop()
        if len(page.lines) <= MAX_LINES and len(page.text) <= MAX_CHARS:
            return page


def foldered(rng: random.Random, page: Page) -> Page:
    """The page, sometimes in a folder that fits its kind."""
    if "/" not in page.path and rng.random() < 0.4:
        ending = page.path.rpartition(".")[2]
        fitting = [name for endings, names in FOLDERS.items() if ending in endings.split() for name in names]
        if fitting:
            page.path = f"{rng.choice(fitting)}/{page.path}"
    return page


def neighbours(rng: random.Random, page: Page, most: int = 6) -> list[Page]:
    """Other pages for the same folder, none of which is of the page's own kind."""
    found: list[Page] = []
    for _ in range(rng.choice([0, 0, 1, 2, 2, 3, 4, most])):
        other = foldered(rng, some_page(rng))
        taken = [page, *found]
        if not any(alike(other, each) for each in taken):
            found.append(other)
    return found


def alike(one: Page, two: Page) -> bool:
    """True when two pages may be meant by the same words."""
    words = [{*words_of(page)} for page in (one, two)]
    return bool(words[0] & words[1])


def words_of(page: Page) -> list[str]:
    """The words by which a page may be meant."""
    base = page.path.rpartition("/")[2].lower()
    plain = "".join(mark if mark.isalpha() else " " for mark in f"{page.called} {base.split('.')[0]}".lower())
    general = {
        "the",
        "our",
        "my",
        "this",
        "file",
        "list",
        "sheet",
        "table",
        "of",
        "that",
        "for",
        "a",
        "script",
        "code",
        "notes",
    }
    ending = base.rpartition(".")[2]
    kind = [f".{ending}"] if ending not in {"txt", "md", "csv", "json", "yaml", "yml"} else []
    return sorted({word.rstrip("s") for word in plain.split()} - general) + kind
