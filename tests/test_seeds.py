"""Every command of docs/seeds.md shows what its row says, in an empty folder and an empty home.

```
| promise | where | command | shows |
                     │         └─ `text` … in this order, `...` for any text; or: not here, and why
                     └─ runs behind the console blocks above its table
```
"""

import os
import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.surfaces.warm import warm
from tests.test_docs import FENCE, run_console

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "seeds.md"
HEAD = "| promise | where | command | shows |"
CELL = re.compile(r"(?<!\\)\|")
SPAN = re.compile(r"(`+)(.+?)\1(?!`)")
LINK = re.compile(r"\]\(([^)#]*)[^)]*\)")
EXIT = re.compile(r"exit (\d+)")


class Row(NamedTuple):
    """One promise: where Bridle keeps it, and the command that shows it, or why it is not kept."""

    name: str
    promise: str
    where: str
    command: str
    shown: list[str]
    status: int
    verdict: str
    preparation: str

    @property
    def block(self) -> str:
        """The row as a console block."""
        shown = "".join(f"...{text}...\n...\n" for text in self.shown)
        ended = f"[exit {self.status}]\n" if self.status else ""
        lines = self.command.replace("\n", "\n> ")
        return f"{self.preparation}$ {lines}\n...\n{shown}{ended}"


def rows(page: str) -> list[Row]:
    """Read all tables; what the console blocks before the first heading prepare holds for each."""
    intro, *sections = re.split(r"^## (.+)\n", page, flags=re.MULTILINE)
    found = []
    for title, text in zip(sections[::2], sections[1::2], strict=True):
        parts = text.split(f"{HEAD}\n")
        preparation = consoles(intro)
        lines: list[tuple[str, str]] = []
        for above, table in pairwise(parts):
            preparation += consoles(above)
            lines += [(line, preparation) for line in table.partition("\n\n")[0].splitlines()[1:]]
        found += [row(f"{title} {number}", *line) for number, line in enumerate(lines, 1)]
    return found


def row(name: str, line: str, preparation: str) -> Row:
    """Read one line of a table."""
    _, promise, where, command, shows, _ = (cell.strip() for cell in CELL.split(line))
    ended = EXIT.search(SPAN.sub("", shows))
    status = int(ended[1]) if ended else 0
    return Row(name, promise, where, "".join(spans(command)), spans(shows), status, shows, preparation)


def spans(cell: str) -> list[str]:
    """Return the texts that a cell sets as code."""
    return [match[2].strip().replace("\\|", "|") for match in SPAN.finditer(cell)]


def consoles(text: str) -> str:
    """Join the console blocks of a part of the page."""
    return "".join(block["body"] for block in FENCE.finditer(text) if block["info"] == "console")


ROWS = rows(PAGE.read_text())


@pytest.mark.parametrize("row", [row for row in ROWS if row.command], ids=lambda row: row.name)
def test_a_command_shows_what_its_row_says(row: Row, tmp_path: Path, env: dict[str, str]):
    env |= {"PATH": os.pathsep.join([str(warm().program), env["PATH"]]), "CHECKOUT": str(ROOT)}
    project = tmp_path / "project"
    project.mkdir()

    try:
        run_console(row.block, project, env)
    finally:
        for home in (tmp_path / "home" / ".bridle", tmp_path / "home" / ".kontekst" / "bridle"):
            if (home / "run" / "daemon.sock").exists():  # what the row had no time to stop
                stop = ["bridle", "daemon", "stop"]
                subprocess.run(stop, env=env | {"BRIDLE_HOME": str(home)}, capture_output=True, check=False)


def test_a_row_says_where_and_what_or_why_not():
    for row in ROWS:
        if row.command:
            assert row.shown, row.name
            assert not [text for text in row.shown if text.endswith(".")], (
                f"{row.name}: a dot reads like `...`"
            )
            assert not [place for place in places(row.where) if not place.exists()], row.name
        else:
            assert row.verdict.startswith(("not here: ", "tested: ")), row.name
            assert not [
                text for text in row.shown if text.startswith("tests/") and not (ROOT / text).exists()
            ]


def places(where: str) -> list[Path]:
    """Return the pages and modules that a cell names."""
    pages = [PAGE.parent / link for link in LINK.findall(where)]
    return pages + [ROOT / "src" / "bridle" / module for module in spans(where)]


FALSE_ROWS = {
    "a text that is not shown": "| p | [w](cli.md) | `echo one` | `two` |",
    "texts in another order": "| p | [w](cli.md) | `printf 'one\\ntwo\\n'` | `two` · `one` |",
    "another exit code": "| p | [w](cli.md) | `echo one; false` | `one` |",
}


@pytest.mark.parametrize("line", FALSE_ROWS.values(), ids=FALSE_ROWS)
def test_a_false_row_fails(line: str, tmp_path: Path, env: dict[str, str]):
    with pytest.raises(AssertionError):
        run_console(row("false 1", line, "$ true\n").block, tmp_path, env)


def test_every_document_has_its_table():
    titles = {row.name.rpartition(" ")[0] for row in ROWS}

    assert titles == {"Kontekst", "Crush", "kaml", "Meerkat"}
